package solve

import (
	"hash/crc32"
	"math"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func mapped(change func(string) string) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		return c.textFunction(args, func(_ *frame, s []string) (string, bool) { return change(s[0]), false })
	}
}

// cased compiles a change of case, which binary strings have none of.
func cased(change func(string) string) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		if c.textType(args[0].typ).Binary {
			return mapped(func(s string) string { return s })(c, args)
		}
		return mapped(change)(c, args)
	}
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func within(n int64, s string) int { return int(max(0, min(n, int64(len(s))))) }

func firstByte(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(s[0])
}

// concatWS leaves NULLs out; only a separator of NULL makes it NULL.
func (c *compiler) concatWS(args []expr) (expr, error) {
	e, err := c.textFunction(args, func(*frame, []string) (string, bool) { return "", false })
	if err != nil {
		return e, err
	}
	xs := c.textArgs(args)
	e.eval = func(f *frame) sqlvalue.Value {
		sep, null := xs[0](f)
		var parts []string
		for _, x := range xs[1:] {
			if null {
				f.beside(asValue(x))
			} else if s, none := x(f); !none {
				parts = append(parts, s)
			}
		}
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		return e.typ.string(strings.Join(parts, sep))
	}
	return e, nil
}

// count returns an accessor for an argument that counts characters.
func (c *compiler) count(e expr) (func(*frame) (int64, bool), error) {
	if e.mixedInt || e.mixedLarge && c.d.is(greatestKeepsInt) || e.mixedText && e.typ.Class == DoubleClass {
		return nil, unsupported("count of one of several numbers")
	}
	switch e = c.numbered(e); e.typ.Class {
	case IntClass, NullClass:
	case DecimalClass, DoubleClass, FloatClass:
		return c.roundedCount(e), nil
	default:
		return nil, unsupported("function with a count that is no integer")
	}
	x := e.asInteger()
	return func(f *frame) (int64, bool) {
		v := x(f)
		if v.Kind() == sqlvalue.Uint && v.Int() < 0 {
			f.refuse("function with a count beyond the signed range")
		}
		return v.Int(), v.IsNull()
	}, nil
}

// roundedCount is count for a decimal or double, which is rounded and, beyond the
// signed range, brought to its end.
func (c *compiler) roundedCount(e expr) func(*frame) (int64, bool) {
	x, whole := e.eval, c.wholeOf(e)
	return func(f *frame) (int64, bool) {
		v := x(f)
		if v.IsNull() {
			return 0, true
		}
		if v.Kind() == sqlvalue.Decimal {
			n, over := v.ToInt(false)
			if over != 0 {
				f.refuse("function with a count beyond the signed range")
			}
			return int64(n), false
		}
		return whole(f, math.RoundToEven(v.ToDouble())), false
	}
}

func cut(change func(s string, n int64) string) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		n, err := c.count(args[1])
		if err != nil {
			return expr{}, err
		}
		return c.countedText(allKonst(args), args[:1], []func(*frame) (int64, bool){n}, func(_ *frame, s []string, n []int64) (string, bool) { return change(s[0], n[0]), false })
	}
}

// countedText compiles a function of texts and of integers.
func (c *compiler) countedText(konst bool, args []expr, counts []func(*frame) (int64, bool), make func(f *frame, s []string, n []int64) (string, bool)) (expr, error) {
	e, err := c.textFunction(args, func(*frame, []string) (string, bool) { return "", false })
	if err != nil {
		return e, err
	}
	e.konst = konst
	xs := c.textArgs(args)
	e.eval = func(f *frame) sqlvalue.Value {
		s, null := textsOf(f, xs)
		var n []int64
		for _, get := range counts {
			if null {
				f.beside(asValue(get))
				continue
			}
			one, none := get(f)
			n, null = append(n, one), none
		}
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		out, null := make(f, s, n)
		if null {
			return sqlvalue.Value{}
		}
		return e.typ.string(out)
	}
	return e, nil
}

// repeat makes nothing of a negative count, and NULL beyond max_allowed_packet.
func (c *compiler) repeat(args []expr) (expr, error) {
	n, err := c.count(args[1])
	if err != nil {
		return expr{}, err
	}
	return c.countedText(allKonst(args), args[:1], []func(*frame) (int64, bool){n}, func(f *frame, s []string, n []int64) (string, bool) {
		if n[0] > 1000 {
			f.refuse("REPEAT to a great length")
			return "", true
		}
		return strings.Repeat(s[0], int(max(n[0], 0))), false
	})
}

// substring counts from 1, from the end where the position is negative; at 0 it
// finds nothing.
func (c *compiler) substring(args []expr) (expr, error) {
	var counts []func(*frame) (int64, bool)
	for _, a := range args[1:] {
		n, err := c.count(a)
		if err != nil {
			return expr{}, err
		}
		counts = append(counts, n)
	}
	overflows := c.d.is(longSubstring)
	return c.countedText(allKonst(args), args[:1], counts, func(_ *frame, s []string, n []int64) (string, bool) {
		at, size, length := n[0], int64(len(s[0])), int64(len(s[0]))
		if len(n) > 1 {
			size = n[1]
		}
		if at < 0 {
			at += length + 1
		}
		if at < 1 || at > length || size <= 0 || overflows && size > math.MaxInt64-(at-1) {
			return "", false
		}
		return s[0][at-1 : at-1+min(size, length-at+1)], false
	})
}

// replace is case-sensitive. Whether an error in the replacement shows where there is nothing
// to replace is the server's affair.
func (c *compiler) replace(args []expr) (expr, error) {
	e, err := c.textFunction(args, func(_ *frame, s []string) (string, bool) {
		if s[1] == "" {
			return s[0], false
		}
		return strings.ReplaceAll(s[0], s[1], s[2]), false
	})
	if err != nil {
		return e, err
	}
	xs, whole, stops := c.textArgs(args), e.eval, c.d.is(replaceStops)
	e.eval = func(f *frame) sqlvalue.Value {
		v := whole(f)
		if !v.IsNull() || f.err != nil && !isSQL(f.err) || f.err == nil && !stops {
			return v
		}
		failed, warnings := f.err, f.warnings
		f.err = nil
		s, null := textsOf(f, xs[:2])
		f.warnings = warnings
		if f.err == nil && !null && (s[1] == "" || !strings.Contains(s[0], s[1])) {
			return f.refuse("REPLACE of what is not there by NULL, or by what fails")
		}
		f.err = failed
		return v
	}
	return c.ofFirst(e, args, firstCollation)
}

// ofFirst gives a text the collation of the first argument, where that is the
// only one that counts.
func (c *compiler) ofFirst(e expr, args []expr, where quirk) (expr, error) {
	if c.d.is(where) && args[0].typ.Class != NullClass {
		t := c.textType(args[0].typ)
		if t.Binary != e.typ.Binary {
			return e, unsupported("function of a binary string among others")
		}
		e.typ.Collation, e.typ.Explicit = t.Collation, t.Explicit
	}
	return e, nil
}

func padded(join func(s, pad string) string) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		n, err := c.count(args[1])
		if err != nil {
			return expr{}, err
		}
		e, err := c.countedText(allKonst(args), []expr{args[0], args[2]}, []func(*frame) (int64, bool){n}, func(f *frame, s []string, n []int64) (string, bool) {
			length := int64(len(s[0]))
			switch {
			case n[0] < 0:
				if f.strictWrite {
					f.refuse("padding to a negative length in a write")
				}
				return "", true
			case n[0] <= length:
				return s[0][:n[0]], false
			case s[1] == "" || n[0] > 100:
				f.refuse("padding with nothing, or to a great length")
				return "", true
			}
			gap := int(n[0] - length)
			return join(s[0], strings.Repeat(s[1], gap/len(s[1])+1)[:gap]), false
		})
		if x := e.eval; err == nil {
			e.eval = func(f *frame) sqlvalue.Value {
				v := x(f)
				if v.IsNull() && f.strictWrite && f.err == nil {
					switch length, null := n(f); {
					case null:
					case length < 0:
						f.refuse("padding to a negative length in a write")
					case length > 100:
						// It may be beyond max_allowed_packet, an error before NULL is seen.
						f.refuse("padding with nothing, or to a great length")
					}
				}
				return v
			}
		}
		if err != nil {
			return e, err
		}
		return c.ofFirst(e, args, padFirstCollation)
	}
}

func measured(measure func(string) int64) func(*compiler, []expr) (expr, error) {
	return func(c *compiler, args []expr) (expr, error) {
		x := c.textArg(args[0])
		t := bigInt
		t.Prec = 10
		return expr{typ: t, konst: args[0].konst, eval: func(f *frame) sqlvalue.Value {
			s, null := x(f)
			if null || f.err != nil {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewInt(measure(s))
		}}, nil
	}
}

// crc32 is unsigned.
func (c *compiler) crc32(args []expr) (expr, error) {
	e, err := measured(func(s string) int64 { return int64(crc32.ChecksumIEEE([]byte(s))) })(c, args)
	x := e.eval
	e.typ = bigUint
	e.typ.Prec = 10
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return v
		}
		return sqlvalue.NewUint(v.Uint())
	}
	return e, err
}

// locate finds a text in another one by the collation, counted from 1.
func (c *compiler) locate(sub, in expr) (expr, error) {
	t, err := c.textResult(sub, in)
	if err != nil {
		return expr{}, err
	}
	xs := c.textArgs([]expr{sub, in})
	w := t.Collation.table()
	if t.Binary && c.d.is(binarySearchUnsure) {
		return expr{}, unsupported("search of a binary string")
	}
	find := func(f *frame, sub, in string) sqlvalue.Value {
		if !t.Collation.exact(sub) || !t.Collation.exact(in) {
			return f.refuse("function of text beyond ASCII")
		}
		for i := 0; i+len(sub) <= len(in); i++ {
			found := true
			for k := 0; k < len(sub) && found; k++ {
				a, b := sub[k], in[i+k]
				found = a == b || w != nil && w[a] == w[b]
			}
			if found {
				return sqlvalue.NewInt(int64(i + 1))
			}
		}
		return sqlvalue.NewInt(0)
	}
	return expr{typ: bigInt, konst: sub.konst && in.konst, eval: func(f *frame) sqlvalue.Value {
		s, null := textsOf(f, xs)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		return find(f, s[0], s[1])
	}}, nil
}

// strcmp compares two texts by their collation.
func (c *compiler) strcmp(args []expr) (expr, error) {
	for _, a := range args {
		if a.typ.Class != StringClass {
			return expr{}, unsupported("STRCMP of other than text")
		}
	}
	order, err := c.comparison(args[0], args[1])
	if err != nil {
		return expr{}, err
	}
	x, y := args[0].eval, args[1].eval
	return expr{typ: boolInt, konst: allKonst(args), eval: func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return f.beside(y)
		}
		w := y(f)
		if w.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewInt(int64(order(f, v, w)))
	}}, nil
}
