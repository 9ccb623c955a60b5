package findings

import (
	"context"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A finding that shows only on tables that were used before gets their past as
// lines of its set-up, which the reduction keeps.
func TestKeeperWritesThePastOfTables(t *testing.T) {
	k := newFakeKeeper(t, &fakeServer{})
	k.At.Server.DBMS = history.MariaDB
	k.Judge = func(_ context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		r := target.Trial{Case: c, Levels: levels, History: &history.History{Levels: levels}, Verdict: oracle.Verdict{Outcome: oracle.OK, Stmt: -1}}
		for i, l := range c.Steps {
			r.History.Stmts = append(r.History.Stmts, history.Stmt{Line: i, Session: l.Session})
		}
		init := string(corpus.Print(&corpus.Case{Init: c.Init}, corpus.Text))
		if strings.Contains(init, "(4)") && strings.Contains(init, "DELETE") && len(c.Steps) > 0 {
			r.Verdict = dirtyRead
		}
		return r
	}
	c := targettest.Case(t, targettest.DirtyRead)
	r := k.Judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
	r.Verdict = dirtyRead // on the campaign's tables
	r.History.Final = []history.Table{{Name: "t", Columns: []string{"a"}, Rows: [][]history.Cell{{{Text: "4"}}}}}
	f, first, err := k.Consider(t.Context(), &r, Origin{})
	if err != nil || !first || f.Reproduced != reruns {
		t.Fatalf("%+v, %t, %v", f, first, err)
	}
	saved, err := corpus.Load(f.File)
	if err != nil {
		t.Fatal(err)
	}
	text := string(corpus.Print(&corpus.Case{Init: saved.Init}, corpus.Text))
	if !strings.Contains(text, "(4)") || strings.Count(text, "DELETE") != 1 || len(saved.Steps) != 1 {
		t.Errorf("saved as\n%s with %d steps", text, len(saved.Steps))
	}
}

// A file with a rate is replayed until it shows or that is missed for sure.
func TestReplayRepeats(t *testing.T) {
	for recorded, want := range map[string]bool{"": true, "known moved-row": true, "violation wrong-rows": true, "ok": false, "unknown": false} {
		c := targettest.Case(t, targettest.DirtyRead)
		if recorded != "" {
			c.Set("verdict (fake, RC)", recorded)
		}
		if got := shouldShow(&target.Target{Name: "fake"}, c, recorded); got != want {
			t.Errorf("recorded %q: %t", recorded, got)
		}
	}
	c := targettest.Case(t, targettest.DirtyRead)
	c.Set(KeyFingerprint, dirtyRead.Fingerprint)
	known := oracle.Verdict{Outcome: oracle.Known, Rules: []string{"moved-row"}, Fingerprint: dirtyRead.Fingerprint}
	other := known
	other.Fingerprint = "known/other/RC"
	for _, x := range []struct {
		v    oracle.Verdict
		want bool
	}{{known, true}, {dirtyRead, true}, {other, false}, {oracle.Verdict{Outcome: oracle.OK}, false}} {
		if got := showsAgain(c, "known no-op-update-unseen", &x.v); got != x.want {
			t.Errorf("%s %s: %t", x.v.Outcome, x.v.Fingerprint, got)
		}
	}
}
