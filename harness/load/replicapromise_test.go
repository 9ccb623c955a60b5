package load_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// described is a primary of which nothing is known but what it is.
type described struct {
	harness.Replicated
	dbms     history.DBMS
	kind     harness.TopologyKind
	settings map[string]string
}

func (d *described) Server() history.Server { return history.Server{DBMS: d.dbms} }

func (d *described) Topology() harness.Topology {
	return harness.Topology{Kind: d.kind, Form: "form", Settings: d.settings}
}

// TestReplicaPromise looks that what is read on replicas is judged by what the manuals promise of them.
func TestReplicaPromise(t *testing.T) {
	of := func(name, value string) map[string]string { return map[string]string{name: value} }
	const order = "replica_preserve_commit_order"
	const sync = "synchronous_commit"
	for _, c := range []struct {
		described
		ordered, fresh bool
	}{
		{described{dbms: history.MySQL, kind: harness.AsyncReplica, settings: of(order, "ON")}, true, false},
		{described{dbms: history.MySQL, kind: harness.AsyncReplica, settings: of(order, "OFF")}, false, false},
		{described{dbms: history.MariaDB, kind: harness.AsyncReplica}, true, false},
		{described{dbms: history.PostgreSQL, kind: harness.PhysicalStandby, settings: of(sync, "on")}, true, false},
		{described{dbms: history.PostgreSQL, kind: harness.PhysicalStandby, settings: of(sync, "remote_apply")}, true, true},
	} {
		p := load.ReplicaPromise(&c.described)
		if p == nil || p.Ordered != c.ordered || p.Fresh != c.fresh || p.Says == "" || p.Quote == "" || p.Cite == "" {
			t.Errorf("%s %s %v: %+v", c.dbms, c.kind, c.settings, p)
		}
	}
	if p := load.ReplicaPromise(&described{dbms: history.MariaDB, kind: "another"}); p != nil {
		t.Errorf("of what nothing is known: %+v", p)
	}
}
