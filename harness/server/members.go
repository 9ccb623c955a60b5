package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/network"
)

// members are private servers that form one cluster. What a Backend does the first node does; all start and end
// together.
type members struct {
	*private
	all []*private // the first one, too
	by  *joining
	to  bond
	// port is where clients reach the first node; 0: a drawn one, if it needs any.
	port int
	// at is how the nodes were wired last.
	at wiring
	between
}

var _ harness.Clustered = (*members)(nil)

// bond is how nodes become a cluster.
type bond interface {
	// template returns the data directory that all nodes begin with.
	template(ctx context.Context, o harness.Options) (string, error)
	// portsEach is how many ports a node listens on.
	portsEach() int
	// arm prepares the start of a node of a cluster.
	arm(b *private, at wiring, i int)
	// join makes one cluster of nodes that have started.
	join(ctx context.Context, m *members) error
	// rearm prepares the start of a node that comes back to its cluster with the data that it had.
	rearm(b *private, at wiring, i int)
	// belongs tells what a node that answers lacks to be one of so many that take part; empty: nothing. out: it will not
	// become one by itself.
	belongs(ctx context.Context, s *side, size int) (lacks string, out bool, err error)
	// comeBack tells a node that is out to join again.
	comeBack(ctx context.Context, s *side) error
	// restore gives the first node of a whole cluster back what it does in the topology.
	restore(ctx context.Context, first *side) error
	// notice is how long the others need to take a node for lost.
	notice() time.Duration
	// decisive are the settings that decide what is promised between the nodes.
	decisive() []string
}

// wiring is where the nodes of one cluster find each other. Another cluster of this machine may have had the ports
// before, so it has names of its own, by which others tell the two apart, too.
type wiring struct {
	name  string
	group string  // a UUID
	ports [][]int // of each node
	// login is how clients, and the nodes where they need it, get in.
	login *mysql.Config
	// apart: each node has an address of its own.
	apart bool
}

// newWiring names a new cluster.
func newWiring(ports [][]int) wiring {
	return wiring{name: "txnfuzz-" + strings.ToLower(rand.Text()[:12]), group: randomUUID(), ports: ports}
}

// randomUUID is one of version 4: https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-4
func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (w wiring) address(node, port int) string {
	return net.JoinHostPort(w.host(node), strconv.Itoa(w.ports[node][port]))
}

func (w wiring) host(node int) string {
	if w.apart {
		return network.Address(node)
	}
	return "127.0.0.1"
}

// openMembers starts a cluster.
func openMembers(ctx context.Context, s spec, o harness.Options) (harness.Backend, error) {
	if o.PowerLoss {
		return nil, &harness.NameError{Err: errClusterPower}
	}
	m, err := newMembers(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if o.Progress != nil {
		fmt.Fprintf(o.Progress, "starting a %s, of %s %s\n", s.joins.words(), m.in.family, m.in.version)
	}
	if err := m.assemble(ctx, (*private).begin); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// newMembers finds what a cluster is made of. None of its nodes runs yet.
func newMembers(ctx context.Context, s spec, o harness.Options) (*members, error) {
	m := &members{by: s.joins, port: o.Port}
	in, err := s.joins.find(ctx, s)
	if err != nil {
		return nil, err
	}
	if m.to, err = s.joins.bond(in, s); err != nil {
		return nil, err
	}
	template, err := m.to.template(ctx, o)
	if err != nil {
		return nil, err
	}
	for range s.joins.nodes {
		m.all = append(m.all, &private{spec: s, in: in, template: template, parent: o.Dir, durable: o.Durable})
	}
	if err := m.separate(len(m.all), o); err != nil {
		return nil, err
	}
	m.private = m.all[0]
	return m, nil
}

// assemble wires all nodes anew, starts them at a time, and makes them one cluster.
func (m *members) assemble(ctx context.Context, start func(*private, context.Context) error) error {
	each := m.to.portsEach()
	ports, err := portsToListen(each * len(m.all))
	if err != nil {
		return err
	}
	at := newWiring(slices.Collect(slices.Chunk(ports, each)))
	at.apart = m.network != nil
	if m.port != 0 {
		at.ports[0][0] = m.port
	}
	at.login = portConfig(at.ports[0][0])
	for i, b := range m.all {
		b.port, b.extra, b.part = 0, nil, part{asks: m.to.decisive()}
		if i == 0 {
			b.port = m.port
		}
		m.to.arm(b, at, i)
		m.enter(b, i)
	}
	m.at = at
	// A node that cannot start leaves the others waiting for it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var starting sync.WaitGroup
	errs := make([]error, len(m.all))
	for i, b := range m.all {
		starting.Go(func() {
			if errs[i] = start(b, ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	starting.Wait()
	if err := first(errs); err != nil {
		return err
	}
	if err := m.to.join(ctx, m); err != nil {
		return fmt.Errorf("make one cluster of %d nodes: %w\n%s", len(m.all), err, m.Log())
	}
	return nil
}

// first returns the error that made the others give up.
func first(errs []error) error {
	var canceled error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			canceled = err
		default:
			return fmt.Errorf("node %d of %d: %w", i+1, len(errs), err)
		}
	}
	return canceled
}

// Topology implements harness.Clustered.
func (m *members) Topology() harness.Topology {
	t := harness.Topology{Kind: m.by.kind, Form: m.by.words(), Settings: map[string]string{}}
	for _, name := range m.to.decisive() {
		if v, ok := m.server.Settings[name]; ok {
			t.Settings[name] = v
		}
	}
	for i, b := range m.all {
		role := harness.Member
		if m.by.kind == harness.GroupSingle {
			if role = harness.Replica; i == 0 {
				role = harness.Primary
			}
		}
		t.Nodes = append(t.Nodes, harness.Node{Name: nodeName(i), Role: role, Backend: b})
	}
	return t
}

func nodeName(i int) string { return "node" + strconv.Itoa(i+1) }

// Levels returns the isolation levels at which all nodes let transactions commit.
func (m *members) Levels() []corpus.Level { return m.by.kind.Levels(m.private.Levels()) }

// Alive tells which node died, or does not answer.
func (m *members) Alive(ctx context.Context) error {
	for i, b := range m.all {
		if err := b.Alive(ctx); err != nil {
			return fmt.Errorf("%s: %w", nodeName(i), err)
		}
	}
	return nil
}

// Log returns the end of all error logs.
func (m *members) Log() string {
	var all strings.Builder
	for i, b := range m.all {
		if b.started() {
			fmt.Fprintf(&all, "%s:\n%s", nodeName(i), b.Log())
		}
	}
	return all.String()
}

// LogProblems returns what any node complained of.
func (m *members) LogProblems() []string {
	var all []string
	for _, b := range m.all {
		all = append(all, b.LogProblems()...)
	}
	return all
}

// Restart replaces all nodes by fresh ones, which are another cluster.
func (m *members) Restart(ctx context.Context) error {
	if m.port != 0 {
		port, err := portToListen() // the old first node still listens on its own
		if err != nil {
			return err
		}
		m.port = port
	}
	return m.assemble(ctx, (*private).Restart)
}

// Close ends all nodes.
func (m *members) Close() error {
	errs := make([]error, len(m.all))
	var ending sync.WaitGroup
	for i, b := range m.all {
		if b.started() {
			ending.Go(func() { errs[i] = b.Close() })
		}
	}
	ending.Wait()
	return errors.Join(append(errs, m.between.end())...)
}

// started says that there is an instance, dead or alive.
func (r *running) started() bool { return r.instance() != nil }
