package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestFacts: a server that is asked for all that it knows tells which index a statement
// goes by, what is locked and, if it is MariaDB, what each read view shows. What the
// statements answer, and who waits, is as without being asked.
func TestFacts(t *testing.T) {
	const text = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY k (b));
/* init */ INSERT INTO t VALUES (1, 10), (5, 50);
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t WHERE b = 10;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 51 WHERE a = 5;
/* tx1 */ SELECT b FROM t WHERE a = 5 FOR UPDATE;
/* tx2 */ DELETE FROM t WHERE b = 10;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`
	c, err := corpus.Parse("facts.sql", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		p, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		levels := harness.At(corpus.RepeatableRead)
		bare, err := p.RunFresh(t.Context(), c, levels)
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.RunFreshForFacts(t.Context(), c, levels)
		if err != nil {
			t.Fatal(err)
		}
		f := h.Facts
		h.Facts = nil
		for _, x := range []*history.History{bare, h} { // fields behind the key have the transaction's number
			x.Stmts[4].Waits[0].At.Fields = x.Stmts[4].Waits[0].At.Fields[:1]
		}
		if diff := cmp.Diff(bare, h); diff != "" {
			t.Errorf("-unasked +asked:\n%s", diff)
		}
		for _, w := range []struct {
			stmt      int
			index     string
			explained bool
		}{
			{1, `"k"`, true}, {3, `"PRIMARY"`, true},
			// The row is locked: MariaDB would wait for it in order to explain this.
			{4, `"PRIMARY"`, b.Server().DBMS == history.MySQL},
			{5, `"k"`, true},
		} {
			plan, ok := f.Plans[w.stmt]
			if ok != w.explained || ok && !(json.Valid([]byte(plan)) && strings.Contains(plan, `"key": `+w.index)) {
				t.Errorf("statement %d: explained %v, want %v by index %s:\n%s", w.stmt, ok, w.explained, w.index, plan)
			}
			if ok && !strings.Contains(f.Traces[w.stmt], `"steps": [`) {
				t.Errorf("statement %d: no trace of the optimizer, but %q", w.stmt, f.Traces[w.stmt])
			}
		}
		if len(f.Holdings) < len(h.Stmts) {
			t.Fatalf("asked %d times what is held, in %d statements", len(f.Holdings), len(h.Stmts))
		}
		waiting := f.Holdings[4] // behind tx1's locking read
		switch b.Server().DBMS {
		case history.MySQL:
			var got []string
			for _, l := range waiting.Locks {
				if l.Kind == history.RecordLock && l.Table == "t" {
					got = append(got, strings.Join([]string{map[bool]string{true: "waits", false: "has"}[l.Waits], l.Index, strings.Join(l.Fields, ",")}, " "))
				}
			}
			if s := strings.Join(got, "; "); s != "waits PRIMARY 5; has PRIMARY 5" || waiting.Transactions[2] == 0 {
				t.Errorf("locks: %s of transactions %v", s, waiting.Transactions)
			}
		case history.MariaDB:
			v := waiting.Views
			if len(v) != 1 || v[0].Session != 1 || v[0].Sees == 0 || v[0].NotFrom < v[0].Sees || waiting.Transactions[2] < v[0].Sees {
				t.Errorf("read views %+v beside transactions %v", v, waiting.Transactions)
			}
			if l := waiting.Locks; len(l) != 1 || l[0].Session != 1 || !l[0].Waits || l[0].Index != "PRIMARY" || l[0].Fields[0] != "0x80000005" {
				t.Errorf("locks %+v", l)
			}
		}
		if len(f.Untold) != 1 {
			t.Errorf("not told: %q", f.Untold)
		}
	})
}
