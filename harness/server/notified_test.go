package server

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// notifies has sessions that are notified amid their statements, behind the last one, on a new connection, and not at
// all.
const notifies = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ LISTEN c;
/* tx2 */ LISTEN c;
/* tx3 */ BEGIN;
/* tx3 */ NOTIFY c, 'one';
/* tx3 */ SELECT pg_notify('d', 'two');
/* tx3 */ COMMIT;
/* tx1 */ LISTEN d;
/* tx1 */ LISTEN d;
/* tx2 */ disconnect;
/* tx2 */ connect;
/* tx2 */ LISTEN d;
/* tx2 */ NOTIFY d;
/* tx1 */ BEGIN;
`

// TestNotified runs a case whose channels somebody else has, too, twice: each time its sessions get what is theirs.
func TestNotified(t *testing.T) {
	for _, name := range installedClusters(t) {
		t.Run(name, func(t *testing.T) {
			b := startCluster(t, name, harness.Options{Port: freePort(t)})
			theirs := clusterSession(t, b)
			query(t, theirs, "LISTEN c; LISTEN d")
			pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = pool.Close() })
			c, err := corpus.Parse("case", []byte(notifies))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				query(t, theirs, "NOTIFY c, 'theirs'")
				h, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
				if err != nil {
					t.Fatal(err)
				}
				of := map[int][]string{}
				for _, n := range h.Notifications {
					of[n.Session] = append(of[n.Session], n.String())
				}
				if want := []string{"c 'one' from tx3", "d '' from tx2"}; !slices.Equal(of[1], want) {
					t.Errorf("tx1 is notified of %q, want %q", of[1], want)
				}
				// Of a session that ends nobody knows whether it has got what was on its way.
				if n := len(of[2]); n == 0 || of[2][n-1] != "d '' from tx2" || len(of[3]) > 0 {
					t.Errorf("tx2 is notified of %q, tx3 of %q", of[2], of[3])
				}
			}
			ours := func(n harness.Notification) bool { return n.Payload != "theirs" }
			if r, err := theirs.Execute("SELECT 1"); err != nil || slices.ContainsFunc(r.Notifications, ours) {
				t.Errorf("another session is notified of %+v (%v)", r.Notifications, err)
			}
		})
	}
}
