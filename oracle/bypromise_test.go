package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// roots tells, of histories of PostgreSQL's SERIALIZABLE that are not serializable, the anomaly, a part of the cycle in
// words and what the fingerprint says of the cause.
var roots = map[string]struct {
	kind  model.Kind
	words string
	cause string
}{
	"parent-deleted": {model.GSingleItem, "tx1 saw, by a foreign key, what tx2 did to (0", "wr foreign key"},
	"cascade":        {model.GSingleItem, "tx1 saw, by a cascade, what tx2 did to (1", "wr cascade"},
	"conflict":       {model.G2, "tx1 did not see, by an upsert, what tx2 did to (0", "rw upsert"},
	"upsert":         {model.GSingleItem, "tx2 saw, by an upsert, what tx1 did to (1,NULL,1)", "wr upsert"},
}

// TestRoots: what is not serializable since keys are looked up on the newest rows is known; and it is told apart by its
// root, whatever rows, columns and statements there are beside it.
func TestRoots(t *testing.T) {
	records, err := LoadRecords("testdata/postgres-roots.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for i := range records {
		r := &records[i]
		want, ok := roots[strings.TrimSuffix(r.Note, "-more")]
		if !ok {
			t.Fatalf("%s: of no root", r.Note)
		}
		met++
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		g, err := promise.Judge(c, r.History, recordedAnswers(r.History))
		if err != nil {
			t.Fatalf("%s: %v", r.Note, err)
		}
		if v := ByPromise(c, r.History, &r.Verdict, &g); v.Outcome != Known || !slices.Equal(v.Rules, []string{"serializable-forgets-key-lookups"}) {
			t.Errorf("%s: %s %v", r.Note, v.Outcome, v.Rules)
		}
		g.ButForKeys = false // as on a server that is not known for it
		v := ByPromise(c, r.History, &r.Verdict, &g)
		if fingerprint := "promise/not-serializable/" + want.cause + "/SER"; v.Fingerprint != fingerprint {
			t.Errorf("%s: %s, want %s", r.Note, v.Fingerprint, fingerprint)
		}
		list := Anomalies(c, r.History, &v)
		if !slices.ContainsFunc(list, func(a Anomaly) bool { return a.Kind == want.kind && strings.Contains(a.Cycle, want.words) }) {
			t.Errorf("%s: %v, want %s with %q", r.Note, list, want.kind, want.words)
		}
	}
	if met != 2*len(roots) {
		t.Errorf("%d histories, want %d", met, 2*len(roots))
	}
}

// TestPlainReadIsTheCause: of a history that is not serializable by reads of statements alone, no key is the cause.
func TestPlainReadIsTheCause(t *testing.T) {
	records, err := LoadRecords("testdata/hermitage-postgres.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(records, func(r Record) bool { return r.Note == "g2 RR" })
	r := &records[at]
	c, err := corpus.Parse(r.Note, []byte(r.Case))
	if err != nil {
		t.Fatal(err)
	}
	d, err := promise.Dependencies(c, r.History, recordedAnswers(r.History))
	if err != nil {
		t.Fatal(err)
	}
	g := promise.Ruling{Broken: true, Kind: promise.NotSerializable, Stmt: -1, Dependencies: d}
	if v := ByPromise(c, r.History, &r.Verdict, &g); v.Fingerprint != "promise/not-serializable/SELECT/plain read/RR" {
		t.Error(v.Fingerprint)
	}
}
