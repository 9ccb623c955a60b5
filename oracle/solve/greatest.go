package solve

import (
	"cmp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// greatest compiles GREATEST or LEAST; a NULL among the operands makes it NULL.
// https://dev.mysql.com/doc/refman/9.7/en/comparison-operators.html#function_greatest
// https://mariadb.com/docs/server/reference/sql-structure/operators/comparison-operators/greatest
func (c *compiler) greatest(args []expr, op opcode.Op) (expr, error) {
	bit := slices.ContainsFunc(args, func(a expr) bool { return a.typ.Class == BitClass })
	e, err := c.greatestValue(args, op)
	e.greatest = true
	// The bits of the result are those of another operand where a BIT is negative as
	// a number with a sign.
	e.mixedInt = e.mixedInt || bit && c.d.is(greatestKeepsInt) && (e.typ.Class == FloatClass || e.typ.Class == DoubleClass)
	return e, err
}

func (c *compiler) greatestValue(args []expr, op opcode.Op) (expr, error) {
	if !c.d.is(branchCasts) && len(args) == 2 {
		return c.greatestOfTwo(args, op)
	}
	if t, ok := greatestNumber(args); ok {
		return c.greatestOf(t, args, op)
	}
	var t Type
	for i, a := range args {
		switch {
		case a.typ.Class != IntClass && a.typ.Class != StringClass || a.typ.Binary:
			return expr{}, unsupported("GREATEST or LEAST of other than integers or texts")
		case i == 0:
			t = a.typ
		case a.typ.Class != t.Class || a.typ.Unsigned != t.Unsigned:
			return expr{}, unsupported("GREATEST or LEAST of different types")
		}
	}
	return c.greatestOfOneType(args, op)
}

// greatestOfOneType compiles GREATEST or LEAST of texts, or of integers of one
// signedness.
func (c *compiler) greatestOfOneType(args []expr, op opcode.Op) (expr, error) {
	if err := c.shareCollation(args); err != nil {
		return expr{}, err
	}
	t := args[0].typ
	if t.Class == StringClass {
		t.Fixed, t.Blob, t.Length = false, false, 1<<16
	} else if t = bigInt; args[0].typ.Unsigned {
		t = bigUint
	}
	order, err := c.comparison(args[0], args[0])
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, konst: allKonst(args), computed: true, notNumber: t.Class == StringClass, worded: t.Class == StringClass, eval: func(f *frame) sqlvalue.Value {
		var best sqlvalue.Value
		null := false
		for i, a := range args {
			if null {
				f.beside(a.eval)
				continue
			}
			v := a.eval(f)
			if f.err != nil {
				return sqlvalue.Value{}
			}
			if v.Kind() == sqlvalue.Uint && v.Int() < 0 {
				return f.refuse("GREATEST or LEAST beyond the signed range")
			}
			if null = v.IsNull(); null || i == 0 {
				best = v
				continue
			}
			r := order(f, v, best)
			if r == 0 && v != best {
				return f.refuse("GREATEST or LEAST between equal values of different text")
			}
			if r != 0 && (r > 0) == (op == opcode.GT) {
				best = v
			}
		}
		if null {
			return sqlvalue.Value{}
		}
		return best
	}}, nil
}

// greatestNumber returns the type of GREATEST or LEAST of numbers, at least one of
// which is no integer.
func greatestNumber(args []expr) (t Type, ok bool) {
	t, floats, wide := double, 0, makesDouble(args)
	exact := Type{Class: DecimalClass}
	digits, inexact := 0, false
	for _, a := range args {
		switch a.typ.Class {
		case IntClass:
		case DecimalClass:
			ok = true
		case FloatClass:
			floats++
			fallthrough
		case DoubleClass:
			ok, inexact, wide = true, true, wide || a.typ.Class == DoubleClass
		default:
			return t, false
		}
		digits, exact.Scale = max(digits, intDigits(a.typ)), max(exact.Scale, a.typ.Scale)
	}
	if exact.Prec = digits + exact.Scale; !inexact {
		t = exact
	} else {
		t.Origin = computedDouble(args...).Origin
	}
	return t, ok && (floats == 0 || wide)
}

// greatestOf compiles GREATEST or LEAST of numbers as a decimal or double. A decimal
// is printed with all digits of the type, but keeps its own as a text.
func (c *compiler) greatestOf(t Type, args []expr, op opcode.Op) (expr, error) {
	e := expr{typ: t, konst: allKonst(args), computed: true}
	for _, a := range args {
		e.mixedText = e.mixedText || t.Class == DecimalClass && a.typ.Scale != t.Scale
	}
	for _, a := range args {
		e.mixedLarge = e.mixedLarge || c.d.is(greatestKeepsInt) && (t.Class == DecimalClass || isExact(a.typ))
	}
	if e.mixedText && c.d.is(branchCasts) {
		return e, unsupported("GREATEST or LEAST of different scales")
	}
	last := op == opcode.GT && c.d.is(greatestTakesLast)
	e.eval = func(f *frame) sqlvalue.Value {
		var best sqlvalue.Value
		null := false
		for i, a := range args {
			if null {
				f.beside(a.eval)
				continue
			}
			v := a.eval(f)
			if f.err != nil {
				return sqlvalue.Value{}
			}
			if null = null || v.IsNull(); null {
				continue
			}
			var r int
			if t.Class == DoubleClass {
				v = sqlvalue.NewDouble(v.ToDouble())
				r = cmp.Compare(v.Double(), best.ToDouble())
			} else {
				if v.Scale() > a.typ.Scale {
					return f.refuse("function of a quotient")
				}
				if v = v.ToDecimal().Rescale(t.Scale); i > 0 {
					r = sqlvalue.CmpExact(v, best)
				}
			}
			if i == 0 || r != 0 && (r > 0) == (op == opcode.GT) || r == 0 && last {
				best = v
			}
		}
		switch {
		case null:
			return sqlvalue.Value{}
		case e.mixedText && f.strictWrite:
			return f.refuse("text of a decimal chosen among others, in a write")
		}
		return best
	}
	return e, nil
}

// greatestOfTwo compiles GREATEST or LEAST of two operands of any types but dates
// and times. Beside a text a number is a text, or both are doubles; two numbers
// have the type that they have as branches of IF.
func (c *compiler) greatestOfTwo(args []expr, op opcode.Op) (expr, error) {
	if isTemporal(args[0].typ) && isTemporal(args[1].typ) && !clocks(args) && args[0].typ.Scale == 0 && args[1].typ.Scale == 0 {
		return c.greatestOfMoments(args, op)
	}
	texts, members, numbers := 0, 0, 0
	for _, a := range args {
		switch {
		case a.typ.Class == NullClass || isTemporal(a.typ) || a.yearOf || a.moment || a.notNumber && a.typ.Class != StringClass:
			return expr{}, unsupported("GREATEST or LEAST of NULL, dates or times")
		case isMember(a.typ):
			members++
		case a.typ.Class == StringClass:
			texts++
		default:
			numbers++
		}
	}
	switch {
	case texts+members == 0:
		return c.greatestOfNumbers(args, op)
	case numbers == 0 || c.d.is(minMaxByText):
		return c.greatestOfTexts(args, op)
	case members > 0:
		// The double has the digits behind the point of the number, a quotient of
		// it four more.
		return expr{}, unsupported("GREATEST or LEAST of an ENUM or SET and a number")
	}
	for i := range args {
		if args[i].worded || args[i].notNumber {
			return expr{}, unsupported("number of a branch between text and others")
		}
		args[i] = c.asDouble(args[i])
	}
	e, err := c.greatestOf(double, args, op)
	// In other contexts the operands are compared as integers, decimals or texts.
	e.mixedText, e.mixedInt = true, true
	return e, err
}

// greatestOfTexts compiles GREATEST or LEAST of texts, and of what is text beside
// them.
func (c *compiler) greatestOfTexts(args []expr, op opcode.Op) (expr, error) {
	for i, a := range args {
		if isMember(a.typ) {
			args[i] = a.named()
			continue
		}
		if a.typ.Class == StringClass {
			continue
		}
		x, t := c.asText(a)
		args[i] = expr{typ: t, konst: a.konst, eval: x}
	}
	return c.greatestOfOneType(args, op)
}

// greatestOfNumbers compiles GREATEST or LEAST of numbers.
func (c *compiler) greatestOfNumbers(args []expr, op opcode.Op) (expr, error) {
	floats, years, doubles := 0, 0, 0
	for _, a := range args {
		switch a.typ.Class {
		case FloatClass:
			floats++
		case DoubleClass:
			doubles++
		case YearClass:
			years++
		}
	}
	if floats == len(args) || years == len(args) {
		return c.greatestOfClass(args[0].typ, args, op)
	}
	single, short := c.singles(args)
	if short && c.d.is(minMaxByText) {
		for i := range args {
			args[i] = c.single(args[i], single)
		}
		return c.greatestOfClass(single, args, op)
	}
	if floats > 0 && c.d.is(minMaxByText) && !makesDouble(args) && !c.floatLast(args) {
		return expr{}, unsupported("GREATEST or LEAST of a FLOAT and other numbers")
	}
	for i, a := range args {
		switch {
		case a.typ.Class == FloatClass:
			args[i] = doubled(a)
		case a.typ.Class == BitClass && floats+doubles > 0:
			args[i] = c.asDouble(a)
		case a.typ.Class == BitClass:
			args[i] = c.shortBit(a)
		case a.typ.Class == YearClass:
			args[i] = c.numbered(a)
		}
	}
	if t, ok := greatestNumber(args); ok {
		return c.greatestOf(t, args, op)
	}
	t, err := c.unify(args)
	if err != nil {
		return expr{}, err
	}
	switch {
	case t.Class == DecimalClass:
		return c.greatestOf(t, args, op)
	case args[0].typ.Unsigned == args[1].typ.Unsigned:
		e, err := c.greatestOfOneType(args, op)
		e.bits = args[0].bits && args[1].bits
		return e, err
	}
	e := ofTwo(t, args, op, func(_ *frame, v, w sqlvalue.Value) int { return sqlvalue.CmpExact(v, w) })
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value { return sqlvalue.NewInt(v.Int()) }), nil
}

// ofTwo makes the greater or the lesser of two operands of one form, the first if
// they are equal.
func ofTwo(t Type, args []expr, op opcode.Op, compare func(f *frame, v, w sqlvalue.Value) int) expr {
	return expr{typ: t, konst: allKonst(args), computed: true, eval: func(f *frame) sqlvalue.Value {
		v := args[0].eval(f)
		if v.IsNull() {
			return f.beside(args[1].eval)
		}
		w := args[1].eval(f)
		if w.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		if r := compare(f, v, w); r != 0 && (r > 0) != (op == opcode.GT) {
			v = w
		}
		return v
	}}
}

// greatestOfMoments compiles GREATEST or LEAST of dates, or of times. As a number it
// is not known.
func (c *compiler) greatestOfMoments(args []expr, op opcode.Op) (expr, error) {
	t, err := c.unify(args)
	if err != nil {
		return expr{}, err
	}
	for i, a := range args {
		args[i].eval = c.convert(a, t, false)
	}
	e := ofTwo(t, args, op, func(f *frame, v, w sqlvalue.Value) int { return compareTemporal(f, v.Str(), w.Str()) })
	e.notNumber = true
	return e, nil
}

// greatestOfClass compiles GREATEST or LEAST of values of type t, FLOAT or YEAR.
func (c *compiler) greatestOfClass(t Type, args []expr, op opcode.Op) (expr, error) {
	t.Chosen = true
	return ofTwo(t, args, op, func(_ *frame, v, w sqlvalue.Value) int {
		return cmp.Compare(v.Number().ToDouble(), w.Number().ToDouble())
	}), nil
}
