package load

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// NodeReport is what clients did on one of several servers.
type NodeReport struct {
	Name         string `json:"name"`
	Role         string `json:"role"`
	Clients      int    `json:"clients"`
	Transactions int    `json:"transactions"`
	// Elected counts those of clients that write, which came while the node had been elected the primary.
	Elected int `json:"transactions_as_primary,omitempty"`
	// Behind counts those that did not show what had been acknowledged before they were sent; of workloads whose values are lists.
	Behind int `json:"behind,omitempty"`
	// Faults counts those of this node by their kind. Fastest and SlowestBack are in how many seconds it was one of all
	// again after one was over, TimesTold how often it had to be told to join the others again.
	Faults      map[FaultKind]int `json:"faults,omitempty"`
	FastestBack float64           `json:"fastest_back_seconds,omitempty"`
	SlowestBack float64           `json:"slowest_back_seconds,omitempty"`
	TimesTold   int               `json:"times_told_to_join,omitempty"`
}

// withFaults returns the nodes with what was done to each.
func withFaults(nodes []NodeReport, faults []Fault) []NodeReport {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		for _, f := range faults {
			if f.Node != n.Name || f.Lifted == 0 { // one that could not be done is no fault
				continue
			}
			back := float64(f.To-f.Lifted) / 1e9
			if n.Faults == nil {
				n.Faults, n.FastestBack = map[FaultKind]int{}, back
			}
			n.Faults[f.Kind]++
			n.FastestBack, n.SlowestBack = min(n.FastestBack, back), max(n.SlowestBack, back)
			n.TimesTold += f.Told
		}
	}
	return nodes
}

// countNodes takes note of what was done on each node in an epoch.
func (j *judge) countNodes(events []event) {
	x := j.run.cluster
	if x == nil {
		return
	}
	behind := j.behind(events)
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range events {
		if e.part || e.session == readerSession {
			continue
		}
		at := slices.IndexFunc(j.nodes, func(n NodeReport) bool { return n.Name == e.node })
		if at < 0 {
			continue // a backup
		}
		j.nodes[at].Transactions++
		if j.nodes[at].Role == string(harness.Replica) && !e.t.replica {
			j.nodes[at].Elected++
		}
		if behind(e) {
			j.nodes[at].Behind++
		}
	}
}

// newNodeReports has one of each node, and of nothing that was done.
func (x *cluster) newNodeReports(clients int) []NodeReport {
	if x == nil {
		return nil
	}
	var out []NodeReport
	at := x.spread(clients)
	for _, n := range x.nodes {
		r := NodeReport{Name: n.Name, Role: string(n.Role)}
		for _, own := range at {
			if own == n {
				r.Clients++
			}
		}
		out = append(out, r)
	}
	return out
}

// behind tells of transactions whether they read a list without an append that had been acknowledged before they were
// sent. The order of a list is that of the read which ends the epoch.
func (j *judge) behind(events []event) func(event) bool {
	never := func(event) bool { return false }
	if j.header.Workload != kv.ListAppend {
		return never
	}
	acknowledged := map[kv.Value]int64{} // by value, which no other append of the run has
	var final []kv.RecordOp
	for _, e := range events {
		switch {
		case e.status != kv.OK:
		case e.session == readerSession && e.node == j.run.cluster.first():
			final = e.ops()
		default:
			for _, o := range e.ops() {
				if o.Kind == kv.Append {
					acknowledged[o.Val] = e.ret
				}
			}
		}
	}
	// since[k][n] is when the first was acknowledged of what stands behind the first n elements of a list.
	since := map[kv.Value][]int64{}
	for _, o := range final {
		first := make([]int64, len(o.List)+1)
		first[len(o.List)] = math.MaxInt64
		for i := len(o.List) - 1; i >= 0; i-- {
			first[i] = first[i+1]
			if at, ok := acknowledged[o.List[i]]; ok {
				first[i] = min(at, first[i])
			}
		}
		since[o.Key] = first
	}
	return func(e event) bool {
		return e.status == kv.OK && slices.ContainsFunc(e.ops(), func(o kv.RecordOp) bool {
			first := since[o.Key]
			return o.Kind == kv.ReadList && len(o.List) < len(first) && first[len(o.List)] < e.invoke
		})
	}
}

// writeNodes tells people of the nodes.
func (r *Report) writeNodes(b *strings.Builder) {
	if len(r.Nodes) == 0 {
		return
	}
	fmt.Fprintf(b, "%d nodes, %s:\n", len(r.Nodes), r.Topology)
	for _, n := range r.Nodes {
		fmt.Fprintf(b, "  %s: ", n.Name)
		if n.Role != n.Name {
			fmt.Fprintf(b, "%s, ", n.Role)
		}
		fmt.Fprintf(b, "%d clients, %d transactions", n.Clients, n.Transactions)
		switch {
		case n.Elected > 0:
			fmt.Fprintf(b, ", %d of them while it was the primary, all others reads", n.Elected)
		case n.Role == string(harness.Replica):
			b.WriteString(", all reads")
		}
		if n.Behind > 0 {
			fmt.Fprintf(b, "; %d did not show what had been acknowledged before", n.Behind)
		}
		if len(n.Faults) > 0 {
			fmt.Fprintf(b, "; faults: %s, back %.1f to %.1f s after the end of each",
				joined(n.Faults), n.FastestBack, n.SlowestBack)
		}
		if n.TimesTold > 0 {
			fmt.Fprintf(b, ", told to join again %d times", n.TimesTold)
		}
		b.WriteByte('\n')
	}
	if r.Survives != "" {
		fmt.Fprintf(b, "promised of a node that fails: %s\n", r.Survives)
	}
	fmt.Fprintf(b, "promised of the nodes together: %s\n", r.Together)
	if r.Withheld != "" {
		fmt.Fprintf(b, "not promised: %s\n", r.Withheld)
	}
}
