package server

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sentCase has sessions that wait for a lock and for a table, a statement that is sent again and again, one that fails,
// and a deadlock. Behind the ALTER a kept statement returns other columns.
const sentCase = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 3 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 4 WHERE a = 2;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT no_such FROM t2;
/* tx2 */ ROLLBACK;
/* tx2 */ UPDATE t SET b = 5 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ ALTER TABLE t ADD COLUMN c INT;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 6 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 7 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 6 WHERE a = 2;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`

// TestProtocolsOfCases runs a case by each protocol: nothing but how the statements were sent differs.
func TestProtocolsOfCases(t *testing.T) {
	targets := append([]string{"mysql:9.7", "mariadb:11.8", "postgres:18"}, "tidb:"+ofTheEmbedded)
	installed := append(append(installedTargets(t), installedClusters(t)...), installedTiDBs(t)...)
	for _, target := range targets {
		if !slices.Contains(installed, target) {
			continue
		}
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			text := sentCase
			if strings.HasPrefix(target, "tidb") {
				// Without these locks what TiDB keeps prepared does not see what its own transaction wrote. With them, and
				// with a change of a table amid transactions, which of two answers comes first is chance.
				target += ",tidb_enable_metadata_lock=ON"
				text = strings.Replace(text, "/* tx2 */ ALTER TABLE t ADD COLUMN c INT;\n", "", 1)
			}
			b, err := harness.Open(t.Context(), target, harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = pool.Close() })
			run := func(p protocol.Protocol) (*history.History, []string) {
				t.Helper()
				c, err := corpus.Parse("case", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				c.SetProtocol(p)
				h, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
				if err != nil {
					t.Fatal(err)
				}
				var sent []string
				for i := range h.Stmts {
					s := &h.Stmts[i]
					sent, s.Sent = append(sent, s.Sent), ""
					for k := range s.Waits {
						s.Waits[k].Holders = nil // they are asked for only now and then
						s.Waits[k].At = nil
					}
					s.Result.Warnings = 0 // of TiDB, which warns of plans
					if s.Result.Err != nil {
						s.Result.Err.Message = ""
					}
				}
				return h, sent
			}
			plain, _ := run(protocol.Protocol{})
			before := pool.Stats()
			if before.Prepared+before.Executed+before.Unprepared > 0 {
				t.Errorf("sent as text: %+v", before)
			}
			for _, p := range []protocol.Protocol{
				protocol.All(protocol.Prepare), protocol.All(protocol.Execute), protocol.Mixed(5),
			} {
				h, sent := run(p)
				for i := range h.Stmts {
					if !reflect.DeepEqual(h.Stmts[i], plain.Stmts[i]) {
						t.Errorf("%s, statement %d:\n got %+v\nwant %+v", p, i+1, h.Stmts[i], plain.Stmts[i])
					}
				}
				all := " " + strings.Join(sent, " ") + " "
				_, again := run(p)
				if strings.Join(again, ",") != strings.Join(sent, ",") {
					t.Errorf("%s: sent as %q and then as %q", p, sent, again)
				}
				if p.IsMixed() && (!strings.Contains(all, " prepare ") || !strings.Contains(all, " execute ") || !strings.Contains(all, "  ")) {
					t.Errorf("%s: sent as %q", p, sent)
				}
				if !p.IsMixed() && strings.Count(all, " "+p.String()) < len(sent)/2 {
					t.Errorf("%s: sent as %q", p, sent)
				}
				if b.Server().DBMS == history.MySQL && !p.IsMixed() && !strings.Contains(all, " text ") {
					t.Errorf("%s: BEGIN was prepared: %q", p, sent)
				}
			}
		})
	}
}

// TestHeldIsText: what is held at a place of the program is sent as text, and a case that says otherwise is refused.
func TestHeldIsText(t *testing.T) {
	targets := installedTargets(t)
	if len(targets) == 0 {
		t.Skip("no server is installed")
	}
	pool, err := harness.NewPool(t.Context(), start(t, targets[0]), harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	c, err := corpus.Parse("case", []byte("-- protocol: prepare\n-- hold: tx1 1 at f+0x1 of ab hit 1\n\n"+
		"/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n/* tx2 */ SELECT * FROM t;\n"))
	if err != nil {
		t.Fatal(err)
	}
	var refused *harness.RefusedError
	if _, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted)); !errors.As(err, &refused) ||
		!strings.Contains(refused.Reason, "held") {
		t.Errorf("%v, want that it is refused", err)
	}
}
