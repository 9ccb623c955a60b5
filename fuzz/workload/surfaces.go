package workload

import (
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// The form is that of the Jenkins xUnit plug-in, as package junit has it.
type testSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *failure `xml:"failure"`
	Output  string   `xml:"system-out,omitempty"`
}

type failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, r *Report) error {
	r.grouped()
	s := testSuite{Name: "txnfuzz workload " + r.Workload + " " + r.Target, Time: strconv.FormatFloat(r.Seconds, 'f', 3, 64)}
	class := "txnfuzz.workload." + strings.ReplaceAll(r.Workload, ".", "_") + "." + strings.ReplaceAll(r.Target, ".", "_")
	for _, c := range r.Cells {
		set := strings.Join(c.Transactions, " × ")
		t := testCase{Class: class, Name: set + " at " + c.Level, Output: strings.ReplaceAll(r.cellText(c.Transactions, c.Level, true), "\n", ", ")}
		var text strings.Builder
		for _, id := range c.Findings {
			if f := r.finding(id); f != nil {
				f.writeText(&text)
				if t.Failure == nil {
					message := string(f.Kind) + ": " + strings.Join(f.Calls, ", ")
					if g := r.groupOf(f); g != nil {
						message += "; " + g.Title
					}
					t.Failure = &failure{Type: string(f.Class), Message: message}
				}
			}
		}
		if t.Failure != nil {
			t.Failure.Text = text.String()
			s.Failures++
		}
		s.Tests++
		s.Cases = append(s.Cases, t)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(testSuites{Name: "txnfuzz", Tests: s.Tests, Failures: s.Failures, Suites: []testSuite{s}}); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}

func writeSARIF(w io.Writer, r *Report, version string) error {
	r.grouped()
	driver := sarif.NewToolComponent().WithName("txnfuzz").WithInformationURI("https://github.com/txnfuzz/txnfuzz").WithVersion(version)
	rules := map[string]int{}
	run := sarif.NewRun()
	for _, f := range r.Findings {
		id := "workload/" + strings.ReplaceAll(string(f.Class), " ", "-") + "/" + strings.ReplaceAll(string(f.Kind), " ", "-")
		if _, ok := rules[id]; !ok {
			rules[id] = len(rules)
			driver.Rules = append(driver.Rules, sarif.NewRule(id).
				WithShortDescription(sarif.NewMultiformatMessageString().WithText(string(f.Class)+": "+string(f.Kind))))
		}
		cause := ""
		if g := r.groupOf(f); g != nil {
			cause = "\nCause: " + g.Title + ". " + g.FirstAdvice()
		}
		place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(filepath.ToSlash(f.File))).WithRegion(sarif.NewRegion().WithStartLine(1))
		run.AddResult(sarif.NewRuleResult(id).WithRuleIndex(rules[id]).WithLevel("error").
			WithMessage(sarif.NewTextMessage(fmt.Sprintf("%s at %s on %s: %s, %s. %s%s%s\nReplay: txnfuzz replay %s %s", f.Class, f.Level, r.Target, f.Kind, strings.Join(f.Calls, ", "), f.Detail, after("; ", f.Unjudged), cause, f.File, target.OnCommandLine(r.Target)))).
			WithLocations([]*sarif.Location{sarif.NewLocationWithPhysicalLocation(place)}).
			WithPartialFingerprints(map[string]string{"txnfuzz/workload/v1": f.ID}))
	}
	run.WithTool(sarif.NewTool().WithDriver(driver)).WithInvocations([]*sarif.Invocation{sarif.NewInvocation().WithExecutionSuccessful(true)})
	report := sarif.NewReport()
	report.AddRun(run)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

// after is a text behind a separator, empty if the text is.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

//go:embed report.html
var pageHTML string

var page = template.Must(template.New("workload").Funcs(template.FuncMap{
	"count": spelling.Count, "aborted": aborted, "diff": shownDiff, "frameworkName": frameworkName,
}).Parse(pageHTML))

// shownCell is a cell of the page's table.
type shownCell struct {
	Class, Text string
	Links       []shownLink
}

type shownLink struct{ Anchor, Text string }

type shownRow struct {
	Set   string
	Cells []shownCell
}

// diffLine is a line of a diff, with the class of its colour.
type diffLine struct{ Class, Text string }

func shownDiff(diff string) []diffLine {
	var out []diffLine
	for line := range strings.Lines(diff) {
		l := diffLine{Text: strings.TrimRight(line, "\r\n")}
		switch {
		case strings.HasPrefix(l.Text, "+++"), strings.HasPrefix(l.Text, "---"):
		case strings.HasPrefix(l.Text, "+"):
			l.Class = "ins"
		case strings.HasPrefix(l.Text, "-"):
			l.Class = "del"
		}
		out = append(out, l)
	}
	return out
}

// frameworkName is the name of a framework as people write it.
func frameworkName(name string) string { return upper(name) }

func writeHTML(w io.Writer, r *Report) error {
	r.grouped()
	data := struct {
		*Report
		Rows []shownRow
	}{Report: r}
	for _, set := range r.sets() {
		row := shownRow{Set: strings.Join(set, " × ")}
		for _, l := range r.Levels {
			c := r.cell(set, l)
			cell := shownCell{Class: "none"}
			if c != nil {
				cell = shownCell{Class: "good"}
				if r.red(c) {
					cell.Class = "bad"
				}
				for _, g := range r.Groups {
					if r.shows(c, g) {
						cell.Links = append(cell.Links, shownLink{g.ID, g.Label()})
					}
				}
				// Which of several causes a count is of stands behind it.
				cell.Text = strings.ReplaceAll(r.cellText(set, l, len(cell.Links) > 1), "\n", ", ")
			}
			row.Cells = append(row.Cells, cell)
		}
		data.Rows = append(data.Rows, row)
	}
	if err := page.Execute(w, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
