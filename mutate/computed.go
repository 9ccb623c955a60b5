package mutate

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// SQL that the statement solver does not know, so that the tested server has to compute
// it. Each form is repeatable, answers the same whatever the plan, and is an error for
// hardly any value, as what is not so settles nothing.
//
//	{t} {u}  the table of the statement that is met, and any table
//	{c} {d}  columns of {t}; {e} one of {u}
//	{v} {w}  values of {c}
//	{where}  a condition on {t}
var (
	computedConditions = []weighted[string]{
		{14, "{c} REGEXP '[1-3a]'"},
		{10, "NOT {c} REGEXP '^[12b]'"},
		{12, "HEX({c}) > HEX({v})"},
		{8, "HEX({c}) IN (HEX({v}), HEX({w}))"},
		{10, "JSON_UNQUOTE(JSON_EXTRACT(JSON_OBJECT('k', {c}), '$.k')) = {v}"},
		{8, "JSON_CONTAINS(JSON_ARRAY({v}, {w}, 2), JSON_ARRAY({c}))"},
		{6, "JSON_LENGTH(JSON_ARRAY({c}, {d})) = 2 AND {c} < {v}"},
		{8, "FIELD({c}, {v}, {w}) > 0"},
		{6, "FIND_IN_SET({c}, '1,2,a,b') > 0"},
		{6, "ELT(1 + LENGTH({c}) % 2, {c}, {d}) = {v}"},
		{6, "SHA2({c}, 256) < '8'"},
		{6, "QUOTE({c}) <> QUOTE({v})"},
	}
	computedValues = []weighted[string]{
		{14, "LEFT(HEX({c}), 5)"},
		{10, "JSON_LENGTH(JSON_ARRAY({c}, {d}, {v}))"},
		{10, "JSON_UNQUOTE(JSON_EXTRACT(JSON_OBJECT('k', {c}), '$.k'))"},
		{8, "FIELD({c}, {v}, {w})"},
		{8, "LENGTH(QUOTE({c}))"},
		{6, "LENGTH(SHA2({c}, 256)) - 60"},
		{6, "LENGTH(HEX({c})) % 7"},
	}
	computedQueries = []weighted[string]{
		{10, "SELECT {c}, JSON_ARRAY({c}, {d}) FROM {t}"},
		{10, "SELECT * FROM {t} WHERE {computed}"},
		{10, "SELECT * FROM {t} WHERE {where} AND {computed}"},
		{8, "SELECT {c}, RANK() OVER (ORDER BY {c}) FROM {t}"},
		{8, "SELECT {d}, COUNT({c}) OVER (PARTITION BY {d}) FROM {t}"},
		{6, "SELECT {c}, DENSE_RANK() OVER (PARTITION BY {d} ORDER BY {c}) FROM {t} WHERE {where}"},
		{10, "SELECT {c} FROM {t} UNION SELECT {e} FROM {u}"},
		{8, "SELECT {c}, {d} FROM {t} WHERE {where} UNION ALL SELECT {c}, {d} FROM {t}"},
		{6, "SELECT {c} FROM {t} EXCEPT SELECT {e} FROM {u} WHERE {e} = {v}"},
		{6, "SELECT {c} FROM {t} INTERSECT SELECT {e} FROM {u}"},
		{12, "SELECT x.*, y.* FROM {t} x LEFT JOIN {u} y ON x.{c} = y.{e}"},
		{6, "SELECT x.{c}, y.{e} FROM {t} x RIGHT JOIN {u} y ON HEX(x.{c}) = HEX(y.{e})"},
		{10, "WITH q AS (SELECT * FROM {t} WHERE {where}) SELECT COUNT(*), COUNT({c}) FROM q"},
		{6, "WITH q AS (SELECT {c} AS k, COUNT(*) AS n FROM {t} GROUP BY {c}) SELECT q.n, x.* FROM q JOIN {t} x ON x.{c} = q.k"},
		{6, "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c} WITH ROLLUP"},
		{6, "SELECT HEX({c}), COUNT(*) FROM {t} GROUP BY HEX({c})"},
	}
)

// computed puts a statement into x that only the server can compute, over rows that y
// writes: a query, a locking read, or a write.
func computed(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	return d.meet(c, o, x, y, func(t *table) bool { return len(t.plainColumns()) > 0 }, func(t *table, w ast.ExprNode) ast.StmtNode {
		f := filling{c: c, t: t, u: oneOf(c, d.tables), where: w}
		if len(f.u.plainColumns()) == 0 {
			f.u = t
		}
		switch form := c.below(20); {
		case form >= 16:
			if s, ok := f.several(d.tables); ok {
				return s
			}
			fallthrough
		case form < 6:
			return f.statement(pick(c, computedQueries))
		case form < 9:
			lock := ast.SelectLockForUpdate
			if form == 8 && o.shareLocks() {
				lock = ast.SelectLockForShare
			}
			return selectStmt(t, nil, f.condition(), lock)
		case form < 11:
			return deleteStmt(t, f.condition())
		case form < 13:
			return updateStmt(t, assignments(c, t), f.condition())
		case form < 15 || slices.ContainsFunc(t.cols, func(c column) bool { return c.generated || c.typ.family == opaque }):
			return updateStmt(t, f.assignment(), w)
		}
		return f.insertion(c.odds(128))
	})
}

// plainColumns are those whose values can be computed with.
func (t *table) plainColumns() []int {
	var out []int
	for i := range t.cols {
		if t.cols[i].typ.family != opaque && !t.cols[i].typ.binary {
			out = append(out, i)
		}
	}
	return out
}

// filling fills the gaps of a form.
type filling struct {
	c     *choices
	t, u  *table
	where ast.ExprNode
	// set and by are the columns of t and u that a write of both assigns.
	set, by int
	both    bool
}

var gap = regexp.MustCompile(`\{[a-z]+\}`)

func (f *filling) text(form string) string {
	first, second := oneOf(f.c, f.t.plainColumns()), oneOf(f.c, f.t.plainColumns())
	other := oneOf(f.c, f.u.plainColumns())
	if same := f.u.columnOf(f.c, f.t.cols[first].typ.family); same >= 0 {
		other = same
	}
	return gap.ReplaceAllStringFunc(form, func(g string) string {
		switch g {
		case "{t}":
			return history.Quoted(f.t.name)
		case "{u}":
			return history.Quoted(f.u.name)
		case "{c}":
			return history.Quoted(f.t.cols[first].name)
		case "{d}":
			return history.Quoted(f.t.cols[second].name)
		case "{e}":
			return history.Quoted(f.u.cols[other].name)
		case "{v}", "{w}":
			return textOf(f.t.constant(f.c, first).literal())
		case "{where}":
			if f.where == nil {
				return "1 = 1"
			}
			return "(" + textOf(f.where) + ")"
		case "{computed}":
			return f.text(pick(f.c, computedConditions))
		case "{s}":
			return history.Quoted(f.t.cols[f.set].name)
		case "{r}":
			return history.Quoted(f.u.cols[f.by].name)
		case "{g}":
			return f.given(f.t, f.set, f.u, "y")
		case "{f}":
			return f.given(f.u, f.by, f.t, "x")
		case "{p}":
			return textOf(f.t.constant(f.c, f.set).literal())
		case "{q}":
			return textOf(f.u.constant(f.c, f.by).literal())
		case "{on}":
			return f.joining()
		}
		panic("mutate: no such gap: " + g)
	})
}

// textOf is an expression as it is written.
func textOf(e ast.ExprNode) string {
	sql, err := corpus.FormatExpr(e, corpus.Text)
	if err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	return sql
}

func (f *filling) statement(form string) ast.StmtNode {
	sql := f.text(form)
	stmt, err := corpus.ParseStatement(sql)
	if err != nil {
		panic(fmt.Sprintf("mutate: %s: %v", sql, err))
	}
	return stmt
}

func (f *filling) expr(form string) ast.ExprNode {
	return f.statement("SELECT " + form).(*ast.SelectStmt).Fields.Fields[0].Expr
}

// condition is a computed condition, mostly beside the one that the met statement has.
func (f *filling) condition() ast.ExprNode {
	e := f.expr(pick(f.c, computedConditions))
	if f.where == nil || f.c.odds(80) {
		return e
	}
	op := opcode.LogicAnd
	if f.c.odds(64) {
		op = opcode.LogicOr
	}
	return binaryOp(op, &ast.ParenthesesExpr{Expr: f.where}, &ast.ParenthesesExpr{Expr: e})
}

// assignment sets a column, outside of unique keys if there is one, to a computed value.
func (f *filling) assignment() []*ast.Assignment {
	columns := slices.DeleteFunc(f.t.plainColumns(), func(i int) bool { return f.t.cols[i].generated && len(f.t.plainColumns()) > 1 })
	at := f.c.below(len(columns))
	columns = slices.Concat(columns[at:], columns[:at])
	set := columns[0]
	if i := slices.IndexFunc(columns, func(i int) bool { _, unique := f.t.inKey(i); return !unique && f.t.cols[i].typ.family == texts }); i >= 0 {
		set = columns[i]
	}
	form := pick(f.c, computedValues)
	if f.t.cols[set].typ.family != texts {
		form = pick(f.c, computedValues[3:])
	}
	return []*ast.Assignment{{Column: columnName(f.t.cols[set].name), Expr: f.expr(form)}}
}

// insertion inserts a row of which a value is computed from constants; or, if it meets is
// set, one that is in the way of a row of the set-up, with a value computed for that.
func (f *filling) insertion(meets bool) ast.StmtNode {
	row := f.t.newRow(f.c, 0)
	if keys := f.t.uniqueKeys(); meets && len(keys) > 0 && len(f.t.rows) > 0 {
		f.t.collide(f.c, row, oneOf(f.c, f.t.rows), oneOf(f.c, keys))
		s := insertStmt(f.t, nil, [][]ast.ExprNode{literals(row)})
		s.OnDuplicate = f.assignment()
		return s
	}
	list := literals(row)
	set := f.assignment()[0]
	i := f.t.column(set.Column.Name.O)
	if f.t.cols[i].typ.family == texts {
		list[i] = f.expr(fmt.Sprintf("LEFT(SHA2(%s, 256), %d)", textOf(f.t.constant(f.c, i).literal()), 1+f.c.below(4)))
	} else {
		list[i] = f.expr(fmt.Sprintf("LENGTH(QUOTE(%d)) + %d", f.c.below(9), f.c.below(8)))
	}
	return insertStmt(f.t, nil, [][]ast.ExprNode{list})
}
