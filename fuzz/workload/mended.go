package workload

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// Mended is the workload with all the reads FOR UPDATE that are proposed for what was found
// at a level.
type Mended struct {
	Level     string   `json:"level"`
	File      string   `json:"file"`
	ForUpdate []string `json:"for_update"`
	// Diff is what these change in the workload's own file, in the unified format, DiffFile the file that holds it.
	Diff     string `json:"diff,omitempty"`
	DiffFile string `json:"diff_file,omitempty"`
	// Undecided are others, which were tried too rarely to be proposed. The file does not have
	// them: a lock that is not needed costs deadlocks.
	Undecided []string `json:"undecided"`
	// Left are the findings for which no read is proposed, Untried those of them for which none
	// was tried, for want of time. NotMended says why of each, for people.
	Left      []string `json:"left"`
	Untried   []string `json:"untried"`
	NotMended []string `json:"not_mended"`
	// Runs are those of the file itself: the next one has more reads FOR UPDATE.
	Runs []MendedRun `json:"runs"`

	level corpus.Level
	reads []read
}

// MendedRun is a run of a mended workload.
type MendedRun struct {
	Cases int `json:"cases"`
	// Aborted counts those in which the server took a transaction back.
	Aborted int `json:"aborted_cases"`
	// Wanted is how many would show with 95 % what showed even once before.
	Wanted  int          `json:"wanted"`
	Seconds float64      `json:"seconds"`
	Seen    []MendedSeen `json:"seen"`
	// Added are the reads that were made FOR UPDATE for what was seen.
	Added []string `json:"added"`
}

// MendedSeen is an anomaly that a mended workload still shows.
type MendedSeen struct {
	Transactions []string `json:"transactions"`
	Kind         Kind     `json:"kind"`
	Seen         int      `json:"seen"`
	Runs         int      `json:"runs"`
	File         string   `json:"file,omitempty"`
	// Expected says that no read was proposed for it before, Untried that this is so since
	// none was tried.
	Expected bool `json:"expected,omitempty"`
	Untried  bool `json:"untried,omitempty"`
	// Before is in how many of RunsBefore the unchanged workload showed it.
	Before     int `json:"before"`
	RunsBefore int `json:"runs_before"`
	// Detail is what the run in File shows, MayMend the reads that were tried too rarely to
	// be added.
	Detail  string   `json:"detail,omitempty"`
	MayMend []string `json:"for_update_undecided,omitempty"`

	as *Finding // nil: it was known, and is told elsewhere
}

// mended writes a workload for each level at which something was found that reads FOR
// UPDATE may mend, and runs it.
func (c *campaign) mended(ctx context.Context) error {
	var list []*Mended
	for _, l := range c.Levels {
		m := &Mended{Level: l.Short(), level: l, ForUpdate: []string{}, Undecided: []string{}, Left: []string{}, Untried: []string{}, NotMended: []string{}, Runs: []MendedRun{}}
		for _, f := range c.report.Findings {
			if f.level != l || f.Class != Isolation {
				continue
			}
			if m.take(f); len(f.Mend) == 0 {
				why := "no FOR UPDATE helps"
				m.Left = append(m.Left, f.ID)
				switch {
				case f.untried():
					why = "there was no time to try a FOR UPDATE"
					m.Untried = append(m.Untried, f.ID)
				case len(f.MayMend) > 0:
					why = "the FOR UPDATE that may help was tried too rarely"
				}
				m.NotMended = append(m.NotMended, fmt.Sprintf("%s with %s: %s", f.Kind, strings.Join(f.Transactions, " × "), why))
			}
		}
		if len(m.reads) > 0 {
			list = append(list, m)
		}
	}
	for i, m := range list {
		if err := c.write(m); err != nil {
			return err
		}
		// It is told of, too, if its run fails.
		c.report.Mended = append(c.report.Mended, m)
		if ctx.Err() == nil {
			if c.Progress != nil {
				fmt.Fprintf(c.Progress, "running %s\n", m.File)
			}
			share := time.Until(c.explainUntil) / time.Duration(len(list)-i)
			if err := c.runMended(ctx, m, time.Now().Add(share)); err != nil {
				return fmt.Errorf("run the mended workload: %w", err)
			}
			if err := c.write(m); err != nil { // now that it is known what it shows
				return err
			}
		}
	}
	c.report.Seconds = time.Since(c.begun).Seconds()
	return nil
}

// take adds what mends a finding, and returns which reads are new.
func (m *Mended) take(f *Finding) []string {
	added := []string{}
	for _, r := range f.reads {
		if len(f.Mend) == 0 {
			if !slices.Contains(m.reads, r) && !slices.Contains(m.Undecided, r.String()) {
				m.Undecided = append(m.Undecided, r.String())
			}
			continue
		}
		if !slices.Contains(m.reads, r) {
			m.reads = append(m.reads, r)
			added = append(added, r.String())
		}
	}
	m.ForUpdate = append(m.ForUpdate, added...)
	m.Undecided = slices.DeleteFunc(m.Undecided, func(r string) bool { return slices.Contains(m.ForUpdate, r) })
	return added
}

// workload returns the mended workload.
func (m *Mended) workload(w *workload.Workload) *workload.Workload {
	out := *w
	out.Transactions = nil
	for _, t := range w.Transactions {
		out.Transactions = append(out.Transactions, locking(t, m.reads))
	}
	out.Comments = slices.Concat(w.Comments, []string{"", m.Title() + "."})
	if len(m.Undecided) > 0 || slices.ContainsFunc(m.Runs, func(r MendedRun) bool { return len(r.Added) > 0 }) {
		out.Comments = append(out.Comments, "Line numbers are those of "+filepath.Base(w.File)+", not of this file.")
	}
	out.Comments = append(out.Comments, m.Told()...)
	return &out
}

// write writes the file of a mended workload.
func (c *campaign) write(m *Mended) error {
	slices.SortStableFunc(m.reads, func(a, b read) int { return a.line - b.line })
	m.ForUpdate = m.ForUpdate[:0]
	for _, r := range m.reads {
		m.ForUpdate = append(m.ForUpdate, r.String())
	}
	name := strings.TrimSuffix(c.report.Workload, filepath.Ext(c.report.Workload))
	m.File = filepath.Join(c.Out, strings.ToLower(name+"-mended-"+m.Level+"-"+string(c.server().DBMS))+".workload")
	if err := wholefile.Write(m.File, workload.Print(m.workload(c.w))); err != nil {
		return fmt.Errorf("write the mended workload: %w", err)
	}
	return c.writeDiff(m)
}

// runMended runs a mended workload. As long as it shows something that more reads FOR
// UPDATE may mend, they are added and it is run again.
func (c *campaign) runMended(ctx context.Context, m *Mended, until time.Time) error {
	for round := uint64(1); time.Now().Before(until); round++ {
		// A third is for what is seen; if nothing is, the next level has it.
		left := time.Until(until)
		again := c.onceMore(m, left*2/3, left/3, round)
		deadline, cancel := context.WithDeadline(ctx, until)
		again.reduction, again.endReduction = context.WithCancel(deadline)
		timed, stop := context.WithTimeout(deadline, again.Duration)
		err := again.work(timed)
		stop()
		again.endReduction()
		cancel()
		again.finish()
		c.report.Runs += again.report.Runs
		var useless *SettingError
		var refused *corpus.ParseError
		if err := errors.Join(err, again.failed); errors.As(err, &useless) || errors.As(err, &refused) {
			return nil // by chance, states or values that cannot be used: the cases had others
		} else if err != nil {
			return err
		}
		run := MendedRun{Cases: again.report.Cases, Wanted: again.Cases, Seconds: again.casesTook.Seconds(), Seen: []MendedSeen{}, Added: []string{}}
		for _, cell := range again.report.Cells {
			run.Aborted += cell.aborted
			for _, k := range sortedKeys(cell.Anomalies) {
				s := c.stillSeen(m, cell, k, again.report.Findings)
				run.Seen = append(run.Seen, s)
				if err := c.refute(m, s); err != nil {
					return err
				}
			}
		}
		for _, f := range again.report.Findings {
			switch f.Class {
			case Server:
				c.report.Findings = append(c.report.Findings, f)
			case Isolation:
				run.Added = append(run.Added, m.take(f)...)
			}
		}
		if run.Cases > 0 {
			m.Runs = append(m.Runs, run)
		}
		if len(run.Added) == 0 {
			return nil
		}
	}
	return nil
}

func (c *campaign) stillSeen(m *Mended, cell *Cell, k Kind, found []*Finding) MendedSeen {
	s := MendedSeen{Transactions: cell.Transactions, Kind: k, Seen: cell.Anomalies[k], Runs: cell.Runs}
	if i := slices.IndexFunc(found, func(f *Finding) bool { return s.is(f, m) }); i >= 0 {
		s.File, s.as, s.Detail, s.MayMend = found[i].File, found[i], found[i].Detail, found[i].MayMend
	}
	before := c.cell(cell.Transactions, m.level)
	s.Before, s.RunsBefore = before.Anomalies[k], before.Runs
	for _, f := range c.report.Findings {
		if s.is(f, m) && len(f.Mend) == 0 {
			s.Expected, s.Untried = true, f.untried()
			if f.Remains != nil && s.File == "" {
				s.File = f.Remains.File
			}
		}
	}
	return s
}

func (s *MendedSeen) is(f *Finding, m *Mended) bool {
	return f.Class == Isolation && f.Kind == s.Kind && f.level == m.level && slices.Equal(f.Transactions, s.Transactions)
}

// refute takes back what was proposed for a finding: the mended workload shows it.
func (c *campaign) refute(m *Mended, s MendedSeen) error {
	for _, f := range c.report.Findings {
		if !s.is(f, m) || len(f.Mend) == 0 {
			continue
		}
		f.MendFailed = fmt.Sprintf("in the mended workload it was seen in %d of %s, with FOR UPDATE on %s", s.Seen, spelling.Count(s.Runs, "run"), strings.Join(f.Mend, "; "))
		f.Mend, f.MayMend, f.reads = nil, nil, nil
		f.Remains = s.as
		if err := c.keep(f, f.trial.small.in, f.trial.small.outcome); err != nil {
			return err
		}
	}
	return nil
}

// onceMore is a campaign of the same sets of transactions on a mended workload.
func (c *campaign) onceMore(m *Mended, cases, explain time.Duration, round uint64) *campaign {
	w := m.workload(c.w)
	s := c.Settings
	s.Levels, s.Duration, s.Explain, s.Seed = []corpus.Level{m.level}, cases, explain, c.Seed+round
	s.Progress, s.Live = nil, nil // they would count from zero again
	// What showed even once here is then seen with 95 %, if it is as frequent as before.
	s.Cases = 0
	for _, cell := range c.cells {
		if cell.level == m.level {
			s.Cases += 3 * cell.Runs
		}
	}
	stage := NewStage(w, c.stage.Pool)
	stage.Protocol = c.stage.Protocol
	again := newCampaign(w, s, stage, filepath.Base(m.File))
	locked := func(sets [][]*workload.Transaction) (out [][]*workload.Transaction) {
		for _, set := range sets {
			same := make([]*workload.Transaction, len(set))
			for i, t := range set {
				same[i] = w.Transaction(t.Name)
			}
			out = append(out, same)
		}
		return out
	}
	again.smallest.sets, again.larger.sets, again.mends = locked(c.smallest.sets), locked(c.larger.sets), true
	again.addDangerous(firstWins(c.server()))
	// For these no reads are known; to look for them once more would take the time of others.
	for _, f := range c.report.Findings {
		if f.level == m.level && f.Class == Isolation && len(f.reads) == 0 && f.Reduced {
			again.known[f.cellKey] = &Finding{}
		}
	}
	return again
}

func (m *Mended) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s\n", m.Title(), m.File)
	if m.DiffFile != "" {
		fmt.Fprintf(b, "  as a change of your own file: %s\n", m.DiffFile)
	}
	for _, line := range m.Told() {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// nothing says what it means that a run showed nothing.
func (m *Mended) nothing(r *MendedRun) string {
	switch {
	case r.Cases < r.Wanted:
		return fmt.Sprintf("nothing seen, but that is too few to tell: %s would be needed", spelling.Count(r.Wanted, "case"))
	case len(m.NotMended) > 0:
		return "nothing seen, which proves little, since this file does not mend all"
	}
	return "nothing seen"
}

// Title says what the file holds.
func (m *Mended) Title() string {
	return "the workload for " + m.Level + " with every FOR UPDATE that is proposed"
}

// Told says what the file does not mend, and what its runs showed, in lines.
func (m *Mended) Told() []string {
	var out []string
	if len(m.NotMended) > 0 {
		out = append(out, "it does not mend")
		for _, s := range m.NotMended {
			out = append(out, "  "+s)
		}
	}
	if len(m.Undecided) > 0 {
		out = append(out, "it does not have these, since they were tried in too few runs to tell whether they help")
		for _, r := range m.Undecided {
			out = append(out, "  "+oneLine(r))
		}
	}
	if len(m.Runs) == 0 {
		return append(out, "there was no time to run it")
	}
	for i, r := range m.Runs {
		which := "this file was run"
		switch {
		case i > 0 && i == len(m.Runs)-1 && len(r.Added) == 0:
			which = "then this file was run"
		case i > 0:
			which = "then it was run again"
		case len(m.Runs) > 1 || len(r.Added) > 0:
			which = "at first, without what was added later, it was run"
		}
		line := fmt.Sprintf("%s at %s, %s in %.1f s%s: ", which, m.Level, spelling.Count(r.Cases, "case"), r.Seconds, aborted(r.Aborted))
		if len(r.Seen) == 0 {
			return append(out, line+m.nothing(&r))
		}
		rest := ""
		if r.Cases < r.Wanted {
			rest = fmt.Sprintf(" (of what it does not show, that is too few to tell: %s would be needed)", spelling.Count(r.Wanted, "case"))
		}
		out = append(out, line+"it still shows"+rest)
		helpless := false
		for _, s := range r.Seen {
			out = append(out, s.told(i == len(m.Runs)-1)...)
			helpless = helpless || !s.Expected && len(s.MayMend) == 0
		}
		switch {
		case len(r.Added) > 0:
			out = append(out, "so FOR UPDATE was added on")
			for _, a := range r.Added {
				out = append(out, "  "+a)
			}
			if i == len(m.Runs)-1 {
				out = append(out, "there was no time to run it again")
			}
		case helpless:
			out = append(out, "no FOR UPDATE was found that helps, or there was no time to look for it")
		}
	}
	return out
}

// told says of an anomaly that a mended workload shows how often, and, if whole is set, how.
func (s *MendedSeen) told(whole bool) []string {
	text := fmt.Sprintf("  %s with %s in %d of %s", s.Kind, strings.Join(s.Transactions, " × "), s.Seen, spelling.Count(s.Runs, "run"))
	if s.RunsBefore > 0 {
		text += fmt.Sprintf(" (unchanged: in %d of %s)", s.Before, spelling.Count(s.RunsBefore, "run"))
	}
	switch {
	case s.Untried:
		text += ", for which there was no time to try a FOR UPDATE"
	case s.Expected:
		text += ", which it does not mend"
	}
	out := []string{text + after(": ", s.File)}
	if !whole || s.as == nil {
		return out
	}
	out = append(out, "    "+s.Detail)
	for line := range strings.Lines(s.as.Schedule) {
		out = append(out, "  "+strings.TrimRight(line, "\n"))
	}
	if len(s.MayMend) > 0 {
		out = append(out, "    not added, since it was tried too rarely: FOR UPDATE on")
		for _, r := range s.MayMend {
			out = append(out, "      "+r)
		}
	}
	return out
}

// UnmendedText says for which levels no workload is written, though something was found
// there, in lines.
func (r *Report) UnmendedText() []string {
	if !r.proposes {
		return nil
	}
	var out []string
	for _, level := range r.Levels {
		found, untried, undecided := 0, 0, 0
		for _, f := range r.Findings {
			if f.Class == Isolation && f.Level == level {
				found++
				if f.untried() {
					untried++
				} else if len(f.MayMend) > 0 {
					undecided++
				}
			}
		}
		if found == 0 || slices.ContainsFunc(r.Mended, func(m *Mended) bool { return m.Level == level }) {
			continue
		}
		text := fmt.Sprintf("no mended workload for %s: a FOR UPDATE is proposed for none of %s", level, spelling.Count(found, "finding"))
		if untried > 0 {
			text += fmt.Sprintf("; for %d of them there was no time to try one", untried)
		}
		if undecided > 0 {
			text += fmt.Sprintf("; for %d of them one may help, but was tried too rarely", undecided)
		}
		out = append(out, text)
	}
	return out
}
