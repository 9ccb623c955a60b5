package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
)

// leavesPrepared leaves p1, and meets in p2 the name that somebody else has.
const leavesPrepared = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 3 WHERE a = 1;
/* tx1 */ PREPARE TRANSACTION 'p1';
/* tx1 */ SELECT pg_try_advisory_lock(7);
/* tx2 */ COMMIT PREPARED 'p2';
/* tx2 */ UPDATE t SET b = 4 WHERE a = 1;
`

// TestOwnNames runs a case whose names and keys are those of others on a server of others: it meets none of these and
// leaves nothing behind. What a pool left that is gone is rolled back, and nothing else.
func TestOwnNames(t *testing.T) {
	b := startCluster(t, installedClusters(t)[0], harness.Options{Port: freePort(t)})
	s := clusterSession(t, b)
	query(t, s, "CREATE TABLE theirs (a INT); CREATE SCHEMA txnfuzz_99_0badc0dek_1; CREATE TABLE txnfuzz_99_0badc0dek_1.t (a INT)")
	prepare := func(name, table string) {
		query(t, s, "BEGIN; INSERT INTO "+table+" VALUES (1)")
		query(t, s, "PREPARE TRANSACTION '"+name+"'")
	}
	for _, name := range []string{"p1", "p2", "txnfuzz_99_mine", "txnfuzz_98_0badc0dek_1_p1"} {
		prepare(name, "theirs")
	}
	prepare("txnfuzz_99_0badc0dek_1_p1", "txnfuzz_99_0badc0dek_1.t")
	query(t, s, "SELECT pg_advisory_lock(hashtext('txnfuzz_98_0badc0dek_')), pg_advisory_lock(7)")

	foreign, err := harness.Open(t.Context(), b.URL(), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := harness.NewPool(t.Context(), foreign, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse("case", []byte(leavesPrepared))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the names are the first one's
		h, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
		if err != nil {
			t.Fatal(err)
		}
		if e := h.Stmts[2].Result.Err; e != nil {
			t.Errorf("PREPARE TRANSACTION 'p1': %v", e)
		}
		if r := h.Stmts[3].Result; len(r.Rows) != 1 || r.Rows[0][0].Text != "t" {
			t.Errorf("a lock whose key somebody else has locked: %+v", r)
		}
		if e := h.Stmts[4].Result.Err; e == nil || !strings.Contains(e.Message, `"p2" does not exist`) {
			t.Errorf("COMMIT PREPARED of somebody else's: %v", e)
		}
		if st := h.Stmts[5]; !st.Interrupted || len(st.Waits) != 1 || len(st.Waits[0].Holders) > 0 {
			t.Errorf("the wait for what is prepared: %+v", st)
		}
		if got := h.Final[0].Rows[0][1].Text; got != "1" {
			t.Errorf("b is %s in the end, although nobody has committed what was prepared", got)
		}
	}
	left := names(t, s)
	if want := []string{"p1", "p2", "txnfuzz_98_0badc0dek_1_p1", "txnfuzz_99_mine"}; !slices.Equal(left, want) {
		t.Errorf("prepared are %v, want %v", left, want)
	}
	if n := query(t, s, "SELECT count(*) FROM pg_namespace WHERE nspname = 'txnfuzz_99_0badc0dek_1'")[0][0].Text; n != "0" {
		t.Error("the schema of a pool that is gone is there still")
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if err := foreign.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range left {
		query(t, s, "ROLLBACK PREPARED '"+name+"'")
	}
}

func names(t *testing.T, s *pgsession.Session) (out []string) {
	t.Helper()
	for _, row := range query(t, s, "SELECT gid FROM pg_prepared_xacts ORDER BY gid") {
		out = append(out, row[0].Text)
	}
	return out
}
