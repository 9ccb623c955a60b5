package harness

import (
	"fmt"
	"testing"
)

func TestRefusals(t *testing.T) {
	var r Refusals
	for sql, like := range map[string]string{
		"SAVEPOINT s1":            "SAVEPOINT s27",
		"XA START 'a\\'1', '', 2": "XA START 'another', '9', 3",
		"BEGIN":                   "BEGIN",
		"RELEASE SAVEPOINT `a b`": "RELEASE SAVEPOINT `c`",
	} {
		if r.Has(sql) || r.Has(like) {
			t.Errorf("%s: refused before it was", sql)
		}
		if r.Add(sql); !r.Has(sql) || !r.Has(like) {
			t.Errorf("%s was refused, and it or %s is not", sql, like)
		}
	}
	// What begins alike is another statement.
	for _, sql := range []string{"XA START 'a'", "SAVEPOINT t1", "BEGIN WORK"} {
		if r.Has(sql) {
			t.Errorf("%s: refused", sql)
		}
	}
	for i := range 2 * mostRefusals {
		r.Add("SAVEPOINT s" + fmt.Sprint(i)) // one statement
	}
	if r.Add("SAVEPOINT another"); !r.Has("SAVEPOINT another") {
		t.Error("statements of one shape fill what is remembered")
	}
}
