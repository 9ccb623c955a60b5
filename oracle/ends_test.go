package oracle

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// endHistory is a run of tx1 that changes a row and ends, and of tx2 that then changes it, too. A
// statement that fails has waited for its row.
func endHistory(t *testing.T, dbms history.DBMS, end string, code uint16, idle bool) (*corpus.Case, *history.History) {
	t.Helper()
	c, err := corpus.Parse("x", []byte(`/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
`+end+`
/* tx2 */ UPDATE t SET b = 3;
`))
	if err != nil {
		t.Fatal(err)
	}
	told := history.Result{Matched: -1, Changed: -1}
	in := told
	in.InTxn = true
	one := history.Result{Matched: 1, Changed: 1, Affected: 1}
	mine := one
	mine.InTxn = true
	last := one
	var waits []history.Wait
	final := "3"
	if code != 0 {
		last = history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: code, Message: "Lock wait timeout exceeded"}}
		waits = []history.Wait{{Kind: history.RowLock, From: 8, Until: 9}}
		final = "1"
	}
	row := func(b string) []history.Table {
		return []history.Table{{Name: "t", Columns: []string{"a", "b"}, Rows: [][]history.Cell{{{Text: "1"}, {Text: b}}}}}
	}
	return c, &history.History{
		Server: history.Server{DBMS: dbms, Version: "9.7"}, Levels: map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.ReadCommitted},
		Initial: row("1"), Final: row(final),
		Stmts: []history.Stmt{
			{Line: 0, Session: 1, Submit: 1, Return: 2, Result: in},
			{Line: 1, Session: 1, Submit: 3, Return: 4, InTxn: true, Result: mine},
			{Line: 2, Session: c.Steps[2].Session, Submit: 5, Return: 6, InTxn: c.Steps[2].Session == 1, EndedIdle: idle, Result: told},
			{Line: 3, Session: 2, Submit: 7, Return: 10, Waits: waits, Result: last},
		},
	}
}

// TestEndsOfSessions: what a session that has ended must leave behind, and near misses.
func TestEndsOfSessions(t *testing.T) {
	for _, x := range []struct {
		name, end string
		code      uint16
		idle      bool
		want      Outcome
		kind      Kind
	}{
		{"its locks are gone", "/* tx1 */ disconnect;", 0, false, OK, ""},
		{"killed, its locks are gone", "/* tx2 */ KILL tx1;", 0, false, OK, ""},
		{"its locks are there", "/* tx1 */ disconnect;", 1205, false, Violation, "lost-wakeup"},
		{"killed, its locks are there", "/* tx2 */ KILL tx1;", 1205, false, Violation, "lost-wakeup"},
		{"only its statement is killed, so its locks stay", "/* tx2 */ KILL QUERY tx1;", 1205, false, OK, ""},
		{"a KILL QUERY closes its connection", "/* tx2 */ KILL QUERY tx1;", 0, true, Violation, LostSession},
		{"an interruption that nobody sent", "/* tx1 */ disconnect;", 1317, false, Violation, "unexpected-error"},
	} {
		c, h := endHistory(t, history.MySQL, x.end, x.code, x.idle)
		if v := Judge(c, h, false); v.Outcome != x.want || v.Kind != x.kind {
			t.Errorf("%s: %s %s, want %s %s\nexpected %s\nactual %s\n%s", x.name, v.Outcome, v.Kind, x.want, x.kind, v.Expected, v.Actual, v.Reason)
		}
	}
}
