package workload

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// WriteText writes the report for people: a table of transactions and levels, then
// each finding.
func (r *Report) WriteText(out io.Writer) error { return r.WriteTextWith(out, nil) }

// WriteTextWith writes also the snippets of some frameworks.
func (r *Report) WriteTextWith(out io.Writer, frameworks []string) error {
	r.grouped()
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s %s, %s: %s\n", r.Workload, r.Target, r.ServerVersion, strings.Join(r.Levels, " "), r.WorkText())
	if r.Protocol != "" && r.Protocol != protocol.Text.String() {
		fmt.Fprintf(&b, "sent by protocol %s\n", r.Protocol)
	}
	for _, reason := range sortedKeys(r.Rejected) {
		fmt.Fprintf(&b, "rejected %6d  %s\n", r.Rejected[reason], reason)
	}
	for _, reason := range sortedKeys(r.Unknown) {
		fmt.Fprintf(&b, "the server's answers were not judged in %s: %s\n", spelling.Count(r.Unknown[reason], "case"), reason)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(&b, "unfinished %d\n", r.Unfinished)
	}
	r.writeSummary(&b)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	head := table.Row{"transactions"}
	for _, l := range r.Levels {
		head = append(head, l)
	}
	t.AppendHeader(head)
	for _, set := range r.sets() {
		row := table.Row{strings.Join(set, " × ")}
		for _, l := range r.Levels {
			row = append(row, r.cellText(set, l, true))
		}
		t.AppendRow(row)
	}
	b.WriteString(t.Render() + "\n")
	for _, s := range r.CoverageText() {
		b.WriteString(s + "\n")
	}
	for _, g := range r.Groups {
		g.writeText(&b, len(r.Groups))
		writeSnippets(&b, g.Snippets, frameworks)
	}
	for _, m := range r.Mended {
		m.writeText(&b)
	}
	for _, s := range r.UnmendedText() {
		fmt.Fprintf(&b, "\n%s\n", s)
	}
	if s := r.HelplessText(); s != "" {
		fmt.Fprintf(&b, "\n%s\n", s)
	}
	if r.Pending > 0 {
		fmt.Fprintf(&b, "\n%s\n", r.PendingText())
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing found" + r.ProofText() + "\n")
	}
	_, err := io.WriteString(out, b.String())
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// WorkText says what ran for how long.
func (r *Report) WorkText() string {
	return fmt.Sprintf("%s in %.1f s (%.0f a minute), beside %s; with those that explain findings %s in %.1f s", spelling.Count(r.Cases, "case"), r.CasesSeconds, r.CasesPerMinute, spelling.Count(r.Serial, "serial run"), spelling.Count(r.Runs, "run"), r.Seconds)
}

// sets returns the sets of transactions of the cells, in their order.
func (r *Report) sets() [][]string {
	var out [][]string
	for _, c := range r.Cells {
		if !slices.ContainsFunc(out, func(s []string) bool { return slices.Equal(s, c.Transactions) }) {
			out = append(out, c.Transactions)
		}
	}
	return out
}

func (r *Report) cell(set []string, level string) *Cell {
	for _, c := range r.Cells {
		if c.Level == level && slices.Equal(c.Transactions, set) {
			return c
		}
	}
	return nil
}

// fewRuns is a number of runs in which even what one of ten shows may stay unseen: with a
// probability of 4 %.
const fewRuns = 30

// cellText is what a cell shows; labelled: with the causes of it.
func (r *Report) cellText(set []string, level string, labelled bool) string {
	c := r.cell(set, level)
	if c == nil {
		return ""
	}
	var lines []string
	for _, k := range sortedKeys(c.Anomalies) {
		line := fmt.Sprintf("%s: %d", k, c.Anomalies[k])
		if g := r.groupIn(c, k); g != nil && labelled {
			line += " (" + g.Label() + ")"
		} else if f := r.finding(c.As[k]); f != nil {
			line += ", as " + strings.Join(f.Transactions, " × ")
		}
		lines = append(lines, line)
	}
	for _, id := range c.Findings {
		switch f := r.finding(id); {
		case f == nil:
		case f.Class != Isolation:
			lines = append(lines, f.Heading()+": "+string(f.Kind))
		case c.Anomalies[f.Kind] == 0:
			lines = append(lines, string(f.Kind)+": in a larger set that was made small")
		}
	}
	if c.Runs > 0 {
		only := ""
		if len(lines) == 0 {
			lines = append(lines, "not seen")
			if c.Runs < fewRuns {
				only = " only"
			}
		}
		lines = append(lines, "in "+spelling.Count(c.Runs, "run")+only)
	}
	for _, code := range sortedKeys(c.Aborts) {
		lines = append(lines, fmt.Sprintf("%s (%d)", spelling.Count(c.Aborts[code], "abort"), code))
	}
	for _, code := range sortedKeys(c.Refused) {
		lines = append(lines, fmt.Sprintf("%d refused (%d)", c.Refused[code], code))
	}
	return strings.Join(lines, "\n")
}

func (r *Report) finding(id string) *Finding {
	for _, f := range r.Findings {
		if f.ID == id {
			return f
		}
	}
	return nil
}

func (f *Finding) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s%s, %s\n", f.Heading(), f.Kind, f.named(), strings.Join(f.Calls, ", "))
	if f.Unexplained {
		b.WriteString("  at SERIALIZABLE, where nothing of that sort may be: look hard\n")
	}
	fmt.Fprintf(b, "  %s\n", f.Detail)
	if f.Unjudged != "" {
		fmt.Fprintf(b, "  %s\n", f.Unjudged)
	}
	fmt.Fprintf(b, "  seen %s, first after %.1f s; %s; %s besides BEGIN and COMMIT: %s\n", spelling.Count(f.Seen, "time"), f.FirstSeen, f.Again(), spelling.Count(f.Statements, "statement"), f.File)
	b.WriteString(f.Schedule)
	if len(f.LeftOut) > 0 {
		b.WriteString("  left out, here and in the serial orders:\n")
		for _, x := range f.LeftOut {
			fmt.Fprintf(b, "    %s\n", x)
		}
	}
	if len(f.Checks) > 0 {
		b.WriteString("  conditions that the calls check:\n")
		for _, x := range f.Checks {
			fmt.Fprintf(b, "    %s\n", x)
		}
	}
	if f.Needed != "" {
		fmt.Fprintf(b, "  %s\n", f.Needed)
	}
	if f.Class != Isolation {
		return
	}
	if !f.Reduced {
		b.WriteString("  there was no time to make it as small as it can be, to run it again and to look for what mends it\n")
		return
	}
	switch {
	case f.Weakest != "":
		fmt.Fprintf(b, "  weakest level at which it was not seen: %s, in %s%s\n", f.Weakest, spelling.Count(f.WeakestRuns, "run"), aborted(f.WeakestAborts))
	case f.MayBeWeakest != "":
		fmt.Fprintf(b, "  not seen at %s in %s; %s\n", f.MayBeWeakest, spelling.Count(f.WeakestRuns, "run"), f.TooFew("at "+f.Level))
	case f.above:
		b.WriteString("  seen at every level above that was tried\n")
	}
	switch {
	case len(f.Mend)+len(f.MayMend) > 0:
		fmt.Fprintf(b, "  not seen in %s%s with FOR UPDATE on\n", spelling.Count(f.MendRuns, "run"), aborted(f.MendAborts))
		for _, m := range slices.Concat(f.Mend, f.MayMend) {
			fmt.Fprintf(b, "    %s%s\n", m, f.Elsewhere(m))
		}
		if len(f.MayMend) > 0 {
			fmt.Fprintf(b, "  not proposed: %s\n", f.TooFew("without it"))
		}
	case f.MendFailed != "":
		fmt.Fprintf(b, "  no FOR UPDATE is proposed: %s\n", f.MendFailed)
		if f.Remains != nil {
			f.writeRemains(b)
		}
	}
}

// Heading is the class, and the level at which it holds: an application bug shows in a serial
// order, which is the same at all of them.
func (f *Finding) Heading() string {
	if f.Class == Application {
		return string(f.Class) + " at every level"
	}
	return string(f.Class) + " at " + f.Level
}

// aborted says of how many runs that the server took a transaction back in them.
func aborted(runs int) string {
	if runs == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them with an abort, such as a deadlock)", runs)
}

// Elsewhere says of a read that is proposed and left out of the case what it is for.
func (f *Finding) Elsewhere(read string) string {
	var line int
	if n, _ := fmt.Sscanf(read, "line %d,", &line); n == 1 && f.kept != nil && !f.kept[line] {
		return " (left out above; other runs of these transactions show the same without it)"
	}
	return ""
}

// mendsAs reports whether the reads that mend a finding are those that mend another one.
func (f *Finding) mendsAs(of *Finding) bool {
	mine, other := slices.Concat(f.Mend, f.MayMend), slices.Concat(of.Mend, of.MayMend)
	return len(mine) > 0 && slices.Equal(mine, other) && len(f.MayMend) == len(of.MayMend)
}

// writeAlso tells of a finding that is told at another level what differs at its own.
func (f *Finding) writeAlso(b *strings.Builder, of *Finding) {
	mine, other := slices.Concat(f.Mend, f.MayMend), slices.Concat(of.Mend, of.MayMend)
	note := ""
	switch {
	case f.Class != Isolation:
	case f.Reduced && f.mendsAs(of):
		if note = fmt.Sprintf(" (the same FOR UPDATE, not seen in %s)", spelling.Count(f.MendRuns, "run")); len(f.MayMend) > 0 {
			note = " (the same FOR UPDATE, tried too rarely there, too)"
		}
	case f.Reduced:
	case !of.Reduced:
		note = " (not explained there either)"
	case len(other) > 0:
		note = " (not explained there: no time, so FOR UPDATE was not tried there)"
	default:
		note = " (not explained there: no time)"
	}
	fmt.Fprintf(b, "  also at %s%s: %s\n", f.Level, note, f.File)
	switch {
	case f.Class != Isolation || !f.Reduced, f.mendsAs(of):
	case len(mine) > 0:
		fmt.Fprintf(b, "    there not seen in %s%s with FOR UPDATE on\n", spelling.Count(f.MendRuns, "run"), aborted(f.MendAborts))
		for _, m := range mine {
			fmt.Fprintf(b, "      %s\n", m)
		}
		if len(f.MayMend) > 0 {
			fmt.Fprintf(b, "    not proposed: %s\n", f.TooFew("without it"))
		}
	case f.MendFailed != "" && f.MendFailed != of.MendFailed:
		fmt.Fprintf(b, "    there no FOR UPDATE is proposed: %s\n", f.MendFailed)
	}
}

// TooFew says why a number of runs does not tell that an anomaly is gone.
func (f *Finding) TooFew(where string) string {
	often := "every run with new values shows it"
	if f.OneIn > 1 {
		often = fmt.Sprintf("about 1 of %d runs with new values shows it", f.OneIn)
	}
	return fmt.Sprintf("%s would be needed to tell, since %s %s", spelling.Count(f.NeededRuns, "run"), where, often)
}

// namedUnrun is how many of the sets that never ran are named for people.
const namedUnrun = 5

// NotRunText names the sets that never ran; empty: there are none.
func (r *Report) NotRunText() string {
	var names []string
	for _, set := range r.NotRun[:min(len(r.NotRun), namedUnrun)] {
		names = append(names, strings.Join(set, " × "))
	}
	if len(names) == 0 {
		return ""
	}
	if n := len(r.NotRun) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("never run: %d of %s of transactions: %s", len(r.NotRun), spelling.Count(r.Sets, "set"), strings.Join(names, ", "))
}

// ProofText says behind "nothing found" how much was tried.
func (r *Report) ProofText() string {
	var rarest *Cell
	sparse := 0
	for _, set := range r.sets() {
		some, everywhere := false, true
		for _, l := range r.Levels {
			c := r.cell(set, l)
			if c == nil || c.Runs == 0 {
				everywhere = false
				continue
			}
			some = true
			if rarest == nil || c.Runs < rarest.Runs {
				rarest = c
			}
		}
		if some && !everywhere {
			sparse++
		}
	}
	if rarest == nil {
		return ""
	}
	text := fmt.Sprintf(" in %s; the rarest set, %s, ran %s at %s", spelling.Count(r.Cases, "case"), strings.Join(rarest.Transactions, " × "), spelling.Count(rarest.Runs, "time"), rarest.Level)
	if sparse > 0 {
		text += fmt.Sprintf("; %d of %s did not run at every level", sparse, spelling.Count(r.Sets, "set"))
	}
	return text
}

// HelplessText says what to do where no FOR UPDATE helps; empty: there is no such finding.
func (r *Report) HelplessText() string {
	n := 0
	var levels []string
	for _, f := range r.Findings {
		if f.helpless() {
			n++
			if !slices.Contains(levels, f.Level) {
				levels = append(levels, f.Level)
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("no FOR UPDATE helps for %s: lock a row that the transactions share before you count, use a unique key or one UPDATE with the condition in it, or choose a stronger level; see \"When no FOR UPDATE helps\" in docs/workloads/README.md", spelling.Count(n, "finding")+" at "+strings.Join(levels, ", "))
}

// PendingText says how many findings are not explained, and about how much time would be
// enough.
func (r *Report) PendingText() string {
	text := fmt.Sprintf("%d of %s not explained for want of time and saved as seen: give more with --explain", r.Pending, spelling.Count(len(r.Findings), "finding"))
	switch {
	case r.explainNeeded > 0:
		text += ", about " + roundUp(r.explainNeeded)
	case r.explainedInVain > 0:
		text += fmt.Sprintf(", since %s was too short for the first", roundUp(r.explainedInVain))
	}
	return text
}

// roundUp is a time of which people need no more than one or two digits.
func roundUp(d time.Duration) string {
	unit := 10 * time.Second
	switch {
	case d > 20*time.Minute:
		unit = 10 * time.Minute
	case d > 2*time.Minute:
		unit = time.Minute
	case d <= 10*time.Second:
		unit = time.Second
	}
	s := (max((d+unit-1)/unit, 1) * unit).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func sortedKeys[K interface{ ~string | ~uint16 }, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
