package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// cuts returns what to try for a run without the k-th part of its i-th call, the
// likeliest first: the other statements stay in their order, or move up; and where others
// need what the part gave, they get what it gave in this run.
func cuts(s shown, i, k int) []*mutate.Input {
	n := node(s.in.Calls[i].Transaction.Body, k)
	if locks(n) || sharesVariable(s.in.Calls[i].Transaction.Body, n) {
		return nil
	}
	without := withoutPart(s.in, i, k)
	if n.Kind != workload.Run {
		if without == nil {
			return nil
		}
		return []*mutate.Input{without}
	}
	if without == nil {
		if without = settled(s, i, k, n); without == nil {
			return nil
		}
	}
	return []*mutate.Input{withOrder(without, orderWithout(s, func(call int, at workload.Place) bool { return call == i && at == n.Place })), without}
}

// locks reports whether a part of a transaction has a SELECT that locks: without it the
// rest could run in an order that the whole transaction does not allow.
func locks(n *workload.Node) bool {
	found := false
	workload.Walk([]workload.Node{*n}, func(n *workload.Node) {
		found = found || n.Kind == workload.Run && stmt.KindOf(n.Stmt).LocksRead()
	})
	return found
}

// sharesVariable reports whether other statements would take another value for a variable
// without a part of a transaction: one that a different part sets, too, or one of those that
// the last statement of a kind sets by itself.
func sharesVariable(body []workload.Node, part *workload.Node) bool {
	var mine []string
	inside := map[*workload.Node]bool{part: true}
	workload.Walk(part.Body, func(n *workload.Node) { inside[n] = true })
	by := map[string]bool{} // variables that the part set last
	shared := false
	for n := range inside {
		mine = append(mine, n.Into...)
	}
	workload.Walk(body, func(n *workload.Node) {
		if inside[n] {
			for _, name := range impliedBy(n) {
				by[name] = true
			}
			return
		}
		shared = shared || slices.ContainsFunc(n.Into, func(name string) bool { return slices.Contains(mine, name) })
		for _, name := range readBy(n) {
			shared = shared || by[name]
		}
		for _, name := range impliedBy(n) {
			by[name] = false
		}
	})
	return shared
}

// impliedBy returns the variables that a statement sets without INTO.
func impliedBy(n *workload.Node) []string {
	if n.Kind != workload.Run {
		return nil
	}
	switch n.Stmt.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return []string{workload.VarFound}
	case *ast.InsertStmt:
		return []string{workload.VarAffected, workload.VarLastID}
	}
	return []string{workload.VarAffected}
}

// readBy returns the variables that a part of a transaction reads itself.
func readBy(n *workload.Node) []string {
	switch {
	case n.Kind == workload.Run:
		return workload.Variables(n.Stmt)
	case n.Kind == workload.Unless:
		return workload.Variables(n.Cond)
	case n.Times != nil:
		return workload.Variables(n.Times)
	}
	return nil
}

// withoutPart returns an input without the k-th part of its i-th call, nil where others
// need it.
func withoutPart(in *mutate.Input, i, k int) *mutate.Input {
	t := withoutNode(in.Calls[i].Transaction, k)
	if t == nil {
		return nil
	}
	out := withTransaction(in, i, t)
	if unset(&out.Calls[i]) {
		return nil
	}
	return out
}

// settled is withoutPart for a SELECT whose values others need: they are taken from the
// run. Every serial order gets the same ones, so what shows without the SELECT does not
// come from what it would have read. nil: it ran not just once, or nothing would be left.
func settled(s shown, i, k int, n *workload.Node) *mutate.Input {
	var gave map[string]ast.ExprNode
	for _, x := range s.outcome.Calls[i].steps {
		if x.at == n.Place {
			if gave != nil || x.gave == nil {
				return nil
			}
			gave = x.gave
		}
	}
	t := withoutNode(s.in.Calls[i].Transaction, k)
	if gave == nil || t == nil {
		return nil
	}
	out := withTransaction(s.in, i, t)
	known := maps.Clone(gave)
	for name, v := range s.in.Calls[i].Known {
		if _, ok := known[name]; !ok {
			known[name] = v
		}
	}
	out.Calls[i].Known = known
	if unset(&out.Calls[i]) {
		return nil
	}
	return out
}

// withTable returns a run's input with those statements only that name a table, nil if
// that leaves out none, or all of a call. Statements that an invariant binds together, as those
// that put in an order and its lines, go together or not at all.
func withTable(w *workload.Workload, s shown, t *workload.Table) *mutate.Input {
	x := shown{in: s.in, outcome: s.outcome}
	gone := make([]map[workload.Place]bool, len(x.in.Calls))
	cut := 0
	for i := range x.in.Calls {
		gone[i] = map[workload.Place]bool{}
		names := false
		for k := count(x.in.Calls[i].Transaction.Body) - 1; k >= 0; k-- {
			n := node(x.in.Calls[i].Transaction.Body, k)
			if n.Kind != workload.Run {
				continue
			}
			if slices.Contains(tablesOf(w, n.Stmt), t) {
				names = true
				continue
			}
			if locks(n) || sharesVariable(x.in.Calls[i].Transaction.Body, n) {
				continue
			}
			// What a SELECT found may matter, too, not only its values.
			in := settled(x, i, k, n)
			if in == nil {
				in = withoutPart(x.in, i, k)
			}
			if in != nil {
				x.in, gone[i][n.Place] = in, true
				cut++
			}
		}
		if !names {
			return nil
		}
	}
	if cut == 0 {
		return nil
	}
	return withOrder(x.in, orderWithout(s, func(i int, at workload.Place) bool { return gone[i][at] }))
}

// straight returns a run's input with the way that its calls took between statements:
// without what they passed over and the conditions that made them do so, so that none of
// these is left out later and lets the other way be taken. It is nil if there was one way
// only. What a repeat does may differ from row to row, and what ends a call early keeps
// serial orders right.
func straight(s shown) *mutate.Input {
	out := s.in
	for i := range s.in.Calls {
		call, o := &s.in.Calls[i], &s.outcome.Calls[i]
		if call.Transaction.Code != nil {
			continue
		}
		t := *call.Transaction
		t.Body = slices.DeleteFunc(slices.Clone(t.Body), func(n workload.Node) bool {
			passed := n.Kind == workload.Run && !slices.ContainsFunc(o.steps, func(x step) bool { return x.at == n.Place })
			return n.Kind == workload.Unless && n.Do == workload.Skip || passed
		})
		if len(t.Body) == 0 || len(t.Body) == len(call.Transaction.Body) {
			continue
		}
		if in := withTransaction(out, i, &t); !unset(&in.Calls[i]) {
			out = in
		}
	}
	if out == s.in {
		return nil
	}
	return out
}

// orderWithout is the order of a run without what was sent for some parts of calls.
func orderWithout(s shown, gone func(call int, at workload.Place) bool) []int {
	var out []int
	sent := make([]int, len(s.outcome.Calls))
	for _, l := range s.outcome.Case.Steps {
		i := l.Session - 1
		steps := s.outcome.Calls[i].steps
		if sent[i]++; sent[i] <= len(steps) && gone(i, steps[sent[i]-1].at) {
			continue
		}
		out = append(out, l.Session)
	}
	return out
}

// node returns the k-th part of a body.
func node(body []workload.Node, k int) *workload.Node {
	var out *workload.Node
	workload.Walk(body, func(n *workload.Node) {
		if k == 0 {
			out = n
		}
		k--
	})
	return out
}

// leftOut tells which statements and conditions the calls of a reduced input lack that
// the workload has.
func leftOut(w *workload.Workload, in *mutate.Input) []string {
	var out []string
	for i := range in.Calls {
		call := &in.Calls[i]
		whole := w.Transaction(call.Transaction.Name)
		if whole == nil {
			continue
		}
		kept := map[workload.Place]bool{}
		workload.Walk(call.Transaction.Body, func(n *workload.Node) { kept[n.Place] = true })
		workload.Walk(whole.Body, func(n *workload.Node) {
			if kept[n.Place] {
				return
			}
			text := fmt.Sprintf("tx%d, line %d: %s", i+1, n.Place.Line, n)
			var taken []string
			for _, name := range n.Into {
				if v := call.Known[name]; v != nil {
					taken = append(taken, ":"+name+" = "+exprText(v))
				}
			}
			if len(taken) > 0 {
				text += " (taken as " + strings.Join(taken, ", ") + ")"
			}
			out = append(out, text)
		})
	}
	return out
}

// keptLines returns the lines of the workload that the calls of an input have.
func keptLines(in *mutate.Input) map[int]bool {
	out := map[int]bool{}
	for i := range in.Calls {
		workload.Walk(in.Calls[i].Transaction.Body, func(n *workload.Node) { out[n.Place.Line] = true })
	}
	return out
}

// checks tells which conditions the calls of an input have.
func checks(in *mutate.Input) []string {
	var out []string
	for i := range in.Calls {
		workload.Walk(in.Calls[i].Transaction.Body, func(n *workload.Node) {
			if n.Kind == workload.Unless {
				out = append(out, fmt.Sprintf("tx%d, line %d: %s", i+1, n.Place.Line, n))
			}
		})
	}
	return out
}

// statements counts those of a run that do something: BEGIN, COMMIT and ROLLBACK, which
// come by themselves, are not among them.
func statements(o *Outcome) int {
	n := 0
	for _, l := range o.Case.Steps {
		switch l.Stmt.(type) {
		case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt:
		default:
			n++
		}
	}
	return n
}
