package workload

import (
	"strings"
	"testing"
)

// TestForUpdate: FOR UPDATE comes behind the code of a statement, before what is only for people, and nothing else
// changes.
func TestForUpdate(t *testing.T) {
	const head = "/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9));\n/* transaction x (:n t.a) */\n"
	for _, x := range []struct{ name, stmt, want string }{
		{"one line", "SELECT a FROM t WHERE a = :n INTO :x;", "SELECT a FROM t WHERE a = :n INTO :x FOR UPDATE;"},
		{"a comment at its end", "SELECT a FROM t -- all; of them\n  ;\n", "SELECT a FROM t FOR UPDATE -- all; of them\n  ;\n"},
		{"a comment in its middle", "SELECT a # the key\nFROM t /* here */ ;", "SELECT a # the key\nFROM t FOR UPDATE /* here */ ;"},
		{"a string at its end", "SELECT a FROM t WHERE b = 'x -- y;'  ;", "SELECT a FROM t WHERE b = 'x -- y;' FOR UPDATE  ;"},
		{"ends of lines as Windows has them", "SELECT a\r\nFROM t\r\n;\r\n", "SELECT a\r\nFROM t FOR UPDATE\r\n;\r\n"},
	} {
		for _, mark := range []string{"", "\ufeff"} {
			text := mark + head + x.stmt
			w, err := Parse("w", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
			got, err := ForUpdate(w.Text(), []Place{w.Transactions[0].Body[0].Place})
			if want := mark + head + x.want; got != want || err != nil {
				t.Errorf("%s: %q, %v\nwant %q", x.name, got, err, want)
			}
			again, err := Parse("w", []byte(got))
			if err != nil || !strings.Contains(string(Print(again)), " FOR UPDATE") {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
	if got, err := ForUpdate(head+"SELECT a FROM t;", []Place{{Line: 2, Column: 1}}); err == nil {
		t.Errorf("of no statement: %q", got)
	}
}
