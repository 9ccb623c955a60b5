package pgsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// renamed are the functions that PostgreSQL has with the same meaning, by MySQL's name and the
// number of operands.
var renamed = map[string]struct {
	sql      string
	min, max int
}{
	"abs": {"ABS", 1, 1}, "sign": {"SIGN", 1, 1}, "floor": {"FLOOR", 1, 1}, "ceil": {"CEIL", 1, 1}, "ceiling": {"CEIL", 1, 1},
	"round": {"ROUND", 1, 2}, "mod": {"MOD", 2, 2},
	"length": {"OCTET_LENGTH", 1, 1}, "octet_length": {"OCTET_LENGTH", 1, 1},
	"char_length": {"CHAR_LENGTH", 1, 1}, "character_length": {"CHAR_LENGTH", 1, 1},
	"upper": {"UPPER", 1, 1}, "ucase": {"UPPER", 1, 1}, "lower": {"LOWER", 1, 1}, "lcase": {"LOWER", 1, 1},
	"reverse": {"REVERSE", 1, 1}, "trim": {"TRIM", 1, 1}, "ltrim": {"LTRIM", 1, 1}, "rtrim": {"RTRIM", 1, 1},
	"ifnull": {"COALESCE", 2, 2}, "coalesce": {"COALESCE", 1, 99}, "nullif": {"NULLIF", 2, 2},
}

// extracted are the functions that take a number out of a date.
var extracted = map[string]string{
	"year": "EXTRACT(YEAR FROM %s)::int", "quarter": "EXTRACT(QUARTER FROM %s)::int", "month": "EXTRACT(MONTH FROM %s)::int",
	"day": "EXTRACT(DAY FROM %s)::int", "dayofmonth": "EXTRACT(DAY FROM %s)::int", "dayofyear": "EXTRACT(DOY FROM %s)::int",
	"hour": "EXTRACT(HOUR FROM %s)::int", "minute": "EXTRACT(MINUTE FROM %s)::int",
	"weekday": "(EXTRACT(ISODOW FROM %s)::int - 1)", "dayofweek": "(EXTRACT(DOW FROM %s)::int + 1)",
}

// dateLiterals are the functions that the parser makes of DATE '…' and its like.
var dateLiterals = map[string]string{ast.DateLiteral: "DATE ", ast.TimestampLiteral: "TIMESTAMP ", ast.TimeLiteral: "INTERVAL "}

func (p *printer) call(n *ast.FuncCallExpr) term {
	name, args := n.FnName.L, n.Args
	p.not(n.Schema.O != "", "functions of a database")
	if f, ok := renamed[name]; ok && f.min <= len(args) && len(args) <= f.max {
		return term{f.sql + "(" + p.values(args) + ")", bindPrimary, value}
	}
	if form, ok := extracted[name]; ok && len(args) == 1 {
		return term{fmt.Sprintf(form, p.value(args[0], bindAny)), bindCast, value}
	}
	if word, ok := dateLiterals[name]; ok && len(args) == 1 {
		return term{word + p.value(args[0], bindPrimary), bindPrimary, value}
	}
	switch {
	case name == "if" && len(args) == 3:
		return term{fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", p.condition(args[0], bindAny), p.value(args[1], bindAny),
			p.value(args[2], bindAny)), bindPrimary, value}
	case name == "isnull" && len(args) == 1:
		return term{p.term(args[0]).in(bindOther) + " IS NULL", bindIs, boolean}
	case name == "concat" && len(args) > 0:
		return p.concat(args)
	case (name == "greatest" || name == "least") && len(args) > 1:
		return p.extreme(strings.ToUpper(name), args)
	case (name == "left" || name == "right") && len(args) == 2:
		// Of a negative number MySQL makes the empty text.
		p.not(!atLeast(args[1], 0), strings.ToUpper(name)+" with a computed length")
		return term{strings.ToUpper(name) + "(" + p.values(args) + ")", bindPrimary, value}
	case slices.Contains([]string{"substring", "substr", "mid"}, name) && (len(args) == 2 || len(args) == 3):
		p.not(!atLeast(args[1], 1) || len(args) == 3 && !atLeast(args[2], 0), "SUBSTRING with a computed place")
		return term{"SUBSTR(" + p.values(args) + ")", bindPrimary, value}
	case (name == "date_add" || name == "date_sub") && len(args) == 3:
		return p.shifted(args, map[string]string{"date_add": " + ", "date_sub": " - "}[name])
	case name == "bit_count" && len(args) == 1:
		return term{"BIT_COUNT(" + p.castTo(args[0], "bigint") + "::bit(64))", bindPrimary, value}
	case (name == "now" || name == "current_timestamp" || name == "localtime" || name == "localtimestamp") && len(args) == 0:
		return term{"LOCALTIMESTAMP(0)", bindPrimary, value}
	}
	return term{sql: p.no("the function " + strings.ToUpper(name))}
}

// atLeast reports whether an operand is a literal of at least n.
func atLeast(e ast.ExprNode, n int64) bool {
	v, ok := e.(ast.ValueExpr)
	if !ok {
		return false
	}
	i, ok := v.GetValue().(int64)
	return ok && i >= n
}

// concat is NULL if one operand is. One of two operands of || must be a text.
func (p *printer) concat(args []ast.ExprNode) term {
	terms := make([]string, len(args))
	texts := false
	for i, e := range args {
		t := p.term(e).number()
		texts = texts || i < 2 && t.is == text
		terms[i] = t.in(bindOther + 1)
	}
	if !texts {
		terms[0] = p.castTo(args[0], "text")
	}
	if len(terms) == 1 {
		return term{terms[0], bindCast, value}
	}
	return term{strings.Join(terms, " || "), bindOther, value}
}

// extreme writes GREATEST and LEAST, which in PostgreSQL leave NULL out.
func (p *printer) extreme(name string, args []ast.ExprNode) term {
	var present []string
	for _, e := range args {
		t := p.term(e).number()
		if t.is == number || t.is == text {
			continue
		}
		if test := t.in(bindOther) + " IS NOT NULL"; !slices.Contains(present, test) {
			present = append(present, test)
		}
	}
	sql := name + "(" + p.values(args) + ")"
	if len(present) > 0 {
		sql = "CASE WHEN " + strings.Join(present, " AND ") + " THEN " + sql + " END"
	}
	return term{sql, bindPrimary, value}
}

var intervalUnits = []ast.TimeUnitType{
	ast.TimeUnitSecond, ast.TimeUnitMinute, ast.TimeUnitHour, ast.TimeUnitDay, ast.TimeUnitWeek, ast.TimeUnitMonth, ast.TimeUnitYear,
}

// shifted writes a date some units later or earlier.
func (p *printer) shifted(args []ast.ExprNode, sign string) term {
	unit, ok := args[2].(*ast.TimeUnitExpr)
	if !ok || !slices.Contains(intervalUnits, unit.Unit) || !atLeast(args[1], 0) {
		return term{sql: p.no("an INTERVAL of this kind")}
	}
	date := p.term(args[0]).number()
	if date.is == text {
		date.sql = "TIMESTAMP " + date.sql
	}
	return term{fmt.Sprintf("%s%sINTERVAL '%s %s'", date.in(bindAdd), sign, p.value(args[1], bindPrimary), unit.Unit), bindAdd, value}
}

// aggregates are those that both have, by MySQL's names.
var aggregates = []string{"count", "sum", "min", "max", "avg"}

func (p *printer) aggregate(n *ast.AggregateFuncExpr) term {
	name := strings.ToLower(n.F)
	if !slices.Contains(aggregates, name) || n.Order != nil {
		return term{sql: p.no("the function " + strings.ToUpper(n.F))}
	}
	p.groups = true
	p.not(len(n.Args) != 1, "the number of different values of several columns")
	return term{strings.ToUpper(name) + "(" + p.aggregated(name, n.Args, n.Distinct) + ")", bindPrimary, value}
}

// aggregated writes what a function is of; COUNT(*) is one of the literal 1.
func (p *printer) aggregated(name string, args []ast.ExprNode, distinct bool) string {
	if distinct {
		return "DISTINCT " + p.values(args)
	}
	if name == "count" && len(args) == 1 && atLeast(args[0], 1) {
		return "*"
	}
	return p.values(args)
}

var windowFunctions = []string{
	"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
}

func (p *printer) window(n *ast.WindowFuncExpr) term {
	p.groups = true
	name := strings.ToLower(n.Name)
	p.not(!slices.Contains(windowFunctions, name) && !slices.Contains(aggregates, name), "the function "+strings.ToUpper(name))
	p.not(n.IgnoreNull || n.FromLast || n.Distinct, "this form of a window function")
	return term{strings.ToUpper(name) + "(" + p.aggregated(name, n.Args, false) + ") OVER " + p.windowSpec(&n.Spec), bindPrimary, value}
}

// windowSpec writes what stands behind OVER, or behind a name and AS.
func (p *printer) windowSpec(s *ast.WindowSpec) string {
	if s.OnlyAlias {
		return quoted(s.Name.O)
	}
	var parts []string
	if s.Ref.O != "" {
		parts = append(parts, quoted(s.Ref.O))
	}
	if s.PartitionBy != nil {
		parts = append(parts, "PARTITION BY "+p.items(s.PartitionBy.Items, false))
	}
	if s.OrderBy != nil {
		parts = append(parts, "ORDER BY "+p.items(s.OrderBy.Items, true))
	}
	if f := s.Frame; f != nil {
		kind := map[ast.FrameType]string{ast.Rows: "ROWS", ast.Ranges: "RANGE"}[f.Type]
		p.not(kind == "", "this frame of a window")
		parts = append(parts, kind+" BETWEEN "+p.bound(&f.Extent.Start)+" AND "+p.bound(&f.Extent.End))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (p *printer) bound(b *ast.FrameBound) string {
	p.not(b.Unit != ast.TimeUnitInvalid, "an INTERVAL of this kind")
	if b.Type == ast.CurrentRow {
		return "CURRENT ROW"
	}
	from := "UNBOUNDED"
	if !b.UnBounded {
		from = p.value(b.Expr, bindAny)
	}
	if b.Type == ast.Preceding {
		return from + " PRECEDING"
	}
	return from + " FOLLOWING"
}

// autoIncrements reports whether the server makes a column's values.
func autoIncrements(c *ast.ColumnDef) bool {
	return mysql.HasAutoIncrementFlag(c.Tp.GetFlag()) ||
		slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionAutoIncrement })
}
