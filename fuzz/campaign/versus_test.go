package campaign

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestOneServerAgainstItself: whatever comes by chance on either of two equal servers must
// not be counted, attributed or not.
func TestOneServerAgainstItself(t *testing.T) {
	for _, target := range targettest.Among(t, "mariadb:11.8") {
		out := t.TempDir()
		r, err := RunHere(t.Context(), Settings{Target: target, Against: target, Cases: 150, Workers: 2, Seed: 3, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		if r.Against == nil || r.Against.Cases != 150 || r.Against.Statements < 1000 {
			t.Fatalf("%+v", r.Against)
		}
		if len(r.Against.Differences) > 0 || len(r.Findings) > 0 {
			t.Errorf("%+v, findings %+v", r.Against.Differences, r.Findings)
		}
	}
}

// TestASettingOfTheSecond: 1020 comes of snapshot isolation, so two MariaDBs that have it set
// otherwise differ, and each difference is put down to that.
func TestASettingOfTheSecond(t *testing.T) {
	for _, target := range targettest.Among(t, "mariadb:11.8") {
		out := t.TempDir()
		r, err := RunHere(t.Context(), Settings{Target: target, Against: target + ",snapshot=off", Cases: 150, Workers: 2, Seed: 3, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Against.Count(against.Rule); n == 0 || r.Against.Count(against.Unattributed)+len(r.Findings) > 0 {
			t.Errorf("%+v, findings %+v", r.Against.Differences, r.Findings)
		}
		for _, d := range r.Against.Differences {
			c, err := corpus.Load(d.Example)
			if err != nil {
				t.Fatal(err)
			}
			if v, _ := c.Get("against"); v != target+",snapshot=off" {
				t.Errorf("%s is against %q", d.Example, v)
			}
		}
	}
}

// TestAnUnexplainedDifferenceIsAFinding: the two servers differ in what no rule speaks of.
func TestAnUnexplainedDifferenceIsAFinding(t *testing.T) {
	const text = `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx1 */ SELECT GROUP_CONCAT(a) FROM t;
`
	for _, name := range targettest.Among(t, "mariadb:11.8") {
		a, err := target.Open(t.Context(), name, target.Options{Clean: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Close() }()
		b, err := target.OpenAgainst(t.Context(), name+",group_concat_max_len=4", target.Options{Clean: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		c := targettest.Case(t, text)
		c.Init = slices.Concat(c.Init, targettest.Case(t, "/* init */ INSERT INTO t VALUES (3), (4);\n/* tx1 */ SELECT 1;\n").Init)
		results := findings.Replay(t.Context(), a, "case.sql", c, []corpus.Level{corpus.ReadCommitted})
		findings.ReplayAgainst(t.Context(), a, b, &results[0])
		got := results[0].Against
		if len(got.Differences) != 1 || !got.Differences[0].Counts() || got.Differences[0].Reproduced != tenOfTen || got.Differences[0].First == got.Differences[0].Second {
			t.Errorf("%+v", got)
		}
		if !FailAny.Replayed(&results[0]) || FailNone.Replayed(&results[0]) {
			t.Error("it does not count")
		}

		// In a campaign it is saved with both answers.
		store, err := findings.OpenStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		v := &versus{target: a, other: b, patient: t.Context()}
		v.tally.begin(b)
		v.keeper = findings.NewKeeper(a, store)
		v.keeper.At.Against = &findings.Place{Target: b.Name, Server: b.Server()}
		v.keeper.Judge, v.keeper.ReduceFor, v.keeper.Least = v.judge, 0, target.DiffersAlways
		v.keeper.Fresh = &target.FreshServers{Shared: true, Open: func(context.Context) (*target.FreshServer, error) {
			return &target.FreshServer{Judge: v.judge, Close: func() error { return nil }}, nil
		}}
		r := v.execute(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
		target.JudgeByOracle(t.Context(), &r)
		if err := v.consider(t.Context(), &r, findings.Origin{Input: "by hand"}); err != nil {
			t.Fatal(err)
		}
		found := v.keeper.Findings()
		if len(found) != 1 || found[0].Reproduced != tenOfTen || v.report().Count(against.Unattributed) != 1 {
			t.Fatalf("%+v, %+v", found, v.report())
		}
		saved, err := corpus.Load(found[0].File)
		if err != nil {
			t.Fatal(err)
		}
		if note := saved.Steps[0].Note; !strings.HasPrefix(note, a.Name+": (1,2,3,4) | "+b.Name+": (1,2") {
			t.Errorf("note %q", note)
		}
		var rec struct {
			Against *struct{ History *history.History }
		}
		text, err := os.ReadFile(strings.TrimSuffix(found[0].File, corpus.Ext) + ".json")
		if err == nil {
			err = json.Unmarshal(text, &rec)
		}
		if err != nil || rec.Against == nil || rec.Against.History == nil {
			t.Errorf("recording of %s: %v %+v", filepath.Base(found[0].File), err, rec.Against)
		}
	}
}
