package solve

import (
	"math"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (c *compiler) cast(n *ast.FuncCastExpr) (expr, error) {
	if n.FunctionType != ast.CastFunction && n.FunctionType != ast.CastConvertFunction {
		return expr{}, unsupported("BINARY operator")
	}
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	if e.number != nil {
		return expr{}, unsupported("CAST of a hexadecimal literal")
	}
	switch n.Tp.GetType() {
	case mysql.TypeLonglong:
		return c.castInt(e, mysql.HasUnsignedFlag(n.Tp.GetFlag()))
	case mysql.TypeNewDecimal:
		p, s := n.Tp.GetFlen(), n.Tp.GetDecimal()
		if p < 0 {
			p = 10
		}
		return c.castDecimal(e, p, max(s, 0))
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		if n.Tp.GetCharset() == "binary" {
			return expr{}, unsupported("CAST AS BINARY")
		}
		return c.castChar(e, n.Tp.GetFlen())
	case mysql.TypeDouble:
		x := c.double(e)
		return expr{typ: double, konst: e.konst, eval: func(f *frame) sqlvalue.Value {
			v, null := x(f)
			if null {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewDouble(v)
		}}, nil
	}
	return expr{}, unsupported("CAST AS %s", n.Tp.CompactStr())
}

func (c *compiler) castInt(e expr, unsigned bool) (expr, error) {
	e = c.numbered(e)
	t := bigInt
	if unsigned {
		t = bigUint
	}
	pack := func(u uint64) sqlvalue.Value {
		if unsigned {
			return sqlvalue.NewUint(u)
		}
		return sqlvalue.NewInt(int64(u))
	}
	out := expr{typ: t, konst: e.konst}
	x := e.asInteger()
	if e.worded || e.mixedInt && e.typ.Class == DoubleClass {
		x = func(f *frame) sqlvalue.Value { return f.refuse("number of a branch between text and others") }
	}
	switch e.typ.Class {
	case NullClass:
		out.eval = x
	case IntClass, YearClass:
		out.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			if e.moment && unsigned && v.Sign() < 0 {
				return f.refuse("CAST of a negative time as unsigned")
			}
			return pack(v.Uint())
		}
	case DecimalClass:
		out.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			u, over := v.ToInt(unsigned)
			switch {
			case over < 0 && unsigned && !c.d.is(negativeDecimalClips):
				u, over = v.ToInt(false)
			case over != 0 && f.strictWrite:
				return f.refuse("CAST out of range in a write")
			case over != 0:
				f.warnings++
			}
			if over != 0 && !c.d.is(negativeDecimalClips) {
				return f.refuse("CAST of a decimal out of range")
			}
			return pack(u)
		}
	case StringClass:
		out.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			n := sqlvalue.IntegerPrefix(v.Str())
			if n.Rest {
				f.truncated("INTEGER", v.Str())
			}
			d, ok := n.Decimal()
			if !ok {
				return f.refuse("long number in a string")
			}
			neg := unsigned && d.Sign() < 0
			u, over := d.ToInt(unsigned && !neg)
			if over != 0 {
				return f.refuse("CAST of a string out of range")
			}
			return pack(u)
		}
	case DoubleClass, FloatClass:
		out.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			r := math.RoundToEven(v.ToDouble())
			if x := v.ToDouble(); e.mixedText && (x-math.Floor(x) == 0.5 || math.Abs(x) >= 1<<53) {
				return f.refuse("integer of a branch between integers")
			}
			if unsigned && v.ToDouble() < 0 && c.d.is(negativeCastsClip) {
				if f.strictWrite {
					return f.refuse("CAST out of range in a write")
				}
				f.warnings++
				return pack(0)
			}
			if unsigned && r < 0 && f.strictWrite && c.d.is(branchCasts) {
				return f.refuse("CAST out of range in a write")
			}
			if r < math.MinInt64 || r >= math.MaxInt64 {
				return f.refuse("CAST of a double out of range")
			}
			return pack(uint64(int64(r)))
		}
	default:
		return expr{}, unsupported("CAST of a temporal, bit, enum or set")
	}
	return out, nil
}

func (c *compiler) castDecimal(e expr, prec, scale int) (expr, error) {
	bad := uint16(1292)
	if c.d.is(divIs1366) {
		bad = 1366
	}
	x := c.exactOr(e, bad)
	limit := decimalLimit(prec, scale)
	return expr{typ: Type{Class: DecimalClass, Prec: prec, Scale: scale}, konst: e.konst, castDecimal: true, eval: func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return v
		}
		r := v.ToDecimal().Rescale(scale)
		if sqlvalue.CmpExact(r, limit) > 0 || sqlvalue.CmpExact(r, sqlvalue.NegExact(limit)) < 0 {
			if f.strictWrite || c.d.is(castOverflowUnsure) {
				return f.refuse("CAST AS DECIMAL out of range")
			}
			f.warnings++
			if r.Sign() < 0 {
				return sqlvalue.NegExact(limit)
			}
			return limit
		}
		return r
	}}, nil
}

// decimalLimit returns the largest DECIMAL(prec, scale).
func decimalLimit(prec, scale int) sqlvalue.Value {
	nines := make([]byte, prec)
	for i := range nines {
		nines[i] = '9'
	}
	v, _ := sqlvalue.NumericPrefix(string(nines)).Decimal()
	return sqlvalue.NewDecimal(v.Coef(), scale)
}

func (c *compiler) castChar(e expr, limit int) (expr, error) {
	if e.typ.Binary || e.typ.Class == BitClass {
		return expr{}, unsupported("CAST of a binary string")
	}
	t := c.textType(e.typ)
	// Its collation is the connection's, but it does not give way to a column's.
	t.Explicit = true
	t.Collation = c.d.connection()
	x := c.text(e)
	return expr{typ: t, konst: e.konst, castText: true, eval: func(f *frame) sqlvalue.Value {
		s, null := x(f)
		if null {
			return sqlvalue.Value{}
		}
		if limit >= 0 && utf8.RuneCountInString(s) > limit {
			if f.strictWrite {
				f.refuse("CAST AS CHAR(n) of a longer text in a write")
			}
			f.warnings++
			s = firstRunes(s, limit)
		}
		return sqlvalue.NewString(s)
	}}, nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
