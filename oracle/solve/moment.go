package solve

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// What stands beside a date or time in a comparison is read as a number that is
// ordered like it: the digits of a date and time, or the microseconds of a TIME.
// What is no date is 0, less than any that a column holds.
type momentReader func(f *frame, v sqlvalue.Value) int64

// momentPair chooses how a date or time compares with an operand of another type;
// ok is false where that is not known.
func (c *compiler) momentPair(a, b expr) (as comparator, ok bool) {
	if !c.readsMoments() || c.joins || c.ranges || !c.plainConstant(a) || !c.plainConstant(b) || a.yearOf || b.yearOf || !c.pairAmong(a, b) {
		return nil, false
	}
	if isTemporal(a.typ) && isTemporal(b.typ) {
		return clockAndDate(hasDate(b.typ)), true
	}
	t, other := a, b
	if !isTemporal(t.typ) {
		t, other = b, a
	}
	if !t.column {
		return nil, false
	}
	if !hasDate(t.typ) && c.d.is(timesAsText) {
		switch other.typ.Class {
		case StringClass:
			if !other.column {
				return nil, false
			}
			p, q := c.clockText(a), c.clockText(b)
			as, err := c.comparison(p, q)
			if err != nil {
				return nil, false
			}
			return func(f *frame, x, y sqlvalue.Value) int {
				return as(f, sqlvalue.NewString(x.Str()), sqlvalue.NewString(y.Str()))
			}, true
		case YearClass:
			return func(f *frame, x, y sqlvalue.Value) int {
				return cmp.Compare(momentDouble(f, x), momentDouble(f, y))
			}, true
		}
		return nil, false
	}
	x, y := c.momentReader(a, t.typ), c.momentReader(b, t.typ)
	if x == nil || y == nil {
		return nil, false
	}
	return func(f *frame, v, w sqlvalue.Value) int { return cmp.Compare(x(f, v), y(f, w)) }, true
}

// readsMoments tells whether it is known how the server reads what stands beside a
// date or time.
func (c *compiler) readsMoments() bool { return c.d.is(comparesMoments) || c.d.is(comparesAsMoments) }

// plainConstant tells whether an operand is no constant, or one that is read as a
// column is, through an index too: an integer, or a text that is no date with a time.
func (c *compiler) plainConstant(e expr) bool {
	switch {
	case !e.konst:
		return true
	case !e.lit || c.write || c.among != amongNone || !c.d.is(comparesAsMoments):
		return false
	case e.typ.Class == StringClass && !e.typ.Binary:
		_, date := instant(e.eval(nil).Str())
		return !date
	}
	return e.typ.Class == IntClass
}

// among says which operator compares an operand with several others.
type among uint8

const (
	amongNone among = iota
	amongBounds
	amongList
	amongCases
)

// pairAmong tells whether the operator compares a date or time with an operand of
// another type as = and < do.
func (c *compiler) pairAmong(a, b expr) bool {
	if c.among == amongNone || !c.d.is(caseReadsMoments) {
		return true
	}
	t, other := a.typ, b.typ
	if !isTemporal(t) {
		t, other = other, t
	}
	text, exactly := other.Class == StringClass, t.Class == DatetimeClass || t.Class == TimestampClass
	switch {
	case isTemporal(other):
		// IN may read a TIME as a date, and fail in a write.
		return c.among == amongBounds && !c.write
	case c.among == amongBounds:
		return other.Class != YearClass && (!text || t.Class != DateClass)
	case c.among == amongList:
		return !text || exactly
	}
	return !text || exactly && isTemporal(a.typ)
}

// eachAlone tells whether an operator compares the first of its operands, dates and
// times among them, with each other one as if it were the only one.
func (c *compiler) eachAlone(es []expr) bool {
	if c.joins || !c.readsMoments() {
		return false
	}
	present, moments, clocks := 0, 0, 0
	for _, e := range es {
		switch {
		case e.typ.Class == NullClass:
			continue
		case e.typ.Class == TimeClass:
			clocks++
			moments++
		case isTemporal(e.typ):
			moments++
		}
		present++
	}
	switch first := isTemporal(es[0].typ); {
	case moments == 0 || es[0].konst:
		return false
	case present == 2:
		return true
	case !c.d.is(comparesAsMoments) || !first && moments < present-1:
		return false
	}
	// What stands beside a TIME and a date in BETWEEN is a date.
	return c.among != amongBounds || clocks == 0 || clocks == moments || moments == present
}

// clockText gives a TIME the type of its text.
func (c *compiler) clockText(e expr) expr {
	if e.typ.Class == TimeClass {
		e.typ = Type{Class: StringClass, Length: len("-838:59:59"), Collation: c.d.connection()}
		e.column = false
	}
	return e
}

// clockAndDate compares a TIME, which lies on the current day, with a date. No day
// on which a server of these releases runs is within a TIME's 35 days of a date
// before the first bound or behind the second.
// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
func clockAndDate(clockFirst bool) comparator {
	const first, last = 2025, 2100
	return func(f *frame, x, y sqlvalue.Value) int {
		sign := 1
		if clockFirst {
			x, sign = y, -1
		}
		at, ok := instant(x.Str())
		switch y := at.Year(); {
		case !ok:
			f.refuse("comparison of a date or time of another form")
		case y < first:
			return -sign
		case y > last:
			return sign
		}
		f.refuse("TIME beside a date of these years")
		return 0
	}
}

// momentReader returns how e is read beside a value of type t, nil where that is
// not known.
func (c *compiler) momentReader(e expr, t Type) momentReader {
	numbers := c.d.is(comparesAsMoments)
	switch k := e.typ.Class; {
	case isTemporal(e.typ) && hasDate(t):
		return func(f *frame, v sqlvalue.Value) int64 {
			at, ok := instant(v.Str())
			if !ok {
				f.refuse("comparison of a date or time of another form")
			}
			return packed(at)
		}
	case isTemporal(e.typ):
		return func(f *frame, v sqlvalue.Value) int64 {
			n, ok := span(v.Str())
			if !ok {
				f.refuse("comparison of a date or time of another form")
			}
			return n
		}
	case k == YearClass && hasDate(t):
		return func(_ *frame, v sqlvalue.Value) int64 { return packedDigits(int64(v.Number().Uint())*1e10, 0) }
	case k == YearClass && numbers:
		// It is a date, whose time counts.
		return func(*frame, sqlvalue.Value) int64 { return 0 }
	case k == BitClass && numbers && (e.typ.Bits <= 4 || hasDate(t) && e.typ.Bits <= 32):
		// A text of so few bytes, none of them a digit, is no date or time.
		return func(f *frame, _ sqlvalue.Value) int64 { return f.noMoment() }
	case numbers && (isExact(e.typ) || k == DoubleClass || k == FloatClass):
		if hasDate(t) {
			return numberAsDate
		}
		return c.numberAsTime
	case k == StringClass && !numbers && !e.column:
		// What is no date may be NULL.
		return nil
	case k == StringClass && hasDate(t):
		return textAsDate(t.Class == DateClass && !numbers)
	case k == StringClass && numbers:
		return textAsTime
	}
	return nil
}

// besideNull returns what refuses, in a write, the operand beside a NULL that would be
// read as a date or time, where it is none: it may be read first, and fail.
func (c *compiler) besideNull(a, b expr) func(f *frame, v, w sqlvalue.Value) sqlvalue.Value {
	t, other, second := a, b, true
	if !isTemporal(t.typ) {
		t, other, second = b, a, false
	}
	var read momentReader
	if c.readsMoments() && isTemporal(t.typ) && !isTemporal(other.typ) {
		read = c.momentReader(other, t.typ)
	}
	if read == nil {
		return func(_ *frame, _, w sqlvalue.Value) sqlvalue.Value { return w }
	}
	return func(f *frame, v, w sqlvalue.Value) sqlvalue.Value {
		x, y := v, w
		if second {
			x, y = w, v
		}
		if (f.strictWrite || f.strictUnsure) && !x.IsNull() && y.IsNull() {
			read(f, x)
		}
		return w
	}
}

// packed returns a date and time as a number.
func packed(at time.Time) int64 {
	y, m, d := at.Date()
	digits := int64(y*10000+int(m)*100+d)*1e6 + int64(at.Hour()*10000+at.Minute()*100+at.Second())
	return packedDigits(digits, int64(at.Nanosecond()/1000))
}

// packedDigits returns 14 digits and microseconds as a number.
func packedDigits(n, micros int64) int64 {
	p := n / 1e10
	for _, unit := range []struct{ digits, bits int64 }{{1e8, 4}, {1e6, 5}, {1e4, 5}, {100, 6}, {1, 6}} {
		p = p<<unit.bits | n/unit.digits%100
	}
	return p<<20 | micros
}

// clockBits are the bits of the time in what packed returns.
const clockBits = 1<<37 - 1

// noMoment is what is no date or time; a write may fail on it.
func (f *frame) noMoment() int64 {
	if f.strictWrite || f.strictUnsure {
		f.refuse("number or text that is no date or time in a write")
	}
	f.warnings++
	return 0
}

// wholeAndMicros cuts a number at its point. The sign is told apart, and a double
// beyond 64 bits is the largest number that they hold.
func wholeAndMicros(f *frame, v sqlvalue.Value) (n uint64, micros int64, negative bool) {
	negative = v.Sign() < 0
	if k := v.Kind(); k == sqlvalue.Double || k == sqlvalue.Float {
		x := math.Abs(v.ToDouble())
		if x >= 1<<63 {
			return math.MaxUint64, 0, negative
		}
		whole, part := math.Modf(x)
		if part > 5e-7 && part < 2e-6 || part > 1-2e-6 {
			f.refuse("fraction of a microsecond in a double")
		}
		return uint64(whole), int64(part * 1e6), negative
	}
	d := v.ToDecimal()
	if negative {
		d = sqlvalue.NegExact(d)
	}
	whole := d.Truncate(0)
	n, over := whole.ToInt(true)
	if d.Scale() > 6 || over != 0 {
		f.refuse("long number as a date")
		return 0, 0, negative
	}
	part := sqlvalue.AddExact(d, sqlvalue.NegExact(whole))
	micros, _ = sqlvalue.MulExact(part, sqlvalue.NewInt(1e6)).Truncate(0).Small()
	return n, micros, negative
}

// numberAsDate reads a number as YYMMDD or YYYYMMDD, with a time behind it or
// without. Any day up to 31 is one of the month, and so is day or month 0.
// https://mariadb.com/docs/server/reference/sql-structure/sql-language-structure/date-and-time-literals
func numberAsDate(f *frame, v sqlvalue.Value) int64 {
	n, micros, negative := wholeAndMicros(f, v)
	if n == 0 && !negative {
		return micros
	}
	at, ok := digitsAsDate(n)
	if negative || !ok {
		return f.noMoment()
	}
	if n <= 99991231 {
		micros = 0
		f.losesFraction(v)
	}
	return packedDigits(at, micros)
}

// losesFraction refuses a fraction that is lost where that may be an error.
func (f *frame) losesFraction(v sqlvalue.Value) {
	if (f.strictWrite || f.strictUnsure) && v.ToDouble() != math.Trunc(v.ToDouble()) {
		f.refuse("number or text that is no date or time in a write")
	}
}

// digitsAsDate returns the 14 digits of a date and time.
func digitsAsDate(u uint64) (int64, bool) {
	n := int64(u)
	switch {
	case u > 99999999999999, n < 101, n > 691231 && n < 700101, n > 991231 && n < 10000101, n > 99991231 && n < 101000000,
		n > 691231235959 && n < 700101000000:
		return 0, false
	case n >= 10000101000000:
	case n <= 691231:
		n = (n + 20000000) * 1e6
	case n <= 991231:
		n = (n + 19000000) * 1e6
	case n <= 99991231:
		n *= 1e6
	case n <= 691231235959:
		n += 20000000000000
	case n <= 991231235959:
		n += 19000000000000
	}
	month, day, hour, minute, second := n/1e8%100, n/1e6%100, n/1e4%100, n/100%100, n%100
	return n, month <= 12 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59
}

// numberAsTime reads a number as HHMMSS, or as a date whose time counts.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/time
func (c *compiler) numberAsTime(f *frame, v sqlvalue.Value) int64 {
	const longest, least, most = 8385959, 9999999, ((838*60+59)*60+59)*1000000 + 999999
	n, micros, negative := wholeAndMicros(f, v)
	last, clips := uint64(99999999999999), c.d.is(timesClip)
	if clips {
		last = 99991231235959
	}
	sign := int64(1)
	if negative {
		sign = -1
	}
	noClock := n%100 > 59 || n/100%100 > 59
	switch {
	case n > last, n > longest && (negative || n <= least):
		if f.noMoment(); noClock && !clips {
			return 0
		}
		return sign * most
	case n > least:
		at, ok := digitsAsDate(n)
		if !ok {
			return f.noMoment()
		}
		if n <= 99991231 {
			f.losesFraction(v)
			return 0
		}
		return clockMicros(at%1e6) + micros
	case noClock:
		return f.noMoment()
	case micros >= 999999:
		f.refuse("fraction of a second that rounds up")
	}
	return sign * (clockMicros(int64(n)) + micros)
}

// clockMicros is a time HHMMSS in microseconds.
func clockMicros(n int64) int64 { return ((n/10000*60+n/100%100)*60 + n%100) * 1e6 }

// noDate tells whether a text is surely no date: it is short, has no digit, or is a
// long number without a month.
func noDate(s string) bool {
	return len(s) <= 4 || !strings.ContainsAny(s, "0123456789") ||
		len(s) >= 14 && len(s) < 20 && strings.Trim(s, "0123456789") == "" && s[4:6] > "12"
}

// textAsDate reads a text that is surely no date, or one in the form in which servers
// print dates.
func textAsDate(cut bool) momentReader {
	return func(f *frame, v sqlvalue.Value) int64 {
		s := v.Str()
		if noDate(s) {
			return f.noMoment()
		}
		at, ok := instant(s)
		if !ok {
			f.refuse("comparison of a date or time with other text")
		}
		n := packed(at)
		if cut && n&clockBits != 0 {
			if f.strictWrite || f.strictUnsure {
				f.refuse("number or text that is no date or time in a write")
			}
			n &^= clockBits
		}
		return n
	}
}

// textAsTime reads a text without a digit, with a short number HHMMSS in front, or
// in the form in which servers print a time.
func textAsTime(f *frame, v sqlvalue.Value) int64 {
	s := v.Str()
	if len(s) > 4 && noDate(s) || !strings.ContainsAny(s, "0123456789") {
		return f.noMoment()
	}
	if n, ok := span(s); ok {
		return n
	}
	if at, ok := instant(s); ok && len(s) > len(dateForm) {
		h, m, sec := at.Clock()
		return int64((h*60+m)*60+sec)*1e6 + int64(at.Nanosecond()/1000)
	}
	body, negative := strings.CutPrefix(strings.TrimLeft(s, " "), "-")
	digits := len(body) - len(strings.TrimLeft(body, "0123456789"))
	number, rest := body[:digits], body[digits:]
	if digits == 0 || digits > 4 || len(s) > 4 || strings.ContainsAny(rest, "0123456789:.+-eE") || strings.TrimLeft(rest, " ") != "" && rest[0] == ' ' {
		f.refuse("comparison of a date or time with other text")
		return 0
	}
	var n int64
	for _, d := range []byte(number) {
		n = n*10 + int64(d-'0')
	}
	if n%100 > 59 || n/100 > 59 {
		return f.noMoment()
	}
	if strings.TrimRight(rest, " ") != "" && (f.strictWrite || f.strictUnsure) {
		f.refuse("number or text that is no date or time in a write")
	}
	if n = clockMicros(n); negative {
		n = -n
	}
	return n
}
