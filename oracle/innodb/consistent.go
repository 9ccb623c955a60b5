package innodb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// consistent answers a plain SELECT from a view.
func (x *running) consistent(s *ast.SelectStmt) (*mvcc.Prediction, error) {
	e, tx := x.e, x.tx
	v := &innodbViews{e: e}
	switch tx.Rules.Of(rules.ConsistentRead) {
	case rules.Newest:
		v.view = versions.View{Uncommitted: true, Own: tx}
		if name := stmt.SoleTable(s.From); name != nil && e.Table(name.Name.O) != nil {
			a := x.accessOf(e.Table(name.Name.O), s.Where)
			v.via, v.covering = a.key, a.covering
			x.anyPendingIndex(s, a.t, v)
		}
	case rules.Snapshot:
		if !mvcc.NamesTables(s) {
			v.view = versions.View{Tick: x.start, Own: tx}
			break
		}
		if tx.Snapshot == 0 {
			if answersOfNothing(s, len(x.st.Result.Rows)) {
				nothing, err := x.readsNothing(s)
				if err != nil {
					return nil, err
				}
				if nothing {
					v.view = versions.View{Tick: x.start, Own: tx}
					break
				}
			}
			tx.Snapshot = x.start
		}
		v.view = versions.View{Tick: tx.Snapshot, Own: tx}
		if name := stmt.SoleTable(s.From); name != nil && e.Table(name.Name.O) != nil {
			if tx.Rules.Of(rules.UniqueLookup) == rules.EndsAtFirst {
				t := e.Table(name.Name.O)
				if v.once = x.lookedUp(t, s.Where); v.once == nil {
					v.once, v.points = x.lookedUpAmongRanges(t, s.Where)
				}
			}
		}
	default:
		// Committed; SERIALIZABLE with autocommit reads so too.
		v.view = versions.View{Tick: x.start, Own: tx}
	}
	v.view.ByKey = tx.Rules.Of(rules.KeyChange) == rules.DeleteInsert
	e.Steps[x.i].View = v.view
	res, err := e.Solver.Select(s, v)
	if err != nil {
		return nil, err
	}
	p := &mvcc.Prediction{Matched: -1, Changed: -1, Rows: res.Rows, Ordered: res.TotalOrder}
	if res.Cut {
		all, err := e.Solver.Select(e.Unlimited(s), v)
		if err != nil {
			return nil, x.underLimit(s, err)
		}
		if err := p.AnyOf(s, all.Rows, x.st.Result.Rows); err != nil {
			return nil, err
		}
	}
	if tx.Rules.Of(rules.ConsistentRead) == rules.Newest {
		if err := x.judgesUncommitted(s); err != nil {
			return nil, err
		}
	}
	if name := stmt.SoleTable(s.From); name != nil {
		if t := e.Table(name.Name.O); t != nil {
			gone, err := x.goneDuringKeyChange(s, t, v.view)
			if err != nil {
				return nil, err
			}
			switch {
			case gone != nil && gone.Cut:
				return nil, mvcc.ErrUnordered
			case gone != nil:
				p.Rows, p.Ordered = gone.Rows, gone.TotalOrder
			}
			if err := x.unseenError(s, t, v.view); err != nil {
				return nil, err
			}
			e.touchInnoDB(x, t, s.Where, false, nil)
		}
	}
	return p, nil
}

// answersOfNothing reports whether so many rows can be the answer to a query that reads no
// row: none, or the one that aggregates return of none.
func answersOfNothing(s *ast.SelectStmt, rows int) bool {
	return rows == 0 || rows == 1 && mvcc.Aggregates(s) && s.GroupBy == nil
}

// judgesUncommitted refuses a read of uncommitted data while it is not known how far
// another statement, which waits, has changed the rows.
func (x *running) judgesUncommitted(s *ast.SelectStmt) error {
	if len(x.e.pending) > 0 && (stmt.SoleTable(s.From) == nil || mvcc.HasSubquery(s)) {
		return &mvcc.Loss{Slug: "unsupported: uncommitted rows of several tables amid a change"}
	}
	for _, o := range x.e.running {
		if ins, ok := o.node.(*ast.InsertStmt); ok && len(ins.OnDuplicate) > 0 {
			// It may be at the row that is in its way or behind it.
			return &mvcc.Loss{Slug: "unsupported: uncommitted rows amid ON DUPLICATE KEY UPDATE"}
		}
	}
	return nil
}

// lookedUp returns a unique secondary index of which a condition fixes every
// column, nil if there is none or if it fixes the clustered key. A range of one value is
// read as a look-up, too, and so are the values beside IS NULL (ref_or_null). Where the
// plan is told, it is the index that the plan names, if any. That may look a key up of which
// the condition fixes no value as it stands: the server has folded a part of it away.
func (x *running) lookedUp(t *versions.Table, where ast.ExprNode) *solve.Key {
	told := x.e.plans[x.i].Of(t.Def.Name)
	if told != nil {
		a := &access{t: t}
		if a.byPlan(told); a.unique {
			return a.key
		}
	}
	where = pointed(where)
	var found *solve.Key
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		switch {
		case !looksUp(valuesBesideNull(where, t, k), t, k):
		case told != nil && !strings.EqualFold(keyName(k), told.Key):
		case k == t.Clustered:
			return nil
		case found == nil:
			found = k
		}
	}
	return found
}

// valuesBesideNull returns what a condition says of a key's only column beside OR … IS
// NULL.
func valuesBesideNull(where ast.ExprNode, t *versions.Table, k *solve.Key) ast.ExprNode {
	parts := mvcc.Disjuncts(where, nil)
	isNull := func(d ast.ExprNode) bool {
		n, ok := d.(*ast.IsNullExpr)
		if !ok || n.Not {
			return false
		}
		c, ok := n.Expr.(*ast.ColumnNameExpr)
		return ok && len(k.Columns) == 1 && columnIn(t, c) == k.Columns[0]
	}
	rest := slices.DeleteFunc(slices.Clone(parts), func(d ast.ExprNode) bool { return slices.ContainsFunc(mvcc.Conjuncts(d, nil), isNull) })
	if len(rest) == len(parts) || len(rest) == 0 {
		return where
	}
	return anyOf(rest)
}

func anyOf(parts []ast.ExprNode) ast.ExprNode {
	all := parts[0]
	for _, d := range parts[1:] {
		all = &ast.BinaryOperationExpr{Op: opcode.LogicOr, L: all, R: d}
	}
	return all
}

// lookedUpAmongRanges returns a unique secondary index of which some parts of an OR fix the
// only column, while others make ranges of it: each such value is looked up all the same,
// but one that lies within a range, which becomes a part of it. points says what is looked up.
// https://dev.mysql.com/doc/refman/en/range-optimization.html
func (x *running) lookedUpAmongRanges(t *versions.Table, where ast.ExprNode) (once *solve.Key, points ast.ExprNode) {
	parts := mvcc.Disjuncts(pointed(where), nil)
	told := x.e.plans[x.i].Of(t.Def.Name)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if !k.Unique || k == t.Clustered || len(k.Columns) != 1 || told != nil && !strings.EqualFold(keyName(k), told.Key) {
			continue
		}
		var pinned, ranges []ast.ExprNode
		for _, d := range parts {
			if looksUp(d, t, k) {
				pinned = append(pinned, d)
			} else if cols := mvcc.ColumnsIn(t.Def, d); len(cols) == 1 && cols[k.Columns[0]] {
				ranges = append(ranges, d)
			}
		}
		if len(pinned) == 0 || len(pinned) == len(parts) {
			continue
		}
		if points = anyOf(pinned); len(ranges) > 0 {
			without := &ast.UnaryOperationExpr{Op: opcode.Not, V: &ast.ParenthesesExpr{Expr: anyOf(ranges)}}
			points = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: points, R: without}
		}
		return k, points
	}
	return nil, nil
}

// pointed makes BETWEEN and IN of one value, be it there twice, an equality, and takes
// double negations away.
func pointed(e ast.ExprNode) ast.ExprNode {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return pointed(x.Expr)
	case *ast.UnaryOperationExpr:
		if parts := mvcc.Conjuncts(x.V, nil); mvcc.IsNot(x.Op) && len(parts) == 1 {
			if n, ok := parts[0].(*ast.UnaryOperationExpr); ok && mvcc.IsNot(n.Op) {
				return pointed(n.V)
			}
		}
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr {
			return &ast.BinaryOperationExpr{Op: x.Op, L: pointed(x.L), R: pointed(x.R)}
		}
	case *ast.BetweenExpr:
		if !x.Not && sameLiteral(x.Left, x.Right) {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: x.Expr, R: x.Left}
		}
	case *ast.PatternInExpr:
		if !x.Not && x.Sel == nil && !slices.ContainsFunc(x.List, func(v ast.ExprNode) bool { return !sameLiteral(v, x.List[0]) }) {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: x.Expr, R: x.List[0]}
		}
	}
	return e
}

func sameLiteral(a, b ast.ExprNode) bool {
	if x, ok := mvcc.SmallLiteral(a); ok {
		y, also := mvcc.SmallLiteral(b)
		return also && x == y
	}
	x, ok := textLiteral(a)
	y, also := textLiteral(b)
	return ok && also && x == y
}

func textLiteral(e ast.ExprNode) (string, bool) {
	v, ok := e.(ast.ValueExpr)
	if !ok || v.GetType().EvalType() != types.ETString {
		return "", false
	}
	return v.GetString(), true
}

// anyPendingIndex lets a read of uncommitted data go by any index of a table
// that a waiting statement is about to change: then what it sees depends on it.
func (x *running) anyPendingIndex(s *ast.SelectStmt, t *versions.Table, v *innodbViews) {
	e := x.e
	if e.plans[x.i] != nil || !slices.ContainsFunc(t.Chains, func(c *versions.Chain) bool { return len(e.pending[c]) > 0 }) {
		return
	}
	type path struct {
		via              *solve.Key
		covering, marked bool
	}
	paths := []path{{}}
	need := columnsOf(t.Def, s)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if k == t.Clustered {
			continue
		}
		paths = append(paths, path{k, false, false})
		if covers(t, k, need) {
			paths = append(paths, path{k, true, false}, path{k, true, true})
		}
	}
	p := paths[e.choices.Choose(len(paths))]
	v.via, v.covering, v.marked = p.via, p.covering, p.marked
}
