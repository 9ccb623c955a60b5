package sequence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// told makes a history of lines
//
//	submit-return answer /* tx1 */ statement
//
// in which an answer is ok, a number or the SQLSTATE of an error, which begins with an E. Lines of the set-up have no
// head.
func told(t *testing.T, text string) (*corpus.Case, *history.History) {
	t.Helper()
	var sql strings.Builder
	h := &history.History{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		fmt.Fprintf(&sql, "/*%s;\n", rest)
		f := strings.Fields(head)
		if len(f) == 0 {
			continue
		}
		st := history.Stmt{Line: len(h.Stmts), Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if state, ok := strings.CutPrefix(f[1], "E"); ok {
			st.Result.Err = &history.Error{Code: history.NumberOf(state), State: state}
		} else if f[1] != "ok" {
			st.Result.Rows = [][]history.Cell{{{Text: f[1]}}}
		}
		h.Stmts = append(h.Stmts, st)
	}
	c, err := corpus.Parse("case", []byte(sql.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Stmts {
		h.Stmts[i].Session = c.Steps[i].Session
	}
	return c, h
}

func TestCheck(t *testing.T) {
	for name, x := range map[string]struct{ history, want string }{
		"draws": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 2 /* tx2 */ SELECT nextval('s')
			5-6 5 /* tx1 */ SELECT nextval('s')
			7-8 5 /* tx1 */ SELECT currval('s')
			9-10 2 /* tx2 */ SELECT lastval()`, ""},
		"twice the same": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 1 /* tx2 */ SELECT nextval('s')`, "1 repeated-sequence-value"},
		"twice the same, since a transaction was rolled back": {`
			/* init */ CREATE SEQUENCE s
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ SELECT nextval('s')
			5-6 ok /* tx1 */ ROLLBACK
			7-8 1 /* tx1 */ SELECT nextval('s')`, "3 repeated-sequence-value"},
		"two sequences": {`
			/* init */ CREATE SEQUENCE s
			/* init */ CREATE SEQUENCE r
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 1 /* tx1 */ SELECT nextval('r')
			5-6 2 /* tx1 */ SELECT nextval('r')
			7-8 1 /* tx1 */ SELECT currval('s')
			9-10 2 /* tx1 */ SELECT lastval()`, ""},
		"back": {`
			/* init */ CREATE SEQUENCE s
			1-2 5 /* tx1 */ SELECT nextval('s')
			3-4 2 /* tx2 */ SELECT nextval('s')`, "1 decreasing-sequence-value"},
		"at the same time": {`
			/* init */ CREATE SEQUENCE s
			1-4 2 /* tx1 */ SELECT nextval('s')
			2-3 1 /* tx2 */ SELECT nextval('s')`, ""},
		"several at a time": {`
			/* init */ CREATE SEQUENCE s CACHE 5
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 6 /* tx2 */ SELECT nextval('s')
			5-6 2 /* tx1 */ SELECT nextval('s')`, ""},
		"back in a session that has several": {`
			/* init */ CREATE SEQUENCE s CACHE 5
			1-2 2 /* tx1 */ SELECT nextval('s')
			3-4 1 /* tx1 */ SELECT nextval('s')`, "1 decreasing-sequence-value"},
		"nothing drawn": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 E55000 /* tx2 */ SELECT currval('s')
			5-6 E55000 /* tx2 */ SELECT lastval()`, ""},
		"another session's": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 1 /* tx2 */ SELECT currval('s')`, "1 missing-error"},
		"forgotten": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 E55000 /* tx1 */ SELECT currval('s')`, "1 unexpected-error"},
		"not the last": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 2 /* tx1 */ SELECT nextval('s')
			5-6 1 /* tx1 */ SELECT lastval()`, "2 wrong-rows"},
		"a new connection has drawn nothing": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 ok /* tx1 */ disconnect
			5-6 ok /* tx1 */ connect
			7-8 E55000 /* tx1 */ SELECT currval('s')`, ""},
		"in an aborted transaction": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 E25P02 /* tx1 */ SELECT currval('s')`, ""},
		"a draw that was interrupted": {`
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-6 E57014 /* tx1 */ SELECT nextval('s')
			4-5 ok /* tx2 */ KILL QUERY tx1
			7-8 2 /* tx1 */ SELECT currval('s')`, ""},
		"a column that counts has a sequence, too": {`
			/* init */ CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT)
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 ok /* tx1 */ INSERT INTO t VALUES (DEFAULT)
			5-6 7 /* tx1 */ SELECT lastval()`, ""},
		"a raw statement that draws": {`
			/* init */ CREATE TABLE t (a INT)
			/* init */ CREATE SEQUENCE s
			1-2 1 /* tx1 */ SELECT nextval('s')
			3-4 9 /* tx1 */ /* raw reads=t */ SELECT nextval('s') FROM t
			5-6 9 /* tx1 */ SELECT lastval()`, ""},
		"no number": {`
			/* init */ CREATE SEQUENCE s
			1-2 ok /* tx1 */ SELECT nextval('s')`, "0 wrong-rows"},
	} {
		c, h := told(t, x.history)
		got := ""
		if d := Check(c, h); d != nil {
			got = fmt.Sprint(d.Stmt, " ", d.Kind)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
