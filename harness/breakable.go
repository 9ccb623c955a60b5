package harness

import (
	"context"
	"time"
)

// Breakable is implemented by a Clustered backend whose nodes are ours to kill, to stop and to cut off, and which was
// opened with Options.Durable. Nodes are numbered as in Topology.
type Breakable interface {
	Clustered
	// KillNode ends a node with SIGKILL, and RecoverNode starts it again on the data that it left. RecoverNode returns a
	// *RecoveryError if the node cannot start.
	KillNode(node int) error
	RecoverNode(ctx context.Context, node int) error
	// PauseNode stops the process of a node as it is, and ResumeNode lets it go on.
	PauseNode(node int) error
	ResumeNode(node int) error
	// CutNode keeps a node from reaching the others, and these from reaching it, and HealNode ends that. Clients reach
	// it all the time. Both fail unless the backend was opened with Options.Partition.
	CutNode(node int) error
	HealNode(node int) error
	// Agree waits until all nodes are members of one cluster again and take part in it, with the roles of Topology; of a
	// primary and its replica, until the replica has applied what the primary had committed. It tells how often one had
	// to be told to join again. An error that the time is over has what the nodes say; it is a *RecoveryError if a node
	// has ended by itself, and a *StoppedError if a replica applies nothing any more.
	Agree(ctx context.Context) (told int, err error)
	// Notice is about how long the others need to take a node that does not answer for lost.
	Notice() time.Duration
}

// Receiving is implemented by a Breakable primary whose replica can be asked for what it has received while the primary
// is dead.
type Receiving interface {
	// Replayed returns when the replica shows all that it has received, with nothing more to come.
	Replayed(ctx context.Context) error
}

// Electing is a Breakable whose nodes elect another one that takes writes when that one fails.
type Electing interface {
	Breakable
	// Primary asks the nodes which of them takes writes, and believes those that are in touch with a majority; ok is
	// false if none of these knows one. It takes a second at most.
	Primary(ctx context.Context) (node int, ok bool)
}

// NoNetworkError says that the nodes of a cluster cannot be cut off from each other on this machine.
type NoNetworkError struct{ Err error }

func (e *NoNetworkError) Error() string { return "nodes cannot be cut off: " + e.Err.Error() }

// Unwrap returns what is in the way.
func (e *NoNetworkError) Unwrap() error { return e.Err }
