package mvcc_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/ended"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// tally counts what was compared.
type tally struct{ histories, statements, rows, edges, wrong int }

// hold derives the dependencies of a history twice and wants them equal, of all rows that a
// statement met of which the naive way can tell the version.
func (n *tally) hold(t *testing.T, name string, r *oracle.Record) {
	c, err := corpus.Parse("case.sql", []byte(r.Case))
	if err != nil || r.History == nil || r.History.Database != "" || len(r.History.Views) > 0 {
		return
	}
	h := r.History
	if c.EndsSessions() { // an engine reads what such a history stands for
		worlds := ended.Worlds(c, h)
		if worlds == nil {
			return
		}
		c, h = worlds[r.Verdict.World].Case, worlds[r.Verdict.World].History
	}
	p := rules.For(h.Server)
	for _, d := range rules.Deviations(h.Server, mvcc.Levels(c, h)) {
		if slices.Contains(r.Verdict.Rules, d.Name) {
			p = p.With(d)
		}
	}
	replay := engines.New(c, h, p, false).Observed()
	if d, err := replay.Run(); d != nil || err != nil {
		return
	}
	d, f := replay.Dependencies(), replay.Facts()
	m := newModel(c, h, f)
	var reads []read
	type place struct{ stmt, row int }
	known := map[place]bool{}
	for i := range h.Stmts {
		own := m.reads(i)
		if len(own) > 0 {
			n.statements++
		}
		for _, x := range own {
			known[place{i, x.row}] = true
		}
		reads = append(reads, own...)
	}
	n.histories++
	n.rows += len(reads)
	want, got := edges(f, reads), map[string]bool{}
	for _, e := range d.Edges {
		row := slices.IndexFunc(f.Rows, func(r mvcc.FactRow) bool { return r.Table.Name == e.Table && r.ID == e.Item })
		reader := e.ToStmt
		if strings.HasSuffix(e.Kind.String(), "rw") {
			reader = e.FromStmt
		}
		if !d.Units[e.To].Committed || !d.Units[e.From].Committed && !e.Aborted || e.Kind.String() != "ww" && !known[place{reader, row}] {
			continue
		}
		note := ""
		switch {
		case e.Aborted:
			note = "aborted"
		case e.Intermediate:
			note = "intermediate"
		case e.Chosen:
			note = "chosen"
		}
		got[edge(f, e.Kind, row, e.From, e.To, e.FromStmt, e.ToStmt, note)] = true
	}
	n.edges += len(want)
	var differ []string
	for e := range want {
		if !got[e] {
			differ = append(differ, "missing: "+e)
		}
	}
	for e := range got {
		if !want[e] {
			differ = append(differ, "too much: "+e)
		}
	}
	if len(differ) > 0 {
		if n.wrong++; n.wrong <= 10 {
			slices.Sort(differ)
			t.Errorf("%s at %v on %s: statements count from 0\n%s\n%s", name, h.Levels, h.Server.Version, strings.Join(differ, "\n"), corpus.Print(c, corpus.Text))
		}
	}
}

// TestDependenciesByDefinition holds the graph against the definitions on recorded
// histories; TXNFUZZ_RECORDS names more of them, as scripts/verdicts keeps them.
func TestDependenciesByDefinition(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no records", err)
	}
	var n tally
	for _, file := range files {
		records, err := oracle.LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			n.hold(t, filepath.Base(file)+" "+records[i].Note, &records[i])
		}
	}
	begun := time.Now()
	for _, file := range filepath.SplitList(os.Getenv("TXNFUZZ_RECORDS")) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for d := json.NewDecoder(z); ; {
			var r oracle.Record
			if err := d.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			n.hold(t, filepath.Base(file)+" "+r.Note, &r)
		}
		z.Close()
		f.Close()
	}
	t.Logf("%d histories, %d statements, %d rows met, %d edges; %d differ; more records took %s", n.histories, n.statements, n.rows, n.edges, n.wrong, time.Since(begun))
	if n.histories < 300 || n.edges < 1000 {
		t.Errorf("only %d histories with %d edges were compared", n.histories, n.edges)
	}
}
