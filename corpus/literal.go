package corpus

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// LiteralKind is the SQL type of a literal as the lexer sees it.
type LiteralKind uint8

// The kinds of literals.
const (
	KindNull LiteralKind = iota
	// KindInt is an integer that fits an int64; TRUE and FALSE are 1 and 0.
	KindInt
	// KindUint is an integer above the int64 range that fits a uint64.
	KindUint
	// KindDecimal is an exact number with a point, or a larger integer.
	KindDecimal
	// KindFloat is a number with an exponent.
	KindFloat
	// KindString is a quoted string.
	KindString
	// KindBytes is a hexadecimal or bit literal: a number in numeric context,
	// bytes elsewhere.
	KindBytes
)

// Literal is the value of a literal, independent of the driver that made it.
type Literal struct {
	Kind LiteralKind
	// Text holds the number in decimal notation, the characters of a string,
	// or the raw bytes of KindBytes. Empty for NULL.
	Text string
	// Bool says that an integer was written TRUE or FALSE.
	Bool bool
}

// LiteralOf reads a literal made by this package's driver or by TiDB's. It
// panics on a Go value that no parser puts into a literal.
func LiteralOf(e ast.ValueExpr) Literal {
	switch v := e.GetValue().(type) {
	case nil:
		return Literal{Kind: KindNull}
	case int64:
		return Literal{KindInt, strconv.FormatInt(v, 10), e.GetType().GetFlag()&mysql.IsBooleanFlag != 0}
	case uint64:
		return Literal{Kind: KindUint, Text: strconv.FormatUint(v, 10)}
	case float32:
		return Literal{Kind: KindFloat, Text: formatFloat(float64(v), 32)}
	case float64:
		return Literal{Kind: KindFloat, Text: formatFloat(v, 64)}
	case string:
		return Literal{Kind: KindString, Text: v}
	case fmt.Stringer:
		// TiDB's binary literals have a String method too: tell by the kind.
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
			return Literal{Kind: KindBytes, Text: string(r.Bytes())}
		}
		return Literal{Kind: KindDecimal, Text: v.String()}
	case []byte:
		// TiDB keeps strings with the charset binary in this form.
		return Literal{Kind: KindString, Text: string(v)}
	default:
		panic(fmt.Sprintf("corpus: literal holds a %T", v))
	}
}

// formatFloat keeps an exponent: without one the text would be a decimal.
func formatFloat(f float64, bits int) string { return strconv.FormatFloat(f, 'e', -1, bits) }

// NullLit returns NULL.
func NullLit() ast.ExprNode { return newLiteral(nil) }

// BoolLit returns TRUE or FALSE.
func BoolLit(b bool) ast.ExprNode { return newLiteral(b) }

// IntLit returns n as the parser would: a negative number is a unary minus
// over its magnitude.
func IntLit(n int64) ast.ExprNode {
	if n >= 0 {
		return newLiteral(n)
	}
	if n == -n { // the smallest int64 has no positive counterpart
		return negate(newLiteral(uint64(1) << 63))
	}
	return negate(newLiteral(-n))
}

// UintLit returns n.
func UintLit(n uint64) ast.ExprNode {
	if n <= 1<<63-1 {
		return newLiteral(int64(n))
	}
	return newLiteral(n)
}

// StringLit returns a string literal in the connection's character set.
func StringLit(s string) ast.ExprNode { return newLiteral(s) }

// DecimalLit returns an exact number written like -12.50.
func DecimalLit(text string) (ast.ExprNode, error) {
	magnitude, negative := strings.CutPrefix(text, "-")
	// TiDB's driver takes the number that a text begins with: be strict here.
	if _, err := newDecimal(magnitude); err != nil {
		return nil, err
	}
	d, err := ast.NewDecimal(magnitude)
	if err != nil {
		return nil, fmt.Errorf("decimal literal %q: %w", text, err)
	}
	if negative {
		return negate(newLiteral(d)), nil
	}
	return newLiteral(d), nil
}

func newLiteral(v any) ast.ExprNode {
	return ast.NewValueExpr(v, mysql.DefaultCharset, mysql.DefaultCollationName)
}

func negate(e ast.ExprNode) ast.ExprNode {
	return &ast.UnaryOperationExpr{Op: opcode.Minus, V: e}
}

// The parser leaves the representation of literals to a driver, set through
// global hooks. TiDB's root module sets them in an init without looking, and
// its executor only works with its own. Each hook is therefore set here only if
// nobody did: whichever init runs first, TiDB's driver wins where it is linked.
func init() {
	if ast.NewValueExpr == nil {
		ast.NewValueExpr = newValueExpr
	}
	if ast.NewParamMarkerExpr == nil {
		ast.NewParamMarkerExpr = func(offset int) ast.ParamMarkerExpr {
			return &paramMarker{offset: offset}
		}
	}
	if ast.NewDecimal == nil {
		ast.NewDecimal = func(s string) (any, error) { return newDecimal(s) }
	}
	if ast.NewHexLiteral == nil {
		ast.NewHexLiteral = func(s string) (any, error) { return newHex(s) }
	}
	if ast.NewBitLiteral == nil {
		ast.NewBitLiteral = func(s string) (any, error) { return newBit(s) }
	}
}

// decimal is an exact number in canonical decimal notation. Nothing in this
// module computes with it here: the solver has its own numbers.
type decimal string

func (d decimal) String() string { return string(d) }

// newDecimal accepts digits with at most one point, and an exponent, which
// TiDB's decimals expand as well. Their limit of 81 digits holds here too, so
// that both drivers refuse the same text.
func newDecimal(s string) (decimal, error) {
	const maxDigits = 81
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", fmt.Errorf("decimal literal %q: not a number", s)
	}
	if hasExponent {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxDigits || n < -maxDigits {
			return "", fmt.Errorf("decimal literal %q: exponent out of range", s)
		}
		whole, fraction = shiftPoint(whole, fraction, n)
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole) > maxDigits {
		return "", fmt.Errorf("decimal literal %q: more than %d digits", s, maxDigits)
	}
	if fraction == "" {
		return decimal(whole), nil
	}
	return decimal(whole + "." + fraction), nil
}

func shiftPoint(whole, fraction string, n int) (string, string) {
	for ; n > 0; n-- {
		if fraction == "" {
			fraction = "0"
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; n < 0; n++ {
		if whole == "" {
			whole = "0"
		}
		whole, fraction = whole[:len(whole)-1], whole[len(whole)-1:]+fraction
	}
	return whole, fraction
}

// binaryLiteral holds the bytes of a hexadecimal or bit literal.
type binaryLiteral []byte

func (b binaryLiteral) String() string { return "0x" + hex.EncodeToString(b) }

// ToString implements ast.BinaryLiteral, which the parser asks for.
func (b binaryLiteral) ToString() string { return string(b) }

type (
	hexLiteral struct{ binaryLiteral }
	bitLiteral struct{ binaryLiteral }
)

// quotedBody returns the text between the quotes of x'…', or behind 0x.
func quotedBody(s string, letter byte) (body string, quoted, ok bool) {
	if len(s) >= 3 && s[0]|0x20 == letter && s[1] == '\'' && s[len(s)-1] == '\'' {
		return s[2 : len(s)-1], true, true
	}
	if len(s) >= 2 && s[0] == '0' && s[1] == letter {
		return s[2:], false, true
	}
	return "", false, false
}

func newHex(s string) (hexLiteral, error) {
	body, quoted, ok := quotedBody(s, 'x')
	if !ok || quoted && len(body)%2 != 0 {
		return hexLiteral{}, fmt.Errorf("malformed literal %s", s)
	}
	if len(body)%2 != 0 {
		body = "0" + body
	}
	b, err := hex.DecodeString(body)
	if err != nil {
		return hexLiteral{}, fmt.Errorf("malformed literal %s: %w", s, err)
	}
	return hexLiteral{b}, nil
}

func newBit(s string) (bitLiteral, error) {
	body, _, ok := quotedBody(s, 'b')
	if !ok {
		return bitLiteral{}, fmt.Errorf("malformed literal %s", s)
	}
	if body == "" {
		return bitLiteral{}, nil
	}
	n, ok := new(big.Int).SetString(body, 2)
	if !ok {
		return bitLiteral{}, fmt.Errorf("malformed literal %s", s)
	}
	return bitLiteral{n.FillBytes(make([]byte, (len(body)+7)/8))}, nil
}

// valueExpr is a literal.
type valueExpr struct {
	ast.TexprNode
	value      any // nil, int64, uint64, float64, string, decimal or binaryLiteral
	bits       bool
	projection int
}

var (
	_ ast.ValueExpr       = (*valueExpr)(nil)
	_ ast.ParamMarkerExpr = (*paramMarker)(nil)
)

func newValueExpr(value any, cs, collation string) ast.ValueExpr {
	if e, ok := value.(*valueExpr); ok {
		return e
	}
	e := &valueExpr{projection: -1}
	e.SetValue(value)
	t := &e.Type
	binary := func(tp byte) {
		t.SetType(tp)
		t.SetCharset(charset.CharsetBin)
		t.SetCollate(charset.CollationBin)
		t.AddFlag(mysql.BinaryFlag)
	}
	switch v := value.(type) {
	case nil:
		binary(mysql.TypeNull)
	case bool:
		binary(mysql.TypeLonglong)
		t.AddFlag(mysql.IsBooleanFlag)
	case uint64:
		binary(mysql.TypeLonglong)
		t.AddFlag(mysql.UnsignedFlag)
	case string:
		t.SetType(mysql.TypeVarString)
		t.SetCharset(cs)
		t.SetCollate(collation)
		t.SetFlen(len(v))
	case hexLiteral:
		binary(mysql.TypeVarString)
		t.AddFlag(mysql.UnsignedFlag)
	case bitLiteral:
		binary(mysql.TypeVarString)
	case decimal:
		binary(mysql.TypeNewDecimal)
	case float32, float64:
		binary(mysql.TypeDouble)
	default:
		binary(mysql.TypeLonglong)
	}
	return e
}

// SetValue implements ast.ValueExpr.
func (n *valueExpr) SetValue(value any) {
	n.bits = false
	switch v := value.(type) {
	case bool:
		n.value = int64(0)
		if v {
			n.value = int64(1)
		}
	case int:
		n.value = int64(v)
	case float32:
		n.value = float64(v)
	case []byte:
		n.value = string(v)
	case hexLiteral:
		n.value = v.binaryLiteral
	case bitLiteral:
		n.value, n.bits = v.binaryLiteral, true
	default:
		n.value = value
	}
}

// GetValue implements ast.ValueExpr.
func (n *valueExpr) GetValue() any { return n.value }

// GetString implements ast.ValueExpr: the text of a string, else "".
func (n *valueExpr) GetString() string {
	switch v := n.value.(type) {
	case string:
		return v
	case binaryLiteral:
		return string(v)
	}
	return ""
}

// GetDatumString implements ast.ValueExpr.
func (n *valueExpr) GetDatumString() string { return n.GetString() }

// GetProjectionOffset implements ast.ValueExpr.
func (n *valueExpr) GetProjectionOffset() int { return n.projection }

// SetProjectionOffset implements ast.ValueExpr.
func (n *valueExpr) SetProjectionOffset(offset int) { n.projection = offset }

// Accept implements ast.Node.
func (n *valueExpr) Accept(v ast.Visitor) (ast.Node, bool) {
	// A literal is a leaf: whether the visitor skips its children is no matter.
	node, _ := v.Enter(n)
	return v.Leave(node)
}

// Restore implements ast.Node. It writes what TiDB's driver writes, so that a
// case has the same text, and the same ID, under either.
func (n *valueExpr) Restore(ctx *format.RestoreCtx) error {
	switch v := n.value.(type) {
	case string:
		cs := n.Type.GetCharset()
		if cs != "" && !ctx.Flags.HasStringWithoutCharset() &&
			(!ctx.Flags.HasStringWithoutDefaultCharset() || cs != mysql.DefaultCharset) {
			ctx.WritePlain("_")
			ctx.WriteKeyWord(cs)
		}
		ctx.WriteString(strings.ReplaceAll(v, `\`, `\\`))
	case binaryLiteral:
		ctx.WritePlain(n.plain())
	default:
		s := n.plain()
		if s == "" {
			return fmt.Errorf("literal holds a %T", n.value)
		}
		ctx.WritePlain(s)
	}
	return nil
}

// plain returns the SQL of a literal that is not a string, "" for no such.
func (n *valueExpr) plain() string {
	switch v := n.value.(type) {
	case nil:
		return "NULL"
	case int64:
		if n.Type.GetFlag()&mysql.IsBooleanFlag == 0 {
			return strconv.FormatInt(v, 10)
		}
		if v > 0 {
			return "TRUE"
		}
		return "FALSE"
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return formatFloat(v, 64)
	case decimal:
		return string(v)
	case binaryLiteral:
		if !n.bits {
			return "x'" + hex.EncodeToString(v) + "'"
		}
		digits := new(big.Int).SetBytes(v).Text(2)
		if len(v) == 0 {
			digits = ""
		}
		return "b'" + digits + "'"
	}
	return ""
}

// Format implements ast.ExprNode.
func (n *valueExpr) Format(w io.Writer) {
	s := n.plain()
	if v, ok := n.value.(string); ok {
		s = "'" + strings.ReplaceAll(strings.ReplaceAll(v, `\`, `\\`), "'", "''") + "'"
	}
	_, _ = io.WriteString(w, s) // the interface has no way to report it
}

// paramMarker is a question mark. Cases cannot hold one; the parser needs it
// to be able to say so.
type paramMarker struct {
	valueExpr
	offset, order int
}

// SetOrder implements ast.ParamMarkerExpr.
func (n *paramMarker) SetOrder(order int) { n.order = order }

// Accept implements ast.Node.
func (n *paramMarker) Accept(v ast.Visitor) (ast.Node, bool) {
	node, _ := v.Enter(n)
	return v.Leave(node)
}

// Restore implements ast.Node.
func (n *paramMarker) Restore(*format.RestoreCtx) error {
	return errors.New("a parameter marker (?) has no value")
}
