package solve

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// unify returns the type that holds all of several branches.
// https://dev.mysql.com/doc/refman/9.7/en/flow-control-functions.html
func (c *compiler) unify(es []expr) (Type, error) {
	for _, e := range es {
		if e.nullDouble && c.d.is(nullIsDouble) {
			// Its declared digits behind the point differ by operator.
			return Type{}, unsupported("branch of arithmetic on NULL")
		}
	}
	if t, ok := commonClass(es); ok {
		t.Chosen = true
		return t, nil
	}
	out := Type{Class: NullClass}
	digits := 0
	unsigned, signed, wide, literalNull := false, false, false, false
	positive := c.d.is(branchesKeepUnsigned)
	for _, e := range es {
		t := e.typ
		switch t.Class {
		case NullClass:
			literalNull = true
			continue
		case StringClass:
			if out.Class == StringClass {
				var err error
				if out, err = combine(out, t); err != nil {
					return out, err
				}
			} else {
				out = t
			}
			continue
		case IntClass:
			unsigned, signed = unsigned || t.Unsigned, signed || !t.Unsigned
			wide = wide || t.Unsigned && (t.Bits == 64 || c.d.is(mixedIsDecimal))
		case DecimalClass, DoubleClass:
		case EnumClass, SetClass, DateClass, DatetimeClass, TimestampClass, TimeClass:
			return textBranch(c, es)
		default:
			return out, unsupported("branches of type other than integer, decimal, double, string")
		}
		positive = positive && t.Unsigned
		if out.Class == StringClass {
			continue
		}
		digits = max(digits, intDigits(t))
		cls, scale := max(out.Class, t.Class), max(out.Scale, t.Scale)
		out = Type{Class: cls, Scale: scale, Bits: 64, Unsigned: unsigned && !signed}
		if cls == IntClass && wide && signed {
			out.Class = DecimalClass
		}
		out.Prec = digits + scale
	}
	if out.Class == StringClass && c.d.is(branchCasts) {
		for _, e := range es {
			if e.typ.Class != StringClass && e.typ.Class != NullClass {
				out.Collation = unknownCollation
			}
		}
	}
	if out.Class == DoubleClass {
		out.Origin = computedDouble(es...).Origin
	}
	if out.Class != IntClass {
		out.Unsigned = positive && out.Class == DecimalClass
	}
	if c.d.is(branchCasts) && (unsigned && signed || out.Class == DoubleClass && out.Scale > 0) {
		return out, unsupported("branches of different numbers")
	}
	if literalNull && (unsigned || out.Unsigned) && c.d.is(mixedIsDecimal) {
		return out, unsupported("NULL beside an unsigned branch")
	}
	return out, nil
}

// commonClass returns the type of branches that are all of one temporal type or
// all years, NULLs aside.
func commonClass(es []expr) (t Type, ok bool) {
	for _, e := range es {
		switch {
		case e.typ.Class == NullClass:
		case !isTemporal(e.typ) && e.typ.Class != YearClass && e.typ.Class != FloatClass:
			return t, false
		case !ok:
			t, ok = e.typ, true
		case hasDate(e.typ) && hasDate(t) && e.typ.Scale == 0 && t.Scale == 0 && e.typ.Class != t.Class:
			t.Class = DatetimeClass
		case e.typ.Class != t.Class || e.typ.Scale != t.Scale:
			return t, false
		}
	}
	return t, ok
}

// textBranch returns the type of branches that are text, members or temporal.
func textBranch(c *compiler, es []expr) (Type, error) {
	out := Type{Class: NullClass}
	if c.write && c.d.is(branchCasts) && slices.ContainsFunc(es, func(e expr) bool { return e.typ.Class == StringClass }) && slices.ContainsFunc(es, func(e expr) bool { return isMember(e.typ) }) {
		return out, unsupported("ENUM or SET beside text in a branch, in a write")
	}
	for _, e := range es {
		t := e.typ
		switch {
		case t.Class == NullClass:
			continue
		case isTemporal(t) && (c.d.is(branchCasts) || clocks(es)):
			return out, unsupported("branches of text and a date or time")
		case t.Class != StringClass && !isMember(t) && !isTemporal(t) && (c.d.is(branchCasts) || t.Class != IntClass && t.Class != DecimalClass && t.Class != DoubleClass):
			return out, unsupported("branches of numbers and an ENUM, SET, date or time")
		}
		t = c.textType(t)
		if out.Class == NullClass {
			out = t
			continue
		}
		var err error
		if out, err = combine(out, t); err != nil {
			return out, err
		}
	}
	return out, nil
}

// clocks tells whether a TIME stands beside a date: the former then gets the
// date of today.
func clocks(es []expr) bool {
	date, clock := false, false
	for _, e := range es {
		date = date || hasDate(e.typ)
		clock = clock || e.typ.Class == TimeClass
	}
	return date && clock
}

// mixesText tells whether branches that make a text are not all text, or those
// that make a DATETIME not all of that type.
func mixesText(t Type, es []expr) bool {
	for _, e := range es {
		if t.Class == StringClass && (isMember(e.typ) || isTemporal(e.typ) || e.notNumber) || t.Class == DatetimeClass && e.typ.Class != DatetimeClass {
			return true
		}
	}
	return false
}

func anyWorded(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.worded })
}

// anyUndated tells whether one of several operands is not known as a date.
func anyUndated(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.worded || e.mixedDate })
}

// anyBits tells whether one of several branches is a BIT.
func anyBits(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.bits || e.fromBits })
}

// allBits tells whether all branches, NULLs aside, are of type BIT.
func allBits(es []expr) bool {
	some := false
	for _, e := range es {
		if some = some || e.bits; !e.bits && e.typ.Class != NullClass {
			return false
		}
	}
	return some
}

// convert returns an evaluation of e as a value of a type made by unify.
func (c *compiler) convert(e expr, t Type, keepScale bool) func(*frame) sqlvalue.Value {
	x := e.eval
	if e.typ.Class == t.Class && t.Class != DecimalClass {
		return x
	}
	// Only a CAST really pads; elsewhere the value keeps its own digits, and
	// print pads it unless the expression says keepScale.
	pads := c.d.is(branchCasts) && !keepScale && e.typ.Scale != t.Scale
	if e.castDecimal && t.Class == DoubleClass && c.d.is(castOverflowUnsure) {
		return func(f *frame) sqlvalue.Value { return f.refuse("double of a CAST AS DECIMAL") }
	}
	switch t.Class {
	case DatetimeClass:
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			w, ok := t.temporal(v.Str())
			if !ok {
				return f.refuse("date in a branch")
			}
			return w
		}
	case DecimalClass:
		if e.keepScale && c.d.is(branchCasts) {
			// Folding decides whether an inner COALESCE is cast.
			return func(f *frame) sqlvalue.Value {
				v := x(f)
				if !v.IsNull() && v.Scale() != t.Scale {
					return f.refuse("branch inside a branch")
				}
				return v.ToDecimal()
			}
		}
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if c.d.is(branchCasts) && v.Kind() == sqlvalue.Decimal && v.Scale() > e.typ.Scale {
				return f.refuse("quotient in a branch")
			}
			if v.IsNull() || !pads || v.Scale() >= t.Scale {
				return v.ToDecimal()
			}
			return v.Rescale(t.Scale)
		}
	case DoubleClass:
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			return sqlvalue.NewDouble(v.ToDouble())
		}
	case StringClass:
		p := c.text(e)
		return func(f *frame) sqlvalue.Value {
			s, null := p(f)
			if null {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewString(s)
		}
	}
	return x
}

// doubleOrigin says of a double that it came out of FLOOR or CEIL, where its text
// has no exponent, or that it was computed with such a one, or by negating a date
// or time, and the digits of it depend on the other operands.
type doubleOrigin uint8

const (
	anyDouble doubleOrigin = iota
	wholeDouble
	madeOfWhole
)

// computedDouble is the type of a double computed with others.
func computedDouble(es ...expr) Type {
	t := double
	for _, e := range es {
		if e.typ.Class == DoubleClass && e.typ.Origin != anyDouble {
			t.Origin = madeOfWhole
		}
	}
	return t
}

// spoilsColumn refuses a choice by a constant between a binary string and a text
// column. TiDB folds it to the column and leaves the binary collation there, with
// which all else in the statement then compares the column:
//
//	SELECT CASE 2 WHEN 10 THEN blob ELSE text END, 'a ' = text
func (c *compiler) spoilsColumn(constant bool, results []expr) error {
	binary, text := false, false
	for _, r := range results {
		binary = binary || r.typ.Binary
		text = text || r.column && r.typ.Class == StringClass && !r.typ.Binary
	}
	if constant && binary && text && c.d.is(branchCasts) {
		return unsupported("choice by a constant between a binary string and a text column")
	}
	return nil
}
