package workload

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// touched holds the tables that a statement reads and writes, lower-case.
type touched struct {
	reads, writes []string
	any           bool
}

// codeSteps is how many statements code is taken to send.
const codeSteps = 4

func (t *touched) all() []string { return slices.Concat(t.writes, t.reads) }

func tablesOf(s ast.StmtNode) *touched {
	f := &tableFinder{}
	s.Accept(f)
	t := &touched{}
	for i, name := range f.names {
		_, isSelect := s.(*ast.SelectStmt)
		_, isUnion := s.(*ast.SetOprStmt)
		if i == 0 && !isSelect && !isUnion {
			t.writes = append(t.writes, name)
		} else {
			t.reads = append(t.reads, name)
		}
	}
	return t
}

type tableFinder struct{ names []string }

func (f *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		f.names = append(f.names, strings.ToLower(t.Name.O))
	}
	return n, false
}

func (f *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// conflict says that two statements touch a table that one of them writes.
func (t *touched) conflict(o *touched) bool {
	meet := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(n string) bool { return slices.Contains(b, n) })
	}
	return t.any || o.any || meet(t.writes, o.all()) || meet(o.writes, t.reads)
}

// footprint returns what the statements of a transaction touch, in order. Code may touch
// anything, in a few statements.
func footprint(t *workload.Transaction) []*touched {
	var out []*touched
	if t.Code != nil {
		return slices.Repeat([]*touched{{any: true}}, codeSteps)
	}
	workload.Walk(t.Body, func(n *workload.Node) {
		if n.Kind == workload.Run {
			out = append(out, tablesOf(n.Stmt))
		}
	})
	return out
}

// Sets returns the sets of transactions of a size, with repetition, in which each
// meets another one: they touch a table that one of the two writes.
func Sets(w *workload.Workload, size int) [][]*workload.Transaction {
	n := len(w.Transactions)
	meets := make([][]bool, n)
	for i, a := range w.Transactions {
		meets[i] = make([]bool, n)
		for j, b := range w.Transactions {
			for _, x := range footprint(a) {
				meets[i][j] = meets[i][j] || slices.ContainsFunc(footprint(b), x.conflict)
			}
		}
	}
	var out [][]*workload.Transaction
	var pick func(from int, chosen []int)
	pick = func(from int, chosen []int) {
		if len(chosen) == size {
			for x, i := range chosen {
				if !slices.ContainsFunc(chosen[:x:x], func(j int) bool { return meets[i][j] }) &&
					!slices.ContainsFunc(chosen[x+1:], func(j int) bool { return meets[i][j] }) {
					return
				}
			}
			set := make([]*workload.Transaction, size)
			for x, i := range chosen {
				set[x] = w.Transactions[i]
			}
			out = append(out, set)
			return
		}
		for i := from; i < n; i++ {
			pick(i, append(slices.Clip(chosen), i))
		}
	}
	pick(0, nil)
	return out
}

// makeOrder chooses where one call gives way to another: behind statements that touch
// what others write, or write what others touch.
func makeOrder(calls []Call, src *source) []int {
	steps := make([][]*touched, len(calls))
	for i := range calls {
		steps[i] = footprint(calls[i].Transaction)
	}
	// points holds, for each call, after how many statements it may give way; BEGIN is
	// the first.
	points := make([][]int, len(calls))
	for i := range calls {
		for k, x := range steps[i] {
			for j := range calls {
				if j != i && slices.ContainsFunc(steps[j], x.conflict) {
					points[i] = append(points[i], k+2)
					break
				}
			}
		}
		if len(points[i]) == 0 {
			points[i] = []int{1}
		}
	}
	all := func(i int) int { return len(steps[i]) + 2 }
	var out []int
	left := make([]int, len(calls))
	for i := range calls {
		left[i] = all(i)
	}
	run := func(i, n int) {
		for range min(n, left[i]) {
			out = append(out, i+1)
			left[i]--
		}
	}
	// BEGIN alone matters nowhere but with START TRANSACTION WITH CONSISTENT SNAPSHOT.
	first := src.below(orderLane, len(calls))
	turn := func(k int) int { return (first + k) % len(calls) }
	switch src.below(orderLane, 4) {
	case 0: // everybody up to a point, then everybody to the end, in turn
		// Two calls of one transaction meet most where both have read and none has written.
		side, same := src.below(orderLane, 2) == 1, src.below(orderLane, len(points[first]))
		for k := range calls {
			i, at := turn(k), same
			if k > 0 && !(side && calls[i].Transaction == calls[first].Transaction) {
				at = src.below(orderLane, len(points[i]))
			}
			run(i, points[i][at])
		}
		again := src.below(orderLane, len(calls))
		for k := range calls {
			i := turn(k + again)
			run(i, left[i])
		}
	case 1: // one gives way to all others, which come in any order
		i := turn(0)
		run(i, points[i][src.below(orderLane, len(points[i]))])
		var others []int
		for k := 1; k < len(calls); k++ {
			others = slices.Insert(others, src.below(orderLane, k), turn(k))
		}
		for _, k := range others {
			run(k, left[k])
		}
		run(i, left[i])
	case 2: // one statement each
		for slices.Max(left) > 0 {
			for k := range calls {
				i := turn(k)
				run(i, 1)
			}
		}
	default: // from point to point, or anywhere
		for slices.Max(left) > 0 {
			i := turn(src.below(orderLane, len(calls)))
			for left[i] == 0 {
				i = (i + 1) % len(calls)
			}
			run(i, 1+src.below(orderLane, 3))
		}
	}
	return out
}
