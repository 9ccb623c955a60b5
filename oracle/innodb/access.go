package innodb

import (
	"cmp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// accessOf returns the access path of a statement: its plan's, or without one a
// scan of the clustered index, narrowed by conditions on its key.
func (x *running) accessOf(t *versions.Table, where ast.ExprNode) *access {
	e, i := x.e, x.i
	a := &access{t: t, where: where}
	s := e.plans[i].Of(t.Def.Name)
	if s != nil {
		a.byPlan(s)
	}
	// Where the plan is that of the data as it was, no other one is tried.
	told := s != nil && s.Access != "index_merge" && e.History.Facts != nil
	switch {
	case told:
	case e.loose:
		x.anyIndex(a)
	default:
		x.byToldIndex(a)
	}
	k := a.key
	if k == nil {
		k = t.Clustered
	}
	if k == nil {
		a.all = true
		return a
	}
	a.cols = make(map[int]bool, len(k.Columns))
	for _, c := range k.Columns {
		a.cols[c] = true
		// Ranges of the clustered index are made of its first columns. The
		// entries of another index are tested before their rows are looked up.
		if a.key == nil && !pins(where, t, c, true) {
			break
		}
	}
	if a.key != nil && t.Clustered != nil {
		for _, c := range t.Clustered.Columns {
			a.cols[c] = true
		}
	}
	if looksUp(where, t, k) {
		a.unique = true
		switch {
		case told:
			a.unique = !a.all
		case (a.all || e.loose) && !pinsKey(where, t, k):
			// A list of keys of a small table may be read by a scan.
			a.unique = e.choices.Choose(2) == 0
		}
	}
	if e.loose && a.key == nil && !a.all && !a.unique && e.plans[i] == nil {
		a.ranged = true // for all that is known
	}
	return a
}

// anyIndex lets a statement whose order of rows decides about its answer go by
// any index: one that waited, or an UPDATE of a unique key. The plan at the time
// may have been another one than that of an empty server.
func (x *running) anyIndex(a *access) {
	u, ok := x.node.(*ast.UpdateStmt)
	if !x.due && !(ok && assignsUnique(u, a.t)) {
		return
	}
	keys := []*solve.Key{a.key}
	for i := range a.t.Def.Keys {
		k := &a.t.Def.Keys[i]
		if k == a.t.Clustered {
			k = nil
		}
		if k != a.key {
			keys = append(keys, k)
		}
	}
	ways := keys
	last, rest := clusteredPart(a.t, a.where)
	if last != nil {
		// Behind the single indexes, each of them in an index merge.
		ways = append(ways, keys...)
	}
	merged := len(ways)
	union := x.emptyUnionPart(a)
	if union != nil {
		ways = append(ways, keys...)
	}
	k := x.e.choices.Choose(len(ways))
	if k == 0 {
		return
	}
	*a = access{t: a.t, where: a.where, key: ways[k], ranged: ways[k] != nil}
	switch {
	case k >= merged:
		a.rest, a.ended = union, true
	case k >= len(keys):
		a.rest = rest
		a.late = func(row solve.Row) bool {
			truth, _, err := x.e.Solver.Where(last, a.t.Def, row, &innodbViews{e: x.e})
			return err == nil && truth == sqlvalue.True
		}
	}
}

// emptyUnionPart returns, for a statement that has yet to wait, the condition of the
// other parts of a union of indexes of which one is a range of the clustered index
// without a row; nil if there is none. Such a union is read in the order of row
// identities: each of its parts is first led to its first row, that one to the record
// behind its range, where it may wait. It has ended then, whatever comes into its range.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (x *running) emptyUnionPart(a *access) ast.ExprNode {
	parts := mvcc.Disjuncts(a.where, nil)
	if !x.due || a.t.Clustered == nil || len(parts) < 2 {
		return nil
	}
	first := map[int]bool{a.t.Clustered.Columns[0]: true}
	for i, part := range parts {
		if !slices.ContainsFunc(mvcc.Leaves(part, nil), func(l ast.ExprNode) bool { return mvcc.OnlyColumns(l, a.t.Def, first) && makesRange(l) }) || x.someRowIn(a.t, part) {
			continue
		}
		var rest ast.ExprNode
		for k, o := range parts {
			if k != i {
				rest = either(rest, o)
			}
		}
		return rest
	}
	return nil
}

// someRowIn reports whether a condition holds, or fails, for any version of any row.
func (x *running) someRowIn(t *versions.Table, where ast.ExprNode) bool {
	for _, c := range t.Chains {
		for k := range c.Versions {
			if row := c.Versions[k].Row; row != nil {
				if truth, _, err := x.e.Solver.Where(where, t.Def, row, &innodbViews{e: x.e}); err != nil || truth == sqlvalue.True {
					return true
				}
			}
		}
	}
	return false
}

// clusteredPart returns the operands of an OR that an index merge reads by the
// clustered index, after the rows that other indexes led to, and the other operands;
// nil if there are none.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func clusteredPart(t *versions.Table, where ast.ExprNode) (part, rest ast.ExprNode) {
	if t.Clustered == nil || where == nil {
		return nil, nil
	}
	key := map[int]bool{t.Clustered.Columns[0]: true}
	for _, x := range mvcc.Disjuncts(where, nil) {
		if mvcc.OnlyColumns(x, t.Def, key) {
			part = either(part, x)
		} else {
			rest = either(rest, x)
		}
	}
	if part == nil || rest == nil {
		return nil, nil
	}
	return part, rest
}

// either connects two conditions by OR; the first may be nil.
func either(a, b ast.ExprNode) ast.ExprNode {
	if a == nil {
		return b
	}
	return &ast.BinaryOperationExpr{Op: opcode.LogicOr, L: a, R: b}
}

// order compares two entries of the index.
func (a *access) order(x, y *entry) int {
	if x.late != y.late {
		if x.late {
			return 1
		}
		return -1
	}
	if a.back {
		x, y = y, x
	}
	if a.key != nil && !x.late {
		if d := versions.CompareKey(a.key, x.row, y.row); d != 0 {
			return d
		}
	}
	if a.t.Clustered != nil {
		if d := versions.CompareKey(a.t.Clustered, x.row, y.row); d != 0 {
			return d
		}
	}
	return cmp.Compare(x.c.ID, y.c.ID)
}

// next returns the first entry behind another one, or at it; nil behind the
// last. Entries of deleted rows and of former versions count. It costs a comparison
// or two for each of them, and memory for the one that it returns alone: it is called
// for every row that a scan meets.
func (a *access) next(after *entry, at bool) *entry {
	var best entry
	consider := func(n entry) {
		if after != nil {
			if d := a.order(&n, after); d < 0 || d == 0 && !at {
				return
			}
		}
		if best.c == nil || a.order(&n, &best) < 0 {
			best = n
		}
	}
	for _, c := range a.t.Chains {
		if a.key == nil {
			for i := len(c.Versions) - 1; i >= 0; i-- {
				if r := c.Versions[i].Row; r != nil {
					consider(entry{c, r, a.late != nil && a.late(r)})
					break
				}
			}
			continue
		}
		entered := len(c.Versions)
		if len(a.pending) > 0 && slices.Contains(a.pending[c], a.key) {
			entered--
		}
		for i := range entered {
			if r := c.Versions[i].Row; r != nil {
				consider(entry{c, r, false})
			}
		}
		if len(c.Versions) > 0 && a.late != nil {
			if r := c.Last().Row; r != nil && a.late(r) {
				consider(entry{c, r, true})
			}
		}
	}
	if best.c == nil {
		return nil
	}
	n := best
	return &n
}

// live reports whether the newest version of the entry's record still has it.
func (a *access) live(n *entry) bool {
	if len(n.c.Versions) == 0 {
		return false
	}
	r := n.c.Last().Row
	return r != nil && (a.key == nil || versions.EqualIn(a.key, r, n.row))
}

// touches reports whether a scan meets an entry.
func (e *engine) touches(a *access, n *entry) bool {
	where := a.where
	if a.rest != nil && !n.late {
		where = a.rest
	}
	return a.all || where == nil || e.admits(a, where, n.row, false)
}

// admits reports whether the conditions on the index's columns admit an entry,
// whatever the others say.
func (e *engine) admits(a *access, x ast.ExprNode, row solve.Row, not bool) bool {
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return e.admits(a, n.Expr, row, not)
	case *ast.UnaryOperationExpr:
		if mvcc.IsNot(n.Op) {
			return e.admits(a, n.V, row, !not)
		}
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd, opcode.LogicOr:
			l, r := e.admits(a, n.L, row, not), e.admits(a, n.R, row, not)
			if (n.Op == opcode.LogicAnd) != not {
				return l && r
			}
			return l || r
		}
	}
	if !mvcc.OnlyColumns(x, a.t.Def, a.cols) || a.key == nil && !makesRange(x) {
		return true
	}
	truth, warnings, err := e.Solver.Where(x, a.t.Def, row, &innodbViews{e: e})
	if err != nil || warnings > 0 {
		// A conversion that loses something makes no range, and may fail.
		return true
	}
	if not {
		return truth == sqlvalue.False
	}
	return truth == sqlvalue.True
}

// makesRange reports whether a condition is one that the optimiser makes a range
// of: a column, or a comparison of one with something that does not vary.
func makesRange(x ast.ExprNode) bool {
	bare := func(x ast.ExprNode) bool { _, ok := x.(*ast.ColumnNameExpr); return ok }
	switch n := x.(type) {
	case *ast.ColumnNameExpr, ast.ValueExpr:
		return true
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			return bare(n.L) != bare(n.R) && (bare(n.L) || !mvcc.MentionsColumn(n.L)) && (bare(n.R) || !mvcc.MentionsColumn(n.R))
		}
	case *ast.BetweenExpr:
		return bare(n.Expr)
	case *ast.PatternInExpr:
		return bare(n.Expr)
	case *ast.IsNullExpr:
		return bare(n.Expr)
	}
	return false
}

// onlyPath reports whether there is one way to the rows, the clustered index, on
// which the statement meets each record that the conditions on the index's
// columns admit: no other index begins with a column that is tested, or holds
// all that a query reads.
func (x *running) onlyPath(t *versions.Table, where ast.ExprNode) bool {
	return !x.e.loose && stmt.Of(x.node).Limit == nil && !x.otherPath(t, where)
}

// otherPath reports whether a secondary index may lead to the rows.
func (x *running) otherPath(t *versions.Table, where ast.ExprNode) bool {
	tested := x.e.tested(t, where)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if k == t.Clustered {
			continue
		}
		if tested[k.Columns[0]] {
			return true
		}
	}
	return x.coverable(t)
}

// coverable reports whether a secondary index and the clustered key in it hold
// every column that the statement mentions.
func (x *running) coverable(t *versions.Table) bool {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok {
		return false
	}
	need := columnsOf(t.Def, s)
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if k == t.Clustered {
			continue
		}
		if covers(t, k, need) {
			return true
		}
	}
	return false
}

// covers reports whether a secondary index and the clustered key in it hold all
// of the columns; nil stands for every column of the table.
func covers(t *versions.Table, k *solve.Key, need map[int]bool) bool {
	has := entryColumns(t, k)
	for c := range t.Def.Columns {
		if (need == nil || need[c]) && !has[c] {
			return false
		}
	}
	return true
}

// entryColumns returns the columns that an entry of a secondary index holds: its own
// and those of the clustered key.
func entryColumns(t *versions.Table, k *solve.Key) map[int]bool {
	has := columnSet(k.Columns)
	if t.Clustered != nil {
		for _, c := range t.Clustered.Columns {
			has[c] = true
		}
	}
	return has
}
