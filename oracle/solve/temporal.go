package solve

import (
	"cmp"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Temporal values are kept as the servers print them; what else servers read as
// a date is refused.

var temporalNames = map[Class]string{
	DateClass: "date", DatetimeClass: "datetime", TimestampClass: "datetime", TimeClass: "time",
}

func isTemporal(t Type) bool { return temporalNames[t.Class] != "" }

// hasDate tells whether values of the type lie on a calendar.
func hasDate(t Type) bool { return isTemporal(t) && t.Class != TimeClass }

const (
	dateForm     = "2006-01-02"
	datetimeForm = "2006-01-02 15:04:05.999999"
)

// instant reads a text as a date with or without a time, in the form in which
// servers print it.
func instant(s string) (time.Time, bool) {
	if len(s) < len(dateForm) || len(s) > len(dateForm) && len(s) < len("2006-01-02 15:04:05") || strings.HasSuffix(s, ".") {
		return time.Time{}, false
	}
	form := datetimeForm
	if len(s) == len(dateForm) {
		form = dateForm
	}
	at, err := time.Parse(form, s)
	// The servers' ranges begin at the year 1000.
	// https://dev.mysql.com/doc/refman/9.7/en/datetime.html
	return at, err == nil && at.Year() >= 1000 && len(s) <= len(datetimeForm)
}

// span reads a TIME in the form in which servers print it: hours may be more
// than a day's.
// https://dev.mysql.com/doc/refman/9.7/en/time.html
func span(s string) (micros int64, ok bool) {
	body, negative := strings.CutPrefix(s, "-")
	h, rest, ok := strings.Cut(body, ":")
	if !ok || len(h) < 2 || len(h) > 3 || len(rest) < 5 || rest[2] != ':' || len(rest) > 5 && (rest[5] != '.' || len(rest) == 6 || len(rest) > 12) {
		return 0, false
	}
	digits := func(s string) (n int64) {
		for i := 0; i < len(s); i++ {
			if s[i] < '0' || s[i] > '9' {
				ok = false
			}
			n = n*10 + int64(s[i]-'0')
		}
		return n
	}
	m, sec := digits(rest[:2]), digits(rest[3:5])
	micros = ((digits(h)*60+m)*60 + sec) * 1e6
	if len(rest) > 6 {
		micros += digits((rest[6:] + "000000")[:6])
	}
	const limit = ((838*60+59)*60 + 59) * 1_000_000
	if ok = ok && m < 60 && sec < 60 && micros <= limit; negative {
		micros = -micros
	}
	return micros, ok
}

// temporal reads a canonical text as a value of type t: with the type's own
// parts, or a date with a time beside one without.
func (t Type) temporal(s string) (sqlvalue.Value, bool) {
	if t.Class == TimeClass {
		if _, ok := span(s); !ok || fraction(s) != t.Scale {
			return sqlvalue.Value{}, false
		}
		return sqlvalue.NewTemporal(s), true
	}
	at, ok := instant(s)
	// TIMESTAMP's range is 1970 to 2038, in a time zone of the session's.
	if y := at.Year(); !ok || t.Class == TimestampClass && (y < 1971 || y > 2037) || fraction(s) > t.Scale && t.Class != DateClass {
		return sqlvalue.Value{}, false
	}
	return t.at(at), true
}

// at prints an instant as a value of the type.
func (t Type) at(at time.Time) sqlvalue.Value {
	form := dateForm
	if t.Class != DateClass {
		form = "2006-01-02 15:04:05"
		if t.Scale > 0 {
			form += "." + strings.Repeat("0", t.Scale)
		}
	}
	return sqlvalue.NewTemporal(at.Format(form))
}

// fraction counts the digits behind the point.
func fraction(s string) int {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return len(s) - i - 1
	}
	return 0
}

// compareTemporal orders two values that both have a date, or both are times.
func compareTemporal(f *frame, x, y string) int {
	a, okA := instant(x)
	b, okB := instant(y)
	if okA && okB {
		return a.Compare(b)
	}
	p, okA := span(x)
	q, okB := span(y)
	if !okA || !okB {
		f.refuse("comparison of a date or time of another form")
	}
	return cmp.Compare(p, q)
}

// temporalComparison compares two temporal operands, or one with a literal.
func (c *compiler) temporalComparison(a, b expr) (comparator, error) {
	t := a.typ
	if !isTemporal(t) {
		t = b.typ
	}
	if !isTemporal(a.typ) || !isTemporal(b.typ) || hasDate(a.typ) != hasDate(b.typ) {
		if as, ok := c.momentPair(a, b); ok {
			return as, nil
		}
	}
	for _, e := range [2]expr{a, b} {
		switch {
		case isTemporal(e.typ) && hasDate(e.typ) == hasDate(t):
		case e.typ.Class == YearClass:
			return nil, unsupported("comparison of a date or time with another type")
		case e.lit && e.typ.Class == StringClass && !e.typ.Binary:
			s := e.eval(nil).Str()
			_, date := instant(s)
			_, clock := span(s)
			if date != hasDate(t) || clock == hasDate(t) {
				return nil, unsupported("comparison of a date or time with other text")
			}
		case c.momentAsNumber(e) && (a.column || isTemporal(b.typ)) && (b.column || isTemporal(a.typ)):
			return func(f *frame, x, y sqlvalue.Value) int {
				return cmp.Compare(momentDouble(f, x), momentDouble(f, y))
			}, nil
		default:
			return nil, unsupported("comparison of a date or time with another type")
		}
	}
	return func(f *frame, x, y sqlvalue.Value) int { return compareTemporal(f, x.Str(), y.Str()) }, nil
}

// momentAsNumber tells whether e is a number with which a date or time compares as
// a double: one that is constant may be read as a date instead.
func (c *compiler) momentAsNumber(e expr) bool {
	return !e.konst && !e.yearOf && !c.joins && !c.ranges && c.d.is(comparesMoments) && (isExact(e.typ) || e.typ.Class == DoubleClass || e.typ.Class == FloatClass)
}

func momentDouble(f *frame, v sqlvalue.Value) float64 {
	if v.Kind() == sqlvalue.Temporal {
		v = temporalNumber(f, v)
	}
	return v.ToDouble()
}

func (c *compiler) storeTemporal(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	switch {
	case from.Class == col.Type.Class && from.Scale == col.Type.Scale:
		return v
	case c.d.is(readsDays) && !f.lenient && col.Type.Class != TimeClass && (from.Class == IntClass || from.Class == StringClass && !from.Binary && len(v.Str()) <= 4):
		return c.storeDay(f, col, v)
	case isTemporal(from) && hasDate(from) != hasDate(col.Type),
		!isTemporal(from) && (from.Class != StringClass || from.Binary):
		return f.refuse("value of another form for a date or time")
	}
	if w, ok := col.Type.temporal(v.Str()); ok {
		return w
	}
	if s := v.Str(); col.Type.Class != TimeClass && !strings.ContainsAny(s, "0123456789") && !f.lenient {
		return f.fail(1292, "Incorrect %s value: '%s' for column '%s' at row 1", temporalNames[col.Type.Class], s, col.Name)
	}
	return f.refuse("value of another form for a date or time")
}

// storeDay stores an integer or a short text as a date; one without a month or day
// is refused, as it depends on the server's mode.
func (c *compiler) storeDay(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	d, ok := c.readDay(f, v)
	if v.Kind() != sqlvalue.String {
		if n, small := v.Small(); small && n > 0 && n <= 100 {
			ok, d.partial = false, false
		}
	}
	if d.noTime {
		ok, d.partial = false, false
	}
	if d.partial || strings.Trim(v.Str(), " 0") == "" && v.Str() != "" || f.err != nil {
		return f.refuse("value of another form for a date or time")
	}
	if ok {
		if w, inRange := col.Type.temporal(d.at.Format(datetimeForm)); inRange {
			return w
		}
		return f.refuse("value of another form for a date or time")
	}
	return f.fail(1292, "Incorrect %s value: '%s' for column '%s' at row 1", temporalNames[col.Type.Class], v.Str(), col.Name)
}

// temporalNumber returns a date or time as the number that its digits make.
// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
func temporalNumber(f *frame, v sqlvalue.Value) sqlvalue.Value {
	if v.IsNull() {
		return v
	}
	n, negative := int64(0), false
	for i, c := range []byte(v.Str()) {
		switch {
		case c == '.':
			return f.refuse("fraction of a second as a number")
		case c == '-' && i == 0:
			negative = true
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		}
	}
	if negative {
		n = -n
	}
	return sqlvalue.NewInt(n)
}

// onlyMoments refuses an IN of dates or times beside anything but literals.
func (c *compiler) onlyMoments(es []expr) error {
	some, all := false, true
	clocks, dates := false, false
	for _, e := range es {
		if c.write && c.d.is(datesCut) && es[0].typ.Class == DateClass && e.lit && e.typ.Class == StringClass && len(e.eval(nil).Str()) > len(dateForm) {
			return unsupported("DATE in an IN with times in a write")
		}
		some = some || isTemporal(e.typ)
		clocks, dates = clocks || e.typ.Class == TimeClass, dates || hasDate(e.typ)
		all = all && (isTemporal(e.typ) || e.typ.Class == NullClass || e.lit && e.typ.Class == StringClass)
	}
	if some && (!all || !isTemporal(es[0].typ) || clocks && dates) && !c.eachAlone(es) {
		return unsupported("IN of dates or times and other types")
	}
	return nil
}
