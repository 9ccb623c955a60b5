package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// node is one server of a topology in a run.
type node struct {
	harness.Node
	dial dial
	// level is that of its clients: on a replica none that has plain SELECTs lock.
	level corpus.Level
	// control reads all keys when an epoch ends. It is one goroutine's.
	control *session
	// waits: on this session a read waits for all that was committed elsewhere before.
	waits bool
}

// cluster is what a run knows of a topology.
type cluster struct {
	kind  harness.TopologyKind
	form  string
	nodes []*node
	// follower tells how far the replica is; nil: this process has not started it.
	follower harness.Follower
	// writers is how many clients do not only read.
	writers int64
	promise across
	// router has clients that write follow elections; nil: they stay on their nodes.
	router *router
	// equal is what is promised of nodes behind which nothing is left to apply.
	equal string
	// survival is what is promised of what a server has acknowledged that fails then.
	survival survival
}

// readersOf is of how many clients one reads on replicas, if there are any.
const readersOf = 3

// replicaLevel is the level of sessions on a replica. At SERIALIZABLE the plain SELECTs of MySQL and MariaDB lock, so
// that whatever applies changes would wait for them, and PostgreSQL refuses it on a standby.
// https://www.postgresql.org/docs/current/hot-standby.html
func replicaLevel(l corpus.Level) corpus.Level {
	if l == corpus.Serializable {
		return corpus.RepeatableRead
	}
	return l
}

// topologyOf returns that of a backend; ok is false where it is one server.
func topologyOf(b harness.Backend) (t harness.Topology, ok bool) {
	c, ok := b.(harness.Clustered)
	if !ok {
		return t, false
	}
	t = c.Topology()
	return t, len(t.Nodes) > 1
}

// checkNodes reports settings that a topology does not take.
func (s *Settings) checkNodes(b harness.Backend) error {
	t, ok := topologyOf(b)
	if !ok {
		return nil
	}
	if w := invariant.Find(s.Workload); w != nil && !w.ReadsAlone() {
		readable := slices.DeleteFunc(AllWorkloads(), func(name string) bool {
			w := invariant.Find(name)
			return w != nil && !w.ReadsAlone()
		})
		return fmt.Errorf("workload %s: none of its reads shows by itself that something is wrong, so nobody could read "+
			"on another node; want one of %s", w.Name, strings.Join(readable, ", "))
	}
	if s.Clients < len(t.Nodes) {
		return fmt.Errorf("--clients %d: %s has %d nodes, and each is to have a client", s.Clients, s.Target, len(t.Nodes))
	}
	if a := promisedAcross(t, b.Server(), s.Level); a.refused {
		return fmt.Errorf("%s does not take transactions at level %s: %q (%s)", s.Target, s.Level.Short(), a.quote, a.cite)
	}
	return s.checkBreaking(b)
}

// gather prepares the nodes of a topology, if the backend is one.
func (r *run) gather(ctx context.Context) error {
	t, ok := topologyOf(r.backend)
	if !ok {
		return nil
	}
	x := &cluster{
		kind: t.Kind, form: t.Form, equal: equality[t.Kind], promise: promisedAcross(t, r.backend.Server(), r.settings.Level),
		survival: survivalOf(t, r.backend.Server().DBMS),
	}
	_, breaks := r.backend.(harness.Breakable)
	breaks = breaks && len(r.settings.Faults) > 0 && t.Kind.ByMajority() // one of a pair does not leave it
	r.control.away = breaks
	for _, n := range t.Nodes {
		d, err := dialOf(n.Backend)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		own := &node{Node: n, dial: d, level: r.settings.Level}
		if n.Role == harness.Replica {
			own.level = replicaLevel(own.level)
		}
		own.control = &session{dial: d, timeout: time.Minute, setup: slices.Clone(r.control.setup), away: breaks}
		x.nodes = append(x.nodes, own)
	}
	for _, n := range x.spread(r.settings.Clients) {
		if n.Role != harness.Replica {
			x.writers++
		}
	}
	r.cluster = x
	if f, ok := r.backend.(harness.Replicated); ok {
		var err error
		if x.follower, err = f.Follow(ctx); err != nil {
			return fmt.Errorf("follow a primary: %w", err)
		}
	}
	x.router = r.newRouter(t)
	return r.reach()
}

// reach waits until each node has the place of the run's tables, and lets the sessions that compare nodes wait for what
// was committed elsewhere, where a server can do that.
func (r *run) reach() error {
	x := r.cluster
	if x.follower != nil {
		if err := x.follower.CatchUp(r.life); err != nil {
			return err
		}
	}
	for _, n := range x.nodes {
		end := time.Now().Add(lagTime)
		for {
			err := n.control.connect(r.life)
			if err == nil {
				break
			}
			if r.life.Err() != nil || time.Now().After(end) {
				return fmt.Errorf("node %s: %w", n.Name, err)
			}
			lookAgain(r.life)
		}
		if x.follower != nil || r.dialect != mysqlDialect {
			continue
		}
		if q := harness.FreshReads[x.kind]; q != "" && n.control.exec(q) == nil {
			n.waits = true
			n.control.setup = append(n.control.setup, q)
		}
	}
	if first := x.nodes[0]; first.waits { // what ends an epoch is read there, and may have been written elsewhere
		r.control.setup = first.control.setup
		r.control.close()
	}
	return nil
}

const (
	// lagTime is what a node may need to come as far as the others when nothing else is done.
	lagTime = 30 * time.Second
	// lookEvery is how soon a node that cannot be waited for is looked at again.
	lookEvery = 5 * time.Millisecond
)

// lookAgain waits a moment before another look.
func lookAgain(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(lookEvery):
	}
}

// close ends what gather has begun.
func (x *cluster) close() error {
	if x == nil {
		return nil
	}
	for _, n := range x.nodes {
		n.control.close()
	}
	if x.follower != nil {
		return x.follower.Close()
	}
	return nil
}

// spread tells on which node each client works. Those on replicas only read.
func (x *cluster) spread(clients int) []*node {
	var writing, reading []*node
	for _, n := range x.nodes {
		if n.Role == harness.Replica {
			reading = append(reading, n)
		} else {
			writing = append(writing, n)
		}
	}
	readers := 0
	if len(reading) > 0 {
		readers = min(clients-len(writing), max(len(reading), (clients+readersOf-1)/readersOf))
	}
	out := make([]*node, clients)
	for i := range out {
		if w := clients - readers; i < w {
			out[i] = writing[i%len(writing)]
		} else {
			out[i] = reading[(i-w)%len(reading)]
		}
	}
	return out
}

// clientsOn names the node of each client.
func (x *cluster) clientsOn(clients int) (names []string) {
	if x == nil {
		return nil
	}
	for _, n := range x.spread(clients) {
		names = append(names, n.Name)
	}
	return names
}

// others are all nodes but the first, on which the run's own session works.
func (x *cluster) others() []*node {
	if x == nil {
		return nil
	}
	return x.nodes[1:]
}

// first names the node on which the run's own session works; empty: there is one server.
func (x *cluster) first() string {
	if x == nil {
		return ""
	}
	return x.nodes[0].Name
}

// header is how a history tells of the nodes.
func (x *cluster) header() (form string, nodes []kv.Node) {
	if x == nil {
		return "", nil
	}
	for _, n := range x.nodes {
		nodes = append(nodes, kv.Node{Name: n.Name, Role: string(n.Role)})
	}
	return x.form, nodes
}

// newTapes returns those of an epoch: one for each client, one for each node but the first, that of the
// backups if there are any, and that of the reader.
func (r *run) newTapes() []*tape {
	others := r.cluster.others()
	n := r.settings.Clients + len(others) + 1
	if r.settings.Backup != "" {
		n++
	}
	tapes := make([]*tape, n)
	for i := range tapes {
		tapes[i] = &tape{node: r.cluster.first()}
	}
	if r.settings.Backup != "" {
		tapes[n-2].node, tapes[n-2].copied = string(r.settings.Backup), r.settings.Backup.Copies()
	}
	if r.cluster == nil {
		return tapes
	}
	at := append(r.cluster.spread(r.settings.Clients), others...)
	for i, n := range at {
		tapes[i].node, tapes[i].replica = n.Name, n.Role == harness.Replica
	}
	return tapes
}

// readerLead is how many times as many transactions as a client that writes one that reads may have in an epoch: reads
// are faster, and the epoch is to have its writes.
const readerLead = 2

// keepPace has a client that only reads wait for those that write.
func (c *client) keepPace(e *epoch, t *tape) {
	for !e.over.Load() && int64(len(t.txns)) > 1+readerLead*e.sent.Load()/c.run.cluster.writers {
		select {
		case <-e.ended:
		case <-time.After(lookEvery):
		}
	}
}

// goTo has a client work on a node. rest is what its sessions begin with behind their level.
func (c *client) goTo(n *node, rest []string) {
	c.node = n
	d := c.run.dialect
	c.session.dial = c.run.clientDial(c.number, n.dial)
	c.session.away = c.run.control.away
	c.session.setup = append([]string{d.level + n.level.String()}, rest...)
	if n.Role != harness.Replica {
		if c.routed = c.run.cluster.router; c.routed != nil {
			c.session.dial = c.run.clientDial(c.number, c.routed.dials(slices.Index(c.routed.nodes, n)))
		}
		return
	}
	c.chooser.readsOnly, c.chooser.chained = true, false
	s := &c.run.settings
	opened, _ := openingsFor(s.Openings, s.Workload, n.Backend.Server().DBMS, n.level) // none: they are of writers
	c.openings = slices.DeleteFunc(opened, func(o *opening) bool { return o.name == OpenSavepoint })
	if len(c.openings) == 0 {
		c.openings = []*opening{&openings[0]}
	}
}

// catchUp waits until all nodes hold the rows with which an epoch begins. stop says that one does not come to that.
func (r *run) catchUp(e *epoch) (stop bool, err error) {
	switch {
	case r.cluster == nil:
		return false, nil
	case r.cluster.follower != nil:
		e.stop, err = r.followed()
		return e.stop != nil, err
	}
	err = r.hold(e)
	if r.invariant == nil {
		for i := range r.cluster.others() {
			e.tapes[r.settings.Clients+i].reset() // nobody reads it
		}
	}
	return e.stop != nil || len(e.differ) > 0 || len(e.wrong) > 0, err
}

// followed waits until the replica that this process has started is as far as its primary; it has nothing to wait for
// where there is none. stop is what the replica has stopped with.
func (r *run) followed() (stop *harness.StoppedError, err error) {
	if r.cluster.follower == nil {
		return nil, nil
	}
	err = r.cluster.follower.CatchUp(r.life)
	if errors.As(err, &stop) {
		return stop, nil
	}
	return nil, err
}
