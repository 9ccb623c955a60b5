package load

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// TestSurvival: of each topology it is known what is promised of a node that fails, and where a standby has received
// what is acknowledged.
func TestSurvival(t *testing.T) {
	for _, c := range []struct {
		kind     harness.TopologyKind
		dbms     history.DBMS
		sync     string
		received bool
	}{
		{harness.Galera, history.MariaDB, "", false}, {harness.GroupSingle, history.MySQL, "", false},
		{harness.GroupMulti, history.MySQL, "", false}, {harness.AsyncReplica, history.MySQL, "", false},
		{harness.AsyncReplica, history.MariaDB, "", false}, {harness.PhysicalStandby, history.PostgreSQL, "local", false},
		{harness.PhysicalStandby, history.PostgreSQL, "on", true},
		{harness.PhysicalStandby, history.PostgreSQL, "remote_apply", true},
	} {
		s := survivalOf(harness.Topology{Kind: c.kind, Settings: map[string]string{"synchronous_commit": c.sync}}, c.dbms)
		if s.says == "" || s.received != c.received {
			t.Errorf("%+v: %q, received %v", c, s.says, s.received)
		}
	}
	if s := survivalOf(harness.Topology{}, history.MySQL); s.says != "" {
		t.Errorf("of an unknown topology: %q", s.says)
	}
}

// TestReceived: what a standby must hold of a primary that was killed is what was acknowledged before.
func TestReceived(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kv.Workload
		txns string // the last is the read
		dead int64
		lost int
	}{
		{"all is there", kv.ListAppend, `1 ok 1-2: append 1 5
			0 ok 8-9: r 1 [5]`, 4, 0},
		{"one is lost", kv.ListAppend, `1 ok 1-2: append 1 5
			0 ok 8-9: r 1 []`, 4, 1},
		{"one is acknowledged later", kv.ListAppend, `1 ok 1-6: append 1 5
			0 ok 8-9: r 1 []`, 4, 0},
		{"the last value is lost", kv.Register, `1 ok 1-2: w 1 5
			2 ok 3-4: w 1 6
			0 ok 8-9: r 1 5`, 5, 1},
		{"the last value came later", kv.Register, `1 ok 1-2: w 1 5
			2 ok 3-7: w 1 6
			0 ok 8-9: r 1 5`, 5, 0},
		{"a later one is there", kv.Register, `1 ok 1-2: w 1 5
			2 ok 3-7: w 1 6
			0 ok 8-9: r 1 6`, 5, 0},
	} {
		tp := parseTape(t, c.txns)
		var events []event
		for i := range tp.txns {
			events = append(events, event{tp, &tp.txns[i]})
		}
		last := len(events) - 1
		if got := lost(c.kind, acknowledgedBefore(events[:last], c.dead), events[last]); len(got) != c.lost {
			t.Errorf("%s: %v, want %d", c.name, got, c.lost)
		}
	}
}

// TestRestarted: only where a replica was started again may it show less than what was acknowledged.
func TestRestarted(t *testing.T) {
	x := &cluster{nodes: []*node{
		{Node: harness.Node{Name: "primary", Role: harness.Primary}},
		{Node: harness.Node{Name: "standby", Role: harness.Replica}},
	}}
	for _, c := range []struct {
		faults []Fault
		want   bool
	}{
		{nil, false}, {[]Fault{{Kind: Kill, Node: "primary"}}, false},
		{[]Fault{{Kind: Pause, Node: "standby"}, {Kind: Partition, Node: "standby"}}, false},
		{[]Fault{{Kind: Pause, Node: "standby"}, {Kind: Kill, Node: "standby"}}, true},
	} {
		if got := x.restarted(c.faults); got != c.want {
			t.Errorf("%v: %v", c.faults, got)
		}
	}
}
