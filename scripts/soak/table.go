package main

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// writeTable writes what the tally holds of each deviation as Markdown.
func writeTable(file, tally string) error {
	chunks, err := readTally(tally)
	if err != nil {
		return err
	}
	var stored []corpus.Stored
	for _, dir := range []string{"corpus/found", "corpus/known"} {
		s, err := corpus.LoadCommitted(dir)
		if err != nil {
			return fmt.Errorf("load the cases to point to: %w", err)
		}
		stored = append(stored, s...)
	}
	sums := summed(chunks)
	if len(sums) == 0 {
		return fmt.Errorf("%s holds no chunk with counts by level: run soak first", tally)
	}
	text := tableText(sums, stored)
	if file == "-" {
		_, err := os.Stdout.WriteString(text)
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// sum is all chunks of one target that one ruleset judged.
type sum struct {
	row
	judgedStatements float64
}

// manyCases are enough for rates.
const manyCases = 100000

// summed adds up the chunks of each target that one ruleset judged and that have
// counts by level, in the order in which the targets first come: the newest ruleset
// of those that judged many cases, without any the newest.
func summed(chunks []row) []*sum {
	newest, cases := map[string]string{}, map[[2]string]int{}
	for _, c := range chunks {
		if c.ByLevel == nil {
			continue
		}
		by := [2]string{c.target, c.ruleset}
		cases[by] += c.Cases
		if cases[by] >= manyCases || cases[[2]string{c.target, newest[c.target]}] < manyCases {
			newest[c.target] = c.ruleset
		}
	}
	var out []*sum
	for _, c := range chunks {
		if c.ByLevel == nil || c.ruleset != newest[c.target] {
			continue
		}
		i := slices.IndexFunc(out, func(s *sum) bool { return s.target == c.target })
		if i < 0 {
			i = len(out)
			out = append(out, &sum{row: row{ruleset: c.ruleset, target: c.target, summary: summary{
				ServerVersion: c.ServerVersion, DBMS: c.DBMS, Settings: c.Settings, Verdicts: map[string]int{}, ByLevel: campaign.ByLevel{},
			}}})
		}
		s := out[i]
		s.Cases += c.Cases
		s.Statements += c.Statements
		s.judgedStatements += c.Judged * float64(c.Statements)
		for o, n := range c.Verdicts {
			s.Verdicts[o] += n
		}
		s.ByLevel.Merge(c.ByLevel)
	}
	return out
}

var levelOrder = []string{"RU", "RC", "RR", "SER", campaign.LevelsMixed}

func tableText(sums []*sum, stored []corpus.Stored) string {
	var b strings.Builder
	b.WriteString(`# Deviations seen

A known deviation is an answer that differs from what the server's manual promises, in a way that is known for this
server; the [rules](rules.md) explain each. This page says how often random cases met them. The first command runs random
cases and adds the counts to [the tally](../scripts/soak/tally.tsv), the second makes this page from the tally:

    go run ./scripts/soak --target TARGET --cases 100000
    go run ./scripts/soak --table docs/deviations.md

* "rules" is the commit whose rules judged the cases: for each target the newest that judged at least 100,000 cases, else the
  newest. Cases of different commits may consist of different statements. So compare only targets with the same commit, and
  do not conclude from a missing row that a server does not have the deviation.
* "one answer" is the share of statements for which exactly one answer was accepted, counted in a share of the inputs.
* "cases" is how many cases showed the deviation, "of" how many ran at this level. A case can show several deviations. The
  level is that with which sessions start; a case may change it. "mixed" are cases whose sessions start at different levels.
* The last column names the smallest stored case that shows the deviation on that target at that level, or else elsewhere,
  with target and level in brackets. "–": no stored case shows it.

## What ran

| target | server | settings | rules | cases | one answer | ok | known | violation | unknown |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
`)
	for _, s := range sums {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %.2f %% | %d | %d | %d | %d |\n", code(s.target), s.ServerVersion, settingsText(s.Settings), s.ruleset,
			s.Cases, 100*s.judgedStatements/float64(max(s.Statements, 1)), s.Verdicts["ok"], s.Verdicts["known"], s.Verdicts["violation"], s.Verdicts["unknown"])
	}
	b.WriteString("\n## Deviations\n\n| target | level | deviation | cases | of | in 100,000 | smallest case |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n")
	violations := 0
	for _, s := range sums {
		for _, level := range levelOrder {
			at := s.ByLevel[level]
			if at == nil {
				continue
			}
			for _, name := range ruleNames() {
				if n := at.Known[name]; n > 0 {
					fmt.Fprintf(&b, "| %s | %s | [%s](%s) | %d | %d | %.0f | %s |\n", code(s.target), level, name, linkOf(s, name), n, at.Cases, perHundredThousand(n, at.Cases),
						smallest(stored, s.target, level, anywhere, func(v string) bool { return v == "known "+name }))
				}
			}
			violations += len(at.Violations)
		}
	}
	b.WriteString("\n## Violations\n\n")
	if violations == 0 {
		b.WriteString("None.\n")
		return b.String()
	}
	b.WriteString("Wrong answers that no rule explained when they were found, by fingerprint: kind, level, wrong statement;\nfor a crash, a hash of the message and of where it happened. The last column is only a hint: the smallest stored\ncase that is recorded as a violation of the same kind there. It may be another bug.\n\n| target | level | fingerprint | cases | of | in 100,000 | smallest case |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n")
	for _, s := range sums {
		for _, level := range levelOrder {
			at := s.ByLevel[level]
			if at == nil {
				continue
			}
			for _, f := range sorted(at.Violations) {
				kind, _, _ := strings.Cut(f, "/")
				fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %.0f | %s |\n", code(s.target), level, code(f), at.Violations[f], at.Cases, perHundredThousand(at.Violations[f], at.Cases),
					smallest(stored, s.target, level, 0, func(v string) bool { return v == "violation "+kind }))
			}
		}
	}
	return b.String()
}

func perHundredThousand(n, of int) float64 { return 100000 * float64(n) / float64(max(of, 1)) }

// linkOf returns the first page of a deviation's row that is in scope.
func linkOf(s *sum, name string) string {
	srv := history.Server{DBMS: history.DBMS(s.DBMS), Version: s.ServerVersion, Settings: s.Settings}
	return rules.Named(srv, corpus.Levels[:], name)[0].Links[0]
}

func code(s string) string { return "`" + s + "`" }

// ruleNames returns the names of the deviations in the order of the table.
func ruleNames() []string {
	var out []string
	for i := range rules.Table {
		if r := &rules.Table[i]; r.Status == rules.Deviation && !slices.Contains(out, r.Name) {
			out = append(out, r.Name)
		}
	}
	return out
}

// settingsText lists the settings that some rule of the table depends on.
func settingsText(settings map[string]string) string {
	used := map[string]bool{}
	for i := range rules.Table {
		for k := range rules.Table[i].Scope.Settings {
			used[k] = true
		}
	}
	var out []string
	for _, k := range sorted(used) {
		if v, ok := settings[k]; ok && v != "" {
			out = append(out, k+"="+v)
		}
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, ", ")
}

// How far from a row of the table a stored case may have been recorded.
const (
	otherLevel  = 1
	otherTarget = 2
	otherFamily = 2
	anywhere    = otherLevel + otherTarget + otherFamily
)

// smallest points to the stored case with the fewest statements whose recorded
// verdict is wanted: on the target and level if there is one, else on the nearest
// that is no farther than within.
func smallest(stored []corpus.Stored, target, level string, within int, wanted func(string) bool) string {
	type candidate struct {
		distance, statements int
		path, where          string
	}
	var all []candidate
	family, _, _ := strings.Cut(target, ":")
	for _, s := range stored {
		for _, c := range findings.RecordedCells(s.Case) {
			if !wanted(c.Verdict) {
				continue
			}
			to := candidate{0, len(s.Case.Init) + len(s.Case.Steps), s.Path, ""}
			recorded, at := c.Target, c.Level
			if strings.Contains(at, "=") {
				at = campaign.LevelsMixed
			}
			if at != level {
				to.distance += otherLevel
			}
			if recorded != strings.ReplaceAll(target, ":", " ") {
				to.distance += otherTarget
				if f, _, _ := strings.Cut(recorded, " "); f != family {
					to.distance += otherFamily
				}
			}
			if to.distance > 0 {
				to.where = fmt.Sprintf(" (%s, %s)", recorded, at)
			}
			if to.distance <= within {
				all = append(all, to)
			}
		}
	}
	if len(all) == 0 {
		return "–"
	}
	best := slices.MinFunc(all, func(a, b candidate) int {
		if d := a.distance - b.distance; d != 0 {
			return d
		}
		if d := a.statements - b.statements; d != 0 {
			return d
		}
		return strings.Compare(a.path+a.where, b.path+b.where)
	})
	return fmt.Sprintf("[%s](../%s)%s", strings.TrimPrefix(best.path, "corpus/"), best.path, best.where)
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
