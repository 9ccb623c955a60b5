package oracle

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// TestRowLocks: a history of two transactions that lock the same row for an update is a violation on PostgreSQL, where
// no rules speak of a level at once, and where the rules do not know the case as soon as the judge by promise has not
// found anything.
func TestRowLocks(t *testing.T) {
	c, err := corpus.Parse("case", []byte(`
/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx2 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`))
	if err != nil {
		t.Fatal(err)
	}
	one := [][]history.Cell{{{Text: "1"}}}
	table := history.Table{Name: "t", Columns: []string{"a"}, Rows: one}
	told := func(dbms history.DBMS, first, second corpus.Level) *history.History {
		h := &history.History{Server: history.Server{DBMS: dbms}, Levels: map[int]corpus.Level{1: first, 2: second},
			Initial: []history.Table{table}, Final: []history.Table{table}}
		for i, l := range c.Steps {
			st := history.Stmt{Line: i, Session: l.Session, Submit: history.Tick(2*i + 1), Return: history.Tick(2*i + 2),
				Result: history.Result{Matched: -1, Changed: -1, Affected: -1, InTxn: i < 4}}
			if i == 2 || i == 3 {
				st.Result.Columns, st.Result.Rows = table.Columns, one
			}
			h.Stmts = append(h.Stmts, st)
		}
		return h
	}
	const rc, rr, ser = corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable
	for _, x := range []struct {
		first, second corpus.Level
		fingerprint   string
	}{
		{rr, rr, "row locks/missing-wait/RR"},
		{ser, ser, "row locks/missing-wait/SER"},
		{rc, ser, "row locks/missing-wait/RC+SER"},
	} {
		v := Judge(c, told(history.PostgreSQL, x.first, x.second), false)
		if v.Outcome != Violation || v.Oracle != RowLocks || v.Stmt != 3 || v.Fingerprint != x.fingerprint {
			t.Errorf("%s, %s: %s by %q of statement %d, %s; want %s", x.first, x.second, v.Outcome, v.Oracle, v.Stmt,
				v.Fingerprint, x.fingerprint)
		}
	}
	h := told(history.PostgreSQL, rc, rc)
	if v := Judge(c, h, false); v.Oracle == RowLocks {
		t.Errorf("%s at READ COMMITTED, where the rules know the locks", v.Fingerprint)
	}
	for _, g := range []promise.Ruling{{}, {Unjudged: "a statement that nobody knows"}} {
		was := Verdict{Outcome: Unknown, Stmt: -1, Reason: "unsupported: a statement that nobody knows"}
		if v := ByPromise(c, h, &was, &g); v.Outcome != Violation || v.Oracle != RowLocks || v.Unpromised != "" {
			t.Errorf("by promise, then: %s by %q, %q", v.Outcome, v.Oracle, v.Unpromised)
		}
	}
	if v := ByPromise(c, told(history.MySQL, rr, rr), &Verdict{}, &promise.Ruling{}); v.Outcome != OK {
		t.Errorf("on another server: %s %s", v.Outcome, v.Fingerprint)
	}
}
