package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// load reads the recorded runs, a file for each server.
func load(t *testing.T) []recorded {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl.gz")
	if err != nil || len(files) < 3 {
		t.Fatal("want the runs of three servers", files, err)
	}
	var out []recorded
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		list, err := loadRecorded(z)
		if err != nil {
			t.Fatal(file, err)
		}
		for i := range list {
			list[i].Name = filepath.Base(file) + " " + list[i].Name
		}
		out = append(out, list...)
	}
	return out
}

// judged derives both graphs of a recorded run.
func judged(t *testing.T, r *recorded) (*plan, *facts, *mvcc.Dependencies) {
	t.Helper()
	p, err := r.plan()
	if err != nil {
		t.Fatal(r.Name, err)
	}
	v := oracle.Check(p.c, r.History)
	d, err := dependencies(p, r.History, &v)
	if err != nil {
		t.Fatal(r.Name, err)
	}
	f, err := gather(p, r.History)
	if err != nil {
		t.Fatal(r.Name, err)
	}
	return p, f, d
}

// TestRecorded compares the edges of recorded runs.
func TestRecorded(t *testing.T) {
	sum := map[graph.Kinds]int{}
	for _, r := range load(t) {
		_, f, d := judged(t, &r)
		c, err := f.against(d)
		if err != nil || !c.equal() {
			t.Errorf("%s: %v\n%s", r.Name, err, &c)
		}
		for k, n := range c.own {
			sum[k] += n
		}
	}
	for _, k := range kinds {
		if sum[k] == 0 {
			t.Errorf("no edge of kind %s was compared", k)
		}
	}
}

// TestEdgeRemoved leaves out every fifth edge of the oracle's graph, one at a time, and turns
// it round.
func TestEdgeRemoved(t *testing.T) {
	tried := 0
	for _, r := range load(t) {
		_, f, d := judged(t, &r)
		answers, err := f.derive()
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range d.Edges {
			_, untold := f.untold[edge{kind: e.Kind, fromStmt: e.FromStmt, toStmt: e.ToStmt}.reader()]
			if i%5 > 0 || !d.Units[e.From].Committed || !d.Units[e.To].Committed || untold {
				continue
			}
			for name, edges := range map[string][]mvcc.Dependency{
				"removed": slices.Delete(slices.Clone(d.Edges), i, i+1),
				"turned":  turned(d.Edges, i),
			} {
				set, err := f.graphEdges(&mvcc.Dependencies{Units: d.Units, Edges: edges})
				if err != nil {
					t.Fatal(err)
				}
				if c := f.compare(answers, set); c.equal() {
					t.Errorf("%s: edge %d, %s, is not missed", r.Name, i, name)
				}
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d edges were tried", tried)
	}
}

func turned(edges []mvcc.Dependency, i int) []mvcc.Dependency {
	out := slices.Clone(edges)
	e := &out[i]
	e.From, e.To, e.FromStmt, e.ToStmt = e.To, e.From, e.ToStmt, e.FromStmt
	return out
}

// TestStaleRead lets a statement and the reads around it show an older version of a row
// than the server had: all of them agree, so only the edges can tell.
func TestStaleRead(t *testing.T) {
	lies := 0
	for _, r := range load(t) {
		p, f, d := judged(t, &r)
		for i := range r.History.Stmts {
			k, _ := mutate.KindOf(f.node(i))
			if f.step(i).role != own || k != stmt.Select || r.History.Stmts[i].Result.Err != nil {
				continue
			}
			list, err := f.reads(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range list {
				stale, ok := older(&x)
				if !ok {
					continue
				}
				h := staleHistory(f, i, x.met, stale)
				if h == nil {
					continue
				}
				lied, err := gather(p, h)
				if err != nil {
					t.Fatalf("%s: line %d: %v", r.Name, i+1, err)
				}
				c, err := lied.against(d)
				if err == nil && c.equal() {
					t.Errorf("%s: a stale row in line %d is not noticed", r.Name, i+1)
				}
				lies++
			}
		}
	}
	if lies < 3 {
		t.Errorf("only %d lies were told", lies)
	}
}

// older returns the version before one that another transaction committed, if the
// condition holds for both.
func older(x *read) (*version, bool) {
	list := installed(x.item)
	at := slices.Index(list, x.met)
	if at < 1 || x.met.by == x.by || !x.by.committed || !x.chosen || list[at-1].row == nil {
		return nil, false
	}
	holds, err := x.holds(list[at-1])
	return list[at-1], err == nil && holds
}

// staleHistory replaces a row in a statement's answer and in the reads that belong to it;
// nil where the answer has not got all columns.
func staleHistory(f *facts, i int, is, was *version) *history.History {
	h := *f.h
	h.Stmts = slices.Clone(h.Stmts)
	for j := range h.Stmts {
		if f.step(j).of != f.step(i).of {
			continue
		}
		rows := slices.Clone(h.Stmts[j].Result.Rows)
		for k := range rows {
			if len(rows[k]) != len(is.row) {
				return nil
			}
			if format(rows[k]) == format(is.row) {
				rows[k] = was.row
			}
		}
		h.Stmts[j].Result.Rows = rows
	}
	return &h
}

// TestContradictions leaves a row out of single answers. One that does not show all rows is
// always noticed in a transaction that commits; that a row does not match is not, where
// nothing rests on it.
func TestContradictions(t *testing.T) {
	missed, tried := 0, 0
	for _, r := range load(t) {
		p, f, d := judged(t, &r)
		for i := range r.History.Stmts {
			rows := r.History.Stmts[i].Result.Rows
			if f.step(i).role == own || len(rows) == 0 || !f.txns[i].committed {
				continue
			}
			h := *r.History
			h.Stmts = slices.Clone(h.Stmts)
			h.Stmts[i].Result.Rows = rows[1:]
			lied, err := gather(p, &h)
			var c comparison
			if err == nil {
				c, err = lied.against(d)
			}
			if tried++; err == nil && c.equal() {
				if missed++; f.step(i).pred < 0 {
					t.Errorf("%s: a row that line %d does not show is not missed", r.Name, i+1)
				}
			}
			var not *notUsable
			if errors.As(err, &not) {
				t.Errorf("%s: line %d: %v", r.Name, i+1, err)
			}
		}
	}
	if missed*20 > tried {
		t.Errorf("%d of %d rows were not missed", missed, tried)
	}
}

// TestInstrument shows what becomes of a small case.
func TestInstrument(t *testing.T) {
	c, err := corpus.Parse("case.sql", []byte(`/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b;
/* tx2 */ SELECT b FROM t WHERE b > 0;
/* tx1 */ INSERT INTO t (a) VALUES (1);
/* tx1 */ COMMIT;
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := instrument(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `-- level: READ COMMITTED

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, id INT, v INT);
/* init */ INSERT INTO t VALUES (1, 1, 1, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t; -- VSR
/* tx1 */ SELECT * FROM t WHERE b > 0; -- BPM
/* tx1 */ SELECT * FROM t WHERE (a = 1); -- BPM
/* tx1 */ UPDATE t SET b = b, v = 2;
/* tx1 */ SELECT * FROM t; -- AWR
/* tx1 */ SELECT * FROM t WHERE b > 0; -- APM
/* tx1 */ SELECT * FROM t WHERE (a = 1); -- APM
/* tx2 */ SELECT * FROM t; -- VSR
/* tx2 */ SELECT * FROM t WHERE b > 0; -- PM
/* tx2 */ SELECT b, id, v FROM t WHERE b > 0;
/* tx1 */ SELECT * FROM t; -- VSR
/* tx1 */ SELECT * FROM t WHERE b > 0; -- BPM
/* tx1 */ SELECT * FROM t WHERE (a = 1); -- PM, BWR
/* tx1 */ INSERT INTO t (a, id, v) VALUES (1, 2, 3);
/* tx1 */ SELECT * FROM t; -- AWR
/* tx1 */ SELECT * FROM t WHERE b > 0; -- APM
/* tx1 */ SELECT * FROM t WHERE (a = 1); -- APM
/* tx1 */ COMMIT;
`
	if got := string(corpus.Print(p.c, corpus.Text)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNotUsable names cases that cannot be instrumented.
func TestNotUsable(t *testing.T) {
	for stmt, why := range map[string]string{
		"SELECT * FROM t, u":                             "several tables",
		"SELECT COUNT(*) FROM t":                         "more than columns",
		"DELETE FROM t WHERE a = (SELECT MAX(a) FROM u)": "subquery",
		"INSERT INTO t SELECT * FROM u":                  "not of VALUES",
	} {
		c, err := corpus.Parse("case.sql", []byte("/* init */ CREATE TABLE t (a INT);\n/* init */ CREATE TABLE u (a INT);\n/* tx1 */ "+stmt+";\n"))
		if err != nil {
			t.Fatal(err)
		}
		var not *notUsable
		if _, err := instrument(c); !errors.As(err, &not) || !strings.Contains(not.why, why) {
			t.Errorf("%s: %v", stmt, err)
		}
	}
}
