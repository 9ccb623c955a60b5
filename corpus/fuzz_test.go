package corpus

import (
	"errors"
	"strings"
	"testing"
)

// parserSeeds hold what the published cases do not.
var parserSeeds = []string{
	"-- a key\rwith a line end: an error\n/* tx1 */ SELECT 1;",
	"-- key:\r a value after a line end\n/* tx1 */ SELECT 1;",
	"-- level: tx1=RC, tx2=RR\n/* tx1 */ SELECT 'a''\\'' -- x\n, `b``c` /* y */; -- z\n-- end",
	"/* init */ create table t(a int unique check(a>0), b enum('x'), key(a)) engine=innodb;",
	"/* tx1 */ select a = b is true, -(-1), not a, x'41', b'1', 1e3, 1.50, '\\0' from t for share skip locked;",
	"/* tx1 */ with c as (select 1 union select 2) select * from c, (select 3) d where a in (select 1) group by 1;",
	"/* init */ create table t (a int); /* tx1 */ /*raw  reads=t,T writes=t locks=share*/ select `a`, 'b\n' -- x\n, /*+ h\n */ \"c\" from t /* y */ # z\n fetch first; -- n",
	"/* tx1 */ set transaction isolation level read committed, read only; /* tx2 */ start transaction with consistent snapshot;",
}

func FuzzParse(f *testing.F) {
	for _, s := range knownCases(f) {
		f.Add(Print(s.Case, Text))
	}
	for _, s := range parserSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f", text)
		if err != nil {
			var p *ParseError
			if !errors.As(err, &p) {
				t.Fatalf("%T is not a *ParseError", err)
			}
			if lines := strings.Count(string(text), "\n") + 1; p.Line < 1 || p.Line > lines || p.Column < 1 || p.Msg == "" {
				t.Fatalf("error %v of a text with %d lines", p, lines)
			}
			return
		}
		printed := Print(c, Text)
		d, err := Parse("printed", printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if !d.Equal(c) {
			t.Fatalf("printed and read again:\n%s\n%s", printed, Print(d, Text))
		}
		if len(c.Init) != len(d.Init) || len(c.Steps) != len(d.Steps) || ID(c) != ID(d) {
			t.Fatalf("other statements:\n%s\n%s", printed, Print(d, Text))
		}
		for i, l := range c.Steps {
			if path := differentMeaning(l.Stmt, d.Steps[i].Stmt); path != "" {
				t.Fatalf("%s: %s differs", SQL(l.Stmt, Text), path)
			}
		}
		if !c.Clone().Equal(c) {
			t.Fatalf("the clone differs:\n%s", Print(c.Clone(), Text))
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
