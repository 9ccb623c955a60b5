package pgsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// renamed are the functions that PostgreSQL has with the same meaning, by MySQL's name and the
// number of operands.
var renamed = map[string]struct {
	sql      string
	min, max int
}{
	"abs": {"ABS", 1, 1}, "sign": {"SIGN", 1, 1}, "floor": {"FLOOR", 1, 1},
	"ceil": {"CEIL", 1, 1}, "ceiling": {"CEIL", 1, 1}, "round": {"ROUND", 1, 2},
	"length": {"OCTET_LENGTH", 1, 1}, "octet_length": {"OCTET_LENGTH", 1, 1},
	"char_length": {"CHAR_LENGTH", 1, 1}, "character_length": {"CHAR_LENGTH", 1, 1},
	"upper": {"UPPER", 1, 1}, "ucase": {"UPPER", 1, 1}, "lower": {"LOWER", 1, 1}, "lcase": {"LOWER", 1, 1},
	"reverse": {"REVERSE", 1, 1}, "trim": {"TRIM", 1, 1}, "ltrim": {"LTRIM", 1, 1}, "rtrim": {"RTRIM", 1, 1},
	"ifnull": {"COALESCE", 2, 2}, "coalesce": {"COALESCE", 1, 99}, "nullif": {"NULLIF", 2, 2},
}

// extracted are the functions that take a number out of a date: the field, and what is added to it.
var extracted = map[string]struct{ field, shift string }{
	"year": {"YEAR", ""}, "quarter": {"QUARTER", ""}, "month": {"MONTH", ""}, "day": {"DAY", ""}, "dayofmonth": {"DAY", ""},
	"dayofyear": {"DOY", ""}, "weekday": {"ISODOW", " - 1"}, "dayofweek": {"DOW", " + 1"},
	"hour": {"HOUR", ""}, "minute": {"MINUTE", ""},
}

// dateLiterals are the functions that the parser makes of DATE '…' and its like.
var dateLiterals = map[string]string{
	ast.DateLiteral: "DATE ", ast.TimestampLiteral: "TIMESTAMP ", ast.TimeLiteral: "INTERVAL ",
}

// clock are the names of the function that tells the time.
var clock = []string{"now", "current_timestamp", "localtime", "localtimestamp"}

func (p *printer) call(n *ast.FuncCallExpr) term {
	name, args := n.FnName.L, n.Args
	p.not(n.Schema.O != "", "functions of a database")
	if f, ok := renamed[name]; ok && f.min <= len(args) && len(args) <= f.max {
		return term{f.sql + "(" + p.values(args) + ")", bindPrimary, value}
	}
	if e, ok := extracted[name]; ok && len(args) == 1 {
		t := term{fmt.Sprintf("EXTRACT(%s FROM %s)::int%s", e.field, p.value(args[0], bindAny), e.shift), bindCast, value}
		if e.shift != "" {
			t.bind = bindAdd
		}
		return t
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
	case slices.Contains(clock, name) && len(args) == 0:
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
	ast.TimeUnitSecond, ast.TimeUnitMinute, ast.TimeUnitHour, ast.TimeUnitDay, ast.TimeUnitWeek, ast.TimeUnitMonth,
	ast.TimeUnitYear,
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
	sql := fmt.Sprintf("%s%sINTERVAL '%s %s'", date.in(bindAdd), sign, p.value(args[1], bindPrimary), unit.Unit)
	return term{sql, bindAdd, value}
}
