package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// compressed gives the oracle's own recorded histories in the form of a set.
func compressed(t *testing.T, dir string) (file string, records []oracle.Record) {
	t.Helper()
	source := filepath.Join("..", "..", "oracle", "testdata", "innodb-known.jsonl")
	records, err := oracle.LoadRecords(source)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "known"+ending)
	if err := os.WriteFile(file, z.EncodeAll(text, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, records
}

// judgedRecords has the program that is built from the working tree judge the records.
func judgedRecords(t *testing.T, untold bool) (file string, records []oracle.Record, got []judged) {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	file, records = compressed(t, dir)
	j, err := newJudge(ctx, worktree, filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	j.untold = untold
	if got, err = j.verdicts(ctx, dir, file); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(records) || len(got) == 0 {
		t.Fatalf("%d verdicts of %d records", len(got), len(records))
	}
	return file, records, got
}

// What the built program says of recorded histories is what their records say,
// in their order, and a revision compared with itself differs in nothing.
func TestJudgeIsTheOracle(t *testing.T) {
	file, records, got := judgedRecords(t, false)
	for i, g := range got {
		if want := (&judged{Verdict: records[i].Verdict}).words(); g.words() != want {
			t.Errorf("%s (%s): %s, recorded %s", g.ID, records[i].Note, g.words(), want)
		}
	}
	r, err := nth(file, 3)
	if err != nil || r.Case != records[2].Case {
		t.Errorf("record 3 is another one (error %v)", err)
	}
}

func TestChangesAreListed(t *testing.T) {
	known := func(id string, rules ...string) judged {
		return judged{ID: id, Verdict: oracle.Verdict{Outcome: oracle.Known, Rules: rules, Kind: "wrong-rows"}}
	}
	unknown := func(id, reason string) judged {
		return judged{ID: id, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Reason: reason}}
	}
	ok := func(id string) judged { return judged{ID: id, Verdict: oracle.Verdict{Outcome: oracle.OK}} }
	cs := changes{}
	cs.add(
		[]judged{ok("f:1"), known("f:2", "a"), unknown("f:3", "x"), ok("f:4"), ok("f:5")},
		[]judged{ok("f:1"), known("f:2", "a", "b"), unknown("f:3", "y"), known("f:4", "a"), known("f:5", "a")})
	var b bytes.Buffer
	if n := cs.print(&b, 1); n != 4 {
		t.Errorf("%d changes, want 4", n)
	}
	const want = `2 × ok
    -> known a (wrong-rows)
       f:4
1 × known a (wrong-rows)
    -> known a+b (wrong-rows)
       f:2
1 × unknown: x
    -> unknown: y
       f:3
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestSets(t *testing.T) {
	sets, err := parseSets(setsTable)
	if err != nil || len(sets) < 6 {
		t.Fatalf("%d sets, error %v", len(sets), err)
	}
	for text, want := range map[string]string{
		"mysql:9.7\t1":         "sets.tsv:1: 2 fields",
		"mysql:9.7\tx\t1":      "sets.tsv:1: seed",
		"a\t1\t1\nmysql\t1\tn": "sets.tsv:2: \"n\" is no number",
	} {
		if _, err := parseSets(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A judge that is not shown what servers told says what the oracle says of histories
// without it, and of some of them that is something else.
func TestUntold(t *testing.T) {
	_, records, got := judgedRecords(t, true)
	differ := 0
	for i := range records {
		r := &records[i]
		r.History.Facts = nil
		for k := range r.History.Stmts {
			for w := range r.History.Stmts[k].Waits {
				r.History.Stmts[k].Waits[w].At = nil
			}
		}
		want, err := r.Judge("untold")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got[i].Verdict, want) {
			t.Errorf("%s: %+v, without what was told %+v", got[i].ID, got[i].Verdict, want)
		}
		if !reflect.DeepEqual(r.Verdict, want) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("what servers told changes nothing")
	}
}
