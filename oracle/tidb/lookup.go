package tidb

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// pointFilter is a filter that pins every column of one secondary unique key
// to constants.
type pointFilter struct {
	key *solve.Key
	// pinned holds the conditions on the key's columns, rest the others.
	pinned, rest []ast.ExprNode
}

// uniqueLookup predicts, under the rule TrustsIndex, a SELECT that finds rows
// by a whole secondary unique key. Whether TiDB looks the key up where the filter is written
// in another form is a choice. ok is false where the rule does not apply.
func (r *engine) uniqueLookup(tx *versions.Txn, s *ast.SelectStmt, view versions.View) (p *mvcc.Prediction, ok bool, err error) {
	if tx.Rules.Of(rules.UniqueLookup) != rules.TrustsIndex || stmt.SoleTable(s.From) == nil {
		return nil, false, nil
	}
	t := r.Table(stmt.SoleTable(s.From).Name.O)
	if t == nil {
		return nil, false, nil
	}
	where := r.Possible(s.Where)
	f, sure := pointFilterOf(t.Def, where), true
	if f == nil {
		f, sure = spelledFilterOf(t.Def, where), false
	}
	if f == nil {
		return nil, false, nil
	}
	misled := r.misled(t, f, view)
	rows, chains := t.Rows(view)
	all := *s // what is found is put in order and cut afterwards
	all.OrderBy, all.Limit = nil, nil
	idx, err := r.Solver.Matches(&all, t.Def, rows, &mvcc.Stored{Store: &r.Store, View: view})
	if err != nil {
		return nil, false, nil
	}
	var found []solve.Row
	for _, i := range idx {
		// An old row that another key's chain still shows is out of reach once
		// the transaction has taken its entry out of the index.
		if ver := view.Seen(chains[i]); ver.Txn != view.Own {
			if tuple, _ := r.Store.KeyOf(t.Def, f.key, ver.Row); r.ownEntry(t, f.key, tuple, view.Own) {
				continue
			}
		}
		found = append(found, rows[i])
	}
	if len(misled) == 0 && len(found) == len(idx) || !sure && r.views.Choose(2) == 1 {
		return nil, false, nil
	}
	for _, c := range misled {
		ver := view.Seen(c)
		if ver == nil {
			return &mvcc.Prediction{Err: mvcc.ErrInconsistent, Matched: -1, Changed: -1}, true, nil
		}
		if r.allTrue(f.rest, t, ver.Row, view) {
			found = append(found, ver.Row)
		}
	}
	if s.OrderBy == nil && s.Limit == nil {
		res, err := r.Solver.Project(s, t.Def, found, &mvcc.Stored{Store: &r.Store, View: view})
		if err != nil {
			return nil, true, mvcc.LossOf("solver", err)
		}
		return &mvcc.Prediction{Rows: res.Rows, Matched: -1, Changed: -1}, true, nil
	}
	bare := *s // the rows are those that the index led to, whatever the condition says of them
	bare.Where = nil
	res, err := r.Solver.Select(&bare, &foundRows{t.Def, found})
	switch {
	case err != nil:
		return nil, true, mvcc.LossOf("solver", err)
	case res.Cut:
		return nil, true, mvcc.ErrUnordered
	}
	return &mvcc.Prediction{Rows: res.Rows, Ordered: res.TotalOrder, Matched: -1, Changed: -1}, true, nil
}

// foundRows gives the solver the rows that a look-up found of its only table.
type foundRows struct {
	t    *solve.Table
	rows []solve.Row
}

// Table implements solve.Views.
func (f *foundRows) Table(string) (*solve.Table, []solve.Row, error) { return f.t, f.rows, nil }

// misled returns the rows to which the snapshot's index entries lead although
// the own transaction's version has another key: it overwrote a version with
// yet another key, so that it never removed the snapshot's entry.
func (r *engine) misled(t *versions.Table, f *pointFilter, view versions.View) []*versions.Chain {
	snapshot := versions.View{Tick: view.Tick}
	var out []*versions.Chain
	for _, c := range t.Chains {
		old := snapshot.Seen(c)
		now := view.Version(c)
		if old == nil || now == nil || now.Txn != view.Own || !r.allTrue(f.pinned, t, old.Row, view) {
			continue
		}
		tuple, _ := r.Store.KeyOf(t.Def, f.key, old.Row)
		if !r.ownEntry(t, f.key, tuple, view.Own) {
			out = append(out, c)
		}
	}
	return out
}

// ownEntry reports whether the transaction itself wrote or removed the index
// entry of a tuple.
func (r *engine) ownEntry(t *versions.Table, key *solve.Key, tuple string, own *versions.Txn) bool {
	has := func(row solve.Row) bool {
		if row == nil {
			return false
		}
		tu, null := r.Store.KeyOf(t.Def, key, row)
		return !null && tu == tuple
	}
	for _, c := range t.Chains {
		for i := range c.Versions {
			if c.Versions[i].Txn == own && (has(c.Versions[i].Row) || i > 0 && has(c.Versions[i-1].Row)) {
				return true
			}
		}
	}
	return false
}

func (r *engine) allTrue(conds []ast.ExprNode, t *versions.Table, row solve.Row, view versions.View) bool {
	for _, e := range conds {
		if truth, _, err := r.Solver.Where(e, t.Def, row, &mvcc.Stored{Store: &r.Store, View: view}); err != nil || truth != sqlvalue.True {
			return false
		}
	}
	return true
}

// pointFilterOf recognises a filter that pins a secondary unique key, nil if
// there is none or if it pins the primary key too, which is then used instead.
func pointFilterOf(t *solve.Table, where ast.ExprNode) *pointFilter {
	conds := mvcc.Conjuncts(where, nil)
	return pinnedKey(t, func(f *pointFilter) func(col int) bool {
		pins := boundsMeet(t, conds)
		for _, e := range conds {
			col, fixed := listedColumn(t, e)
			if slices.Contains(f.key.Columns, col) {
				f.pinned = append(f.pinned, e)
				pins[col] = pins[col] || fixed
				continue
			}
			f.rest = append(f.rest, e)
		}
		return func(col int) bool { return pins[col] }
	})
}

// pinnedKey returns the filter of the first secondary unique key whose columns are all pinned, nil if there is
// none or if the primary key is pinned too. divide shares the conditions out between the key and the rest,
// and returns which columns they pin.
func pinnedKey(t *solve.Table, divide func(*pointFilter) (pins func(col int) bool)) (found *pointFilter) {
	for i := range t.Keys {
		k := &t.Keys[i]
		if !k.Unique && !k.Primary {
			continue
		}
		f := &pointFilter{key: k}
		pins := divide(f)
		switch all := !slices.ContainsFunc(k.Columns, func(c int) bool { return !pins(c) }); {
		case all && k.Primary:
			return nil
		case all && found == nil:
			found = f
		}
	}
	return found
}

// listedColumn is columnOf for alternatives, too, which TiDB makes a list of values of.
func listedColumn(t *solve.Table, e ast.ExprNode) (col int, fixed bool) {
	parts := mvcc.Disjuncts(e, nil)
	col, fixed = columnOf(t, parts[0])
	for _, p := range parts[1:] {
		c, f := columnOf(t, p)
		if c != col {
			return -1, false
		}
		fixed = fixed && f
	}
	return col, fixed
}

// columnOf returns the one column that a simple condition is about, -1 if it is
// not simple; fixed says that it leaves the column only listed values.
func columnOf(t *solve.Table, e ast.ExprNode) (col int, fixed bool) {
	name := func(x ast.ExprNode) int { return columnRef(t, x) }
	switch x := e.(type) {
	case *ast.BinaryOperationExpr:
		if l := name(x.L); l >= 0 && name(x.R) < 0 {
			return l, equals(x.Op) && constant(x.R)
		}
		if rr := name(x.R); rr >= 0 {
			return rr, equals(x.Op) && name(x.L) < 0 && constant(x.L)
		}
	case *ast.BetweenExpr:
		same := corpus.SQL(&ast.DoStmt{Exprs: []ast.ExprNode{x.Left}}, corpus.Text) == corpus.SQL(&ast.DoStmt{Exprs: []ast.ExprNode{x.Right}}, corpus.Text)
		return name(x.Expr), same && !x.Not && constant(x.Left)
	case *ast.PatternInExpr:
		return name(x.Expr), !x.Not && x.Sel == nil && !slices.ContainsFunc(x.List, func(e ast.ExprNode) bool { return !constant(e) })
	case *ast.IsNullExpr:
		return name(x.Expr), false
	}
	return -1, false
}

// columnRef returns the column that an operand is, -1 if it is none. TiDB takes
// away a cast of an integer to the integer type of its own sign
// (BuildCastFunction in pkg/expression), but no other, so that such a column is
// looked up like a bare one.
func columnRef(t *solve.Table, e ast.ExprNode) int {
	switch x := e.(type) {
	case *ast.ColumnNameExpr:
		return t.ColumnIndex(x.Name.Name.O)
	case *ast.ParenthesesExpr:
		return columnRef(t, x.Expr)
	case *ast.FuncCastExpr:
		c := columnRef(t, x.Expr)
		if c < 0 || x.Tp.GetType() != mysql.TypeLonglong {
			return -1
		}
		if typ := t.Columns[c].Type; typ.Class == solve.IntClass && typ.Unsigned == mysql.HasUnsignedFlag(x.Tp.GetFlag()) {
			return c
		}
	}
	return -1
}

// boundsMeet returns the columns that a lower and an upper bound together leave
// one integer: a range of one value is a look-up, too.
func boundsMeet(t *solve.Table, conds []ast.ExprNode) map[int]bool {
	type bounds struct{ low, high int64 }
	ranges := map[int]bounds{}
	narrow := func(col int, low, high int64) {
		b, ok := ranges[col]
		if !ok {
			b = bounds{math.MinInt64, math.MaxInt64}
		}
		ranges[col] = bounds{max(b.low, low), min(b.high, high)}
	}
	for _, e := range conds {
		col, _ := columnOf(t, e)
		if col < 0 || t.Columns[col].Type.Class != solve.IntClass {
			continue
		}
		switch x := e.(type) {
		case *ast.BetweenExpr:
			low, ok := mvcc.SmallLiteral(x.Left)
			high, also := mvcc.SmallLiteral(x.Right)
			if ok && also && !x.Not {
				narrow(col, low, high)
			}
		case *ast.BinaryOperationExpr:
			op, other := x.Op, x.R
			if columnRef(t, x.L) < 0 {
				op, other = mirrored[x.Op], x.L
			}
			n, ok := mvcc.SmallLiteral(other)
			switch {
			case ok && op == opcode.GE:
				narrow(col, n, math.MaxInt64)
			case ok && op == opcode.LE:
				narrow(col, math.MinInt64, n)
			case ok && op == opcode.GT && n < math.MaxInt64:
				narrow(col, n+1, math.MaxInt64)
			case ok && op == opcode.LT && n > math.MinInt64:
				narrow(col, math.MinInt64, n-1)
			}
		}
	}
	pins := map[int]bool{}
	for col, b := range ranges {
		if b.low == b.high {
			pins[col] = true
		}
	}
	return pins
}

var mirrored = map[opcode.Op]opcode.Op{opcode.GE: opcode.LE, opcode.LE: opcode.GE, opcode.GT: opcode.LT, opcode.LT: opcode.GT}

func equals(op opcode.Op) bool { return op == opcode.EQ || op == opcode.NullEQ }
