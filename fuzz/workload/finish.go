package workload

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// finish puts the report together.
func (c *campaign) finish() {
	r := c.report
	r.Runs = int(c.stage.runs.Load())
	r.Seconds = time.Since(c.begun).Seconds()
	r.CasesSeconds = c.casesTook.Seconds()
	r.CasesPerMinute = float64(r.Cases) / max(r.CasesSeconds, 0.001) * 60
	c.fold()
	c.placePending()
	for _, f := range r.Findings {
		f.settle(c)
		if f.Class == Isolation && !f.Reduced {
			r.Pending++
		}
	}
	if took := time.Since(c.explainSince); r.Pending > 0 {
		if c.finished > 0 {
			took = took * time.Duration(c.finished+r.Pending) / time.Duration(c.finished)
			r.explainNeeded = c.allotted(took)
		} else {
			r.explainedInVain = c.allotted(took)
		}
	}
	for _, key := range c.order {
		r.Cells = append(r.Cells, c.cells[key])
	}
	position := func(x *Cell) int {
		n := len(x.Transactions) << 40
		for k, name := range x.Transactions {
			n += slices.IndexFunc(c.w.Transactions, func(t *workload.Transaction) bool { return t.Name == name }) << (8 * (3 - k))
		}
		return n<<3 + int(x.level)
	}
	slices.SortStableFunc(r.Cells, func(a, b *Cell) int { return position(a) - position(b) })
	for _, cell := range r.Cells {
		cell.refer(r)
	}
	c.listUnrun()
	c.listApart()
	c.listHardlyRun()
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int {
		if a.Class != b.Class {
			return classRank(a.Class) - classRank(b.Class)
		}
		if d := a.Kind.rank() - b.Kind.rank(); a.Class == Isolation && d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// fold drops a finding where some of its transactions show the same at the same level:
// it adds nothing to that. The counts of the cells stay.
func (c *campaign) fold() {
	for _, f := range slices.Clone(c.report.Findings) {
		if f.Class == Isolation && c.report.within(f.Kind, f.Level, f.Transactions) != nil {
			c.failed = errors.Join(c.failed, c.drop(f))
		}
	}
}

// within returns an anomaly that some of the transactions show at a level, nil if there is
// none.
func (r *Report) within(kind Kind, level string, names []string) *Finding {
	for _, f := range r.Findings {
		if f.Class == Isolation && f.Kind == kind && f.Level == level && len(f.Transactions) < len(names) && within(f.Transactions, names) {
			return f
		}
	}
	return nil
}

// refer says of the anomalies of a cell that are no findings of their own which ones stand
// for them.
func (cell *Cell) refer(r *Report) {
	for kind := range cell.Anomalies {
		if f := r.within(kind, cell.Level, cell.Transactions); f != nil {
			cell.As[kind] = f.ID
		}
	}
}

// listUnrun lists the sets that never had a run.
func (c *campaign) listUnrun() {
	for _, set := range slices.Concat(c.smallest.sets, c.larger.sets) {
		names := namesOfSet(set)
		c.report.Sets++
		if !slices.ContainsFunc(c.Levels, func(l corpus.Level) bool {
			cell := c.cells[c.cellKey(names, l)]
			return cell != nil && cell.Runs > 0
		}) {
			c.report.NotRun = append(c.report.NotRun, names)
		}
	}
}

// within reports whether a list holds all of another one, each as often.
func within(part, whole []string) bool {
	left := slices.Clone(whole)
	for _, x := range part {
		i := slices.Index(left, x)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func classRank(c Class) int { return slices.Index([]Class{Server, Application, Isolation}, c) }

// settle adds what is known of a finding at the end only.
func (f *Finding) settle(c *campaign) {
	cell := c.cell(f.Transactions, f.level)
	if f.Class == Isolation {
		if n := cell.Anomalies[f.Kind]; n > 0 { // what larger sets were reduced to is counted there
			f.Seen = n
		}
	}
	if !slices.Contains(cell.Findings, f.ID) {
		cell.Findings = append(cell.Findings, f.ID)
	}
	if f.trial != nil {
		f.trial.tell(c)
	}
}

// placeTime bounds looking for the groups of findings that were not explained.
const placeTime = 5 * time.Second

// placePending looks for the groups of findings that there was no time to explain: the run in which one was seen may
// show the conflicts of another finding.
func (c *campaign) placePending() {
	if c.mends {
		return // its findings are told with those of the workload itself
	}
	known := map[string]bool{}
	for _, f := range c.report.Findings {
		known[f.groupKey()] = true
	}
	for until := time.Now().Add(placeTime); len(c.queue) > 0 && time.Now().Before(until); c.queue = c.queue[1:] {
		p := c.queue[0]
		if p.f.Reduced || p.f.Anomaly != "" || len(p.in.Calls) == 0 {
			continue
		}
		n, ok := nameByGraph(shown{in: p.in, outcome: p.o})
		as := &Finding{Class: Isolation, Anomaly: n.name, Conflicts: n.conflicts}
		if ok && known[as.groupKey()] {
			p.f.Anomaly, p.f.NamedBy, p.f.Conflicts = n.name, ByGraph, n.conflicts
		}
	}
}
