package advisory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// told makes a history of lines
//
//	submit-return answer [waits] /* tx1 */ statement
//
// in which an answer is t, f, ok or the SQLSTATE of an error, and waits says that it waited from the next tick on.
func told(t *testing.T, text string) (*corpus.Case, *history.History) {
	t.Helper()
	var sql strings.Builder
	if strings.Contains(text, "reads=t") {
		sql.WriteString("/* init */ CREATE TABLE t (a INT);\n")
	}
	h := &history.History{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		fmt.Fprintf(&sql, "/*%s;\n", rest)
		f := strings.Fields(head)
		st := history.Stmt{Line: i, Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch f[1] {
		case "ok":
		case "t", "f":
			st.Result.Rows = [][]history.Cell{{{Text: f[1]}}}
		default:
			st.Result.Err = &history.Error{Code: history.NumberOf(f[1]), State: f[1]}
		}
		if len(f) > 2 {
			st.Waits = []history.Wait{{Kind: history.Metadata, From: st.Submit + 1, Until: st.Return}}
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
		"a lock is waited for until it is given back": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-7 ok waits /* tx2 */ SELECT pg_advisory_lock(5)
			5-6 t /* tx1 */ SELECT pg_advisory_unlock(5)`, ""},
		"it is not waited for": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-4 ok /* tx2 */ SELECT pg_advisory_lock(5)
			5-6 t /* tx1 */ SELECT pg_advisory_unlock(5)`, "1 missing-wait"},
		"the wait ends early": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-6 ok waits /* tx2 */ SELECT pg_advisory_lock_shared(5)
			7-8 t /* tx1 */ SELECT pg_advisory_unlock(5)`, "1 missing-wait"},
		"the wait does not end": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-9 ok waits /* tx2 */ SELECT pg_advisory_lock(5)
			5-6 t /* tx1 */ SELECT pg_advisory_unlock(5)
			7-8 ok /* tx1 */ BEGIN`, "1 lost-wakeup"},
		"shared locks": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock_shared(5)
			3-4 ok /* tx2 */ SELECT pg_advisory_lock_shared(5)
			5-6 f /* tx3 */ SELECT pg_try_advisory_lock(5)`, ""},
		"a wait for nobody": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock_shared(5)
			3-6 ok waits /* tx2 */ SELECT pg_advisory_lock_shared(5)`, "1 unjustified-wait"},
		"two keys are another lock than one": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(0, 5)
			3-4 f /* tx2 */ SELECT pg_try_advisory_lock(5)`, "1 wrong-rows"},
		"a try that cannot succeed": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-4 t /* tx2 */ SELECT pg_try_advisory_lock(5)
			5-6 t /* tx1 */ SELECT pg_advisory_unlock(5)`, "1 missing-wait"},
		"who waits is in the way, too": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock_shared(5)
			3-9 ok waits /* tx2 */ SELECT pg_advisory_lock(5)
			5-6 f /* tx3 */ SELECT pg_try_advisory_lock_shared(5)
			7-8 t /* tx1 */ SELECT pg_advisory_unlock_shared(5)`, ""},
		"nobody is in his own way": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(5)
			3-4 t /* tx1 */ SELECT pg_try_advisory_lock(5)
			5-6 t /* tx1 */ SELECT pg_advisory_unlock(5)
			7-8 f /* tx2 */ SELECT pg_try_advisory_lock(5)
			9-10 t /* tx1 */ SELECT pg_advisory_unlock(5)
			11-12 f /* tx1 */ SELECT pg_advisory_unlock(5)`, ""},
		"an unlock of what is not held": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock_shared(5)
			3-4 t /* tx1 */ SELECT pg_advisory_unlock(5)`, "1 wrong-rows"},
		"a lock of a session outlives its transaction, one of a transaction does not": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_lock(1)
			5-6 ok /* tx1 */ SELECT pg_advisory_xact_lock(2)
			7-8 ok /* tx1 */ ROLLBACK
			9-10 f /* tx2 */ SELECT pg_try_advisory_lock(1)
			11-12 f /* tx2 */ SELECT pg_try_advisory_lock(2)`, "5 wrong-rows"},
		"a savepoint gives back what was taken behind it": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-6 ok /* tx1 */ SAVEPOINT s
			7-8 ok /* tx1 */ SELECT pg_advisory_xact_lock(2)
			9-10 ok /* tx1 */ ROLLBACK TO SAVEPOINT s
			11-12 f /* tx2 */ SELECT pg_try_advisory_xact_lock(1)
			13-14 f /* tx2 */ SELECT pg_try_advisory_xact_lock(2)`, "6 wrong-rows"},
		"an error gives back all of a transaction": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-6 22012 /* tx1 */ SELECT 1
			7-10 ok waits /* tx2 */ SELECT pg_advisory_lock(1)`, "3 unjustified-wait"},
		"a KILL QUERY of its own session is an error": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-9 ok waits /* tx2 */ SELECT pg_advisory_lock(1)
			7-8 57014 /* tx1 */ KILL QUERY tx1
			10-11 ok /* tx1 */ COMMIT`, ""},
		"a prepared transaction has its locks, also against its session": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-8 t /* tx1 */ SELECT pg_try_advisory_lock(1)
			9-10 ok /* tx2 */ COMMIT PREPARED 'p'`, "3 missing-wait"},
		"the end of a prepared transaction gives them back": {`
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SELECT pg_advisory_xact_lock(1)
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-8 f /* tx1 */ SELECT pg_try_advisory_lock(1)
			9-10 ok /* tx2 */ ROLLBACK PREPARED 'p'
			11-12 t /* tx1 */ SELECT pg_try_advisory_lock(1)`, ""},
		"the end of a session gives them back": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(1)
			3-4 t /* tx2 */ KILL tx1
			5-6 f /* tx2 */ SELECT pg_try_advisory_lock(1)`, "2 wrong-rows"},
		"a deadlock of one": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(1)
			3-6 40P01 waits /* tx2 */ SELECT pg_advisory_lock(1)`, "1 unjustified-abort"},
		"a deadlock gives back no lock of a session": {`
			1-2 ok /* tx1 */ SELECT pg_advisory_lock(1)
			3-4 ok /* tx2 */ SELECT pg_advisory_lock(2)
			5-9 ok waits /* tx1 */ SELECT pg_advisory_lock(2)
			7-10 40P01 waits /* tx2 */ SELECT pg_advisory_lock(1)`, "2 missing-wait"},
		"a raw statement that locks": {`
			1-2 ok /* tx1 */ /* raw reads=t */ SELECT pg_advisory_lock(1) FROM t
			3-4 f /* tx2 */ SELECT pg_try_advisory_lock(1)`, ""},
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
