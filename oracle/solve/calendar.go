package solve

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// datePart is a function of a date, or of a date and time.
type datePart struct {
	// clock says that the function reads a time, so that a TIME will do; others
	// need a date.
	clock bool
	part  func(time.Time) int64
	// hours says that it is the hours, of which a TIME has more than a day's.
	hours bool
	// ofPartial, if not nil, is the part of a date without a month or day; other
	// parts are NULL there.
	ofPartial func(day) int64
}

// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
var dateParts = map[string]datePart{
	"year":       {false, func(t time.Time) int64 { return int64(t.Year()) }, false, func(d day) int64 { return d.year }},
	"quarter":    {false, func(t time.Time) int64 { return int64(t.Month()+2) / 3 }, false, func(d day) int64 { return (d.month + 2) / 3 }},
	"month":      {false, func(t time.Time) int64 { return int64(t.Month()) }, false, func(d day) int64 { return d.month }},
	"day":        {false, func(t time.Time) int64 { return int64(t.Day()) }, false, func(d day) int64 { return d.day }},
	"dayofmonth": {false, func(t time.Time) int64 { return int64(t.Day()) }, false, func(d day) int64 { return d.day }},
	"dayofyear":  {false, func(t time.Time) int64 { return int64(t.YearDay()) }, false, nil},
	"dayofweek":  {false, func(t time.Time) int64 { return int64(t.Weekday()) + 1 }, false, nil},
	"weekday":    {false, func(t time.Time) int64 { return int64(t.Weekday()+6) % 7 }, false, nil},
	"to_days":    {false, dayNumber, false, nil},
	"hour":       {true, func(t time.Time) int64 { return int64(t.Hour()) }, true, nil},
	"minute":     {true, func(t time.Time) int64 { return int64(t.Minute()) }, false, nil},
	"second":     {true, func(t time.Time) int64 { return int64(t.Second()) }, false, nil},
}

// dayNumber counts days from the year 0, of which the first of January is day 1.
func dayNumber(t time.Time) int64 {
	const epoch = 719528 // 1970-01-01
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix()
	return epoch + int64(math.Floor(float64(day)/86400))
}

// instantArg returns an accessor for an argument that is a column with a date.
func (c *compiler) instantArg(e expr) (func(*frame) (time.Time, bool), error) {
	if !hasDate(e.typ) || e.typ.Scale > 0 {
		return nil, unsupported("date function of another type")
	}
	x := e.eval
	return func(f *frame) (time.Time, bool) {
		v := x(f)
		if v.IsNull() {
			return time.Time{}, true
		}
		at, ok := instant(v.Str())
		if !ok {
			f.refuse("date function of another form")
		}
		return at, false
	}, nil
}

// day is a date, or one without a month or day.
type day struct {
	at               time.Time
	partial          bool
	year, month, day int64
	// noTime says that the time behind the date is none, which only a function of
	// the date overlooks.
	noTime bool
}

// dayArg returns an accessor for an argument that is read as a date: besides
// dates that is NULL and, unless a time is wanted of it, a number or a text.
func (c *compiler) dayArg(e expr, clock bool) (func(*frame) (day, bool), error) {
	if e.typ.Class == NullClass {
		return func(*frame) (day, bool) { return day{}, true }, nil
	}
	switch e.typ.Class {
	case IntClass, DecimalClass, DoubleClass, FloatClass, StringClass:
	default:
		clock = true
	}
	if clock || !c.d.is(readsDays) {
		x, err := c.instantArg(e)
		if err != nil {
			return nil, err
		}
		return func(f *frame) (day, bool) {
			at, null := x(f)
			return day{at: at}, null
		}, nil
	}
	x := e.eval
	return func(f *frame) (day, bool) {
		v := x(f)
		if v.IsNull() || f.err != nil {
			return day{}, true
		}
		d, ok := c.readDay(f, v)
		if !ok || d.partial {
			if f.strictWrite || f.strictUnsure {
				f.refuse("number or text that is no date in a write")
			}
			f.warnings++
		}
		return d, !ok
	}, nil
}

func (c *compiler) readDay(f *frame, v sqlvalue.Value) (d day, ok bool) {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		return textDay(f, v)
	}
	return c.numberDay(f, v)
}

// numberDay reads the integer part of a number as a date, YYMMDD or YYYYMMDD, with
// or without a time behind it. It has no sign, and what is no date is NULL.
// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-literals.html
func (c *compiler) numberDay(f *frame, v sqlvalue.Value) (d day, ok bool) {
	if k := v.Kind(); k == sqlvalue.Double || k == sqlvalue.Float {
		x := math.Trunc(v.ToDouble())
		if math.Abs(x) >= 1<<53 {
			return day{}, false
		}
		if v.Sign() < 0 && x == 0 {
			f.refuse("small negative number as a date")
		}
		v = sqlvalue.NewInt(int64(x))
	}
	if v.Kind() == sqlvalue.Decimal {
		if v.Scale() > 6 {
			f.refuse("long fraction as a date")
		}
		if v = v.Truncate(0); v.Sign() < 0 && v.Scale() > 0 {
			f.refuse("small negative number as a date")
		}
	}
	u, over := v.ToInt(false)
	n, fuzzy, clock := int64(u), c.d.is(fuzzyDays), int64(0)
	if n >= 101000000 {
		clock = n % 1000000
	}
	switch {
	case over != 0 || n < 0:
		return day{}, false
	case n == 0 && !fuzzy:
		return day{partial: true}, true
	case n > 991231235959:
		n /= 1000000
	case n > 691231235959 && n < 700101000000, n > 99991231 && n < 101000000:
		return day{}, false
	case n >= 700101000000:
		n = n/1000000 + 19000000
	case n >= 101000000:
		n = n/1000000 + 20000000
	case n > 991231 && n < 10000101:
		f.refuse("number as an early date")
	case n >= 10000101:
	case n < 101 && !fuzzy, n > 691231 && n < 700101:
		return day{}, false
	case n <= 691231:
		n += 20000000
	default:
		n += 19000000
	}
	y, m, dd := n/10000, n/100%100, n%100
	if y > 9999 {
		return day{}, false
	}
	hour, minute, second := int(clock/10000), int(clock/100%100), int(clock%100)
	if d.noTime = hour > 23 || minute > 59 || second > 59; d.noTime {
		if hour, minute, second = 0, 0, 0; !fuzzy {
			return d, false
		}
	}
	if m == 0 || dd == 0 {
		if !fuzzy {
			f.refuse("number as a date without a month or day")
		}
		return day{partial: true, year: y, month: m, day: dd, noTime: d.noTime}, m <= 12 && dd <= 31
	}
	at := time.Date(int(y), time.Month(m), int(dd), hour, minute, second, 0, time.UTC)
	if at.Day() != int(dd) || at.Month() != time.Month(m) {
		return day{}, false
	}
	d.at = at
	return d, true
}

// textDay reads a text as a date: one of no more than four bytes is none.
func textDay(f *frame, v sqlvalue.Value) (d day, ok bool) {
	s := v.Str()
	if len(s) <= 4 {
		return day{}, false
	}
	at, ok := instant(s)
	if !ok {
		f.refuse("date function of other text")
	}
	return day{at: at}, ok
}

// clockOf reads a number, or the integer in front of a text, as a time HHMMSS; what
// is no time is NULL.
func clockOf(f *frame, v sqlvalue.Value) (s string, ok bool) {
	if v.Kind() == sqlvalue.String {
		n := sqlvalue.IntegerPrefix(v.Str())
		if len(v.Str()) > 4 || strings.ContainsAny(v.Str(), ":+eE") {
			f.refuse("time of other text")
			return "", false
		}
		if n.Empty {
			if f.strictWrite || f.strictUnsure || strings.ContainsAny(v.Str(), "0123456789") {
				f.refuse("time of other text")
			}
			f.warnings++
			return "", false
		}
		if n.Rest && (f.strictWrite || f.strictUnsure) {
			f.refuse("time of other text")
		}
		v, _ = n.Decimal()
	}
	if v.Scale() > 6 {
		f.refuse("time of a number out of range")
		return "", false
	}
	n, ok := v.ToDecimal().Truncate(0).Small()
	if n = max(n, -n); !ok || n > 8385959 {
		f.refuse("time of a number out of range")
		return "", false
	}
	if n%100 > 59 || n/100%100 > 59 {
		if f.strictWrite || f.strictUnsure {
			f.refuse("time of a number out of range")
		}
		f.warnings++
		return "", false
	}
	return fmt.Sprintf("%02d:%02d:%02d", n/10000, n/100%100, n%100), true
}

// ofSpan is the part of a TIME, whose hours may be more than a day's, without its
// sign.
func (p datePart) ofSpan(f *frame, s string) int64 {
	micros, ok := span(s)
	if !ok {
		f.refuse("date function of another form")
	}
	seconds := max(micros, -micros) / 1e6
	if p.hours {
		return seconds / 3600
	}
	return p.part(time.Unix(seconds%3600, 0).UTC())
}

// dateCall compiles a date function; ok is false where it is none.
func (c *compiler) dateCall(name string, args []expr) (e expr, ok bool, err error) {
	p, isPart := dateParts[name]
	switch {
	case anyUndated(args):
		return expr{}, isPart || name == "datediff" || name == "last_day" || name == "date", unsupported("date out of a branch between text and others")
	case isPart && len(args) == 1:
		e, err = c.datePart(p, args[0])
		if err == nil && name == "year" && c.d.is(yearIsUnsigned) {
			e = unsignedYear(e)
		}
	case name == "datediff" && len(args) == 2:
		e, err = c.dateDiff(args)
	case (name == "last_day" || name == "date") && len(args) == 1:
		last := name == "last_day"
		e, err = c.dateOf(args[0], Type{Class: DateClass}, func(t time.Time) time.Time {
			if last {
				t = time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC)
			}
			return t
		})
	default:
		return expr{}, false, nil
	}
	return e, true, err
}

// unsignedYear is YEAR() where it has the type YEAR.
func unsignedYear(e expr) expr {
	e.yearOf, e.typ.Unsigned, e.typ.Bits = true, true, 16
	return e.each(func(_ *frame, v sqlvalue.Value) sqlvalue.Value { return sqlvalue.NewUint(v.Uint()) })
}

func (c *compiler) datePart(p datePart, a expr) (expr, error) {
	t := bigInt
	t.Prec = 4
	if p.clock && a.typ.Class == TimeClass && a.typ.Scale == 0 {
		return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
			v := a.eval(f)
			if v.IsNull() {
				return v
			}
			return sqlvalue.NewInt(p.ofSpan(f, v.Str()))
		}}, nil
	}
	if k := a.typ.Class; p.clock && c.d.is(readsDays) && (k == IntClass || k == DecimalClass || k == StringClass && !a.typ.Binary) {
		return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
			v := a.eval(f)
			if v.IsNull() || f.err != nil {
				return sqlvalue.Value{}
			}
			s, ok := clockOf(f, v)
			if !ok {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewInt(p.ofSpan(f, s))
		}}, nil
	}
	x, err := c.dayArg(a, p.clock)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
		d, null := x(f)
		switch {
		case null || f.err != nil || d.partial && p.ofPartial == nil:
			return sqlvalue.Value{}
		case d.partial:
			return sqlvalue.NewInt(p.ofPartial(d))
		}
		return sqlvalue.NewInt(p.part(d.at))
	}}, nil
}

func (c *compiler) dateDiff(args []expr) (expr, error) {
	x, err := c.dayArg(args[0], false)
	if err != nil {
		return expr{}, err
	}
	y, err := c.dayArg(args[1], false)
	if err != nil {
		return expr{}, err
	}
	t := bigInt
	t.Prec = 7
	return expr{typ: t, konst: allKonst(args), eval: func(f *frame) sqlvalue.Value {
		a, null := x(f)
		b, none := y(f)
		if null || none || f.err != nil || a.partial || b.partial {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewInt(dayNumber(a.at) - dayNumber(b.at))
	}}, nil
}

// dateOf compiles a function from a date to a date.
func (c *compiler) dateOf(a expr, t Type, change func(time.Time) time.Time) (expr, error) {
	x, err := c.dayArg(a, false)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, konst: a.konst, readDay: !isTemporal(a.typ), eval: func(f *frame) sqlvalue.Value {
		d, null := x(f)
		if d.partial && !c.d.is(fuzzyDays) && t.Class == DateClass {
			f.refuse("date of zero")
		}
		if null || f.err != nil || d.partial {
			return sqlvalue.Value{}
		}
		out := change(d.at)
		if y := out.Year(); y < 1000 || y > 9999 {
			return f.refuse("date out of range")
		}
		return t.at(out)
	}}, nil
}

// units are the units that DATE_ADD and DATE_SUB add by calendar or by clock.
var units = map[ast.TimeUnitType]struct {
	months, days int64
	step         time.Duration
}{
	ast.TimeUnitDay: {days: 1}, ast.TimeUnitWeek: {days: 7}, ast.TimeUnitMonth: {months: 1}, ast.TimeUnitQuarter: {months: 3},
	ast.TimeUnitYear: {months: 12}, ast.TimeUnitHour: {step: time.Hour}, ast.TimeUnitMinute: {step: time.Minute}, ast.TimeUnitSecond: {step: time.Second},
}

// dateAdd compiles DATE_ADD or DATE_SUB. A month without the day gives its last.
func (c *compiler) dateAdd(n *ast.FuncCallExpr, sign int64) (expr, error) {
	unit, ok := n.Args[2].(*ast.TimeUnitExpr)
	if !ok {
		return expr{}, unsupported("DATE_ADD without a unit")
	}
	u, ok := units[unit.Unit]
	if !ok {
		return expr{}, unsupported("DATE_ADD of a unit of several parts")
	}
	args, err := c.exprs(n.Args[:2])
	if err != nil {
		return expr{}, err
	}
	if anyUndated(args[:1]) {
		return expr{}, unsupported("date out of a branch between text and others")
	}
	if args[1].typ.Class != IntClass {
		// SECOND takes a fraction, other units round.
		return expr{}, unsupported("interval that is no integer")
	}
	count, err := c.count(args[1])
	if err != nil {
		return expr{}, err
	}
	t := args[0].typ
	if t.Class == TimestampClass || u.step > 0 {
		t = Type{Class: DatetimeClass}
	}
	x, err := c.instantArg(args[0])
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, eval: func(f *frame) sqlvalue.Value {
		at, null := x(f)
		k, none := count(f)
		if null || none || f.err != nil {
			return sqlvalue.Value{}
		}
		if k > 1e6 || k < -1e6 {
			return f.refuse("date out of range")
		}
		k *= sign
		out := at.AddDate(0, 0, int(k*u.days)).Add(time.Duration(k) * u.step)
		if u.months > 0 {
			first := time.Date(at.Year(), at.Month()+time.Month(k*u.months), 1, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
			last := first.AddDate(0, 1, -1).Day()
			out = first.AddDate(0, 0, min(at.Day(), last)-1)
		}
		switch y := out.Year(); {
		case y < 1000:
			return f.refuse("date out of range")
		case y > 9999:
			return c.dateOverflows(f, t)
		}
		return t.at(out)
	}}, nil
}

// dateOverflows is the answer to a date of type t behind the year 9999.
// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html#function_date-add
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1400-to-1499/e1441
func (c *compiler) dateOverflows(f *frame, t Type) sqlvalue.Value {
	switch {
	case f.strictUnsure:
		return f.refuse("date out of range in the WHERE of an UPDATE")
	case f.strictWrite && t.Class == DateClass && c.d.is(datesOverflowApart):
		return f.fail(6527, "DATE value is out of range")
	case f.strictWrite:
		return f.fail(1441, "Datetime function: datetime field overflow")
	}
	f.warnings++
	return sqlvalue.Value{}
}
