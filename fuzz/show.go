package fuzz

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ShowRecorded writes the run that was recorded beside a case's file; false:
// there is none.
func ShowRecorded(w io.Writer, file string, c *corpus.Case) (bool, error) {
	rec, ok, err := readRecording(file, c)
	if err != nil || !ok {
		return false, err
	}
	r := Trial{Case: c, Levels: rec.History.Levels, History: rec.History, Verdict: rec.Verdict}
	return true, writeRun(w, file, place{rec.Target, rec.History.Server}, &r)
}

// Show writes the run as a table of who did what, for people.
func (r *Replayed) Show(w io.Writer) error {
	server := history.Server{Version: r.ServerVersion}
	return writeRun(w, r.File, place{r.Target, server}, &r.run)
}

func writeRun(w io.Writer, file string, at place, r *Trial) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s %s at %s\n", file, at.target, at.server.Version, LevelName(r.Levels))
	if r.History == nil {
		fmt.Fprintf(&b, "not run: %s: %s\n", r.Verdict.Reason, r.Verdict.Actual)
		_, err := io.WriteString(w, b.String())
		return err
	}
	for _, t := range r.History.Initial {
		fmt.Fprintf(&b, "  %s at the start: %s\n", t.Name, rowsText(t))
	}
	b.WriteString(interleaving(r) + "\n")
	for _, t := range r.History.Final {
		fmt.Fprintf(&b, "  %s at the end: %s\n", t.Name, rowsText(t))
	}
	if r.History.End != history.Complete {
		fmt.Fprintf(&b, "  the run ended: %s %s\n", r.History.End, oneLine(firstLines(r.History.Detail, 1)))
	}
	v := &r.Verdict
	fmt.Fprintf(&b, "verdict: %s\n", verdictText(v))
	if v.Outcome != oracle.OK {
		if v.Expected != "" || v.Actual != "" {
			fmt.Fprintf(&b, "  expected: %s\n  actual:   %s\n", v.Expected, v.Actual)
		}
		fmt.Fprintf(&b, "  because:  %s\n", v.Reason)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// moment is one row of the table: a statement is sent and answered, or starts
// to wait, or is resumed.
type moment struct {
	tick    history.Tick
	stmt    int
	resumed bool
}

// moments orders what happened. A statement that waited has two rows.
func moments(h *history.History) []moment {
	var out []moment
	for i, s := range h.Stmts {
		out = append(out, moment{tick: s.Submit, stmt: i})
		if len(s.Waits) > 0 && s.Return > 0 {
			out = append(out, moment{tick: s.Return, stmt: i, resumed: true})
		}
	}
	slices.SortStableFunc(out, func(a, b moment) int { return int(a.tick - b.tick) })
	return out
}

// interleaving draws the table.
func interleaving(r *Trial) string {
	sessions := r.Case.Sessions()
	steps := oracle.Trace(r.Case, r.History)
	header := table.Row{"step"}
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignRight}}
	for i, s := range sessions {
		header = append(header, fmt.Sprintf("tx%d (%s)", s, r.Levels[s].Short()))
		configs = append(configs, table.ColumnConfig{Number: i + 2, WidthMax: statementWidth, WidthMaxEnforcer: text.WrapSoft})
	}
	header = append(header, "answer", "expected instead")
	for i := range 2 {
		configs = append(configs, table.ColumnConfig{Number: len(sessions) + 2 + i, WidthMax: cellWidth, WidthMaxEnforcer: text.WrapSoft})
	}
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, m := range moments(r.History) {
		st := &r.History.Stmts[m.stmt]
		line := r.Case.Steps[st.Line]
		row := table.Row{strconv.Itoa(st.Line + 1)}
		for _, s := range sessions {
			cell := ""
			if s == line.Session {
				cell = corpus.SQL(line.Stmt, corpus.Text)
				if m.resumed {
					cell = "… resumed"
				}
			}
			row = append(row, cell)
		}
		t.AppendRow(append(row, answer(st, steps, m)...))
	}
	return t.Render()
}

const statementWidth = 40

// answer fills the last two columns.
func answer(st *history.Stmt, steps []oracle.Step, m moment) table.Row {
	if len(st.Waits) > 0 && !m.resumed {
		return table.Row{waitText(st), ""}
	}
	got := "no answer"
	if st.Return > 0 {
		got = steps[m.stmt].Actual
	}
	if st.Parked && !m.resumed {
		got = "(sent late: its session waited) " + got
	}
	if !steps[m.stmt].Differs {
		return table.Row{got, ""}
	}
	return table.Row{got, steps[m.stmt].Expected}
}

func waitText(st *history.Stmt) string {
	var holders []string
	for _, w := range st.Waits {
		for _, h := range w.Holders {
			if name := fmt.Sprintf("tx%d", h); !slices.Contains(holders, name) {
				holders = append(holders, name)
			}
		}
	}
	if len(holders) == 0 {
		return "waits"
	}
	return "waits for " + strings.Join(holders, ", ")
}

// rowsText prints the rows of a table on one line.
func rowsText(t history.Table) string {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = c.String()
		}
		rows[i] = "(" + strings.Join(cells, ",") + ")"
	}
	if len(rows) == 0 {
		return "no rows"
	}
	return strings.Join(rows, " ")
}
