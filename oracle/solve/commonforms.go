package solve

import "github.com/txnfuzz/txnfuzz/oracle/sqlvalue"

// commonForms brings the branches of IF, CASE and the like into forms that one type
// can hold: a BIT, YEAR or FLOAT beside text is text, a BIT or YEAR beside other
// numbers is a number, a FLOAT beside most of them a double.
func (c *compiler) commonForms(es []expr) error {
	var first Type
	same, text, ints, inexact := true, false, false, false
	for _, e := range es {
		switch {
		case e.typ.Class == NullClass:
		case first.Class == NullClass:
			first = e.typ
		default:
			same = same && e.typ.Class == first.Class
		}
		text = text || e.typ.Class == StringClass || isMember(e.typ) || isTemporal(e.typ)
		ints = ints || e.typ.Class == IntClass || e.typ.Class == BitClass
		inexact = inexact || e.typ.Class == DoubleClass || e.typ.Class == FloatClass
	}
	if text && !c.d.is(branchCasts) {
		for i := range es {
			es[i] = c.worded(es[i])
		}
		return nil
	}
	if single, ok := c.singles(es); ok && !same {
		for i := range es {
			es[i] = c.single(es[i], single)
		}
		return nil
	}
	doubles := makesDouble(es)
	for i := range es {
		switch e := &es[i]; e.typ.Class {
		case BitClass:
			switch {
			case c.d.is(branchCasts):
				return unsupported("BIT in a branch")
			case inexact && c.d.is(bitsAreSigned):
				*e = c.asDouble(*e)
			case same && c.d.is(bitsAreSigned):
				*e = c.shortBit(*e)
			default:
				*e = c.numbered(*e)
			}
		case YearClass:
			if text {
				return unsupported("YEAR in a branch with text")
			}
			if !same {
				whole := e.eval
				*e = c.numbered(*e)
				e.print = whole
				if number := e.eval; ints {
					e.eval = func(f *frame) sqlvalue.Value {
						v := number(f)
						if !v.IsNull() && v.Sign() == 0 {
							// It is 0 or 0000 as a text.
							return f.refuse("year 0000 beside an integer")
						}
						return v
					}
				}
			}
		case FloatClass:
			switch {
			case same && !c.d.is(branchCasts):
			case c.d.is(branchCasts) || !doubles && !c.floatLast(es):
				return unsupported("FLOAT in a branch")
			default:
				*e = doubled(*e)
			}
		}
	}
	return nil
}

// commonFormsChosen is commonForms for IF and CASE, which may print a BIT as such.
func (c *compiler) commonFormsChosen(es []expr) error {
	bits := make([]func(*frame) sqlvalue.Value, len(es))
	anyBit, year := false, false
	for i, e := range es {
		if e.typ.Class == BitClass {
			bits[i], anyBit = e.eval, true
		}
		year = year || e.typ.Class == YearClass
	}
	if anyBit && year && len(es) > 2 && c.d.is(branchKeepsScale) {
		return unsupported("BIT among several numbers of other types")
	}
	if err := c.commonForms(es); err != nil || !c.d.is(branchKeepsScale) {
		return err
	}
	for i := range es {
		if x := bits[i]; x != nil && es[i].typ.Class != StringClass {
			es[i].print = func(f *frame) sqlvalue.Value {
				v := x(f)
				for u := v.Uint(); u != 0; u >>= 8 {
					if u&0x80 != 0 {
						// It is sent as a text in latin1.
						return f.refuse("bytes of a BIT beyond ASCII")
					}
				}
				return v
			}
		}
	}
	return nil
}

// worded returns a BIT, YEAR or FLOAT as the text that it is beside text.
func (c *compiler) worded(e expr) expr {
	switch e.typ.Class {
	case BitClass, YearClass, FloatClass:
	default:
		return e
	}
	e.eval, e.typ = c.asText(e)
	e.column, e.print, e.notNumber, e.worded = false, nil, true, true
	return e
}

// asText returns the evaluation of an expression as a text, and that text's type.
func (c *compiler) asText(e expr) (func(*frame) sqlvalue.Value, Type) {
	x, t := c.text(e), c.textType(e.typ)
	return func(f *frame) sqlvalue.Value {
		s, null := x(f)
		if null {
			return sqlvalue.Value{}
		}
		return t.string(s)
	}, t
}

// asDouble returns a number as a double.
func (c *compiler) asDouble(e expr) expr {
	x := c.double(e)
	e.typ, e.column, e.print = double, false, nil
	e.eval = func(f *frame) sqlvalue.Value {
		n, null := x(f)
		if null {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewDouble(n)
	}
	return e
}

// shortBit is numbered for a BIT that stays one, and whose highest bit may be a
// sign.
func (c *compiler) shortBit(e expr) expr {
	return c.numbered(e).each(func(f *frame, v sqlvalue.Value) sqlvalue.Value {
		if v.Int() < 0 {
			return f.refuse("BIT of 64 bits in a branch")
		}
		return v
	})
}

// makesDouble tells whether a FLOAT beside the others is a DOUBLE: beside most
// integers it stays a FLOAT.
func makesDouble(es []expr) bool {
	for _, e := range es {
		if t := e.typ; t.Class == DoubleClass || t.Class == DecimalClass || t.Class == BitClass || t.Class == IntClass && t.Bits == 32 && e.column {
			return true
		}
	}
	return false
}

// two returns the operands that are no literal NULL, if they are two.
func two(es []expr) (a, b expr, ok bool) {
	n := 0
	for _, e := range es {
		switch {
		case e.typ.Class == NullClass:
			continue
		case n == 0:
			a = e
		default:
			b = e
		}
		n++
	}
	return a, b, n == 2
}

// floatLast tells whether a BIGINT column comes before a FLOAT, or on a server
// that does not ask for the order, beside it: they make a DOUBLE.
func (c *compiler) floatLast(es []expr) bool {
	a, b, ok := two(es)
	if ok && a.typ.Class == FloatClass && !c.d.is(firstFloatStays) {
		a, b = b, a
	}
	return ok && a.column && a.typ.Class == IntClass && a.typ.Bits == 64 && b.typ.Class == FloatClass
}

// singles returns the type of a FLOAT beside a YEAR or a column of a short integer
// type, which make a FLOAT.
func (c *compiler) singles(es []expr) (Type, bool) {
	a, b, ok := two(es)
	if a.typ.Class == FloatClass {
		a, b = b, a
	}
	short := a.typ.Class == YearClass || a.column && a.typ.Class == IntClass && a.typ.Bits <= 16
	return b.typ, ok && short && b.typ.Class == FloatClass && !c.d.is(branchCasts)
}

// single returns a short integer as a FLOAT of type t.
func (c *compiler) single(e expr, t Type) expr {
	if e.typ.Class == FloatClass || e.typ.Class == NullClass {
		return e
	}
	e = c.numbered(e)
	e.typ, e.column, e.print, e.mixedDate = t, false, nil, true
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value {
		return sqlvalue.NewFloat(float32(v.ToDouble()), t.Digits)
	})
}
