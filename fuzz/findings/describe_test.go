package findings

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The header of a finding has the anomaly's name, once, and loses it with the anomaly. A
// note of other people on their case stays.
func TestHeaderNamesAnomaly(t *testing.T) {
	r := targettest.Skewed(t, "../..")
	c := describe(Place{Target: "mysql:9.7", Server: r.History.Server}, r, Origin{}, rates{Unconfirmed, Unconfirmed})
	if got, _ := c.Get("anomaly"); got != targettest.Skew {
		t.Errorf("anomaly: %q, want %q\n%s", got, targettest.Skew, corpus.Print(c, corpus.Text))
	}
	again := &target.Trial{Case: c, Levels: r.Levels, Verdict: r.Verdict}
	if got, ok := describe(Place{Target: "mysql:9.7", Server: r.History.Server}, again, Origin{}, rates{}).Get("anomaly"); ok {
		t.Errorf("anomaly: %q of a run without a history", got)
	}
	theirs := targettest.Skewed(t, "../..")
	theirs.Case.Set(KeySource, "https://bugs.example/1")
	theirs.Case.Set("anomaly", "(2,18)")
	if got, _ := describe(Place{Target: "mysql:9.7", Server: r.History.Server}, theirs, Origin{}, rates{}).Get("anomaly"); got != "(2,18)" {
		t.Errorf("anomaly: %q, want what was there", got)
	}
}

// What a finding's header says is what a case may say there; see
// corpus.CheckHeader.
func TestHeadersOfFindings(t *testing.T) {
	r := target.Trial{
		Case: targettest.Case(t, targettest.DirtyRead), Levels: map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.RepeatableRead},
		Also: corpus.Levels, Defaults: "shows, too",
		Verdict: oracle.Verdict{Outcome: oracle.Known, Kind: "k", Rules: []string{"a", "b"}, Expected: "x", Actual: "y", Reason: "z", Fingerprint: "f", Stmt: -1},
	}
	c := describe(Place{Target: "mysql:9.7,binlog=off", Server: history.Server{Version: "9.7", Settings: map[string]string{"a": "b"}}}, &r, Origin{"in", "now"}, rates{3, Unconfirmed})
	for _, key := range []string{KeySignal, KeyServer, "bytes", "variant"} {
		c.Set(key, "1")
	}
	text := corpus.Print(c, corpus.Text)
	for _, d := range corpus.CheckHeader("finding.sql", text) {
		t.Errorf("%v in\n%s", d, text)
	}
	if cells := RecordedCells(c); len(cells) != 1 || Home(c) != "mysql:9.7,binlog=off" || Reproduced(c) != "3/10" {
		t.Errorf("%v, home %s, reproduced %s in\n%s", cells, Home(c), Reproduced(c), text)
	}
}
