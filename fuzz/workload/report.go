package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Report is what a campaign came to. Its JSON keys are part of the command line's
// contract.
type Report struct {
	Workload      string   `json:"workload"`
	Target        string   `json:"target"`
	ServerVersion string   `json:"server_version"`
	Levels        []string `json:"levels"`
	Seed          uint64   `json:"seed"`
	Seconds       float64  `json:"seconds"`
	// Cases counts the runs of transactions against each other, Serial those one after
	// the other.
	Cases  int `json:"cases"`
	Serial int `json:"serial_runs"`
	// Runs counts all, those for reduction and the like among them.
	Runs int `json:"runs"`
	// CasesSeconds and CasesPerMinute leave out the time behind the cases, in which findings
	// are explained.
	CasesSeconds   float64 `json:"cases_seconds"`
	CasesPerMinute float64 `json:"cases_per_minute"`
	// Rejected counts states that the server refused, or in which an invariant did not
	// hold from the beginning, by reason.
	Rejected map[string]int `json:"rejected"`
	// Verdicts counts what the oracle said of the server.
	Verdicts map[oracle.Outcome]int `json:"verdicts"`
	// Unknown counts the runs of which the oracle cannot tell, by reason.
	Unknown map[string]int `json:"unknown"`
	// Unfinished counts runs that did not end.
	Unfinished int        `json:"unfinished"`
	Cells      []*Cell    `json:"cells"`
	Findings   []*Finding `json:"findings"`
	// Pending counts the findings that are saved as they were found: there was no time
	// to make them small and to look for what mends them.
	Pending int `json:"pending"`
	// Sets counts the sets of transactions that touch what one of them writes, NotRun lists
	// those that had no run.
	Sets   int        `json:"sets"`
	NotRun [][]string `json:"not_run"`
	// Apart lists the pairs of which neither touches what the other writes.
	Apart [][]string `json:"apart"`
	// HardlyRun lists the statements that fewer than one of a hundred calls came to.
	HardlyRun []string `json:"hardly_run"`
	// Mended are the workloads with the proposed reads FOR UPDATE.
	Mended []*Mended `json:"mended"`

	// explainNeeded is about how much time explaining all findings would take, 0 if that is
	// not known; explainedInVain is what was too short for one of them.
	explainNeeded, explainedInVain time.Duration
	// proposes says that FOR UPDATE was to be tried.
	proposes bool
}

// Cell is what was seen of a set of transactions at a level.
type Cell struct {
	Transactions []string `json:"transactions"`
	Level        string   `json:"level"`
	Runs         int      `json:"runs"`
	// Aborts counts what the server took back, by error; Refused what it refused.
	Aborts  map[uint16]int `json:"aborts"`
	Refused map[uint16]int `json:"refused"`
	// Anomalies counts runs by kind.
	Anomalies map[Kind]int `json:"anomalies"`
	// As holds, for anomalies that are no findings of their own, the ID of the one that some
	// of the transactions show.
	As map[Kind]string `json:"as"`
	// Findings are the IDs of those of the cell.
	Findings []string `json:"findings"`

	level corpus.Level
	// drawn counts runs of random inputs in random orders, shown those of them that showed
	// an anomaly: what they say of how rare it is, Runs does not.
	drawn float64
	// aborted counts the runs in which the server took a transaction back.
	aborted int
	shown   map[Kind]float64
	kept    map[Kind][]*mutate.Input
}

// Class says who is to blame.
type Class string

// The classes of findings.
const (
	// Isolation: every serial order is right, and the level allows this.
	Isolation Class = "isolation anomaly"
	// Application: a serial order breaks the invariant, too.
	Application Class = "application bug"
	// Server: the server does not do what it promises.
	Server Class = "finding of the server"
)

// Finding is one thing that is wrong.
type Finding struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`
	Kind  Kind   `json:"kind"`
	// Anomaly is the field's name for it, empty where it is not known.
	Anomaly string `json:"anomaly,omitempty"`
	// NamedBy tells where the name comes from: ByGraph or ByOrder.
	NamedBy      string   `json:"named_by,omitempty"`
	Level        string   `json:"level"`
	Transactions []string `json:"transactions"`
	Calls        []string `json:"calls"`
	File         string   `json:"file"`
	// Statements counts those of the case, BEGIN, COMMIT and ROLLBACK not among them.
	Statements int `json:"statements"`
	// LeftOut tells what of the calls the case does without; the serial orders that it
	// is compared with do without it, too.
	LeftOut []string `json:"left_out,omitempty"`
	// Checks are the conditions that the calls of the case still have.
	Checks []string `json:"checks,omitempty"`
	// Needed says of more than two transactions that it takes them all.
	Needed string `json:"transactions_needed,omitempty"`
	Detail string `json:"detail"`
	// Unjudged says, where the oracle cannot judge the run, that the server may be to
	// blame as well.
	Unjudged string `json:"not_judged,omitempty"`
	// Reduced says that there was time to make it small and look for what mends it.
	Reduced bool `json:"reduced"`
	// Reproduced is in how many of Reruns more runs of the saved case's order it showed;
	// ten are made if there is time.
	Reproduced int `json:"reproduced"`
	Reruns     int `json:"reruns"`
	// FirstSeen is in seconds since the start.
	FirstSeen float64 `json:"first_seen_s"`
	Seen      int     `json:"seen"`
	// OneIn is in one of how many runs of its transactions with new inputs it shows.
	OneIn int `json:"shows_in_one_of,omitempty"`
	// NeededRuns is in how many runs it must not be seen to say that it is gone.
	NeededRuns int `json:"needed_runs,omitempty"`
	// Weakest is the weakest level above at which it was not seen; empty where there is
	// none. MayBeWeakest is one that was tried in too few runs to tell.
	Weakest      string `json:"weakest_level,omitempty"`
	MayBeWeakest string `json:"weakest_level_undecided,omitempty"`
	WeakestRuns  int    `json:"weakest_level_runs,omitempty"`
	// WeakestAborts and MendAborts count those runs in which the server took a transaction
	// back, with a deadlock for example: what the mend costs.
	WeakestAborts int `json:"weakest_level_aborted_runs,omitempty"`
	// Mend tells which reads, made FOR UPDATE, made it disappear; MayMend those that
	// were tried in too few runs to tell.
	Mend       []string `json:"for_update,omitempty"`
	MayMend    []string `json:"for_update_undecided,omitempty"`
	MendRuns   int      `json:"for_update_runs,omitempty"`
	MendAborts int      `json:"for_update_aborted_runs,omitempty"`
	// MendFailed says why none is proposed.
	MendFailed string `json:"for_update_failed,omitempty"`
	// Remains is what is seen although every SELECT of the transactions is FOR UPDATE.
	Remains *Finding `json:"remains,omitempty"`
	// Unexplained says that it was seen at SERIALIZABLE although the oracle finds the
	// server's answers right.
	Unexplained bool `json:"unexplained,omitempty"`

	schedule string
	kept     map[int]bool // lines of the workload that the case has
	level    corpus.Level
	cellKey  string
	reads    []read
	above    bool // it was seen at every stronger level
	trial    *trial
}

// Within reports whether all transactions of a finding are among those of a list, each as
// often.
func (f *Finding) Within(names []string) bool { return within(f.Transactions, names) }

// Found says that there is a finding.
func (r *Report) Found() bool { return len(r.Findings) > 0 }

// WriteJSON writes the report.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// WriteText writes the report for people: a table of transactions and levels, then
// each finding.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s %s, %s: %s\n", r.Workload, r.Target, r.ServerVersion, strings.Join(r.Levels, " "), r.WorkText())
	for _, reason := range sortedKeys(r.Rejected) {
		fmt.Fprintf(&b, "rejected %6d  %s\n", r.Rejected[reason], reason)
	}
	for _, reason := range sortedKeys(r.Unknown) {
		fmt.Fprintf(&b, "the server's answers were not judged in %s: %s\n", spelling.Count(r.Unknown[reason], "case"), reason)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(&b, "unfinished %d\n", r.Unfinished)
	}
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
			row = append(row, r.cellText(set, l))
		}
		t.AppendRow(row)
	}
	b.WriteString(t.Render() + "\n")
	for _, s := range r.CoverageText() {
		b.WriteString(s + "\n")
	}
	for i, f := range r.Findings {
		// What the same transactions do at several levels is told once, at the strongest.
		last := true
		var also []*Finding
		for k, g := range r.Findings {
			if g != f && g.Class == f.Class && g.Kind == f.Kind && slices.Equal(g.Transactions, f.Transactions) {
				last = last && (g.level < f.level || g.level == f.level && k < i)
				also = append(also, g)
			}
		}
		if last {
			f.writeText(&b)
			for _, g := range also {
				g.writeAlso(&b, f)
			}
		}
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

func (r *Report) cellText(set []string, level string) string {
	c := r.cell(set, level)
	if c == nil {
		return ""
	}
	var lines []string
	for _, k := range sortedKeys(c.Anomalies) {
		line := fmt.Sprintf("%s: %d", k, c.Anomalies[k])
		if f := r.finding(c.As[k]); f != nil {
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
	b.WriteString(f.schedule)
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

// WriteJUnit writes one test for each cell, which fails where something was found.
func (r *Report) WriteJUnit(w io.Writer) error { return writeJUnit(w, r) }

// WriteSARIF writes the findings; version is that of this program.
func (r *Report) WriteSARIF(w io.Writer, version string) error { return writeSARIF(w, r, version) }

// WriteHTML writes the report as a page that stands alone.
func (r *Report) WriteHTML(w io.Writer) error { return writeHTML(w, r) }
