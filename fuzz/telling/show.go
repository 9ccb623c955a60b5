package telling

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Show writes a run for people: who did what, the expected beside the actual,
// the versions that the wrong step met, and why it is wrong.
func Show(w io.Writer, r timeline.Run, version string) error {
	var b strings.Builder
	if r.History != nil {
		version = r.History.Server.Version
	}
	line := func(indent, format string, args ...any) {
		b.WriteString(indent + wrapped(fmt.Sprintf(format, args...), indent+"  ") + "\n")
	}
	line("", "%s on %s %s at %s", r.File, r.Target, version, target.LevelName(r.Levels))
	if r.History == nil {
		line("", "not run: %s: %s", r.Verdict.Reason, r.Verdict.Actual)
		_, err := io.WriteString(w, b.String())
		return err
	}
	t := timeline.Of(r)
	for _, s := range runLines(r) {
		line("  ", "%s", s)
	}
	for _, x := range r.History.Initial {
		line("  ", "%s at the start: %s", x.Name, timeline.Rows(x.Rows))
	}
	b.WriteString(interleaving(t) + "\n")
	for _, n := range r.History.Notifications {
		if n.Stmt < 0 {
			line("  ", "tx%d is notified at the end: %s", n.Session, n)
		}
	}
	for i, x := range r.History.Final {
		line("  ", "%s at the end: %s", x.Name, timeline.Rows(x.Rows))
		if i < len(t.Account.Final) && !history.SameRows(x.Rows, t.Account.Final[i].Rows, false) {
			line("  ", "%s expected: %s", x.Name, timeline.Rows(t.Account.Final[i].Rows))
		}
	}
	if r.History.End != history.Complete {
		fmt.Fprintf(&b, "  the run ended: %s %s\n", r.History.End, target.OneLine(target.FirstLines(r.History.Detail, 1)))
	}
	writeRowVersions(&b, t)
	writeFacts(&b, t)
	v := &r.Verdict
	fmt.Fprintf(&b, "verdict: %s", findings.VerdictText(v))
	if was := findings.RecordedVerdict(r.Case, r.Target, target.LevelName(r.Levels)); was != "" && was != findings.VerdictText(v) {
		fmt.Fprintf(&b, " (recorded: %s)", was)
	}
	b.WriteString("\n")
	if of, ok := r.Case.Get("workload"); ok {
		kind, _ := r.Case.Get("kind")
		line("  ", "that is about the server; what was found in %s: %s", of, kind)
		for _, key := range []string{"calls", "invariant"} {
			if s, ok := r.Case.Get(key); ok {
				line("  ", "%s: %s", key, s)
			}
		}
	}
	if v.Asked > 0 {
		line("  ", "the server itself computed what the oracle does not know: %s", campaign.Count(v.Asked, "answer"))
	}
	if v.Outcome != oracle.OK {
		if v.Outcome != oracle.Unknown && (v.Expected != "" || v.Actual != "") {
			line("  ", "expected: %s", v.Expected)
			line("  ", "actual: %s", v.Actual)
		}
		why := t.Account.Why
		if len(why) == 0 {
			why = []string{v.Reason}
			if v.Outcome == oracle.Unknown {
				why[0] = unknownText(v)
			}
		}
		b.WriteString("  because:\n")
		for _, s := range why {
			fmt.Fprintf(&b, "  - %s\n", wrapped(s, "    "))
		}
		for _, l := range t.Account.Links {
			fmt.Fprintf(&b, "  see %s\n", l)
		}
	}
	for i := range t.Account.Anomalies {
		line("  ", "phenomenon: %s", &t.Account.Anomalies[i])
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRowVersions lists the versions that each row has at the step that went
// wrong if everything before went as promised: a server does not tell its own.
func writeRowVersions(b *strings.Builder, t *timeline.Timeline) {
	if len(t.Account.Chains) == 0 {
		return
	}
	step, _, _ := t.Wrong()
	where := "in the end"
	if step > 0 {
		where = fmt.Sprintf("at step %d", step)
	}
	b.WriteString("  " + wrapped(fmt.Sprintf("versions of each row %s as they should be (the server may hold others), oldest first:", where), "    ") + "\n")
	for _, c := range t.Account.Chains {
		parts := make([]string, len(c.Versions))
		for i, v := range c.Versions {
			parts[i] = t.VersionText(v)
		}
		b.WriteString("    " + wrapped(fmt.Sprintf("%s row %d: %s", c.Table, c.Row, strings.Join(parts, "; ")), "      ") + "\n")
	}
}

// showWidth is how many columns of a terminal are there for sure.
const showWidth = 80

// interleaving draws the table of moments: a column for each session or, where
// those would be too narrow, one for all of them.
func interleaving(tl *timeline.Timeline) string {
	const most = 3
	header := []string{"step"}
	if len(tl.Sessions) <= most {
		for _, s := range tl.Sessions {
			header = append(header, fmt.Sprintf("tx%d (%s)", s, tl.Levels[s].Short()))
		}
	} else {
		header = append(header, "session", "statement")
	}
	rows := [][]string{append(header, "answer")}
	for i := range tl.Moments {
		m := &tl.Moments[i]
		sql := m.SQL
		if m.Resumed && m.Held != "" {
			sql = "… let go"
		} else if m.Resumed {
			sql = "… resumed"
		}
		row := []string{strconv.Itoa(m.Step)}
		if len(tl.Sessions) <= most {
			for _, s := range tl.Sessions {
				if s == m.Session {
					row = append(row, sql)
				} else {
					row = append(row, "")
				}
			}
		} else {
			row = append(row, fmt.Sprintf("tx%d (%s)", m.Session, tl.Levels[m.Session].Short()), sql)
		}
		rows = append(rows, append(row, answer(m)))
		if m.Differs && m.Expected != "" {
			below := make([]string, len(rows[0]))
			below[len(below)-1] = "expected " + m.Expected
			rows = append(rows, below)
		}
		if m.Waits {
			continue
		}
		for _, n := range tl.History.Notifications {
			if n.Stmt == m.Stmt {
				below := make([]string, len(rows[0]))
				below[len(below)-1] = "notified: " + n.String()
				rows = append(rows, below)
			}
		}
	}
	return listed(rows)
}

// listed draws a table as wide as a terminal; the first row is the header, the first
// column one of numbers.
func listed(rows [][]string) string {
	widths := fitted(rows, showWidth)
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignRight}}
	for i := 1; i < len(widths); i++ {
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: widths[i], WidthMaxEnforcer: text.WrapSoft})
	}
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	t.SetColumnConfigs(configs)
	for i, r := range rows {
		cells := make(table.Row, len(r))
		for j, c := range r {
			cells[j] = c
		}
		if i == 0 {
			t.AppendHeader(cells)
		} else {
			t.AppendRow(cells)
		}
	}
	return t.Render()
}

// fitted returns the widths of a table's columns: what their cells need, the widest
// cut down until the table, which draws three characters more for each, fits.
func fitted(rows [][]string, width int) []int {
	out := make([]int, len(rows[0]))
	room := width - 1
	for i := range out {
		for _, r := range rows {
			out[i] = max(out[i], text.LongestLineLen(r[i]))
		}
		room -= 3
	}
	for {
		sum, widest := 0, 1
		for i, w := range out {
			sum += w
			if i > 0 && w > out[widest] {
				widest = i
			}
		}
		if sum <= room || out[widest] <= 1 {
			return out
		}
		out[widest]--
	}
}

// answer fills the last column.
func answer(m *timeline.Moment) string {
	if m.Waits && m.Answer == "" {
		return m.WaitText()
	}
	got := m.Answer
	if m.Waits {
		got = m.WaitText() + ", no answer"
	}
	if m.Parked {
		got = "(sent late: its session waited) " + got
	}
	return got
}

// wrapped breaks a sentence between words, at the width of a terminal.
func wrapped(s, indent string) string {
	var b strings.Builder
	column := len(indent)
	for i, word := range strings.Fields(s) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > showWidth:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
