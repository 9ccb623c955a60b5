package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// TestRulesAndGraphAgree: what the rules call right shows nothing that the server
// promises to exclude.
func TestRulesAndGraphAgree(t *testing.T) {
	graphs := 0
	for _, file := range []string{"innodb-honest", "innodb-false-alarms", "overlap/innodb", "tidb-honest", "tidb-false-alarms", "tidb-deadlocks", "hermitage", "published/innodb"} {
		records, err := LoadRecords("testdata/" + file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			r := &records[i]
			if r.Verdict.Outcome != OK {
				continue
			}
			c, err := corpus.Parse(file, []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			p, d := Forbidden(c, r.History, &r.Verdict)
			if p != nil {
				t.Errorf("%s, %s: %s\n%s", file, r.Note, p.Line(d, r.History), r.Case)
			}
			if d != nil && !d.Coarse {
				graphs++
			}
		}
	}
	if graphs < 700 {
		t.Errorf("%d graphs were judged, want 700", graphs)
	}
}

// TestGraphSeesLies: of answers that a proxy has changed, those that make a transaction
// read two states at once are forbidden by the graph, too, which knows no rule.
func TestGraphSeesLies(t *testing.T) {
	records, err := LoadRecords("testdata/tidb-planted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range records {
		r := &records[i]
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := Forbidden(c, r.History, &r.Verdict); p != nil {
			seen[strings.TrimPrefix(r.Note, "planted: ")] = true
		}
	}
	for _, lie := range []string{"read-committed-served-as-repeatable-read", "row-missing-from-an-answer", "select-answered-from-a-cache"} {
		if !seen[lie] {
			t.Errorf("nothing forbidden under the lie %s", lie)
		}
	}
}

// TestForbiddenByLevel takes the classic cycles of two transactions through the levels.
func TestForbiddenByLevel(t *testing.T) {
	mysql := history.Server{DBMS: history.MySQL}
	tidb := history.Server{DBMS: history.TiDB}
	si := history.Server{DBMS: history.MariaDB, Settings: map[string]string{"innodb_snapshot_isolation": "ON"}}
	edge := func(from, to int, k graph.Kinds, fromStmt, toStmt int, plain bool) mvcc.Dependency {
		return mvcc.Dependency{From: from, To: to, Kind: k, FromStmt: fromStmt, ToStmt: toStmt, Plain: plain, Item: fromStmt*10 + toStmt}
	}
	skew := func(plain bool) []mvcc.Dependency {
		return []mvcc.Dependency{edge(0, 1, graph.RW, 0, 3, plain), edge(1, 0, graph.WR, 3, 1, plain)}
	}
	lost := []mvcc.Dependency{edge(0, 1, graph.RW, 0, 3, true), edge(1, 0, graph.WW, 3, 1, false)}
	crossed := func(k graph.Kinds, plain bool) []mvcc.Dependency {
		return []mvcc.Dependency{edge(0, 1, k, 0, 3, plain), edge(1, 0, k, 2, 1, plain)}
	}
	aborted := []mvcc.Dependency{{From: 0, To: 1, Kind: graph.WR, Aborted: true, Plain: true}}
	RU, RC, RR, SER := corpus.ReadUncommitted, corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable
	for _, x := range []struct {
		what      string
		edges     []mvcc.Dependency
		server    history.Server
		forbidden []corpus.Level
	}{
		{"dirty write", []mvcc.Dependency{edge(0, 1, graph.WW, 0, 2, false), edge(1, 0, graph.WW, 3, 1, false)}, mysql, []corpus.Level{RU, RC, RR, SER}},
		{"read of what was rolled back", aborted, mysql, []corpus.Level{RC, RR, SER}},
		{"read skew of plain SELECTs", skew(true), mysql, []corpus.Level{RR, SER}},
		{"read skew of plain SELECTs", skew(true), tidb, []corpus.Level{RR, SER}},
		{"read skew of locking reads", skew(false), mysql, []corpus.Level{RU, RC, RR, SER}},
		{"lost update", lost, mysql, []corpus.Level{SER}},
		{"lost update", lost, si, []corpus.Level{RR, SER}},
		{"write skew", crossed(graph.RW, true), mysql, []corpus.Level{SER}},
		{"write skew", crossed(graph.RW, true), si, []corpus.Level{SER}},
		{"write skew of locking reads", crossed(graph.RW, false), mysql, []corpus.Level{RU, RC, RR, SER}},
		{"rows that come into locked ranges", crossed(graph.PredicateRW, false), mysql, []corpus.Level{RR, SER}},
		{"rows that come into locked ranges", crossed(graph.PredicateRW, false), tidb, nil},
	} {
		for _, l := range corpus.Levels {
			d := &mvcc.Dependencies{Units: []mvcc.Unit{{Session: 1, Level: l, Committed: !x.edges[0].Aborted}, {Session: 2, Level: l, Committed: true}}, Edges: x.edges}
			got := forbidden(d, x.server, make([]bool, 4)) != nil
			if want := slices.Contains(x.forbidden, l); got != want {
				t.Errorf("%s on %s %v at %s: forbidden %v, want %v", x.what, x.server.DBMS, x.server.Settings, l, got, want)
			}
		}
	}
}
