package solve

import (
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Temporal values are copied, compared among themselves and with literals in
// canonical form; what else servers read as a date is refused.

// layouts holds the canonical forms, which order as text.
var layouts = map[Class]string{
	DateClass:      "2006-01-02",
	DatetimeClass:  "2006-01-02 15:04:05",
	TimestampClass: "2006-01-02 15:04:05",
	TimeClass:      "15:04:05",
}

func isTemporal(t Type) bool { return layouts[t.Class] != "" }

// temporal reads a canonical text as a value of type t.
func (t Type) temporal(s string) (sqlvalue.Value, bool) {
	layout := layouts[t.Class]
	if t.Scale > 0 {
		layout += "." + strings.Repeat("0", t.Scale)
	}
	at, err := time.Parse(layout, s)
	// The servers' ranges begin at the year 1000, TIMESTAMP's is 1970 to 2038.
	// https://dev.mysql.com/doc/refman/9.7/en/datetime.html
	y := at.Year()
	switch {
	case err != nil || len(s) != len(layout):
		return sqlvalue.Value{}, false
	case t.Class == TimestampClass && (y < 1971 || y > 2037), t.Class != TimeClass && y < 1000:
		return sqlvalue.Value{}, false
	}
	return sqlvalue.NewTemporal(s), true
}

// temporalComparison compares two temporal operands, or one with a literal.
func (c *compiler) temporalComparison(a, b expr) (comparator, error) {
	t := a.typ
	if !isTemporal(t) {
		t = b.typ
	}
	for _, e := range [2]expr{a, b} {
		switch {
		case e.typ.Class == t.Class && e.typ.Scale == t.Scale:
		case e.lit && e.typ.Class == StringClass && !e.typ.Binary:
			if _, ok := t.temporal(e.eval(nil).Str()); !ok {
				return nil, unsupported("comparison of a date or time with other text")
			}
		default:
			return nil, unsupported("comparison of a date or time with another type")
		}
	}
	return func(_ *frame, x, y sqlvalue.Value) int { return strings.Compare(x.Str(), y.Str()) }, nil
}

func (c *compiler) storeTemporal(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	if from.Class == col.Type.Class && from.Scale == col.Type.Scale {
		return v
	}
	if from.Class == StringClass && !from.Binary {
		if w, ok := col.Type.temporal(v.Str()); ok {
			return w
		}
	}
	return f.refuse("value of another form for a date or time")
}
