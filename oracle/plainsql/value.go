package plainsql

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// errBeyond says that something is not plain.
var errBeyond = errors.New("beyond what is plain")

// value is NULL, a number or a text.
type value struct {
	null bool
	kind kind
	// n is the number in units of 10 to the power of -scale.
	n     int64
	scale int
	text  string
}

// mostDigits bounds the digits of a decimal, so that two of them can be compared in 64 bits.
const mostDigits, mostScale = 9, 4

// tens[i] is 10 to the power of i.
var tens = [...]int64{1, 10, 100, 1000, 10000}

// at returns a number in units of a smaller or the same size.
func (v value) at(scale int) value {
	v.n *= tens[scale-v.scale]
	v.scale = scale
	return v
}

// whole drops the zeros behind the point.
func (v value) whole() value {
	for v.scale > 0 && v.n%10 == 0 {
		v.n /= 10
		v.scale--
	}
	return v
}

// decimal reads digits with a point; ok is false if there are too many.
func decimal(s string) (v value, ok bool) {
	before, behind, pointed := strings.Cut(s, ".")
	if !pointed || len(before)+len(behind) > mostDigits || len(behind) > mostScale {
		return v, false
	}
	n, err := strconv.ParseInt(before+behind, 10, 64)
	return value{kind: number, n: n, scale: len(behind)}, err == nil
}

// against compares two numbers.
func (v value) against(w value) int {
	if v.scale != w.scale {
		scale := max(v.scale, w.scale)
		const most = math.MaxInt64 / 10000
		if v.n > most || v.n < -most || w.n > most || w.n < -most { // a bigint beside a decimal, which is smaller
			return cmp.Compare(v.n/tens[v.scale], w.n/tens[w.scale])
		}
		v, w = v.at(scale), w.at(scale)
	}
	return cmp.Compare(v.n, w.n)
}

// truth is that of SQL.
type truth uint8

const (
	no truth = iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

func and(a, b truth) truth {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	}
	return unknown
}

func or(a, b truth) truth { return and(a.not(), b.not()).not() }

// read makes a value of a cell of a column.
func (c *column) read(cell history.Cell) (value, error) {
	switch {
	case cell.Null:
		return value{null: true}, nil
	case c.kind == number && c.scale > 0:
		v, ok := decimal(cell.Text)
		if !ok || v.scale != c.scale {
			return value{}, errBeyond
		}
		return v, nil
	case c.kind == number:
		n, err := strconv.ParseInt(cell.Text, 10, 64)
		if err != nil {
			return value{}, errBeyond
		}
		return value{kind: number, n: n}, nil
	}
	return value{kind: c.kind, text: cell.Text}, nil
}

// write makes a cell of a value that a column is given.
func (c *column) write(v value) (history.Cell, error) {
	switch {
	case v.null && !c.required:
		return history.Cell{Null: true}, nil
	case v.null || v.kind != c.kind:
	case c.kind == number:
		if v = v.whole(); v.scale > c.scale || v.scale < c.scale && (v.n > 1e9 || v.n < -1e9) {
			break
		}
		if v = v.at(c.scale); v.n >= c.least && v.n <= c.most {
			return history.Cell{Text: v.digits()}, nil
		}
	case c.kind == text && int64(utf8.RuneCountInString(v.text)) <= c.most:
		return history.Cell{Text: v.text}, nil
	}
	return history.Cell{}, errBeyond
}

// digits writes a number with as many digits behind the point as it has.
func (v value) digits() string {
	if v.scale == 0 {
		return strconv.FormatInt(v.n, 10)
	}
	n, sign := v.n, ""
	if n < 0 {
		n, sign = -n, "-"
	}
	return fmt.Sprintf("%s%d.%0*d", sign, n/tens[v.scale], v.scale, n%tens[v.scale])
}

// literal reads a number, a text or NULL as it is written.
func literal(e ast.ExprNode) (value, bool) {
	switch x := stmt.Bare(e).(type) {
	case *ast.UnaryOperationExpr:
		v, ok := literal(x.V)
		if x.Op != opcode.Minus || !ok || v.null || v.kind != number {
			return value{}, false
		}
		v.n = -v.n
		return v, true
	case ast.ValueExpr:
		lit := corpus.LiteralOf(x)
		switch lit.Kind {
		case corpus.KindNull:
			return value{null: true}, true
		case corpus.KindInt:
			n, err := strconv.ParseInt(lit.Text, 10, 64)
			return value{kind: number, n: n}, err == nil && !lit.Bool
		case corpus.KindDecimal:
			return decimal(lit.Text)
		case corpus.KindString:
			return value{kind: text, text: lit.Text}, !strings.ContainsRune(lit.Text, 0)
		}
	}
	return value{}, false
}
