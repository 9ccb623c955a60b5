package export

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// onCluster is told on a cluster, as a finding of a kind.
func onCluster(t *testing.T, kind oracle.Kind) *timeline.Timeline {
	tl := told(t)
	tl.History.Cluster = &history.Cluster{Form: "Group Replication with 2 members", Members: []string{"node1", "node2"}}
	tl.Verdict.Kind = kind
	if !kind.OfReplica() {
		return tl
	}
	tl.Moments[0].Differs, tl.Account.Wrong, tl.Account.Steps[0] = false, -1, oracle.Step{Kind: "SELECT"}
	tl.Verdict.Expected, tl.Verdict.Actual = "all is well", "all is lost"
	if kind == oracle.NodesDiffer {
		tl.History.Replica = &history.ReplicaTrouble{Form: tl.History.Cluster.Form, First: "node1", Node: "node2", Table: "t"}
	}
	return tl
}

// TestClusterInEveryForm: a finding on a cluster, of whatever kind, says which session is on which member, and a test that
// would send all statements to one server is refused.
func TestClusterInEveryForm(t *testing.T) {
	for kind, want := range map[oracle.Kind][]string{
		"unexpected-error":    {"Group Replication with 2 members: SELECT at", "tx1, step 1"},
		oracle.NodesDiffer:    {"Group Replication with 2 members: members silently hold different rows", "On node2", "compare the tables"},
		oracle.ReplicaStopped: {"Group Replication with 2 members: a member leaves", "In the cluster", "are members still"},
	} {
		for _, form := range []string{"markdown", "bugs.mysql", "two-terminals", "mtr", "go", "isolationtester"} {
			files, err := Write(onCluster(t, kind), form, Test)
			if slices.Contains(onlySend, form) {
				if err == nil || !strings.Contains(err.Error(), errMembers.Error()) {
					t.Errorf("%s, %s: %v", kind, form, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", kind, form, err)
				continue
			}
			all := append([]string{"It takes a Group Replication with 2 members: tx1 on node1"}, want...)
			if form == "bugs.mysql" {
				all = append(all, "Category: MySQL Server: Group Replication\n")
			}
			if form == "two-terminals" { // which has no words on what goes wrong
				all = slices.Delete(all, 2, 3)
			}
			for _, w := range all {
				if !strings.Contains(string(files.Text), w) {
					t.Errorf("%s, %s: no %q in\n%s", kind, form, w, files.Text)
				}
			}
			if strings.Contains(string(files.Text), "eplica:") || strings.Contains(string(files.Text), "the replica") {
				t.Errorf("%s, %s: speaks of a replica:\n%s", kind, form, files.Text)
			}
		}
	}
	tl := onCluster(t, "unexpected-error")
	tl.History.Server.DBMS = history.MariaDB
	if files, err := Write(tl, "jira", Test); err != nil || !strings.Contains(string(files.Text), "Component/s: Galera\n") {
		t.Errorf("%v\n%s", err, files.Text)
	}
}
