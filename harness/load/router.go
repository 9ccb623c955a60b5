package load

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// router sends the clients that write to the node that takes writes, as MySQL Router does: it asks the members of a
// group which one that is, and closes the connections to one that is it no more.
type router struct {
	members harness.Electing
	nodes   []*node
	lines   []*lines     // of the clients that write, by node
	at      atomic.Int32 // which node takes writes
	// unsure: the primary is broken, or another one was elected. A client may be on one that is the primary no more, and
	// read what is old there.
	unsure atomic.Bool
}

// elects says that a group promises of an elected primary what it promises of one that stays: a transaction on it sees
// all that the one before had committed. That is not so with EVENTUAL.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-consistency-guarantees.html
func elects(t harness.Topology) bool {
	return t.Kind == harness.GroupSingle && !strings.EqualFold(t.Settings["group_replication_consistency"], "EVENTUAL")
}

// newRouter returns nil where clients stay on their nodes.
func (r *run) newRouter(t harness.Topology) *router {
	b, ok := r.backend.(harness.Electing)
	if !ok || len(r.settings.Faults) == 0 || !elects(t) {
		return nil
	}
	x := &router{members: b, nodes: r.cluster.nodes}
	for range x.nodes {
		x.lines = append(x.lines, &lines{})
	}
	return x
}

// lines are connections that another goroutine may close.
type lines struct {
	mu   sync.Mutex
	open []net.Conn
}

// add takes a new connection, and closes it if by now there is to be none.
func (l *lines) add(c net.Conn, wanted func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open = append(l.open, c); !wanted() {
		_ = c.Close()
	}
}

// cut closes all of them, those that were closed before once more.
func (l *lines) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = l.open[:0]
}

const (
	// routeEvery is how soon the members are asked again while one of them is broken.
	routeEvery = 100 * time.Millisecond
	// oneTry is how long a client tries to reach a node before it looks whether that is still the right one.
	oneTry = 100 * time.Millisecond
)

// watch follows elections while a node is broken, until what it returns is called. That returns the name of the node
// that took writes in place of the first one; empty: none did.
func (x *router) watch(ctx context.Context, broken int) (end func() string) {
	if x == nil || broken != int(x.at.Load()) {
		return func() string { return "" }
	}
	x.unsure.Store(true)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	elected := ""
	go func() {
		defer close(done)
		for {
			if n, ok := x.members.Primary(ctx); ok {
				x.goes(n)
				if n != broken {
					elected = x.nodes[n].Name
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(routeEvery):
			}
		}
	}()
	return func() string {
		cancel()
		<-done
		x.goes(broken) // which all have agreed on
		x.unsure.Store(false)
		return elected
	}
}

// goes sends all clients that write to another node, if they are not there.
func (x *router) goes(to int) {
	if was := x.at.Swap(int32(to)); int(was) != to {
		x.lines[was].cut()
	}
}

// dials is how a client that writes connects to a node.
func (x *router) dials(n int) dial {
	opened := func(c net.Conn) { x.lines[n].add(c, func() bool { return int(x.at.Load()) == n }) }
	return mysqlDial(x.nodes[n].Backend.(harness.Wired), opened)
}

// follow has a client that writes work on the node that takes writes now.
func (c *client) follow(t *tape) {
	if c.routed == nil {
		return
	}
	at := int(c.routed.at.Load())
	if n := c.routed.nodes[at]; n != c.node {
		c.session.close()
		c.node, c.begun = n, false
		c.session.dial = c.run.clientDial(c.number, c.routed.dials(at))
	}
	t.node = c.node.Name
}

// connected connects a client to its node, or to the one that takes writes by then.
func (c *client) connected(ctx context.Context, t *tape) error {
	if c.routed == nil {
		return c.session.untilConnected(ctx, c.run.patience())
	}
	end := time.Now().Add(c.run.patience())
	for {
		c.follow(t)
		err := c.session.untilConnected(ctx, oneTry)
		if err == nil || ctx.Err() != nil || !c.session.passing(err) || time.Now().After(end) {
			return err
		}
	}
}

// unsure says that what a client reads now may be old, on a node that is not the primary any more.
func (c *client) unsure() bool { return c.routed != nil && c.routed.unsure.Load() }

// setAside marks the transaction that was recorded last, if it only read.
func (t *tape) setAside() {
	last := &t.txns[len(t.txns)-1]
	last.aside = !slices.ContainsFunc(t.ops[last.from:last.to], func(o kv.RecordOp) bool { return !o.Kind.IsRead() })
}
