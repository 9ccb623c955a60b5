package telling

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Matrix is what several cases do on several targets at several levels.
type Matrix struct {
	// Files and Targets are in the order in which they came.
	Files, Targets []string
	// Versions holds the server version of each target.
	Versions map[string]string
	Counts   map[oracle.Outcome]int
	// Runs counts the results that a server gave: not those of levels that it
	// does not have.
	Runs int
	// Changed counts the verdicts that differ from a recorded one.
	Changed int

	cells map[[2]string][]*findings.Replayed // by file and target, levels in order
}

// NewMatrix lays results out.
func NewMatrix(results []findings.Replayed) *Matrix {
	m := &Matrix{Versions: map[string]string{}, Counts: map[oracle.Outcome]int{}, cells: map[[2]string][]*findings.Replayed{}}
	for i := range results {
		r := &results[i]
		if !slices.Contains(m.Files, r.File) {
			m.Files = append(m.Files, r.File)
		}
		if !slices.Contains(m.Targets, r.Target) {
			m.Targets = append(m.Targets, r.Target)
			m.Versions[r.Target] = r.ServerVersion
		}
		key := [2]string{r.File, r.Target}
		m.cells[key] = append(m.cells[key], r)
		if r.Reason == target.ReasonLevel {
			continue
		}
		m.Runs++
		m.Counts[r.Verdict]++
		if r.Changed() {
			m.Changed++
		}
	}
	return m
}

// Marks of a cell of the matrix.
const (
	markOK        = "."
	markKnown     = "k"
	markViolation = "V"
	markUnknown   = "?"
	markSetUp     = "!"
	markNone      = "-"
	markChanged   = "*"
)

const legend = "Marks stand for RU, RC, RR, SER: . ok, k known deviation, V violation, ? unknown, ! set-up failed or stale, - not run or unsupported, * behind a mark: other than recorded."

// markOf is one character for a verdict, or two.
func markOf(r *findings.Replayed) string {
	mark := markOK
	switch {
	case r.Reason == target.ReasonLevel:
		return markNone
	case r.Reason == target.ReasonInit || r.Reason == target.ReasonStale:
		mark = markSetUp
	case r.Verdict == oracle.Known:
		mark = markKnown
	case r.Verdict == oracle.Violation:
		mark = markViolation
	case r.Verdict == oracle.Unknown:
		mark = markUnknown
	}
	if r.Changed() {
		mark += markChanged
	}
	return mark
}

// slot is one place of a cell: a level of a case on a target, nil if it was not
// run there.
type slot struct {
	Level string
	*findings.Replayed
}

// slots returns the four levels of a cell, or the one run of sessions whose
// levels differ.
func (m *Matrix) slots(file, target string) []slot {
	rs := m.cells[[2]string{file, target}]
	var out []slot
	for _, l := range corpus.Levels {
		s := slot{Level: l.Short()}
		for _, r := range rs {
			if r.Level == s.Level {
				s.Replayed = r
			}
		}
		out = append(out, s)
	}
	for _, r := range rs {
		if strings.Contains(r.Level, "=") {
			return []slot{{r.Level, r}}
		}
	}
	return out
}

var markColors = map[byte]text.Colors{
	markKnown[0]: {text.FgYellow}, markViolation[0]: {text.FgRed, text.Bold},
	markUnknown[0]: {text.FgMagenta}, markSetUp[0]: {text.FgRed},
}

// WriteText draws the matrix, and below it what is behind each mark that is not
// ok, and the anomalies that have a name. colored is for terminals.
func (m *Matrix) WriteText(w io.Writer, colored bool) error {
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	header := table.Row{"case"}
	for _, name := range m.Targets {
		header = append(header, strings.ReplaceAll(name, ",", "\n"))
	}
	t.AppendHeader(header)
	for _, f := range m.Files {
		row := table.Row{f}
		for _, name := range m.Targets {
			var marks []string
			for _, s := range m.slots(f, name) {
				mark := markNone
				if s.Replayed != nil {
					mark = markOf(s.Replayed)
				}
				if c, ok := markColors[mark[0]]; ok && colored {
					mark = c.Sprint(mark)
				}
				marks = append(marks, mark)
			}
			row = append(row, strings.Join(marks, " "))
		}
		t.AppendRow(row)
	}
	var b strings.Builder
	b.WriteString(t.Render() + "\n" + legend + "\n")
	if remarks := m.Remarks(); len(remarks) > 0 {
		b.WriteString("\n" + remarkTable(remarks) + "\n")
	}
	if sights := m.Sights(); len(sights) > 0 {
		b.WriteString("\n" + sightTable(sights) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Remark is what one case does, not ok, in all the places where it does it.
type Remark struct {
	File, Verdict string
	// Where holds a line for each target, with its levels.
	Where                    []string
	Expected, Actual, Reason string
	// Recorded is set if the verdict is another one than recorded.
	Recorded string
}

// Remarks returns what is not ok, and what differs from a record, case by case.
func (m *Matrix) Remarks() []Remark {
	var out []Remark
	for _, f := range m.Files {
		first := len(out)
		for _, name := range m.Targets {
			for _, r := range m.cells[[2]string{f, name}] {
				if r.Reason == target.ReasonLevel || r.Verdict == oracle.OK && !r.Changed() {
					continue
				}
				x := Remark{File: f, Verdict: r.Verdictline(), Expected: r.Expected, Actual: r.Actual, Reason: r.Reason}
				if r.Reason == target.ReasonInit {
					x.Verdict = "set-up failed"
				}
				if r.Reason == target.ReasonStale {
					x.Verdict = target.ReasonStale
				}
				if r.Changed() {
					x.Recorded = r.Recorded
				}
				i := slices.IndexFunc(out[first:], func(y Remark) bool {
					return y.Verdict == x.Verdict && y.Recorded == x.Recorded && y.Expected == x.Expected && y.Actual == x.Actual
				}) + first
				if i < first {
					out = append(out, x)
					i = len(out) - 1
				}
				out[i].Where = addPlace(out[i].Where, name, r.Level)
			}
		}
	}
	return out
}

// addPlace adds a level of a target to lines that each tell of one target.
func addPlace(where []string, target, level string) []string {
	if n := len(where); n > 0 && strings.HasPrefix(where[n-1], target+" ") {
		where[n-1] += " " + level
		return where
	}
	return append(where, target+" "+level)
}

func remarkTable(remarks []Remark) string {
	t := table.NewWriter()
	style := TableStyle()
	style.Options.SeparateRows = true
	t.SetStyle(style)
	t.AppendHeader(table.Row{"case", "verdict", "where", "expected", "actual"})
	configs := []table.ColumnConfig{{Name: "verdict", WidthMax: cellWidth, WidthMaxEnforcer: text.WrapSoft}}
	for _, name := range []string{"expected", "actual"} {
		configs = append(configs, table.ColumnConfig{Name: name, WidthMax: cellWidth, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(configs)
	for _, x := range remarks {
		verdict := x.Verdict
		if x.Recorded != "" {
			verdict += fmt.Sprintf(" (recorded: %s)", x.Recorded)
		}
		t.AppendRow(table.Row{x.File, verdict, strings.Join(x.Where, "\n"), x.Expected, x.Actual})
	}
	return t.Render()
}

// sightTable lists the anomalies with the names of the literature. A level may allow them.
func sightTable(sights []Sight) string {
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	t.AppendHeader(table.Row{"case", "anomaly", "where"})
	for i := range sights {
		s := &sights[i]
		t.AppendRow(table.Row{s.File, s.Anomaly.Name, strings.Join(s.Where, "\n")})
	}
	return t.Render()
}

// Summary counts the verdicts in one line.
func (m *Matrix) Summary() string {
	s := fmt.Sprintf("%s, %s, %s: %d ok, %d known, %d violation, %d unknown",
		spelling.Count(len(m.Files), "case"), spelling.Count(len(m.Targets), "target"), spelling.Count(m.Runs, "run"),
		m.Counts[oracle.OK], m.Counts[oracle.Known], m.Counts[oracle.Violation], m.Counts[oracle.Unknown])
	return s + fmt.Sprintf("; %d other than recorded", m.Changed)
}
