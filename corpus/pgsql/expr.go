package pgsql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// bind says how tightly an operator of PostgreSQL binds.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-PRECEDENCE
type bind uint8

const (
	bindAny bind = iota
	bindOr
	bindAnd
	bindNot
	bindIs
	bindCompare
	bindIn
	// bindOther is that of all operators that are not named here, || and & among them.
	bindOther
	bindAdd
	bindMul
	bindSign
	bindCast
	bindPrimary
)

// nature is what is known of the type of a term.
type nature uint8

const (
	value nature = iota
	boolean
	// bits is an integer that an operator on bits made.
	bits
	// number and text are literals.
	number
	text
	null
)

// term is a written expression.
type term struct {
	sql  string
	bind bind
	is   nature
}

// in returns the term with the parentheses that an operator needs which binds its operand at
// least so tightly.
func (t term) in(least bind) string {
	if t.bind < least {
		return "(" + t.sql + ")"
	}
	return t.sql
}

const (
	sqlTrue  = "TRUE"
	sqlFalse = "FALSE"
)

// number returns a term that is no boolean.
func (t term) number() term {
	switch {
	case t.is != boolean:
		return t
	case t.sql == sqlTrue:
		return term{"1", bindPrimary, number}
	case t.sql == sqlFalse:
		return term{"0", bindPrimary, number}
	}
	return term{"(" + t.sql + ")::int", bindCast, value}
}

// value writes an expression as a number or a text.
func (p *printer) value(e ast.ExprNode, least bind) string { return p.term(e).number().in(least) }

// condition writes an expression as a boolean.
func (p *printer) condition(e ast.ExprNode, least bind) string {
	t := p.term(e)
	switch {
	case t.is == text:
		t = truthOfText(e)
	case t.is != boolean && t.is != null:
		t = term{t.in(bindOther) + " <> 0", bindCompare, boolean}
	}
	return t.in(least)
}

func (p *printer) values(list []ast.ExprNode) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = p.value(e, bindAny)
	}
	return strings.Join(out, ", ")
}

func (p *printer) term(e ast.ExprNode) term {
	switch n := e.(type) {
	case *ast.ParenthesesExpr:
		return p.term(n.Expr)
	case ast.ParamMarkerExpr:
		return term{sql: p.no("a parameter without a value")}
	case ast.ValueExpr:
		return p.literal(n)
	case *ast.ColumnNameExpr:
		return term{p.column(n.Name), bindPrimary, value}
	case *ast.BinaryOperationExpr:
		return p.binary(n)
	case *ast.UnaryOperationExpr:
		return p.unary(n)
	case *ast.RowExpr:
		return term{"(" + p.values(n.Values) + ")", bindPrimary, value}
	case *ast.SubqueryExpr:
		return term{"(" + p.query(n.Query) + ")", bindPrimary, value}
	case *ast.ExistsSubqueryExpr:
		if n.Not {
			return term{"NOT EXISTS " + p.value(n.Sel, bindPrimary), bindNot, boolean}
		}
		return term{"EXISTS " + p.value(n.Sel, bindPrimary), bindPrimary, boolean}
	case *ast.CompareSubqueryExpr:
		op, ok := comparisons[n.Op]
		p.not(!ok || n.Op == opcode.NullEQ, "this comparison with a subquery")
		quantifier := " ANY "
		if n.All {
			quantifier = " ALL "
		}
		return term{p.value(n.L, bindOther) + " " + op + quantifier + p.value(n.R, bindPrimary), bindCompare, boolean}
	case *ast.PatternInExpr:
		list := "(" + p.values(n.List) + ")"
		if n.Sel != nil {
			list = p.value(n.Sel, bindPrimary)
		}
		return term{p.value(n.Expr, bindOther) + negated(n.Not) + " IN " + list, bindIn, boolean}
	case *ast.BetweenExpr:
		return term{fmt.Sprintf("%s%s BETWEEN %s AND %s", p.value(n.Expr, bindOther), negated(n.Not),
			p.value(n.Left, bindOther), p.value(n.Right, bindOther)), bindIn, boolean}
	case *ast.PatternLikeOrIlikeExpr:
		p.not(!n.IsLike, "ILIKE")
		sql := p.value(n.Expr, bindOther) + negated(n.Not) + " LIKE " + p.value(n.Pattern, bindOther)
		switch n.Escape {
		case '\\': // the default of both
		case 0:
			sql += " ESCAPE ''"
		default:
			sql += " ESCAPE " + p.str(string(rune(n.Escape)))
		}
		return term{sql, bindIn, boolean}
	case *ast.PatternRegexpExpr:
		return term{sql: p.no("REGEXP")}
	case *ast.IsNullExpr:
		return term{p.term(n.Expr).in(bindOther) + " IS" + negated(n.Not) + " NULL", bindIs, boolean}
	case *ast.IsTruthExpr:
		truth := " " + sqlFalse
		if n.True > 0 {
			truth = " " + sqlTrue
		}
		return term{p.condition(n.Expr, bindOther) + " IS" + negated(n.Not) + truth, bindIs, boolean}
	case *ast.CaseExpr:
		return p.caseOf(n)
	case *ast.FuncCallExpr:
		return p.call(n)
	case *ast.FuncCastExpr:
		return p.cast(n)
	case *ast.AggregateFuncExpr:
		return p.aggregate(n)
	case *ast.WindowFuncExpr:
		return p.window(n)
	case *ast.DefaultExpr:
		p.not(n.Name != nil, "DEFAULT of a named column")
		return term{"DEFAULT", bindPrimary, value}
	case *ast.VariableExpr:
		return term{sql: p.no("variables")}
	case *ast.ValuesExpr:
		return term{sql: p.no("VALUES of a column")}
	case *ast.SetCollationExpr:
		return term{sql: p.no("the collation " + n.Collate)}
	case *ast.PositionExpr:
		return term{strconv.Itoa(n.N), bindPrimary, number}
	case *ast.MatchAgainst:
		return term{sql: p.no("MATCH AGAINST")}
	}
	return term{sql: p.no(fmt.Sprintf("an expression of the kind %T", e))}
}

func negated(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

func (p *printer) column(c *ast.ColumnName) string {
	p.not(c.Schema.O != "", "a name with a database")
	p.read = append(p.read, c.Name.L)
	if c.Table.O != "" {
		return quoted(c.Table.O) + "." + quoted(c.Name.O)
	}
	return quoted(c.Name.O)
}

func (p *printer) caseOf(n *ast.CaseExpr) term {
	var b strings.Builder
	b.WriteString("CASE")
	if n.Value != nil {
		b.WriteString(" " + p.value(n.Value, bindAny))
	}
	for _, w := range n.WhenClauses {
		when := ""
		if n.Value != nil {
			when = p.value(w.Expr, bindAny)
		} else {
			when = p.condition(w.Expr, bindAny)
		}
		b.WriteString(" WHEN " + when + " THEN " + p.value(w.Result, bindAny))
	}
	if n.ElseClause != nil {
		b.WriteString(" ELSE " + p.value(n.ElseClause, bindAny))
	}
	b.WriteString(" END")
	return term{b.String(), bindPrimary, value}
}
