package solve

import (
	"math"
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
}

// https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
var dateParts = map[string]datePart{
	"year":       {false, func(t time.Time) int64 { return int64(t.Year()) }},
	"quarter":    {false, func(t time.Time) int64 { return int64(t.Month()+2) / 3 }},
	"month":      {false, func(t time.Time) int64 { return int64(t.Month()) }},
	"day":        {false, func(t time.Time) int64 { return int64(t.Day()) }},
	"dayofmonth": {false, func(t time.Time) int64 { return int64(t.Day()) }},
	"dayofyear":  {false, func(t time.Time) int64 { return int64(t.YearDay()) }},
	"dayofweek":  {false, func(t time.Time) int64 { return int64(t.Weekday()) + 1 }},
	"weekday":    {false, func(t time.Time) int64 { return int64(t.Weekday()+6) % 7 }},
	"to_days":    {false, dayNumber},
	"hour":       {true, func(t time.Time) int64 { return int64(t.Hour()) }},
	"minute":     {true, func(t time.Time) int64 { return int64(t.Minute()) }},
	"second":     {true, func(t time.Time) int64 { return int64(t.Second()) }},
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

// dateCall compiles a date function; ok is false where it is none.
func (c *compiler) dateCall(name string, args []expr) (e expr, ok bool, err error) {
	p, isPart := dateParts[name]
	switch {
	case isPart && len(args) == 1:
		e, err = c.datePart(p, args[0])
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

func (c *compiler) datePart(p datePart, a expr) (expr, error) {
	t := bigInt
	t.Prec = 4
	if p.clock && a.typ.Class == TimeClass && a.typ.Scale == 0 {
		return expr{}, unsupported("part of a TIME")
	}
	x, err := c.instantArg(a)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
		at, null := x(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewInt(p.part(at))
	}}, nil
}

func (c *compiler) dateDiff(args []expr) (expr, error) {
	x, err := c.instantArg(args[0])
	if err != nil {
		return expr{}, err
	}
	y, err := c.instantArg(args[1])
	if err != nil {
		return expr{}, err
	}
	t := bigInt
	t.Prec = 7
	return expr{typ: t, konst: allKonst(args), eval: func(f *frame) sqlvalue.Value {
		a, null := x(f)
		b, none := y(f)
		if null || none || f.err != nil {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewInt(dayNumber(a) - dayNumber(b))
	}}, nil
}

// dateOf compiles a function from a date to a date.
func (c *compiler) dateOf(a expr, t Type, change func(time.Time) time.Time) (expr, error) {
	x, err := c.instantArg(a)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
		at, null := x(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		out := change(at)
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
		if y := out.Year(); y < 1000 || y > 9999 {
			return f.refuse("date out of range")
		}
		return t.at(out)
	}}, nil
}
