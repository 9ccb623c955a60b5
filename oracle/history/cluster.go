package history

import (
	"fmt"
	"strings"
)

// Cluster is several servers that all take writes, and on which the sessions of a run were.
type Cluster struct {
	// Form says how changes come from one member to the others, for example "Galera cluster of 3 nodes".
	Form string `json:"form"`
	// Members holds the names of the members. Session 1 is on the first one, and so on, round and round.
	Members []string `json:"members"`
}

// Member names the member that a session is on.
func (c *Cluster) Member(session int) string { return c.Members[max(session-1, 0)%len(c.Members)] }

// Places says of some sessions where each is, as in "tx1 on node1, tx2 on node2".
func (c *Cluster) Places(sessions []int) string {
	parts := make([]string, len(sessions))
	for i, s := range sessions {
		parts[i] = fmt.Sprintf("tx%d on %s", s, c.Member(s))
	}
	return strings.Join(parts, ", ")
}
