package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestFieldsOf(t *testing.T) {
	for data, want := range map[string][]string{
		"":                     nil,
		"5, 1":                 {"5", "1"},
		"'a, ''b'', c', NULL":  {"'a, ''b'', c'", "NULL"},
		"0x00FF41, -3":         {"0x00FF41", "-3"},
		"'''', ',', ''":        {"''''", "','", "''"},
		"'not closed, to here": {"'not closed, to here"},
	} {
		if diff := cmp.Diff(want, fieldsOf(data)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", data, diff)
		}
	}
}

// TestPlaces: a server tells at which record of which index a statement waits, if it is
// the only one outstanding and if it is not.
func TestPlaces(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		p, err := b.Prober(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		holder, waiter, idle := sideOf(t, b), sideOf(t, b), sideOf(t, b)
		must(t, holder, "CREATE DATABASE txnfuzz_test", "USE txnfuzz_test", "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY k (b))", "INSERT INTO t VALUES (1, 10), (5, 50)")
		must(t, waiter, "USE txnfuzz_test")
		conn, other := connID(t, waiter), connID(t, idle)
		for _, c := range []struct {
			holds, waits string
			want         history.Place
			fields       [2]string // of the index's first column, as MySQL and as MariaDB print it
		}{
			{"SELECT * FROM t WHERE a = 5 FOR UPDATE", "DELETE FROM t WHERE a = 5", history.Place{Table: "t", Index: "PRIMARY", Kind: history.RecordLock}, [2]string{"5", "0x80000005"}},
			{"SELECT * FROM t FORCE INDEX (k) WHERE b = 50 FOR UPDATE", "SELECT * FROM t FORCE INDEX (k) WHERE b = 50 FOR UPDATE", history.Place{Table: "t", Index: "k", Kind: history.RecordLock}, [2]string{"50", "0x80000032"}},
			{"SELECT * FROM t FORCE INDEX (PRIMARY) WHERE a > 1 FOR UPDATE", "INSERT INTO t VALUES (3, 30)", history.Place{Table: "t", Index: "PRIMARY", Kind: history.InsertIntention}, [2]string{"5", "0x80000005"}},
			{"SELECT * FROM t FORCE INDEX (PRIMARY) WHERE a > 1 FOR UPDATE", "INSERT INTO t VALUES (9, 90)", history.Place{Table: "t", Index: "PRIMARY", Kind: history.Supremum}, [2]string{}},
		} {
			for _, conns := range [][]uint64{{conn}, {conn, other}} {
				must(t, holder, "BEGIN", c.holds)
				must(t, waiter, "BEGIN")
				done := make(chan error, 1)
				go func() { done <- waiter.exec(context.Background(), c.waits) }()
				var got *history.Place
				for end := time.Now().Add(5 * time.Second); got == nil && time.Now().Before(end); {
					ws, err := p.Waiting(t.Context(), conns)
					if err != nil {
						t.Fatal(err)
					}
					if i := slices.IndexFunc(ws, func(w harness.Waiting) bool { return w.Conn == conn }); i >= 0 {
						got = ws[i].At
					}
				}
				must(t, holder, "ROLLBACK")
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				must(t, waiter, "ROLLBACK")
				if got == nil {
					t.Errorf("%s: not told where it waits", c.waits)
					continue
				}
				if got.Table != c.want.Table || got.Index != c.want.Index || got.Kind != c.want.Kind {
					t.Errorf("%s: waits at %+v, want %+v", c.waits, got, c.want)
				}
				if !strings.HasPrefix(got.Mode, "X") {
					t.Errorf("%s: mode %q", c.waits, got.Mode)
				}
				if first := append(got.Fields, "")[0]; first != c.fields[0] && first != c.fields[1] {
					t.Errorf("%s: first field %q, want one of %q", c.waits, first, c.fields)
				}
			}
		}
	})
}
