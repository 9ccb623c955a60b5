package solve

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// floatDigits is how many digits of a FLOAT MySQL and MariaDB print, although it
// holds more: 16777216 reads 16777200.
// https://dev.mysql.com/doc/refman/9.7/en/problems-with-float.html
const floatDigits = 6

// Floats holds what a set-up may have stored in FLOAT columns, by the text that the
// server prints of it; NaN where several values print alike.
type Floats map[string]float32

// GivenFloats takes them from the literals of statements.
func GivenFloats(stmts []ast.StmtNode) Floats {
	g := Floats{}
	for _, s := range stmts {
		s.Accept(&floatFinder{g})
	}
	return g
}

// HasFloats tells whether the server prints less of some column than it holds.
func (t *Table) HasFloats() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Type.Class == FloatClass && c.Type.Digits == floatDigits })
}

type floatFinder struct{ given Floats }

func (f *floatFinder) Enter(n ast.Node) (ast.Node, bool) {
	x, ok := n.(ast.ValueExpr)
	if !ok {
		return n, false
	}
	p := sqlvalue.NumericPrefix(x.GetString())
	if s := x.GetString(); s == "" {
		var b strings.Builder
		x.Format(&b)
		p = sqlvalue.NumericPrefix(b.String())
	}
	// What no FLOAT can hold was stored in none.
	if v, over := p.Double(); !over && !p.Empty && math.Abs(v) <= math.MaxFloat32 {
		f.given.add(float32(v))
		f.given.add(-float32(v))
	}
	return n, false
}

func (f *floatFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (g Floats) add(v float32) {
	text, _ := sqlvalue.NewFloat(v, floatDigits).Text()
	if old, ok := g[text]; ok && old != v {
		v = float32(math.NaN())
	}
	g[text] = v
}

// exactFloats writes each FLOAT that is not the number that the server prints of it with all
// its digits. The server then reads another text back than was written, so that what was
// asked of such rows settles nothing.
func exactFloats(t *Table, row Row, cells []history.Cell) {
	for i := range cells {
		if typ := t.Columns[i].Type; typ.Class != FloatClass || typ.Digits != floatDigits || cells[i].Null {
			continue
		}
		stored := float32(row[i].Double())
		if printed, err := strconv.ParseFloat(cells[i].Text, 32); err != nil || float32(printed) != stored {
			cells[i].Text = strconv.FormatFloat(float64(stored), 'g', 9, 32)
		}
	}
}

// value returns the FLOAT that the server printed as text. It is not known where
// the text has as many digits as the server prints and is not that of one literal.
func (g Floats) value(text string, parsed float64) (float32, error) {
	if v, ok := g[text]; ok && !math.IsNaN(float64(v)) {
		return v, nil
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	digits := strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(mantissa), "0")
	if len(digits) >= floatDigits || math.Abs(parsed) >= 1e5 {
		return 0, unsupported("a FLOAT of which the server prints six digits")
	}
	return float32(parsed), nil
}
