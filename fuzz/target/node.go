package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Node is one more server of a cluster that runs already.
type Node struct {
	DSN string
	// ReadOnly says that it is only read from.
	ReadOnly bool
}

// String is the node as --node names it, without a password.
func (n Node) String() string {
	if n.ReadOnly {
		return readOnlyMark + Redact(n.DSN)
	}
	return Redact(n.DSN)
}

// readOnlyMark stands before the DSN of a node that is only read from.
const readOnlyMark = "ro:"

// ParseNodes reads what --node was given: data source names, separated by commas, with ro: before those that are only
// read from. A comma inside of a DSN stays where it is. The error is a *Error and holds no password.
func ParseNodes(texts []string) ([]Node, error) {
	var nodes []Node
	for _, text := range texts {
		parts := strings.Split(text, ",")
		for len(parts) > 0 {
			n, used, err := firstNode(parts)
			if err != nil {
				return nil, &Error{fmt.Sprintf("node %d: %v", len(nodes)+1, err)}
			}
			nodes, parts = append(nodes, n), parts[used:]
		}
	}
	return nodes, nil
}

// firstNode reads a node from the fewest parts that are one.
func firstNode(parts []string) (n Node, used int, err error) {
	err = errors.New("want a DSN, such as user:pass@tcp(host:3306)/, or ro: and a DSN for a node that is only read from")
	for used = 1; used <= len(parts); used++ {
		text := strings.TrimSpace(strings.Join(parts[:used], ","))
		dsn, readOnly := strings.CutPrefix(text, readOnlyMark)
		if !IsDSN(dsn) {
			continue
		}
		if err = Check(dsn); err == nil {
			return Node{dsn, readOnly}, used, nil
		}
	}
	return Node{}, 0, err
}

// OpenCluster connects to servers of one cluster that runs already, of which first takes writes. Where all others are
// only read from, first is their primary. A name that cannot be a target gives a *Error.
func OpenCluster(ctx context.Context, first string, others []Node, o harness.Options) (_ harness.Backend, err error) {
	if !IsDSN(first) {
		return nil, &Error{"--node is for servers that run already: want a DSN as the target, too; " +
			"galera:11.8,nodes=3 and mysql:9.7,group=3 start their nodes themselves"}
	}
	if o.Durable {
		return nil, &Error{"--fault needs a private server; nobody here kills or pauses the nodes of --node"}
	}
	all := append([]Node{{DSN: first}}, others...)
	role := harness.Primary
	if slices.ContainsFunc(others, func(n Node) bool { return !n.ReadOnly }) {
		role = harness.Member
	}
	var nodes []harness.Node
	defer func() {
		if err != nil {
			for _, n := range nodes {
				err = errors.Join(err, n.Backend.Close())
			}
		}
	}()
	for i, n := range all {
		if slices.ContainsFunc(all[:i], func(m Node) bool { return m.DSN == n.DSN }) {
			return nil, &Error{fmt.Sprintf("node %d is named twice: %s", i+1, Redact(n.DSN))}
		}
		is := role
		o.ReadOnly = n.ReadOnly
		if n.ReadOnly {
			is = harness.Replica
		}
		b, err := OpenBackend(ctx, n.DSN, o)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		nodes = append(nodes, harness.Node{Name: fmt.Sprintf("node%d", i+1), Role: is, Backend: b})
	}
	return harness.Join(ctx, nodes)
}
