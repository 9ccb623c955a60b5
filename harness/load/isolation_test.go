package load

import (
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// onTape is a backend of which only the history is left.
type onTape struct {
	harness.Wired
	server history.Server
}

func (o onTape) Server() history.Server { return o.server }

// No read shows the order of the two writers, and each order contradicts the last
// reader: only the search can tell. As one transaction in the middle of many it must
// be a finding, and that of the three alone.
func TestWhatOnlyTheSearchRefutesIsAFinding(t *testing.T) {
	recording := parseTape(t, `
		1 ok 1-9: r! 7 nil; w 7 10
		2 ok 1-9: w 1 1; w 2 1
		3 ok 1-9: w 1 2; w 2 2
		4 ok 1-9: r! 7 10; r! 8 nil; w 8 20
		5 ok 1-9: r 1 1; r 2 2
		6 ok 10-11: r! 8 20; w 8 21
		7 fail 10-11: w 1 3
	`)
	r := &run{
		backend:  onTape{server: history.Server{DBMS: history.MySQL, Version: "9.7.0"}},
		settings: Settings{Level: corpus.RepeatableRead, Workload: "register", Found: t.TempDir()},
		workload: registers{}, begun: time.Now(), database: "x",
	}
	j, err := newJudge(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.isolation(&epoch{number: 3}, inOrder([]*tape{recording})); err != nil {
		t.Fatal(err)
	}
	if len(j.undecided) > 0 || len(j.findings) != 1 {
		t.Fatalf("undecided %v, findings %v", j.undecided, j.findings)
	}
	f := j.findings[0]
	if f.Kind != string(model.Unorderable) || f.Model != model.Serializable || f.Epoch != 3 || f.Transactions != 3 {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(strings.Join(f.Says, " "), "order of the writes") {
		t.Errorf("says %q", f.Says)
	}
	h, err := kv.LoadFile(f.File, "")
	if err != nil {
		t.Fatal(err)
	}
	res, err := infer.Check(h, infer.Options{Models: []model.Model{f.Model}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Verdicts[f.Model] != infer.Fails {
		t.Errorf("the file: %v", res.Verdicts)
	}
}
