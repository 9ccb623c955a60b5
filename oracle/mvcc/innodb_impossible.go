package mvcc

import (
	"maps"
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// A query whose condition the optimiser finds to be impossible opens no table
// and takes no snapshot. What MariaDB 10.5, 10.11, 11.8 and MySQL 9.7 find out
// alike, and what is modelled: constants; IS NULL of a NOT NULL column; constants
// put in the place of columns that an AND fixes to them; ranges of an index's
// columns that have nothing in common.
// https://dev.mysql.com/doc/refman/en/explain-output.html ("Impossible WHERE",
// "Zero limit", "no matching row in const table")
// https://dev.mysql.com/doc/refman/en/range-optimization.html

// emptiness says whether a query is known to be empty before a table is opened.
type emptiness uint8

const (
	// mustLook: some row could match, so nobody can know.
	mustLook emptiness = iota
	// provenEmpty: every server finds it out.
	provenEmpty
	// maybeProven: no row could match, but not every server finds it out.
	maybeProven
)

// emptiness classifies a query by its text alone.
func (e *engine) emptiness(s *ast.SelectStmt) emptiness {
	if v, ok := e.empties[s]; ok {
		return v
	}
	v := e.classify(s)
	e.empties[s] = v
	return v
}

// skips reports whether every server proves the condition of a write or a
// locking read to be impossible, so that it touches no row. MariaDB does not put
// constants in the place of columns in an UPDATE or DELETE.
func (x *running) skips(t *Table, where ast.ExprNode) bool {
	if where == nil || x.due {
		return false
	}
	e := x.e
	v, ok := e.empties[where]
	if !ok {
		p := &prover{e: e, t: t, where: where}
		if _, read := x.node.(*ast.SelectStmt); read {
			p.ranges = true
		} else {
			p.t = nil
		}
		if p.impossible(where, false, nil) {
			v = provenEmpty
		}
		e.empties[where] = v
	}
	return v == provenEmpty
}

func (e *engine) classify(s *ast.SelectStmt) emptiness {
	p := &prover{e: e, where: s.Where}
	switch {
	case s.From == nil && !HasSubquery(s), s.Limit != nil && literalZero(s.Limit.Count):
		return provenEmpty
	case s.From == nil:
		return maybeProven
	case s.Having != nil && p.impossible(s.Having.Expr, false, nil):
		return provenEmpty
	case s.Where == nil && stmt.SoleTable(s.From) != nil:
		return mustLook
	case s.Where == nil:
		return maybeProven
	}
	if name := stmt.SoleTable(s.From); name != nil {
		p.t = e.table(name.Name.O)
	}
	p.ranges = p.t != nil && !p.mayReadFirst(s.Where)
	if p.impossible(s.Where, false, map[int]sqlvalue.Value{}) {
		return provenEmpty
	}
	if p.t == nil || HasSubquery(s) {
		if p.t == nil || p.subqueryMayBeEmpty(s.Where) {
			return maybeProven
		}
		return mustLook
	}
	if p.noneMatches(conjunct{x: s.Where}) {
		return maybeProven
	}
	return mustLook
}

// mayReadFirst reports whether conditions could fix a whole unique key: then its
// row may be read before ranges are thought of. MariaDB makes BETWEEN 1 AND 1 an
// equality only here (EXPLAIN says "Impossible WHERE noticed after reading const
// tables"), and so do some versions with <=>, IS NULL and lists that come down to
// one value.
func (p *prover) mayReadFirst(where ast.ExprNode) bool {
	points := map[int]bool{}
	p.points(where, false, points)
	return slices.ContainsFunc(p.t.Def.Keys, func(k solve.Key) bool {
		return (k.Unique || k.Primary) && !slices.ContainsFunc(k.Columns, func(c int) bool { return !points[c] })
	})
}

// points collects the columns that a condition, negated if not is set, could fix.
func (p *prover) points(x ast.ExprNode, not bool, into map[int]bool) {
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		p.points(n.Expr, not, into)
	case *ast.UnaryOperationExpr:
		if isNot(n.Op) {
			p.points(n.V, !not, into)
		}
	case *ast.BinaryOperationExpr:
		switch {
		case n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr:
			p.points(n.L, not, into)
			p.points(n.R, not, into)
		case equality(n.Op, not), p.atLimit(n): // MySQL makes a >= 127 of a TINYINT an equality
			maps.Copy(into, columnsIn(p.t.Def, x))
		}
	case *ast.ColumnNameExpr: // NOT a is a = 0
		if not {
			maps.Copy(into, columnsIn(p.t.Def, x))
		}
	case *ast.BetweenExpr, *ast.PatternInExpr, *ast.IsNullExpr:
		maps.Copy(into, columnsIn(p.t.Def, x))
	}
}

// atLimit reports whether a column is compared with the least or the greatest value
// of its type.
func (p *prover) atLimit(n *ast.BinaryOperationExpr) bool {
	t, negative, k, ok := p.againstInteger(n)
	v := int64(min(k, math.MaxInt64))
	if negative {
		v = -v
	}
	return ok && (k >= math.MaxInt64 || fits(t, v) && (!fits(t, v-1) || !fits(t, v+1)))
}

// againstInteger reads a comparison of an integer column with an integer literal:
// the column's type, the literal's sign and magnitude.
func (p *prover) againstInteger(n *ast.BinaryOperationExpr) (t solve.Type, negative bool, k uint64, ok bool) {
	l, r := n.L, n.R
	if _, is := l.(*ast.ColumnNameExpr); !is {
		l, r = r, l
	}
	name, is := l.(*ast.ColumnNameExpr)
	col := columnIn(p.t, name)
	negative, k, ok = integerLiteral(r)
	if !is || !ok || !comparison[n.Op] || col < 0 || p.t.Def.Columns[col].Type.Class != solve.IntClass {
		return t, false, 0, false
	}
	return p.t.Def.Columns[col].Type, negative, k, true
}

func isNull(x ast.ExprNode) bool {
	v, ok := x.(ast.ValueExpr)
	return ok && v.GetValue() == nil
}

// prover proves conditions on one table to be impossible; t is nil for several
// tables, where only constants are folded.
type prover struct {
	e *engine
	t *Table
	// ranges says that ranges are looked at, which they are not where a whole
	// unique key is fixed: then its row is read first. where is the whole
	// condition, which decides what they are made of.
	ranges bool
	where  ast.ExprNode
}

// impossible reports whether every server proves that a condition, negated if
// not is set, is true of no row. fixed holds the columns that conditions around
// it fix to one value.
func (p *prover) impossible(x ast.ExprNode, not bool, fixed map[int]sqlvalue.Value) bool {
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return p.impossible(n.Expr, not, fixed)
	case *ast.UnaryOperationExpr:
		if isNot(n.Op) {
			return p.impossible(n.V, !not, fixed)
		}
	case *ast.BinaryOperationExpr:
		switch {
		case (n.Op == opcode.LogicAnd) != not && (n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr):
			return p.impossibleTogether(together(x, not, nil), fixed)
		case n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr:
			return p.impossible(n.L, not, fixed) && p.impossible(n.R, not, fixed)
		}
	}
	return p.impossibleTogether([]conjunct{{x, not}}, fixed)
}

// conjunct is one of several conditions that must all hold, negated if not is
// set.
type conjunct struct {
	x   ast.ExprNode
	not bool
}

// wanted returns what x must be for the conjunct to hold.
func (c conjunct) wanted() sqlvalue.Truth {
	if c.not {
		return sqlvalue.False
	}
	return sqlvalue.True
}

func together(x ast.ExprNode, not bool, out []conjunct) []conjunct {
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return together(n.Expr, not, out)
	case *ast.UnaryOperationExpr:
		if isNot(n.Op) {
			return together(n.V, !not, out)
		}
	case *ast.BinaryOperationExpr:
		if not && n.Op == opcode.LogicOr || !not && n.Op == opcode.LogicAnd {
			return together(n.R, not, together(n.L, not, out))
		}
	}
	return append(out, conjunct{x, not})
}

func (p *prover) impossibleTogether(all []conjunct, fixed map[int]sqlvalue.Value) bool {
	if p.t != nil {
		with := make(map[int]sqlvalue.Value, len(fixed)+1)
		for c, v := range fixed {
			with[c] = v
		}
		for _, c := range all {
			col, v, ok := p.fixes(c)
			if !ok {
				continue
			}
			if o, twice := with[col]; twice && o != v {
				return true
			}
			with[col] = v
		}
		fixed = with
	}
	for _, c := range all {
		if n, ok := c.x.(*ast.BinaryOperationExpr); ok && (n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr) {
			if p.impossible(c.x, c.not, fixed) {
				return true
			}
			continue
		}
		if p.impossibleLeaf(c, fixed) {
			return true
		}
	}
	return p.ranges && slices.ContainsFunc(p.rangeColumns(), func(col int) bool { return p.emptyRange(all, col) })
}

// fixes reports whether a condition is that a column equals a literal of its own
// type.
func (p *prover) fixes(c conjunct) (col int, v sqlvalue.Value, ok bool) {
	n, is := c.x.(*ast.BinaryOperationExpr)
	if !is || !equality(n.Op, c.not) || n.Op == opcode.NullEQ {
		return 0, v, false
	}
	l, r := n.L, n.R
	if _, is := l.(*ast.ColumnNameExpr); !is {
		l, r = r, l
	}
	name, is := l.(*ast.ColumnNameExpr)
	lit, isLit := r.(ast.ValueExpr)
	if !is || !isLit {
		return 0, v, false
	}
	if col = p.t.Def.ColumnIndex(name.Name.Name.O); col < 0 || p.t.Def.Columns[col].Type.Class != solve.IntClass {
		return 0, v, false
	}
	typ := p.t.Def.Columns[col].Type
	switch k := lit.GetValue().(type) {
	case int64:
		return col, intValue(typ, k), fits(typ, k)
	case uint64:
		return col, intValue(typ, int64(k)), k <= math.MaxInt64 && fits(typ, int64(k))
	}
	return 0, v, false
}

// impossibleLeaf decides a condition without AND and OR.
func (p *prover) impossibleLeaf(c conjunct, fixed map[int]sqlvalue.Value) bool {
	if n, ok := c.x.(*ast.IsNullExpr); ok && p.t != nil && n.Not == c.not {
		col, ok := n.Expr.(*ast.ColumnNameExpr)
		if i := columnIn(p.t, col); ok && i >= 0 && p.t.Def.Columns[i].NotNull {
			return !zeroIsNull(p.t.Def.Columns[i].Type)
		}
	}
	if n, ok := c.x.(*ast.BinaryOperationExpr); ok && n.Op == opcode.NullEQ && (isNull(n.L) || isNull(n.R)) && mentionsColumn(n) {
		// Constants are not put in its place.
		return false
	}
	if n, ok := c.x.(*ast.BinaryOperationExpr); ok && p.ranges && !c.not && (n.Op == opcode.NE || n.Op == opcode.LT || n.Op == opcode.GT) {
		l, lok := n.L.(*ast.ColumnNameExpr)
		r, rok := n.R.(*ast.ColumnNameExpr)
		if lok && rok && columnIn(p.t, l) == columnIn(p.t, r) {
			return true
		}
	}
	if p.t != nil && p.e.h.Server.DBMS == history.MySQL && p.outOfRange(c) {
		return true
	}
	known := make(map[int]bool, len(fixed))
	var t *solve.Table
	var row solve.Row
	if p.t != nil {
		t, row = p.t.Def, make(solve.Row, len(p.t.Def.Columns))
		for i, v := range fixed {
			known[i], row[i] = true, v
		}
	} else {
		t = &solve.Table{}
	}
	if !onlyColumns(c.x, t, known) || mentionsColumn(c.x) && (!foldable(c.x) || p.e.h.Server.DBMS == history.MariaDB && listsUnsigned(t, c.x)) {
		return false
	}
	return p.fails(c, t, row)
}

// outOfRange reports whether a condition compares an integer column with an integer
// so that no value of its type passes. MySQL folds such a comparison, whether the
// column has an index or not (fold_condition in sql/sql_const_folding.cc).
func (p *prover) outOfRange(c conjunct) bool {
	n, ok := c.x.(*ast.BinaryOperationExpr)
	if !ok {
		return false
	}
	if _, _, k, ok := p.againstInteger(n); !ok || k > math.MaxInt64 {
		return false
	}
	return p.noneMatches(c)
}

// comparison holds the operators that compare two operands.
var comparison = map[opcode.Op]bool{
	opcode.EQ: true, opcode.NullEQ: true, opcode.NE: true, opcode.LT: true, opcode.LE: true, opcode.GT: true, opcode.GE: true,
}

// zeroIsNull reports whether IS NULL of a NOT NULL column finds its zero value,
// so that it is not impossible; MySQL replaces it only where AND joins it.
// https://dev.mysql.com/doc/refman/en/comparison-operators.html#operator_is-null
// https://github.com/MariaDB/server/commit/6267be460a
func zeroIsNull(t solve.Type) bool {
	return t.Class == solve.DateClass || t.Class == solve.DatetimeClass
}

// fails reports whether a condition is not true of a row, and no error.
func (p *prover) fails(c conjunct, t *solve.Table, row solve.Row) bool {
	truth, _, err := p.e.solver.Where(c.x, t, row, &innodbViews{e: p.e})
	if err != nil {
		return false
	}
	return truth != c.wanted()
}

func columnIn(t *Table, n *ast.ColumnNameExpr) int {
	if n == nil {
		return -1
	}
	return t.Def.ColumnIndex(n.Name.Name.O)
}

// subqueryMayBeEmpty reports whether a condition holds a subquery that may be
// known to be empty, which can make the whole condition impossible.
func (p *prover) subqueryMayBeEmpty(where ast.ExprNode) bool {
	f := &selectFinder{}
	where.Accept(f)
	return slices.ContainsFunc(f.found, func(s *ast.SelectStmt) bool { return p.e.emptiness(s) != mustLook })
}

type selectFinder struct{ found []*ast.SelectStmt }

func (f *selectFinder) Enter(n ast.Node) (ast.Node, bool) {
	if s, ok := n.(*ast.SelectStmt); ok {
		f.found = append(f.found, s)
	}
	return n, false
}

func (f *selectFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
