package mutate

import (
	"fmt"
	"math"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// valueKind is the kind of a literal value.
type valueKind uint8

const (
	nullValue valueKind = iota
	integerValue
	decimalValue
	textValue
)

// value is a literal that a column can hold. Two values are equal in Go if and only
// if a unique key takes them for equal: the pools hold no two texts that some
// collation takes for the same.
type value struct {
	kind valueKind
	// neg and mag are sign and magnitude of an integer; zero is not negative.
	neg bool
	mag uint64
	// text holds a text, or a decimal with its sign and all its digits.
	text string
}

var null = value{}

func integer(n int64) value {
	if n < 0 {
		return value{kind: integerValue, neg: true, mag: -uint64(n)}
	}
	return value{kind: integerValue, mag: uint64(n)}
}

func natural(n uint64) value { return value{kind: integerValue, mag: n} }

func text(s string) value { return value{kind: textValue, text: s} }

func decimal(s string) value { return value{kind: decimalValue, text: s} }

// literal returns the value as an expression of its own.
func (v value) literal() ast.ExprNode {
	switch {
	case v.kind == nullValue:
		return corpus.NullLit()
	case v.kind == textValue:
		return corpus.StringLit(v.text)
	case v.kind == decimalValue:
		e, err := corpus.DecimalLit(v.text)
		if err != nil { // a decimal comes from a pool or from a literal
			panic(fmt.Sprintf("mutate: %v", err))
		}
		return e
	case v.neg:
		return corpus.IntLit(-int64(v.mag))
	default:
		return corpus.UintLit(v.mag)
	}
}

// valueOf reads a literal; ok is false for any other expression and for kinds
// of literals that the pools do not hold.
func valueOf(e ast.ExprNode) (v value, ok bool) {
	neg := false
	if u, is := e.(*ast.UnaryOperationExpr); is && u.Op == opcode.Minus {
		neg, e = true, u.V
	}
	lit, is := e.(ast.ValueExpr)
	if !is {
		return null, false
	}
	switch l := corpus.LiteralOf(lit); l.Kind {
	case corpus.KindNull:
		return null, !neg
	case corpus.KindString:
		return text(l.Text), !neg
	case corpus.KindDecimal:
		if neg {
			return decimal("-" + l.Text), true
		}
		return decimal(l.Text), true
	case corpus.KindInt, corpus.KindUint:
		n, err := strconv.ParseUint(l.Text, 10, 64)
		if err != nil || neg && n > 1<<63 {
			return null, false
		}
		return value{kind: integerValue, neg: neg && n != 0, mag: n}, true
	}
	return null, false
}

// less orders values of one kind; NULL comes first.
func (v value) less(w value) bool {
	if v.kind != w.kind {
		return v.kind < w.kind
	}
	switch v.kind {
	case textValue:
		return v.text < w.text
	case decimalValue:
		a, _ := strconv.ParseFloat(v.text, 64)
		b, _ := strconv.ParseFloat(w.text, 64)
		return a < b
	}
	if v.neg != w.neg {
		return v.neg
	}
	return v.mag < w.mag != v.neg && v.mag != w.mag
}

// plus returns v+n for an integer, and v itself where that leaves 64 bits or v
// is none.
func (v value) plus(n int64) value {
	if v.kind != integerValue || v.mag > 1<<62 {
		return v
	}
	m := int64(v.mag)
	if v.neg {
		m = -m
	}
	return integer(m + n)
}

// beyondSigned says whether a number is above the range of BIGINT.
func (v value) beyondSigned() bool {
	return v.kind == integerValue && !v.neg && v.mag > math.MaxInt64
}
