package pgsql

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"
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
	if t.is != boolean && t.is != null {
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
			return term{"NOT EXISTS " + p.subquery(n.Sel), bindNot, boolean}
		}
		return term{"EXISTS " + p.subquery(n.Sel), bindPrimary, boolean}
	case *ast.CompareSubqueryExpr:
		op, ok := comparisons[n.Op]
		p.not(!ok || n.Op == opcode.NullEQ, "this comparison with a subquery")
		quantifier := " ANY "
		if n.All {
			quantifier = " ALL "
		}
		return term{p.value(n.L, bindOther) + " " + op + quantifier + p.subquery(n.R), bindCompare, boolean}
	case *ast.PatternInExpr:
		list := "(" + p.values(n.List) + ")"
		if n.Sel != nil {
			list = p.subquery(n.Sel)
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

func (p *printer) subquery(e ast.ExprNode) string {
	for {
		inner, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return p.value(e, bindPrimary)
		}
		e = inner.Expr
	}
}

func (p *printer) column(c *ast.ColumnName) string {
	p.not(c.Schema.O != "", "a name with a database")
	p.read = append(p.read, c.Name.L)
	if c.Table.O != "" {
		return quoted(c.Table.O) + "." + quoted(c.Name.O)
	}
	return quoted(c.Name.O)
}

// literal writes a literal of either of the parser's drivers.
func (p *printer) literal(e ast.ValueExpr) term {
	switch v := e.GetValue().(type) {
	case nil:
		return term{"NULL", bindPrimary, null}
	case int64:
		if e.GetType().GetFlag()&mysql.IsBooleanFlag == 0 {
			return numeric(strconv.FormatInt(v, 10))
		}
		if v != 0 {
			return term{sqlTrue, bindPrimary, boolean}
		}
		return term{sqlFalse, bindPrimary, boolean}
	case uint64:
		return numeric(strconv.FormatUint(v, 10))
	case float32:
		return p.double(float64(v), 32)
	case float64:
		return p.double(v, 64)
	case string:
		return p.textOf(v, e.GetType().GetCharset())
	case []byte:
		return p.textOf(string(v), e.GetType().GetCharset())
	case fmt.Stringer:
		// TiDB's binary literals have a String method too: tell by the kind.
		if reflect.ValueOf(v).Kind() == reflect.Slice || e.GetType().GetType() != mysql.TypeNewDecimal {
			return term{sql: p.no("a hexadecimal or bit literal")}
		}
		return numeric(v.String())
	}
	return term{sql: p.no("a hexadecimal or bit literal")}
}

func numeric(sql string) term {
	if strings.HasPrefix(sql, "-") {
		return term{sql, bindSign, number}
	}
	return term{sql, bindPrimary, number}
}

// double casts a number with an exponent, which is exact in PostgreSQL.
func (p *printer) double(f float64, size int) term {
	t := numeric(strconv.FormatFloat(f, 'e', -1, size))
	return term{t.in(bindPrimary) + "::double precision", bindCast, value}
}

func (p *printer) textOf(s, charset string) term {
	p.not(charset == "binary", "a string of bytes")
	return term{p.str(s), bindPrimary, text}
}

var (
	comparisons = map[opcode.Op]string{
		opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
		opcode.NullEQ: "IS NOT DISTINCT FROM",
	}
	arithmetic = map[opcode.Op]struct {
		sql  string
		bind bind
	}{
		opcode.Plus: {" + ", bindAdd}, opcode.Minus: {" - ", bindAdd}, opcode.Mul: {" * ", bindMul}, opcode.Mod: {" % ", bindMul},
	}
	onBits = map[opcode.Op]string{
		opcode.And: " & ", opcode.Or: " | ", opcode.Xor: " # ", opcode.LeftShift: " << ", opcode.RightShift: " >> ",
	}
)

func (p *printer) binary(n *ast.BinaryOperationExpr) term {
	if op, ok := comparisons[n.Op]; ok {
		t := term{p.value(n.L, bindOther) + " " + op + " " + p.value(n.R, bindOther), bindCompare, boolean}
		if n.Op == opcode.NullEQ {
			t.bind = bindIs
		}
		return t
	}
	if op, ok := arithmetic[n.Op]; ok {
		return term{p.value(n.L, op.bind) + op.sql + p.value(n.R, op.bind+1), op.bind, value}
	}
	if op, ok := onBits[n.Op]; ok {
		right := p.integer(n.R)
		if _, literal := n.R.(ast.ValueExpr); !literal && (n.Op == opcode.LeftShift || n.Op == opcode.RightShift) {
			right = p.value(n.R, bindCast) + "::int"
		}
		return term{p.integer(n.L) + op + right, bindOther, bits}
	}
	switch n.Op {
	case opcode.LogicAnd:
		return term{p.condition(n.L, bindAnd) + " AND " + p.condition(n.R, bindAnd+1), bindAnd, boolean}
	case opcode.LogicOr:
		return term{p.condition(n.L, bindOr) + " OR " + p.condition(n.R, bindOr+1), bindOr, boolean}
	case opcode.LogicXor:
		return term{p.condition(n.L, bindPrimary) + " <> " + p.condition(n.R, bindPrimary), bindCompare, boolean}
	case opcode.Div:
		return term{p.castTo(n.L, "numeric") + " / " + p.value(n.R, bindMul+1), bindMul, value}
	case opcode.IntDiv:
		return term{"DIV(" + p.castTo(n.L, "numeric") + ", " + p.castTo(n.R, "numeric") + ")", bindPrimary, value}
	}
	return term{sql: p.no("the operator " + n.Op.String())}
}

// integer writes an operand of an operator on bits, of which there is none for NUMERIC.
func (p *printer) integer(e ast.ExprNode) string {
	t := p.term(e).number()
	if t.is == number || t.is == bits {
		return t.in(bindOther + 1)
	}
	return t.in(bindCast) + "::bigint"
}

// castTo writes a cast of a value.
func (p *printer) castTo(e ast.ExprNode, to string) string { return p.value(e, bindCast) + "::" + to }

func (p *printer) unary(n *ast.UnaryOperationExpr) term {
	switch n.Op {
	case opcode.Not, opcode.Not2:
		return term{"NOT " + p.condition(n.V, bindPrimary), bindNot, boolean}
	case opcode.BitNeg:
		return term{"~" + p.integer(n.V), bindOther, bits}
	case opcode.Plus:
		return p.term(n.V).number()
	case opcode.Minus:
		t := p.term(n.V).number()
		sign := term{"-" + t.in(bindSign+1), bindSign, value}
		if t.is == number {
			sign.is = number
		}
		return sign
	}
	return term{sql: p.no("the operator " + n.Op.String())}
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

func (p *printer) cast(n *ast.FuncCastExpr) term {
	if n.FunctionType == ast.CastBinaryOperator {
		return term{sql: p.no("BINARY")}
	}
	if n.Tp.GetType() == mysql.TypeLonglong && mysql.HasUnsignedFlag(n.Tp.GetFlag()) {
		// Of a negative integer it makes one of 64 bits.
		const size = "18446744073709551616"
		return term{"MOD(" + p.castTo(n.Expr, "numeric(20)") + " + " + size + ", " + size + ")", bindPrimary, value}
	}
	return term{p.castTo(n.Expr, p.castType(n.Tp)), bindCast, value}
}

func (p *printer) castType(t *types.FieldType) string {
	p.not(t.IsArray(), "an array of JSON")
	switch t.GetType() {
	case mysql.TypeLonglong:
		return "bigint"
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		p.not(t.GetCharset() == "binary", "CAST to BINARY")
		if n := t.GetFlen(); n != types.UnspecifiedLength {
			return fmt.Sprintf("varchar(%d)", n)
		}
		return "text"
	case mysql.TypeNewDecimal:
		// MySQL has 10 digits and none behind the point where nothing is said.
		return decimalType(t)
	case mysql.TypeDate:
		return "date"
	case mysql.TypeDatetime:
		return timestampType(t)
	case mysql.TypeFloat:
		return "real"
	case mysql.TypeDouble:
		return "double precision"
	}
	return p.no("CAST to " + types.TypeToStr(t.GetType(), t.GetCharset()))
}

// timestampType keeps no part of a second where nothing is said.
func timestampType(t *types.FieldType) string {
	return fmt.Sprintf("timestamp(%d)", max(t.GetDecimal(), 0))
}

func decimalType(t *types.FieldType) string {
	length := t.GetFlen()
	if length == types.UnspecifiedLength || length == 0 {
		length = 10
	}
	return fmt.Sprintf("numeric(%d, %d)", length, max(t.GetDecimal(), 0))
}
