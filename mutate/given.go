package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// A pattern that the options give is to come about, so what would keep its edges from
// arising is made less often. For one that the input chose nothing of this holds: inputs
// are kept, and stay the cases that they were.
const (
	// givenTries is how often the statements are made, until each does what the pattern
	// has it do: there are conditions that no UPDATE can cross.
	givenTries = 10
	// keyedOdds is how often, out of 256, a row is found by a key and not in any way: what
	// meets other rows, too, waits for them.
	keyedOdds = 128
	// changingTries is how many lists of assignments are made for one that changes a row.
	changingTries = 6
)

// crossing is how many rows there are to be that the condition chooses, and that it does
// not: each write that takes one out, or brings one in, has a row of its own. A pattern
// that the input chose looks for one, as its cases are stored under their inputs.
func (w *weaver) crossing() (leaving, entering int) {
	if w.o.Pattern == nil {
		return 1, 1
	}
	for _, o := range w.p.Ops {
		switch o.Do {
		case pattern.Delete, pattern.Leave, pattern.MoveOut:
			leaving++
		case pattern.Enter, pattern.MoveIn:
			entering++
		}
	}
	return max(leaving, 1), max(entering, 1)
}

// unused is the first row from the n-th on that no item is yet, or the n-th if there is
// none.
func (w *weaver) unused(t *table, n int) int {
	for k := range t.rows {
		i := (n + k) % len(t.rows)
		taken := false
		for _, other := range w.items {
			taken = taken || other.t == t && slices.Equal(other.row, t.rows[i])
		}
		if !taken {
			return i
		}
	}
	return n
}

// model is a row on the other side of the condition, whose values may bring another row
// there; nil in half of the tries, and for a pattern that the input chose.
func (w *weaver) model(it *item, leaves bool, try int) []value {
	rows := it.in
	if leaves {
		rows = it.out
	}
	if w.o.Pattern == nil || try%2 == 0 || len(rows) == 0 {
		return nil
	}
	return oneOf(w.c, rows)
}

// assigned makes the assignments of a write: for a given pattern such as change the row as
// the set-up made it, if they are found. A write that changes nothing makes no edge.
func (w *weaver) assigned(it *item) []*ast.Assignment {
	list := assignments(w.c, it.t)
	for range changingTries {
		if w.o.Pattern == nil || w.changes(it, list) {
			break
		}
		list = assignments(w.c, it.t)
	}
	return list
}

func (w *weaver) changes(it *item, list []*ast.Assignment) bool {
	return slices.ContainsFunc(list, func(a *ast.Assignment) bool {
		same := binaryOp(opcode.NullEQ, &ast.ColumnNameExpr{Name: a.Column}, parenthesis(a.Expr))
		truths, err := w.judge(it.t, [][]value{it.row}, not(same))
		return err == nil && truths[0] == sqlvalue.True
	})
}
