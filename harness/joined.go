package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Membership is what a server tells of the topology that it is part of.
type Membership struct {
	// Kind is what the server is configured for, empty where it knows of no other nodes. A server does not tell
	// whether others replicate from it.
	Kind TopologyKind
	// Group tells one cluster from another, where the server knows of one.
	Group string
	// ReadOnly says that the server takes no writes.
	ReadOnly bool
	// Settings are those of Topology.Settings.
	Settings map[string]string
}

// Joiner is implemented by a Backend of a server that runs already and can be asked for its topology. To ask changes
// nothing there.
type Joiner interface {
	Membership(ctx context.Context) (Membership, error)
}

// Join makes one Clustered of servers that run already, which stay as they are: there is no fault and no restart. What
// a Backend does the first node does, which must not be a Replica. It asks each node what it is, and fails where a node
// belongs to another cluster, or takes no writes although it is to. Close closes all.
func Join(ctx context.Context, nodes []Node) (Clustered, error) {
	t := Topology{Nodes: nodes, Settings: map[string]string{}}
	first := nodes[0].Backend
	group := ""
	for i, n := range nodes {
		if got, want := n.Backend.Server().DBMS, first.Server().DBMS; got != want {
			return nil, fmt.Errorf("%s is %s, and %s is %s: want nodes of one cluster", nodes[0].Name, want, n.Name, got)
		}
		j, ok := n.Backend.(Joiner)
		if !ok {
			return nil, fmt.Errorf("%s cannot be asked what it replicates", n.Name)
		}
		m, err := j.Membership(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask %s what it is in its topology: %w", n.Name, err)
		}
		if m.ReadOnly && n.Role != Replica {
			return nil, fmt.Errorf("%s takes no writes: name it as a replica, with ro: before its DSN", n.Name)
		}
		switch {
		case i == 0:
			t.Kind, group = m.Kind, m.Group
		case m.Kind != t.Kind || m.Group != group:
			return nil, fmt.Errorf("%s and %s belong to different clusters (%s; %s)", nodes[0].Name, n.Name,
				described(t.Kind, group), described(m.Kind, m.Group))
		}
		for name, value := range m.Settings {
			if _, told := t.Settings[name]; !told || n.Role == Replica {
				t.Settings[name] = value
			}
		}
	}
	if t.Kind == "" {
		t.Kind = replicated(nodes)
	}
	t.Form = fmt.Sprintf("%d servers that run already, %s", len(nodes), described(t.Kind, ""))
	j := joined{first, t}
	if w, ok := first.(Wired); ok {
		return &joinedWired{w, j}, nil
	}
	if d, ok := first.(Database); ok {
		return &joinedDatabase{d, j}, nil
	}
	return nil, errors.New("the first node has no sessions")
}

// replicated is the kind of a topology in which one node takes writes and none knows of a cluster.
func replicated(nodes []Node) TopologyKind {
	for _, n := range nodes[1:] {
		if n.Role != Replica {
			return ""
		}
	}
	if _, speaks := nodes[0].Backend.(Wired); speaks {
		return AsyncReplica
	}
	return PhysicalStandby
}

func described(k TopologyKind, group string) string {
	switch {
	case k == "":
		return "of no cluster that they know"
	case group == "":
		return string(k)
	}
	return string(k) + " " + group
}

// joined is what Join adds to the first node.
type joined struct {
	first    Backend
	topology Topology
}

func (j *joined) Topology() Topology { return j.topology }

// Tenant implements Tenant: the servers outlive this process.
func (j *joined) Tenant() {}

// Levels implements LevelLister.
func (j *joined) Levels() []corpus.Level { return j.topology.Kind.Levels(LevelsOf(j.first)) }

// Doubtful implements Doubter.
func (j *joined) Doubtful() []string {
	if d, ok := j.first.(Doubter); ok {
		return d.Doubtful()
	}
	return nil
}

func (j *joined) Alive(ctx context.Context) error {
	for _, n := range j.topology.Nodes {
		if err := n.Backend.Alive(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

func (j *joined) Close() error {
	var errs []error
	for _, n := range j.topology.Nodes {
		errs = append(errs, n.Backend.Close())
	}
	return errors.Join(errs...)
}

// joinedWired and joinedDatabase are joined servers of MySQL's protocol and of others.
type (
	joinedWired struct {
		Wired
		joined
	}
	joinedDatabase struct {
		Database
		joined
	}
)

var (
	_ Clustered = (*joinedWired)(nil)
	_ Wired     = (*joinedWired)(nil)
	_ Clustered = (*joinedDatabase)(nil)
	_ Database  = (*joinedDatabase)(nil)
	_ Tenant    = (*joinedWired)(nil)
)

func (j *joinedWired) Alive(ctx context.Context) error { return j.joined.Alive(ctx) }
func (j *joinedWired) Close() error                    { return j.joined.Close() }

func (j *joinedDatabase) Alive(ctx context.Context) error { return j.joined.Alive(ctx) }
func (j *joinedDatabase) Close() error                    { return j.joined.Close() }
