package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// shown is an input that shows an anomaly, and the run in which it did.
type shown struct {
	in      *mutate.Input
	outcome *Outcome
	found   *anomaly
	// whole is an input that showed it before anything was left out of its calls.
	whole *mutate.Input
}

// shows runs an input some times and returns the first run that shows an anomaly of a
// kind; nil: none did, or it cannot be run.
func (c *campaign) shows(in *mutate.Input, kind Kind, level corpus.Level, tries int) *shown {
	ctx := c.reduction
	var refs *serials
	for range tries {
		o, err := c.stage.Run(ctx, in, level)
		if err != nil || o.Calls == nil {
			return nil
		}
		if name, ok := strings.CutPrefix(string(kind), "invariant "); ok && !o.breaks(name) {
			continue // for which nothing need run serially
		}
		if refs == nil {
			refs = c.stage.serials(in, level)
			if bug, err := refs.applicationBug(ctx); err != nil || bug != nil {
				return nil
			}
		}
		a, err := refs.judge(ctx, o)
		if err != nil {
			return nil
		}
		if a != nil && a.kind == kind && check(o).Outcome != oracle.Violation {
			return &shown{in: in, outcome: o, found: a}
		}
	}
	return nil
}

// reduce drops calls, parts of transactions, statements and rows, and makes the order simpler, as
// long as the anomaly shows and every serial order is right.
func (c *campaign) reduce(in *mutate.Input, o *Outcome, a *anomaly, level corpus.Level) shown {
	best := shown{in: withOrder(in, ran(o)), outcome: o, found: a}
	best.whole = best.in
	try := func(in *mutate.Input) bool {
		s := c.shows(in, a.kind, level, 2)
		if s == nil {
			return false
		}
		s.in, s.whole = withOrder(s.in, ran(s.outcome)), best.whole
		best = *s
		return true
	}
	// A call of which not much is left may turn out not to be needed.
	fewer := func() {
		for i := len(best.in.Calls) - 1; i >= 0 && len(best.in.Calls) > 2; i-- {
			if try(withoutCall(best.in, i)) {
				best.whole = withoutCall(best.whole, i)
			}
		}
	}
	fewer()
	best.whole = best.in
	if x := straight(best); x != nil {
		try(x)
	}
	for _, t := range c.w.Tables() {
		if x := withTable(c.w, best, t); x != nil && try(x) {
			break
		}
	}
	for {
		size := weight(best.in)
		fewer()
		for i := range best.in.Calls {
			for k := count(best.in.Calls[i].Transaction.Body) - 1; k >= 0; k-- {
				for _, cut := range cuts(best, i, k) {
					if try(cut) {
						break
					}
				}
			}
		}
		dropRows(best.in.State.Rows(), func(i, n int) bool {
			x := *best.in
			x.State = x.State.Without(i, n)
			return try(&x)
		})
		for {
			simpler := false
			before := switches(best.in.Order)
			for _, order := range simplerOrders(best.in.Order) {
				// Waits can make another order of it, and no simpler one.
				if simpler = try(withOrder(best.in, order)) && switches(best.in.Order) < before; simpler {
					break
				}
			}
			if !simpler {
				break
			}
		}
		if weight(best.in) >= size {
			return best
		}
	}
}

// neededTries is how often it is tried to show an anomaly with fewer transactions.
const neededTries = 10

// needed tells of an anomaly of more than two transactions how often each smaller set
// was tried in vain; empty for others. Under snapshot isolation there are anomalies that
// no two transactions show: Fekete, O'Neil and O'Neil, "A Read-Only Transaction Anomaly
// Under Snapshot Isolation", SIGMOD Record 2004.
func (c *campaign) needed(in *mutate.Input, kind Kind, level corpus.Level) string {
	if len(in.Calls) <= 2 {
		return ""
	}
	for i := range in.Calls {
		if c.shows(withoutCall(in, i), kind, level, neededTries) != nil || c.reduction.Err() != nil {
			return ""
		}
	}
	return fmt.Sprintf("it takes all %d transactions: without any one of them it was not seen in %d runs", len(in.Calls), neededTries)
}

// weight is what reduction makes smaller.
func weight(in *mutate.Input) int {
	n := in.State.Rows() + switches(in.Order)
	for i := range in.Calls {
		n += 10 * (1 + count(in.Calls[i].Transaction.Body))
	}
	return n
}

// ran is the order in which the statements of a run were sent.
func ran(o *Outcome) []int {
	out := make([]int, len(o.Case.Steps))
	for i, l := range o.Case.Steps {
		out[i] = l.Session
	}
	return out
}

func withOrder(in *mutate.Input, order []int) *mutate.Input {
	out := *in
	out.Order = order
	return &out
}

func withoutCall(in *mutate.Input, i int) *mutate.Input {
	out := *in
	out.Calls = slices.Delete(slices.Clone(in.Calls), i, i+1)
	out.Order = nil
	for _, n := range in.Order {
		switch {
		case n-1 < i:
			out.Order = append(out.Order, n)
		case n-1 > i:
			out.Order = append(out.Order, n-1)
		}
	}
	return &out
}

func withTransaction(in *mutate.Input, i int, t *workload.Transaction) *mutate.Input {
	out := *in
	out.Calls = slices.Clone(in.Calls)
	out.Calls[i].Transaction = t
	return &out
}

// count is how many parts a body has.
func count(body []workload.Node) int {
	n := 0
	workload.Walk(body, func(*workload.Node) { n++ })
	return n
}

// withoutNode returns a transaction without its k-th part, nil if nothing would be left
// of it or of a repeat.
func withoutNode(t *workload.Transaction, k int) *workload.Transaction {
	out := *t
	ok := true
	n := -1
	var cut func(body []workload.Node) []workload.Node
	cut = func(body []workload.Node) []workload.Node {
		var kept []workload.Node
		for i := range body {
			n++
			if n == k {
				n += count(body[i].Body)
				continue
			}
			x := body[i]
			if x.Kind == workload.Repeat {
				x.Body = cut(x.Body)
				ok = ok && len(x.Body) > 0
			}
			kept = append(kept, x)
		}
		return kept
	}
	out.Body = cut(t.Body)
	if !ok || len(out.Body) == 0 {
		return nil
	}
	return &out
}

// unset reports whether a call reads a variable that nothing sets any more.
func unset(c *mutate.Call) bool {
	t := c.Transaction
	set := append([]string{workload.VarAffected, workload.VarFound, workload.VarLastID}, slices.Collect(maps.Keys(c.Known))...)
	for _, q := range t.Params {
		set = append(set, q.Name)
	}
	carried, missing := false, false
	workload.Walk(t.Body, func(n *workload.Node) {
		if n.Kind == workload.Repeat && n.Times == nil {
			missing = missing || !carried
			return
		}
		for _, name := range readBy(n) {
			missing = missing || !slices.Contains(set, name)
		}
		set, carried = append(set, n.Into...), carried || len(n.Into) > 0
	})
	return missing
}

func switches(order []int) int {
	n := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1] {
			n++
		}
	}
	return n
}

// simplerOrders returns orders with fewer changes from one session to another: each
// joins a run of one session's statements to another run of the same session.
func simplerOrders(order []int) [][]int {
	type run struct{ from, to int }
	var runs []run
	for i := range order {
		if i == 0 || order[i] != order[i-1] {
			runs = append(runs, run{i, i + 1})
		} else {
			runs[len(runs)-1].to = i + 1
		}
	}
	var out [][]int
	for k := range runs {
		part := order[runs[k].from:runs[k].to]
		for _, j := range []int{k - 2, k + 2} {
			if j < 0 || j >= len(runs) || order[runs[j].from] != part[0] {
				continue
			}
			rest := slices.Concat(order[:runs[k].from], order[runs[k].to:])
			at := runs[j].to
			if j > k {
				at = runs[j].from - len(part)
			}
			if x := slices.Insert(rest, at, part...); switches(x) < switches(order) {
				out = append(out, x)
			}
		}
	}
	return out
}

// reduceSerial drops calls and rows from calls that break an invariant one after the
// other. Their statements stay: without one of them any transaction would break something,
// and nobody could say any more which of them is wrong. The outcome is nil if that was not seen again.
func (c *campaign) reduceSerial(in *mutate.Input, kind Kind, level corpus.Level) (*mutate.Input, *Outcome) {
	var outcome *Outcome
	best := in
	try := func(x *mutate.Input) bool {
		o, err := c.stage.Serial(c.reduction, x, all(x), level)
		if err != nil || o.Calls == nil || len(o.Before) > 0 || !slices.ContainsFunc(o.Broken, func(b Broken) bool { return invariantKind(b.Invariant.Name) == kind }) {
			return false
		}
		best, outcome = x, o
		return true
	}
	if !try(in) {
		return in, nil
	}
	for i := len(best.Calls) - 1; i >= 0 && len(best.Calls) > 1; i-- {
		try(withoutCall(best, i))
	}
	dropRows(best.State.Rows(), func(i, n int) bool {
		x := *best
		x.State = x.State.Without(i, n)
		return try(&x)
	})
	return best, outcome
}

// dropRows tries to drop n rows, in halves, quarters and so on, from the last one back.
func dropRows(n int, try func(from, n int) bool) {
	for size := max(n/2, 1); n > 0; size /= 2 {
		for from := n - size; from > -size; from -= size {
			at := max(from, 0)
			if part := from + size - at; try(at, part) {
				n -= part
			}
		}
		if size == 1 {
			return
		}
	}
}

// drop takes back a finding that another one stands for.
func (c *campaign) drop(f *Finding) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Findings = slices.DeleteFunc(c.report.Findings, func(g *Finding) bool { return g == f })
	if f.File == "" {
		return nil
	}
	for _, file := range []string{f.File, explanationFile(f.File)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a finding that another stands for: %w", err)
		}
	}
	return nil
}
