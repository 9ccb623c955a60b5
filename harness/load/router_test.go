package load

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// elections are members of a group that tell what a test has them tell.
type elections struct {
	harness.Electing
	primary atomic.Int32 // -1: none is known
}

func (e *elections) Primary(context.Context) (int, bool) {
	n := int(e.primary.Load())
	return n, n >= 0
}

// silent is a node on whose connections nothing is ever answered.
type silent struct {
	harness.Wired
	dialed atomic.Int32
	called chan struct{} // a token for each time
}

func (s *silent) Server() history.Server { return history.Server{DBMS: history.MySQL} }
func (s *silent) Config() *mysql.Config  { return mysql.NewConfig() }

func (s *silent) Dial(context.Context) (net.Conn, error) {
	s.dialed.Add(1)
	s.called <- struct{}{}
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there) }()
	return here, nil
}

// isCalled waits until a client connects.
func (s *silent) isCalled(t *testing.T, what string) {
	t.Helper()
	select {
	case <-s.called:
	case <-time.After(10 * time.Second):
		t.Fatalf("never came: %s", what)
	}
}

// TestRouter: a client that waits for the answer of a broken primary goes to the elected one, and back; what it does is
// told of the node that it is on.
func TestRouter(t *testing.T) {
	members := &elections{}
	// More tokens than a client that tries every tenth of a second spends in this test.
	first, second := &silent{called: make(chan struct{}, 1000)}, &silent{called: make(chan struct{}, 1000)}
	nodes := []*node{
		{Node: harness.Node{Name: "node1", Role: harness.Primary, Backend: first}},
		{Node: harness.Node{Name: "node2", Role: harness.Replica, Backend: second}},
	}
	x := &router{members: members, nodes: nodes, lines: []*lines{{}, {}}}
	r := &run{settings: Settings{Clients: 1, Timeout: time.Minute}}
	c := &client{run: r, routed: x, node: nodes[0], session: &session{timeout: time.Minute, away: true, dial: x.dials(0)}}
	record := func(tp *tape, unsure bool, kinds ...kv.Kind) event {
		for _, k := range kinds {
			tp.add(kv.RecordOp{Kind: k, Key: 1, Val: 1}, plain)
		}
		tp.end(1, 1, 2, kv.OK)
		if unsure {
			tp.setAside()
		}
		return event{tp, &tp.txns[len(tp.txns)-1]}
	}

	if end := x.watch(t.Context(), 1); x.unsure.Load() || end() != "" {
		t.Error("a secondary that is broken changes who takes writes")
	}
	members.primary.Store(-1)
	end := x.watch(t.Context(), 0)
	if !c.unsure() {
		t.Error("the primary is broken, and reads count as those of one")
	}
	tp := &tape{}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- c.connected(ctx, tp) }()
	first.isCalled(t, "the client asks the broken primary")
	members.primary.Store(1)
	second.isCalled(t, "the client asks the elected one")
	cancel()
	x.lines[1].cut()
	if err := <-done; err == nil || first.dialed.Load() != 1 {
		t.Errorf("%v after %d connections to the broken node", err, first.dialed.Load())
	}
	write, read := record(tp, true, kv.Append), record(tp, true, kv.ReadList)
	if write.record().Node != "node2" || write.behind() || !read.behind() || record(tp, false, kv.ReadList).behind() {
		t.Errorf("told of %s; a write is aside: %t, a read: %t", write.record().Node, write.behind(), read.behind())
	}
	if who := end(); who != "node2" || c.unsure() {
		t.Errorf("elected was %q; unsure: %t", who, c.unsure())
	}
	c.follow(tp)
	if back := record(tp, false, kv.Append).record(); back.Node != "node1" || c.node != nodes[0] {
		t.Errorf("behind the fault what was done is told of %s", back.Node)
	}
}

// TestElects: writers follow where the manual promises of an elected primary what it promises of one that stays.
func TestElects(t *testing.T) {
	for _, x := range []struct {
		kind        harness.TopologyKind
		consistency string
		want        bool
	}{
		{harness.GroupSingle, "BEFORE_ON_PRIMARY_FAILOVER", true}, {harness.GroupSingle, "AFTER", true},
		{harness.GroupSingle, "eventual", false}, {harness.GroupMulti, "BEFORE", false}, {harness.Galera, "", false},
	} {
		settings := map[string]string{"group_replication_consistency": x.consistency}
		if got := elects(harness.Topology{Kind: x.kind, Settings: settings}); got != x.want {
			t.Errorf("%s, %s: %t", x.kind, x.consistency, got)
		}
	}
}
