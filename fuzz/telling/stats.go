package telling

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// CorpusStats counts what stored cases hold and what they record.
type CorpusStats struct {
	Cases, Sessions, Statements int
	// Families counts cases by the first part of their file name.
	Families map[string]int
	// Kinds counts the statements of sessions, not of set-ups.
	Kinds map[string]int
	// Recorded counts recorded verdicts: target, then outcome.
	Recorded map[string]map[string]int
	// Targets holds the keys of Recorded in the order in which they came.
	Targets []string
	// Unrecorded names the files without any recorded verdict.
	Unrecorded []string
}

// Stats counts.
func Stats(cases []corpus.Stored) *CorpusStats {
	s := &CorpusStats{Families: map[string]int{}, Kinds: map[string]int{}, Recorded: map[string]map[string]int{}}
	for _, c := range cases {
		s.Cases++
		s.Sessions += len(c.Case.Sessions())
		s.Statements += len(c.Case.Steps)
		family, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(c.Path), corpus.Ext), "-")
		s.Families[family]++
		for _, l := range c.Case.Steps {
			s.Kinds[string(oracle.KindOf(l.Stmt))]++
		}
		cells := findings.RecordedCells(c.Case)
		if len(cells) == 0 {
			s.Unrecorded = append(s.Unrecorded, c.Path)
		}
		for _, r := range cells {
			if s.Recorded[r.Target] == nil {
				s.Recorded[r.Target] = map[string]int{}
				s.Targets = append(s.Targets, r.Target)
			}
			outcome, _, _ := strings.Cut(r.Verdict, " ")
			s.Recorded[r.Target][outcome]++
		}
	}
	return s
}

// WriteText writes the counts for people.
func (s *CorpusStats) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s in them\n", spelling.Count(s.Cases, "case"), spelling.Count(s.Sessions, "session"), spelling.Count(s.Statements, "statement"))
	fmt.Fprintf(&b, "by name:  %s\nby kind:  %s\n", countsText(s.Families), countsText(s.Kinds))
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	outcomes := []string{"ok", "known", "violation", "unknown"}
	t.AppendHeader(table.Row{"recorded on", "ok", "known", "violation", "unknown"})
	for _, target := range s.Targets {
		row := table.Row{target}
		for _, o := range outcomes {
			row = append(row, s.Recorded[target][o])
		}
		t.AppendRow(row)
	}
	b.WriteString(t.Render() + "\n")
	for _, f := range s.Unrecorded {
		fmt.Fprintf(&b, "%s records no verdict\n", f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func countsText(counts map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}

// Duplicates returns a sentence for each case that is another one's equal: the
// same statements, or, of findings, the same cause on the same family of
// servers.
func Duplicates(cases []corpus.Stored) []string {
	var out []string
	statements, causes := map[string]string{}, map[string]string{}
	for _, s := range cases {
		id := corpus.ID(s.Case)
		if other, ok := statements[id]; ok {
			out = append(out, fmt.Sprintf("%s has the statements of %s", s.Path, other))
			continue
		}
		statements[id] = s.Path
		fingerprint, ok := s.Case.Get(findings.KeyFingerprint)
		if !ok {
			continue
		}
		target, _ := s.Case.Get(findings.KeyTarget)
		family, _, _ := strings.Cut(target, ":")
		cause := family + " " + fingerprint
		if other, ok := causes[cause]; ok {
			out = append(out, fmt.Sprintf("%s has the fingerprint of %s: %s", s.Path, other, fingerprint))
			continue
		}
		causes[cause] = s.Path
	}
	return out
}
