package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/isolationspec"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const output = `Parsed test spec with 2 sessions

starting permutation: r1 w2 w1 c2
count
-----
    7
(1 row)

step r1: SELECT a, b
  FROM t;
a|b
-+----------
1|12-31-2008
2|
(2 rows)

step w2: UPDATE t SET a = 1;
step w1: UPDATE t SET a = 1; SELECT 1; <waiting ...>
s1: NOTICE:  here
step c2: COMMIT;
step w1: <... completed>
ERROR:  could not serialize access due to concurrent update
`

func TestExpectation(t *testing.T) {
	_, text, _ := strings.Cut(output, "\n"+begins)
	var got []string
	steps := expectation(text)
	for i := range steps {
		got = append(got, steps[i].String())
	}
	want := "r1: (1|2008-12-31) (2|)\nw2:\nw1: waits until c2; could not serialize access due to concurrent update\nc2:"
	if strings.Join(got, "\n") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), want)
	}
}

const spec = `setup { CREATE TABLE t (a int, b date); }
session s1 step r1 { SELECT a, b FROM t; } step w1 { UPDATE t SET a = 1; SELECT a FROM t; }
session s2 setup { BEGIN; } step w2 { UPDATE t SET a = 1; } step c2 { COMMIT; }
permutation r1 w2 w1 c2`

// TestCompared holds what a run showed against the output, and changes it in each respect.
func TestCompared(t *testing.T) {
	s, err := isolationspec.Parse("x", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	read, err := isolationspec.Cases("x", []byte(spec))
	if err != nil || len(read.Cases) != 1 {
		t.Fatalf("%v, %v", err, read.Refused)
	}
	_, text, _ := strings.Cut(output, "\n"+begins)
	want := [][][]seen{{expectation(text)}}
	for name, x := range map[string]struct {
		change func(map[string]*history.Stmt)
		marked bool
		want   string
	}{
		"alike":          {func(map[string]*history.Stmt) {}, false, ""},
		"other rows":     {func(by map[string]*history.Stmt) { by["r1"].Result.Rows[1][0].Text = "3" }, false, "rows"},
		"no error":       {func(by map[string]*history.Stmt) { by["w1"].Result.Err = nil }, false, "no error"},
		"an error":       {func(by map[string]*history.Stmt) { by["w2"].Result.Err = &history.Error{Message: "x"} }, false, "an error"},
		"another error":  {func(by map[string]*history.Stmt) { by["w1"].Result.Err = &history.Error{Message: "x"} }, false, "another error"},
		"no wait":        {func(by map[string]*history.Stmt) { by["w1"].Waits = nil }, false, "wait"},
		"ends early":     {func(by map[string]*history.Stmt) { by["w1"].Return = by["c2"].Submit - 1 }, false, "end of a wait"},
		"a marker tells": {func(by map[string]*history.Stmt) { by["w1"].Waits = nil }, true, ""},
	} {
		h := recorded(read.Cases[0].Case)
		by := map[string]*history.Stmt{}
		for i := len(h.Stmts) - 1; i >= 0; i-- {
			by[read.Cases[0].Case.Steps[h.Stmts[i].Line].Note] = &h.Stmts[i]
		}
		by["w1"] = &h.Stmts[len(h.Stmts)-4] // its UPDATE
		x.change(by)
		p := s.Permutations[0]
		if x.marked {
			p = append(isolationspec.Permutation(nil), p...)
			p[2].Markers = []string{"*"}
		}
		var got []string
		for _, d := range compared(p, observation(p, read.Cases[0].Case, h), want, 0) {
			got = append(got, d.what)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// recorded is a run of the case in which the first line of w1 waits for the COMMIT of c2, and fails.
func recorded(c *corpus.Case) *history.History {
	h := &history.History{}
	for i, l := range c.Steps {
		h.Stmts = append(h.Stmts, history.Stmt{Line: i, Session: l.Session, Submit: history.Tick(10 * i), Return: history.Tick(10*i + 5)})
	}
	for i := range h.Stmts {
		s := &h.Stmts[i]
		switch sql := corpus.SQL(c.Steps[i].Stmt, corpus.Text); {
		case c.Steps[i].Note == "r1":
			s.Result.Rows = [][]history.Cell{{{Text: "1"}, {Text: "2008-12-31"}}, {{Text: "2"}, {Null: true}}}
		case c.Steps[i].Note == "w1" && strings.HasPrefix(sql, "UPDATE"):
			s.Waits = []history.Wait{{Kind: history.RowLock}}
			s.Return = history.Tick(10*len(c.Steps) + 1)
			s.Result.Err = &history.Error{Message: "could not serialize access due to concurrent update"}
		case c.Steps[i].Note == "w1" && strings.HasPrefix(sql, "SELECT"):
			s.Result.Rows = [][]history.Cell{{{Text: "9"}}} // the tester does not send it behind the error
		}
	}
	return h
}

func TestMissingOutput(t *testing.T) {
	if _, err := expectations(t.TempDir(), "a.spec"); fmt.Sprint(err) != "a has no expected output" {
		t.Error(err)
	}
}
