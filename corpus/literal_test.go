package corpus

import (
	"math"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

func fieldsOf(t *testing.T, sql string) []*ast.SelectField {
	t.Helper()
	stmt, err := ParseStatement(sql)
	if err != nil {
		t.Fatal(err)
	}
	return stmt.(*ast.SelectStmt).Fields.Fields
}

func TestLiteralOf(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want Literal
	}{
		{"NULL", Literal{Kind: KindNull}},
		{"TRUE", Literal{KindInt, "1", true}},
		{"FALSE", Literal{KindInt, "0", true}},
		{"7", Literal{Kind: KindInt, Text: "7"}},
		{"9223372036854775807", Literal{Kind: KindInt, Text: "9223372036854775807"}},
		{"9223372036854775808", Literal{Kind: KindUint, Text: "9223372036854775808"}},
		{"18446744073709551616", Literal{Kind: KindDecimal, Text: "18446744073709551616"}},
		{"1.50", Literal{Kind: KindDecimal, Text: "1.50"}},
		{".5", Literal{Kind: KindDecimal, Text: "0.5"}},
		{"007.5", Literal{Kind: KindDecimal, Text: "7.5"}},
		{"1e3", Literal{Kind: KindFloat, Text: "1e+03"}},
		{"''", Literal{Kind: KindString}},
		{`'a\'b''c\\d\n'`, Literal{Kind: KindString, Text: "a'b'c\\d\n"}},
		{"x'4142'", Literal{Kind: KindBytes, Text: "AB"}},
		{"0x1", Literal{Kind: KindBytes, Text: "\x01"}},
		{"x''", Literal{Kind: KindBytes}},
		{"b'100000001'", Literal{Kind: KindBytes, Text: "\x01\x01"}},
		{"0b1", Literal{Kind: KindBytes, Text: "\x01"}},
	} {
		if got := LiteralOf(fieldsOf(t, "SELECT "+c.sql)[0].Expr.(ast.ValueExpr)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.sql, got, c.want)
		}
	}
}

// foreign stands for the literals of TiDB's driver, whose decimals are pointers
// with a String method and whose binary literals are bytes with one.
type foreign struct {
	ast.ValueExpr
	value any
}

func (f foreign) GetValue() any { return f.value }

type foreignDecimal struct{ text string }

func (d *foreignDecimal) String() string { return d.text }

type foreignBinary []byte

func (b foreignBinary) String() string { return "0x…" }

func TestLiteralOfAnotherDriver(t *testing.T) {
	base := newLiteral(nil).(ast.ValueExpr)
	for _, c := range []struct {
		value any
		want  Literal
	}{
		{nil, Literal{Kind: KindNull}},
		{int64(-3), Literal{Kind: KindInt, Text: "-3"}},
		{uint64(math.MaxUint64), Literal{Kind: KindUint, Text: "18446744073709551615"}},
		{float32(0.5), Literal{Kind: KindFloat, Text: "5e-01"}},
		{&foreignDecimal{"1.20"}, Literal{Kind: KindDecimal, Text: "1.20"}},
		{foreignBinary("AB"), Literal{Kind: KindBytes, Text: "AB"}},
		{[]byte("s"), Literal{Kind: KindString, Text: "s"}},
	} {
		if got := LiteralOf(foreign{base, c.value}); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.value, got, c.want)
		}
	}
}

// What the constructors make is what the parser makes of the same text.
func TestConstructorsMakeWhatTheParserMakes(t *testing.T) {
	decimal := func(s string) ast.ExprNode {
		e, err := DecimalLit(s)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		sql string
		e   ast.ExprNode
	}{
		{"0", IntLit(0)},
		{"-1", IntLit(-1)},
		{"9223372036854775807", IntLit(math.MaxInt64)},
		{"-9223372036854775808", IntLit(math.MinInt64)},
		{"5", UintLit(5)},
		{"18446744073709551615", UintLit(math.MaxUint64)},
		{"NULL", NullLit()},
		{"TRUE", BoolLit(true)},
		{"'it''s'", StringLit("it's")},
		{"-12.50", decimal("-12.50")},
		{"12345678901234567890123", decimal("12345678901234567890123")},
	} {
		parsed := fieldsOf(t, "SELECT "+c.sql)[0].Expr
		if path := differentMeaning(c.e, parsed); path != "" {
			t.Errorf("%s: another %s", c.sql, path)
		}
		text, err := FormatExpr(c.e, Text)
		if err != nil || text != c.sql {
			t.Errorf("%s is printed %q, %v", c.sql, text, err)
		}
	}
	for _, bad := range []string{"", "-", "--1", "x", "1.2.3", "1 ", strings.Repeat("9", 82)} {
		if e, err := DecimalLit(bad); err == nil {
			t.Errorf("DecimalLit(%q) = %v", bad, e)
		}
	}
}

func TestNegativeLiteralNode(t *testing.T) {
	// ast.NewValueExpr lets a caller make a node that no parser makes.
	e := &ast.BinaryOperationExpr{Op: opcode.Minus, L: newLiteral(int64(1)), R: newLiteral(int64(-1))}
	if s, err := FormatExpr(e, Text); err != nil || s != "1 - -1" {
		t.Errorf("%q, %v", s, err)
	}
	neg := &ast.UnaryOperationExpr{Op: opcode.Minus, V: newLiteral(int64(-1))}
	if s, err := FormatExpr(neg, Text); err != nil || s != "- -1" {
		t.Errorf("%q, %v", s, err)
	}
}
