package export

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestReplicaReadInEveryForm: what was read on a replica is told as a race there, with the sentence of the manual.
func TestReplicaReadInEveryForm(t *testing.T) {
	for _, form := range []string{"markdown", "bugs.mysql", "two-terminals"} {
		tl := onCluster(t, oracle.ReplicaRead)
		const of = "asynchronous replica, binlog_format=ROW"
		tl.History.Cluster, tl.History.Server.DBMS = nil, history.MySQL
		tl.History.Reads = &history.ReplicaReads{Promise: history.ReplicaPromise{Form: of, Quote: "none of it", Cite: "there"}}
		tl.History.Replica = &history.ReplicaTrouble{
			Form: of, Read: &history.WrongRead{Shape: history.ReadBack, Session: 1, Read: "t: (1)", Before: "t: (2)"},
		}
		tl.Verdict.Actual = tl.History.Replica.Actual()
		files, err := Write(tl, form, Test)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		want := []string{"again and again", "It is a race"}
		if form != "two-terminals" {
			want = append(want, "reads t: (1), and had read t: (2) before: it goes back", "ROW replica shows what it should not", "none of it")
		}
		for _, w := range want {
			if !strings.Contains(string(files.Text), w) {
				t.Errorf("%s: no %q in\n%s", form, w, files.Text)
			}
		}
	}
}

// TestReplicaIsNoTest: a test that looks at one server alone is refused for what is wrong on a replica.
func TestReplicaIsNoTest(t *testing.T) {
	for _, kind := range []oracle.Kind{oracle.ReplicaRead, oracle.ReplicaDiffers, oracle.ReplicaStopped} {
		for _, form := range onlySend {
			tl := onCluster(t, kind)
			tl.History.Cluster = nil
			if _, err := Write(tl, form, Test); err == nil || !strings.Contains(err.Error(), errReplica.Error()) {
				t.Errorf("%s, %s: %v", kind, form, err)
			}
		}
	}
}
