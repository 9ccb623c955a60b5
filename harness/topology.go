package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Role is what a node does in a Topology.
type Role string

// The roles: a Primary takes writes, a Replica applies what was committed there, and a Member takes writes beside other
// members and applies what these have committed.
const (
	Primary Role = "primary"
	Replica Role = "replica"
	Member  Role = "member"
)

// Node is one server of a Topology.
type Node struct {
	// Name tells the nodes of a topology apart.
	Name string
	Role Role
	// Backend is how the node is reached; the Topology's owner closes it.
	Backend Backend
}

// TopologyKind is how the nodes of a Topology come to hold the same data.
type TopologyKind string

// The kinds of which something is promised between nodes. An empty one is not known.
const (
	// AsyncReplica: replicas apply the binary log of a MySQL or MariaDB.
	AsyncReplica TopologyKind = "replica"
	// PhysicalStandby: standbys replay the write-ahead log of a PostgreSQL.
	PhysicalStandby TopologyKind = "standby"
	// Galera: each node takes writes, and certifies them at COMMIT against those of the others.
	Galera TopologyKind = "galera"
	// GroupSingle and GroupMulti are MySQL's Group Replication, with one node that takes writes or with all.
	GroupSingle TopologyKind = "group-single"
	GroupMulti  TopologyKind = "group-multi"
)

// ByMajority says that nodes of such a topology decide together which of them belong to it, so that more than half of
// them have to be left for the rest to go on.
func (k TopologyKind) ByMajority() bool { return k == Galera || k == GroupSingle || k == GroupMulti }

// Levels returns those of a server's isolation levels at which it lets transactions commit as a node of such a topology:
// a group in which all members take writes refuses SERIALIZABLE.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-limitations.html
func (k TopologyKind) Levels(of []corpus.Level) []corpus.Level {
	if k != GroupMulti {
		return of
	}
	return slices.DeleteFunc(slices.Clone(of), func(l corpus.Level) bool { return l == corpus.Serializable })
}

// Topology is several servers that are to hold the same data.
type Topology struct {
	Kind TopologyKind
	// Form says in words how changes come from one node to the others.
	Form string
	// Settings are those variables of the nodes that decide what is promised between these, by name.
	Settings map[string]string
	// Nodes holds the primary first, if there is one.
	Nodes []Node
}

// Clustered is implemented by a Backend that is the first node of a Topology.
type Clustered interface {
	Backend
	Topology() Topology
}

// Replicated is implemented by a Backend that is the primary of a Topology which this process has started.
type Replicated interface {
	Clustered
	// Follow returns a new way to ask how far the replica is. Each worker owns one.
	Follow(ctx context.Context) (Follower, error)
	// Rebuild drops every database of this tool on all nodes and lets the replica begin anew behind the primary,
	// whatever has come between them. Nobody may use a node meanwhile.
	Rebuild(ctx context.Context) error
}

// Follower knows how far a replica is.
type Follower interface {
	// CatchUp returns when the replica shows all that the primary had committed when CatchUp was called. It returns a
	// *StoppedError if the replica has stopped, and another error if it does not come that far.
	CatchUp(ctx context.Context) error
	Close() error
}

// StoppedError says that a replica applies nothing any more.
type StoppedError struct {
	// Code is the number of the error that stopped it, 0 where there is none.
	Code int
	// Text is what the replica says of it.
	Text string
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the replica has stopped: error %d: %s", e.Code, e.Text)
}
