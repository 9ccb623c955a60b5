package workload

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// TestNames runs classic anomalies on a server and asks for their names.
func TestNames(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		pool := open(t, target)
		for _, x := range []struct {
			what, a, b string
			level      corpus.Level
			order      []int
			name, by   string
			of         string // the table of the invariant
		}{
			{"both add to what they read", "SELECT v FROM t WHERE k = 1 INTO :x; UPDATE t SET v = :x + 1 WHERE k = 1;", "", corpus.ReadCommitted, []int{1, 1, 2, 2, 1, 2, 1, 2, 2}, "lost update (P4)", ByGraph, ""},
			{"one sets the row to what it is", "SELECT v FROM t WHERE k = 1 INTO :x; UPDATE t SET v = :x + 1 WHERE k = 1;", "SELECT v FROM t WHERE k = 1; UPDATE t SET v = 11 WHERE k = 1;", corpus.ReadCommitted, []int{1, 1, 2, 2, 1, 1, 2, 2}, "lost update (P4)", ByGraph, ""},
			{"each reads what the other writes", "SELECT v FROM t WHERE k = 1 INTO :x; UPDATE t SET v = :x WHERE k = 2;", "SELECT v FROM t WHERE k = 2 INTO :x; UPDATE t SET v = :x WHERE k = 1;", corpus.RepeatableRead, []int{1, 1, 2, 2, 1, 1, 2, 2}, "write skew (G2-item)", ByGraph, ""},
			{"each looks for what the other adds", "SELECT v FROM t WHERE v = 7; INSERT INTO t VALUES (8, 7);", "SELECT v FROM t WHERE v = 7; INSERT INTO t VALUES (9, 7);", corpus.RepeatableRead, []int{1, 1, 2, 2, 1, 1, 2, 2}, "write skew with a condition (G2)", ByGraph, ""},
			{"two rows at two times", "SELECT v FROM t WHERE k = 1; SELECT v FROM t WHERE k = 2;", "UPDATE t SET v = 0 WHERE k = 1; UPDATE t SET v = 0 WHERE k = 2;", corpus.ReadCommitted, []int{1, 1, 2, 2, 2, 2, 1, 1}, "read skew (G-single)", ByGraph, ""},
			{"a row that is not there at first", "SELECT v FROM t WHERE v = 7; SELECT v FROM t WHERE k = 1;", "INSERT INTO t VALUES (9, 7); UPDATE t SET v = 5 WHERE k = 1;", corpus.ReadCommitted, []int{1, 1, 2, 2, 2, 2, 1, 1}, "phantom: read skew with a condition (PMP, G-single)", ByGraph, ""},
			{"half of what another writes", "UPDATE t SET v = 0 WHERE k = 1; UPDATE t SET v = 0 WHERE k = 2;", "SELECT v FROM t WHERE k = 1; SELECT v FROM t WHERE k = 2;", corpus.ReadUncommitted, []int{1, 1, 2, 2, 2, 2, 1, 1}, "observed transaction vanishes (OTV); read skew (G-single)", ByGraph, ""},
			{"a join", "SELECT v FROM t WHERE k = 1 INTO :x; UPDATE t SET v = :x + 1 WHERE k = 1;", "SELECT a.v FROM t AS a, t AS b WHERE a.k = 1 AND b.k = 2 INTO :x; UPDATE t SET v = :x + 1 WHERE k = 1;", corpus.ReadCommitted, []int{1, 1, 2, 2, 1, 1, 2, 2}, "lost update (P4)", ByOrder, ""},
			{"both write a row of another table, too", "SELECT id FROM u WHERE id = 1; SELECT COUNT(a.v) FROM t AS a, t AS b WHERE a.k = b.k AND a.v = 7; INSERT INTO t VALUES (8, 7); UPDATE u SET n = n + 1 WHERE id = 1;", "SELECT id FROM u WHERE id = 1; SELECT COUNT(a.v) FROM t AS a, t AS b WHERE a.k = b.k AND a.v = 7; INSERT INTO t VALUES (9, 7); UPDATE u SET n = n + 1 WHERE id = 1;", corpus.ReadCommitted, []int{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}, "write skew (G2)", ByOrder, "t"},
		} {
			t.Run(x.what, func(t *testing.T) {
				if x.b == "" {
					x.b = x.a
				}
				w, err := workload.Parse("w.workload", []byte("/* schema */ CREATE TABLE t (k INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20); CREATE TABLE u (id INT PRIMARY KEY, n INT); INSERT INTO u VALUES (1, 0);\n/* transaction a () */ "+x.a+"\n/* transaction b () */ "+x.b))
				if err != nil {
					t.Fatal(err)
				}
				stage := NewStage(w, pool)
				in := &mutate.Input{State: mutate.MakeState(w, nil), Calls: []mutate.Call{{Transaction: w.Transactions[0]}, {Transaction: w.Transactions[1]}}, Order: x.order}
				o, err := stage.Run(t.Context(), in, x.level)
				if err != nil || len(o.decided()) != 2 {
					t.Fatal(err, o.Calls)
				}
				var of []string
				if x.of != "" {
					of = []string{x.of}
				}
				if got := name(shown{in: in, outcome: o}, of); got.name != x.name || got.by != x.by {
					t.Errorf("%q by %q, want %q by %q\n%s", got.name, got.by, x.name, x.by, schedule(o))
				}
				if got := name(shown{in: in, outcome: o}, of); len(got.conflicts) == 0 || got.conflicts[0].Line == 0 || len(got.conflicts[0].By) == 0 {
					t.Errorf("no statements meet: %+v", got.conflicts)
				}
				// One after the other there is nothing to name.
				o, err = stage.Serial(t.Context(), in, []int{0, 1}, x.level)
				if err != nil {
					t.Fatal(err)
				}
				if got, ok := nameByGraph(shown{in: in, outcome: o}); ok {
					t.Errorf("a serial run is called %s", got.name)
				}
			})
		}
	}
}
