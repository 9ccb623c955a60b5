package solve

import (
	"cmp"
	"math"

	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// comparator compares two values that are not NULL; each is of the kind of the
// operand that it was made for.
type comparator func(f *frame, a, b sqlvalue.Value) int

// comparison chooses how two types compare: two strings by collation, exact
// numbers exactly, all else as doubles.
// https://dev.mysql.com/doc/refman/9.7/en/type-conversion.html
func (c *compiler) comparison(a, b expr) (comparator, error) {
	switch {
	case a.typ.Class == JSONClass || b.typ.Class == JSONClass:
		return nil, unsupported("a comparison of JSON")
	case a.typ.Class == b.typ.Class && (isMember(a.typ) || a.typ.Class == BitClass):
		return func(_ *frame, x, y sqlvalue.Value) int { return cmp.Compare(x.Uint(), y.Uint()) }, nil
	case a.typ.Class == NullClass || b.typ.Class == NullClass:
		return func(*frame, sqlvalue.Value, sqlvalue.Value) int { return 0 }, nil
	case (isTemporal(a.typ) || isTemporal(b.typ)) && anyUndated([]expr{a, b}):
		return nil, unsupported("date out of a branch between text and others")
	case isTemporal(a.typ) || isTemporal(b.typ):
		return c.temporalComparison(a, b)
	case c.computedBits(a) && b.notNumber || a.notNumber && c.computedBits(b):
		return nil, unsupported("computed bit string beside a branch between text and others")
	case a.typ.Class == StringClass && b.typ.Class == StringClass:
		t, err := combine(a.typ, b.typ)
		if err != nil {
			return nil, err
		}
		col := t.Collation
		trims := col.pads() && c.d.is(padTrims)
		return func(f *frame, x, y sqlvalue.Value) int {
			if trims {
				return col.compareTrimmed(f, x.Str(), y.Str())
			}
			if !col.exact(x.Str()) || !col.exact(y.Str()) {
				f.refuse("comparison of text beyond ASCII")
				return 0
			}
			return col.compare(x.Str(), y.Str())
		}, nil
	case c.joins && c.d.is(hashJoinClips) && (decimalMeetsInt(a, b) || decimalMeetsInt(b, a)):
		return nil, unsupported("join of a decimal with an integer")
	case isExact(a.typ) && isExact(b.typ) && c.d.is(compareRounds) && (a.typ.Class == DecimalClass || b.typ.Class == DecimalClass):
		known := (a.typ.Class == IntClass || b.typ.Class == IntClass) && !c.inList
		ta, tb := a.typ, b.typ // a closure over a and b would put both on the heap in all cases
		return func(f *frame, x, y sqlvalue.Value) int {
			r := sqlvalue.CmpExact(rounded(x, ta), rounded(y, tb))
			if !known && r != sqlvalue.CmpExact(x, y) {
				f.refuse("comparison of a quotient")
			}
			return r
		}, nil
	case isExact(a.typ) && isExact(b.typ):
		return func(_ *frame, x, y sqlvalue.Value) int { return sqlvalue.CmpExact(x, y) }, nil
	case isNumeric(a.typ) && isNumeric(b.typ):
		if c.d.is(castOverflowUnsure) && (a.castDecimal || b.castDecimal) {
			return nil, unsupported("double of a CAST AS DECIMAL")
		}
		if c.d.is(keyLosesText) && (roundedByKey(a, b) || roundedByKey(b, a)) {
			return nil, unsupported("fractional double for an integer column")
		}
		if a.notNumber || b.notNumber {
			return nil, unsupported("number of a branch between text and others")
		}
		d, ra, rb := c.d, c.literalReading(a), c.literalReading(b)
		for _, e := range [2]expr{a, b} {
			if e.castText && c.d.is(castTextRounds) {
				return nil, unsupported("CAST AS CHAR compared with a number")
			}
			c.noteText(e)
		}
		if c.joins && d.is(hashJoinClips) && (a.typ.Class == DecimalClass || b.typ.Class == DecimalClass) && !a.konst && !b.konst {
			return nil, unsupported("join of a decimal with text or a double")
		}
		if c.joins && d.is(keyLosesText) && (textMeetsInt(a, b) || textMeetsInt(b, a)) {
			return nil, unsupported("join of text with an integer column")
		}
		if isExact(a.typ) && b.typ.Class == StringClass {
			return c.textComparison(a, b, ra, rb, 1), nil
		}
		if isExact(b.typ) && a.typ.Class == StringClass {
			return c.textComparison(b, a, rb, ra, -1), nil
		}
		return func(f *frame, x, y sqlvalue.Value) int {
			return cmp.Compare(d.number(f, x, ra), d.number(f, y, rb))
		}, nil
	}
	return nil, unsupported("comparison of a temporal, bit, enum or set")
}

// rounded brings a decimal down to the scale that its type declares.
func rounded(v sqlvalue.Value, t Type) sqlvalue.Value {
	if v.Kind() == sqlvalue.Decimal && v.Scale() > t.Scale {
		return v.Rescale(t.Scale)
	}
	return v
}

// literalReading says how a string operand of a comparison with a number is read.
func (c *compiler) literalReading(e expr) reading {
	if e.konst && e.reading == loud && c.d.is(constUnsure) {
		return vague
	}
	return e.reading
}

// textComparison compares an exact number with a string: as doubles, unless
// the server is known to compare exactly; where it matters and is not known,
// the comparison is refused. sign is -1 where the string stands left.
func (c *compiler) textComparison(num, text expr, rn, rs reading, sign int) comparator {
	d := c.d
	folds := num.typ.Class == DecimalClass && text.konst
	computed, rounds := folds && !text.lit, folds && d.is(compareRounds)
	exact := num.typ.Class == IntClass && d.is(textMeetsIntExactly)
	return func(f *frame, x, y sqlvalue.Value) int {
		if sign < 0 {
			x, y = y, x
		}
		if computed && f.strictWrite {
			if n := sqlvalue.NumericPrefix(y.Str()); n.Rest || n.Empty {
				f.refuse("text of a branch or function that is no decimal, in a write")
			}
		}
		r := cmp.Compare(d.number(f, x, rn), d.number(f, y, rs))
		if i, ok := x.Small(); ok && x.Scale() == 0 && i < 1<<53 && i > -1<<53 {
			return sign * r
		}
		v, ok := sqlvalue.NumericPrefix(y.Str()).Decimal()
		if !ok {
			f.refuse("long decimal in a string")
			return 0
		}
		e := sqlvalue.CmpExact(x, v)
		if rounds && sqlvalue.CmpExact(rounded(x, num.typ), v) != e {
			f.refuse("quotient compared with a text that may be made a decimal")
		}
		if e != r {
			if !exact {
				f.refuse("comparison of a number with text that doubles cannot tell apart")
			}
			r = e
		}
		return sign * r
	}
}

func decimalMeetsInt(a, b expr) bool {
	return a.typ.Class == DecimalClass && b.typ.Class == IntClass && !a.konst && !b.konst
}

// roundedByKey tells whether an index look-up could round b to an integer.
func roundedByKey(a, b expr) bool {
	if !a.column || a.typ.Class != IntClass || b.typ.Class != DoubleClass || !b.lit {
		return false
	}
	x := b.eval(nil).Double()
	return x != math.Trunc(x)
}

// fractionAtKey tells whether b is a constant decimal with a fraction, which an
// index look-up on the integer column a rounds: 0.5 = a finds 1.
func (c *compiler) fractionAtKey(a, b expr) bool {
	if !a.column || a.typ.Class != IntClass || !b.konst || b.typ.Class != DecimalClass {
		return false
	}
	f := frame{views: c.views}
	v := b.eval(&f)
	return f.err != nil || !v.IsNull() && sqlvalue.CmpExact(v, v.Truncate(0)) != 0
}

// textMeetsInt tells whether an index on an integer column could be looked up
// by text that is not constant.
func textMeetsInt(a, b expr) bool {
	return a.column && a.typ.Class == IntClass && b.typ.Class == StringClass && !b.konst
}

func isExact(t Type) bool {
	return t.Class == IntClass || t.Class == DecimalClass || t.Class == YearClass
}

func isNumeric(t Type) bool {
	return isExact(t) || t.Class == DoubleClass || t.Class == FloatClass || t.Class == StringClass
}

// number reads a value as a double, strings with a warning where they are none.
func (d Dialect) number(f *frame, v sqlvalue.Value, r reading) float64 {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		return d.stringToDouble(f, v.Str(), r)
	}
	return v.ToDouble()
}

func (c *compiler) compare(op opcode.Op, a, b expr) (expr, error) {
	both := []expr{a, b}
	if err := c.agree(both); err != nil {
		return expr{}, err
	}
	a, b = both[0], both[1]
	order, err := c.comparison(a, b)
	if err != nil {
		return expr{}, err
	}
	if c.d.is(hugeLiteralRefined) && hugeLiteral(a, []expr{b}) {
		return expr{}, unsupported("comparison with an unsigned literal beyond the signed range")
	}
	if op == opcode.EQ && c.d.is(keyLosesText) && (c.fractionAtKey(a, b) || c.fractionAtKey(b, a)) {
		return expr{}, unsupported("fractional decimal for an integer column")
	}
	x, y := computedBefore(a), computedBefore(b)
	unread := c.besideNull(a, b)
	d := c.d
	numeric, leftText := mixed(a, b), a.typ.Class == StringClass
	ra, rb := a.reading, b.reading
	if op == opcode.NullEQ {
		return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
			v, w := x(f), y(f)
			unread(f, v, w)
			if f.strictWrite && numeric && v.IsNull() != w.IsNull() {
				f.beside(func(f *frame) sqlvalue.Value {
					d.number(f, v, ra)
					d.number(f, w, rb)
					return v
				})
			}
			if v.IsNull() || w.IsNull() {
				return truthOf(v.IsNull() && w.IsNull())
			}
			return truthOf(order(f, v, w) == 0)
		}), nil
	}
	return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if v.IsNull() {
			f.beside(y)
			if f.err != nil {
				return sqlvalue.Unknown
			}
		}
		w := y(f)
		unread(f, v, w)
		if isSQL(f.err) && numeric && leftText && !v.IsNull() {
			// The text on the left is read as a number before the right side is
			// evaluated, and its error comes first.
			g := frame{views: f.views, strictWrite: f.strictWrite, strictUnsure: f.strictUnsure}
			if d.number(&g, v, ra); g.err != nil {
				f.err = g.err
			}
		}
		if v.IsNull() != w.IsNull() && f.strictWrite && numeric {
			// The side that is not NULL may be converted before the other is seen.
			f.beside(func(f *frame) sqlvalue.Value {
				d.number(f, v, ra)
				d.number(f, w, rb)
				return v
			})
		}
		if v.IsNull() {
			return sqlvalue.Unknown
		}
		if w.IsNull() {
			return sqlvalue.Unknown
		}
		return truthOf(holds(op, order(f, v, w)))
	}), nil
}

// computedBefore evaluates an operand of a comparison: a constant that is not literal may be
// computed once beforehand, where its error is lost.
func computedBefore(e expr) func(*frame) sqlvalue.Value {
	if !e.konst || e.lit {
		return e.eval
	}
	x := e.eval
	return func(f *frame) sqlvalue.Value {
		failed := f.err
		v := x(f)
		if failed == nil && isSQL(f.err) {
			f.err = &Unsupported{"error of a constant in a comparison"}
		}
		return v
	}
}

// mixed tells whether one of two operands is text that is read as a number.
func mixed(a, b expr) bool {
	if isTemporal(a.typ) || isTemporal(b.typ) {
		return false
	}
	return a.typ.Class != NullClass && b.typ.Class != NullClass && (a.typ.Class == StringClass) != (b.typ.Class == StringClass)
}

func holds(op opcode.Op, order int) bool {
	switch op {
	case opcode.EQ:
		return order == 0
	case opcode.NE:
		return order != 0
	case opcode.LT:
		return order < 0
	case opcode.LE:
		return order <= 0
	case opcode.GT:
		return order > 0
	}
	return order >= 0
}

// shareCollation gives all strings among the operands the one collation in
// which the whole operator compares.
func (c *compiler) shareCollation(es []expr) error {
	var t Type
	found := false
	for _, e := range es {
		if e.typ.Class != StringClass {
			continue
		}
		if !found {
			t, found = e.typ, true
			continue
		}
		var err error
		if t, err = combine(t, e.typ); err != nil {
			return err
		}
	}
	for i := range es {
		if es[i].typ.Class == StringClass {
			es[i].typ.Collation, es[i].typ.Binary, es[i].typ.Explicit = t.Collation, t.Binary, t.Explicit
		}
	}
	return nil
}

// huge tells whether an unsigned number is beyond the signed range.
func huge(v sqlvalue.Value) bool { return v.Kind() == sqlvalue.Uint && v.Int() < 0 }

// allInts tells whether all expressions are integers or NULLs.
func allInts(es []expr) bool {
	for _, e := range es {
		if e.typ.Class != IntClass && e.typ.Class != NullClass {
			return false
		}
	}
	return true
}
