package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// subquery compiles a query that stands in an expression.
func (c *compiler) subquery(n *ast.SubqueryExpr) (*query, error) {
	sel, ok := n.Query.(*ast.SelectStmt)
	if !ok {
		return nil, unsupported("a subquery of %s", inWords(n.Query))
	}
	if err := plainRead(sel); err != nil {
		return nil, err
	}
	return c.s.query(sel, c.scope, c.views)
}

// SubqueryViews is implemented by Views that give some subqueries other versions than the
// statement around them.
type SubqueryViews interface {
	Views
	// Within returns what a subquery of an expression and the subqueries in it see.
	Within(sub *ast.SelectStmt) Views
}

func viewsWithin(v Views, sub *ast.SelectStmt) Views {
	if s, ok := v.(SubqueryViews); ok {
		return s.Within(sub)
	}
	return v
}

// rowsOf runs a subquery for the current row.
func (q *query) rowsOf(f *frame) [][]sqlvalue.Value {
	g := frame{outer: f, views: viewsWithin(f.views, q.node), other: f.other, strictWrite: f.strictWrite, strictUnsure: f.strictUnsure}
	rows := q.scan(&g)
	var out [][]sqlvalue.Value
	if g.err == nil {
		total := false
		if out, total = q.finish(&g, rows); !total && q.cuts(len(out)) {
			g.err = errUnordered
		}
	}
	f.warnings += g.warnings
	if g.err == errSpent {
		f.err = g.err
	}
	if g.err != nil && f.err == nil {
		// A subquery may be turned into a join that excludes the row at fault.
		f.err = unsupported("error inside a subquery")
	}
	return out
}

func (c *compiler) scalarSubquery(n *ast.SubqueryExpr) (expr, error) {
	q, err := c.subquery(n)
	if err != nil {
		return expr{}, err
	}
	if len(q.items) != 1 {
		return expr{}, &SQLError{1241, "Operand should contain 1 column(s)"}
	}
	e := expr{typ: q.items[0].typ}
	e.eval = func(f *frame) sqlvalue.Value {
		rows := q.rowsOf(f)
		switch {
		case f.err != nil || len(rows) == 0:
			return sqlvalue.Value{}
		case len(rows) > 1:
			return f.fail(1242, "Subquery returns more than 1 row")
		}
		return rows[0][0]
	}
	return e, nil
}

func (c *compiler) exists(n *ast.ExistsSubqueryExpr) (expr, error) {
	sub, ok := n.Sel.(*ast.SubqueryExpr)
	if !ok {
		return expr{}, unsupported("EXISTS of %s", inWords(n.Sel))
	}
	q, err := c.subquery(sub)
	if err != nil {
		return expr{}, err
	}
	return boolExpr(false, func(f *frame) sqlvalue.Truth {
		return truthOf((len(q.rowsOf(f)) > 0) != n.Not)
	}), nil
}

func (c *compiler) inSubquery(n *ast.PatternInExpr, e expr) (expr, error) {
	sub, ok := n.Sel.(*ast.SubqueryExpr)
	if !ok {
		return expr{}, unsupported("IN of %s", inWords(n.Sel))
	}
	q, err := c.subquery(sub)
	if err != nil {
		return expr{}, err
	}
	if len(q.items) != 1 {
		return expr{}, &SQLError{1241, "Operand should contain 1 column(s)"}
	}
	if q.limit != nil { // error 1235, but for TiDB
		return expr{}, unsupported("LIMIT in the subquery of an IN")
	}
	if e.number != nil {
		return expr{}, unsupported("hexadecimal literal in IN")
	}
	if in := q.items[0].expr; isMember(e.typ) || isMember(in.typ) || e.typ.Class == BitClass || in.typ.Class == BitClass || (e.typ.Class == YearClass) != (in.typ.Class == YearClass) || mixed(e, in) || e.typ.Binary != in.typ.Binary || isNumeric(e.typ) && isNumeric(in.typ) && e.typ.Class != in.typ.Class {
		// Materialized, the values are converted to the subquery's type.
		return expr{}, unsupported("different types in IN of a subquery")
	}
	d := *c
	d.joins = true
	cmp, err := d.comparison(e, q.items[0].expr)
	if err != nil {
		return expr{}, err
	}
	x, col := e.eval, -1
	if e.konst {
		col = c.soleColumn(q, sub.Query.(*ast.SelectStmt))
	}
	return boolExpr(false, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if col >= 0 && q.failsFor(f, col, v) {
			f.refuse("error of a subquery's condition on what IN compares with a constant")
			return sqlvalue.Unknown
		}
		rows := q.rowsOf(f)
		if f.err != nil {
			return sqlvalue.Unknown
		}
		if v.IsNull() && len(rows) > 0 {
			return sqlvalue.Unknown
		}
		t := sqlvalue.False
		for _, r := range rows {
			if r[0].IsNull() {
				t = sqlvalue.Unknown
			} else if cmp(f, v, r[0]) == 0 {
				return truthOf(!n.Not)
			}
		}
		return negateIf(n.Not, t)
	}), nil
}

// soleColumn returns the column of its one table that a subquery selects, -1 if it
// is none or no condition is there.
func (c *compiler) soleColumn(q *query, n *ast.SelectStmt) int {
	if len(q.inputs) != 1 || q.inputs[0].sub != nil || q.truth == nil || n.Fields.Fields[0].Expr == nil {
		return -1
	}
	t, _, err := c.views.Table(q.inputs[0].name)
	if err != nil {
		return -1
	}
	return columnIn(t, n.Fields.Fields[0].Expr)
}

// failsFor tells whether a subquery's condition fails for a value of a column. As
// part of a join, an IN is an equality that fixes the column to a constant, which
// may be put in its place before a row is read.
// https://dev.mysql.com/doc/refman/9.7/en/semijoins.html
func (q *query) failsFor(f *frame, col int, v sqlvalue.Value) bool {
	g := frame{outer: f, views: f.views, row: make(Row, q.inputs[0].width)}
	g.row[col] = v
	q.truth(&g)
	return g.err != nil
}
