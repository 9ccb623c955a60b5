package workload

import (
	"fmt"
	"maps"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// cuts returns what to try for a run without the k-th part of its i-th call, the
// likeliest first: the other statements stay in their order, or move up; and where others
// need what the part gave, they get what it gave in this run.
func cuts(s shown, i, k int) []*mutate.Input {
	without := withoutPart(s.in, i, k)
	n := node(s.in.Calls[i].Transaction.Body, k)
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
	return []*mutate.Input{withOrder(without, orderWithout(s, i, n.Place)), without}
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

// orderWithout is the order of a run without what one call sent for a part.
func orderWithout(s shown, i int, at workload.Place) []int {
	var out []int
	sent := 0
	for _, l := range s.outcome.Case.Steps {
		if l.Session == i+1 {
			steps := s.outcome.Calls[i].steps
			if sent++; sent <= len(steps) && steps[sent-1].at == at {
				continue
			}
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
