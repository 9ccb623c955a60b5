package telling

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

//go:embed matrix.html
var matrixHTML string

var matrixTemplate = template.Must(template.New("matrix").Parse(matrixHTML))

// htmlCell is one level of a case on a target.
type htmlCell struct{ Mark, Class, Title string }

type htmlRow struct {
	File, Anchor string
	Cells        [][]htmlCell // by target, by level
}

type htmlCase struct {
	File, Anchor, Text string
	Header             []corpus.Field
	Remarks            []Remark
	Sights             []Sight
}

type htmlTarget struct{ Name, Version string }

var markClasses = map[byte]string{
	markOK[0]: "ok", markKnown[0]: "known", markViolation[0]: "violation", markUnknown[0]: "unknown", markSetUp[0]: "setup", markNone[0]: "none",
}

// WriteHTML writes the matrix as one page that needs no other file. cases gives
// the texts to show, by their paths.
func (m *Matrix) WriteHTML(w io.Writer, cases []corpus.Stored) error {
	page := struct {
		Summary, Legend string
		Targets         []htmlTarget
		Rows            []htmlRow
		Cases           []htmlCase
	}{Summary: m.Summary(), Legend: legend}
	for _, t := range m.Targets {
		page.Targets = append(page.Targets, htmlTarget{t, m.Versions[t]})
	}
	for _, f := range m.Files {
		row := htmlRow{File: filepath.Base(f), Anchor: anchor(f)}
		for _, t := range m.Targets {
			var cells []htmlCell
			for _, s := range m.slots(f, t) {
				c := htmlCell{markNone, markClasses[markNone[0]], s.Level + ": not run"}
				if s.Replayed != nil {
					mark := markOf(s.Replayed)
					c = htmlCell{mark, markClasses[mark[0]], fmt.Sprintf("%s at %s: %s", t, s.Level, s.Verdictline())}
				}
				cells = append(cells, c)
			}
			row.Cells = append(row.Cells, cells)
		}
		page.Rows = append(page.Rows, row)
	}
	remarks := map[string][]Remark{}
	for _, x := range m.Remarks() {
		remarks[x.File] = append(remarks[x.File], x)
	}
	sights := map[string][]Sight{}
	for _, x := range m.Sights() {
		sights[x.File] = append(sights[x.File], x)
	}
	for _, s := range cases {
		bare := &corpus.Case{Init: s.Case.Init, Steps: s.Case.Steps, Tail: s.Case.Tail}
		c := htmlCase{File: s.Path, Anchor: anchor(s.Path), Text: string(corpus.Print(bare, corpus.Text)), Remarks: remarks[s.Path], Sights: sights[s.Path]}
		for _, f := range s.Case.Header {
			if !strings.HasPrefix(f.Key, "verdict (") {
				c.Header = append(c.Header, f)
			}
		}
		page.Cases = append(page.Cases, c)
	}
	if err := matrixTemplate.Execute(w, page); err != nil {
		return fmt.Errorf("write the matrix as HTML: %w", err)
	}
	return nil
}

// anchor names the place of a case on the page.
func anchor(file string) string { return "case-" + findings.ShortHash(file) }
