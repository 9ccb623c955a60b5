package promise

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// toldOf makes a history at SERIALIZABLE of PostgreSQL, of lines
//
//	submit-return answer [waits for HOLDER] /* tx1 */ statement
//
// in which an answer is ok, or the SQLSTATE of an error. A session is in a transaction from BEGIN to COMMIT or ROLLBACK.
func toldOf(t *testing.T, text string) (*corpus.Case, *history.History) {
	t.Helper()
	sql := "-- dialect: postgres\n/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"
	h := &history.History{Server: history.Server{DBMS: history.PostgreSQL, Version: "18.0"}, Levels: map[int]corpus.Level{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		sql += "/*" + rest + ";\n"
		f := strings.Fields(head)
		st := history.Stmt{Line: i, Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if f[1] != "ok" {
			st.Result.Err = &history.Error{Code: history.NumberOf(f[1]), State: f[1]}
		}
		if len(f) > 4 {
			holder := 0
			if _, err := fmt.Sscan(f[4], &holder); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			st.Waits = []history.Wait{{Kind: history.SafeSnapshot, From: st.Submit + 1, Until: st.Return, Holders: []int{holder}}}
		}
		h.Stmts = append(h.Stmts, st)
	}
	c, err := corpus.Parse("case", []byte(sql))
	if err != nil {
		t.Fatal(err)
	}
	in := map[int]bool{}
	for i := range h.Stmts {
		st, text := &h.Stmts[i], corpus.SQL(c.Steps[i].Stmt, corpus.Text)
		st.Session = c.Steps[i].Session
		st.InTxn = in[st.Session]
		begins := strings.HasPrefix(text, "BEGIN") || strings.HasPrefix(text, "START") || strings.HasSuffix(text, "AND CHAIN")
		in[st.Session] = begins || in[st.Session] && text != "COMMIT" && text != "ROLLBACK"
		st.Result.InTxn = in[st.Session] && st.Result.Err == nil
		h.Levels[st.Session] = corpus.Serializable
	}
	return c, h
}

func TestSafeSnapshots(t *testing.T) {
	for name, x := range map[string]struct{ history, want string }{
		"it waits for who may write": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			7-11 ok waits for 1 /* tx2 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT
			12-13 ok /* tx2 */ COMMIT`, ""},
		"it waits for who may not": {`
			1-2 ok /* tx1 */ START TRANSACTION READ ONLY
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			7-11 ok waits for 1 /* tx2 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT`, "3 unjustified-wait"},
		"it waits for who has no snapshot": {`
			1-2 ok /* tx1 */ BEGIN
			5-6 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			7-11 ok waits for 1 /* tx2 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		"it waits for one at another level": {`
			1-2 ok /* tx1 */ BEGIN ISOLATION LEVEL REPEATABLE READ
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			7-11 ok waits for 1 /* tx2 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT`, "3 unjustified-wait"},
		"it waits for one that is over": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx1 */ COMMIT
			7-8 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			9-11 ok waits for 1 /* tx2 */ SELECT * FROM t`, "4 unjustified-wait"},
		"it waits for a query of an advisory lock": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-11 ok /* tx2 */ SELECT pg_advisory_xact_lock(1)
			6-7 ok /* tx3 */ BEGIN READ ONLY, DEFERRABLE
			8-12 ok waits for 2 /* tx3 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT`, ""},
		"somebody else waits": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN DEFERRABLE
			7-11 ok waits for 1 /* tx2 */ SELECT * FROM t
			9-10 ok /* tx1 */ COMMIT`, "3 unjustified-wait"},
		"its second query waits": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN READ ONLY, DEFERRABLE
			7-8 ok /* tx2 */ SELECT * FROM t
			9-12 ok waits for 1 /* tx2 */ SELECT * FROM t
			10-11 ok /* tx1 */ COMMIT`, "4 unjustified-wait"},
		"it is cancelled": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN
			7-8 ok /* tx2 */ SET TRANSACTION READ ONLY, DEFERRABLE
			9-10 40001 /* tx2 */ SELECT * FROM t`, "4 unjustified-abort"},
		"one that is not DEFERRABLE is cancelled": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx2 */ BEGIN
			7-8 ok /* tx2 */ SET TRANSACTION READ ONLY, NOT DEFERRABLE
			9-10 40001 /* tx2 */ SELECT * FROM t`, ""},
	} {
		c, h := toldOf(t, x.history)
		j := &judge{c: c, h: h}
		var err error
		if j.t, err = read(c, h); err != nil || j.t.odd != nil {
			t.Errorf("%s: %v, %v", name, err, j.t.odd)
			continue
		}
		got := ""
		if j.unsafe() {
			got = fmt.Sprint(j.ruling.Stmt, " ", j.ruling.Kind)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func TestSetTransaction(t *testing.T) {
	for name, x := range map[string]struct{ history, want string }{
		"READ WRITE comes too late": {`
			1-2 ok /* tx1 */ START TRANSACTION READ ONLY
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx1 */ SET TRANSACTION READ WRITE`, "2 missing-error"},
		"READ ONLY does not": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 25001 /* tx1 */ SET TRANSACTION READ ONLY`, "2 unexpected-error"},
		"DEFERRABLE does": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 25001 /* tx1 */ SET TRANSACTION DEFERRABLE`, ""},
		"a level does, but not the same one": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT * FROM t
			5-6 ok /* tx1 */ SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
			7-8 25001 /* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED`, ""},
		"outside of a transaction nothing is too late": {`
			1-2 ok /* tx1 */ SELECT * FROM t
			3-4 25001 /* tx1 */ SET TRANSACTION DEFERRABLE`, "1 unexpected-error"},
	} {
		c, h := toldOf(t, x.history)
		timeline, err := read(c, h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if o := timeline.odd; o != nil {
			got = fmt.Sprint(o.e.index, " ", o.kind)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
