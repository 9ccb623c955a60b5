package solve

import (
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// numbered returns an ENUM, SET, BIT, YEAR, date or time as the integer that
// stands for it, and any other expression as it is.
func (c *compiler) numbered(e expr) expr {
	t := bigUint
	switch e.typ.Class {
	case DateClass, DatetimeClass, TimestampClass, TimeClass:
		t = bigInt
		t.Prec = map[Class]int{DateClass: 8, TimeClass: 7}[e.typ.Class]
		if t.Prec == 0 {
			t.Prec = 14
		}
		x := e.eval
		if e.konst && !e.lit && c.inWhere {
			known := x
			x = func(f *frame) sqlvalue.Value {
				v := known(f)
				if v.IsNull() {
					f.refuse("number of a constant that is no date or time")
				}
				return v
			}
		}
		if e.notNumber {
			x = func(f *frame) sqlvalue.Value { return f.refuse("number of a branch between text and others") }
		}
		e.stamp, e.stampColumn = e.typ.Class == TimestampClass, e.column
		e.signLost = e.typ.Class == TimeClass && e.typ.Chosen && c.d.is(chosenTimesLoseSign)
		e.typ, e.column, e.print, e.moment = t, false, nil, true
		e.eval = func(f *frame) sqlvalue.Value { return temporalNumber(f, x(f)) }
		return e
	case EnumClass, SetClass:
		t = bigInt
	case BitClass:
		e.bits = true
	case YearClass:
	default:
		return e
	}
	if e.typ.Class == YearClass {
		t.Prec, t.Bits = 4, 16
	}
	x := e.eval
	e.typ, e.column, e.print = t, false, nil
	e.eval = func(f *frame) sqlvalue.Value { return x(f).Number() }
	return e
}

// asInteger returns the evaluation of an integer for what computes in integers.
func (e expr) asInteger() func(*frame) sqlvalue.Value {
	x := e.eval
	if !e.signLost {
		return x
	}
	return func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() || v.Sign() >= 0 {
			return v
		}
		return sqlvalue.NewInt(-v.Int())
	}
}

// summand is numbered for + - * / %.
func (c *compiler) summand(e expr) expr {
	if !isMember(e.typ) || c.d.is(membersAreInts) {
		return c.numbered(e)
	}
	e.typ, e.column, e.print = double, false, nil
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value { return sqlvalue.NewDouble(v.ToDouble()) })
}

// each returns an expression whose values but NULL are changed.
func (e expr) each(change func(*frame, sqlvalue.Value) sqlvalue.Value) expr {
	x := e.eval
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return v
		}
		return change(f, v)
	}
	return e
}

// unsignedStamp makes the number of a TIMESTAMP column unsigned where it is.
func (c *compiler) unsignedStamp(e expr) expr {
	if !e.stamp || !e.stampColumn || !c.d.is(signedMoments) {
		return e
	}
	e.typ.Unsigned = true
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value { return sqlvalue.NewUint(v.Uint()) })
}

// named returns an ENUM or SET as its text, and any other expression as it is.
func (e expr) named() expr {
	if !isMember(e.typ) {
		return e
	}
	e.typ.Class, e.typ.Elems = StringClass, nil
	e.column = false
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value { return sqlvalue.NewString(v.Str()) })
}

// agree brings operands that are compared with each other into one form: an
// ENUM or SET is text beside text and a number beside numbers, a BIT or YEAR is
// a number.
func (c *compiler) agree(es []expr) error {
	special, members, texts, numbers, years := false, 0, 0, 0, 0
	inexact, other := false, false
	for i := range es {
		switch es[i].typ.Class {
		case NullClass, IntClass, BitClass, YearClass, StringClass:
		case DoubleClass, FloatClass:
			inexact, other = true, true
		default:
			other = true
		}
		switch t := es[i].typ; {
		case isMember(t):
			special = true
			members++
		case t.Class == BitClass:
			special = true
			numbers++
		case t.Class == YearClass:
			special = true
			years++
		case t.Class == StringClass:
			texts++
		case t.Class == NullClass:
		case isTemporal(t):
			numbers++
			texts++
		default:
			numbers++
		}
	}
	if !special || c.besideMoment(es) {
		return nil
	}
	n := len(es)
	if !c.d.is(branchCasts) {
		n = known(es)
	}
	switch {
	case members > 0 && texts > 0 && numbers+years > 0, members > 1 && numbers+years > 0:
		return unsupported("ENUM or SET beside text and numbers")
	case years > 0 && other && n > 2:
		return unsupported("YEAR among several numbers of other types")
	case c.joins && c.d.is(joinsWidenBits):
		return unsupported("BIT, YEAR, ENUM or SET in a join")
	case texts > 0 && c.inWhere && keyedBits(es):
		return unsupported("text for an indexed BIT")
	case texts > 0 && (numbers > 0 || years > 0) && (c.joins || !plainBits(es, n) || c.write && badText(es)):
		return unsupported("BIT or YEAR beside text")
	}
	for i := range es {
		switch {
		case isMember(es[i].typ) && numbers+years == 0:
			es[i] = es[i].named()
		case years > 0 && es[i].konst && (!es[i].lit || shortYear(es[i])):
			// A literal of two digits may be read as a year, one out of range is cut
			// where an index is looked up.
			return unsupported("YEAR beside a number that is no year")
		case es[i].typ.Class == BitClass && es[i].typ.Bits == 64 && c.d.is(bitsAreSigned) && n < len(es):
			return unsupported("BIT of 64 bits beside NULL and another operand")
		case es[i].typ.Class == BitClass && other && c.d.is(bitsAreSigned) && n > 2:
			return unsupported("BIT among several numbers of other types")
		case es[i].typ.Class == BitClass && inexact && c.d.is(bitsAreSigned):
			es[i] = c.asDouble(es[i])
		default:
			es[i] = c.numbered(es[i])
		}
	}
	return nil
}

// besideMoment brings operands beside dates or times into the form in which they are
// compared with them, where that is known.
func (c *compiler) besideMoment(es []expr) bool {
	if !c.readsMoments() {
		return false
	}
	present, moments := known(es), 0
	for _, e := range es {
		if isTemporal(e.typ) {
			moments++
		}
	}
	if moments == 0 || moments == present || present > 2 && !c.eachAlone(es) {
		return false
	}
	for i := range es {
		switch {
		case isMember(es[i].typ):
			column := es[i].column
			es[i] = es[i].named()
			es[i].column = column
		case es[i].typ.Class == BitClass && c.d.is(comparesMoments):
			es[i] = c.numbered(es[i])
		}
	}
	return true
}

// plainBits tells whether the n operands that count are a BIT or YEAR and a text,
// which are compared as numbers; among several the text may be compared as such.
func plainBits(es []expr, n int) bool {
	if n > 2 {
		return false
	}
	for _, e := range es {
		if isTemporal(e.typ) || isMember(e.typ) {
			return false
		}
	}
	return true
}

// known counts the operands that are no literal NULL.
func known(es []expr) int {
	n := 0
	for _, e := range es {
		if e.typ.Class != NullClass {
			n++
		}
	}
	return n
}

// keyedBits tells whether a BIT that a key holds is compared with a constant text:
// a look-up in the key takes the text's bytes for bits.
func keyedBits(es []expr) bool {
	keyed, text := false, false
	for _, e := range es {
		keyed = keyed || e.keyed && e.typ.Class == BitClass
		text = text || e.konst && e.typ.Class == StringClass
	}
	return keyed && text
}

// badText tells whether a constant text is no number: put into a BIT before a row
// is read, it may not fail.
func badText(es []expr) bool {
	for _, e := range es {
		if !e.konst || e.typ.Class != StringClass {
			continue
		}
		var f frame
		v := e.eval(&f)
		if n := sqlvalue.NumericPrefix(v.Str()); f.err != nil || n.Rest || n.Empty {
			return true
		}
	}
	return false
}

func shortYear(e expr) bool {
	if e.typ.Class == NullClass {
		return false
	}
	x := e.eval(nil).ToDouble()
	return x < 1901 || x > 2155
}
