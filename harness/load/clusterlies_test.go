package load_test

import (
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/lying"
)

// lyingCluster is a cluster whose first member is seen through a lie.
type lyingCluster struct {
	harness.Wired
	of harness.Clustered
}

func (c *lyingCluster) Topology() harness.Topology {
	t := c.of.Topology()
	t.Nodes = slices.Clone(t.Nodes)
	t.Nodes[0].Backend = c.Wired
	return t
}

// TestLiesOfClusters plants what a member, or a proxy before it, may do to a cluster.
func TestLiesOfClusters(t *testing.T) {
	for _, target := range installed(t, "galera:11.8") {
		cluster := open(t, target+",nodes=2", harness.Options{}).(harness.Clustered)
		nodes := cluster.Topology().Nodes
		second, err := harness.WiredOf(nodes[1].Backend)
		if err != nil {
			t.Fatal(err)
		}
		for _, lie := range []lying.Lie{{Name: "honest"}, lying.Uncertified(), lying.Wandering(second, 50)} {
			liar := lying.Through(nodes[0].Backend, lie)
			s := settings(t, target, "append", corpus.RepeatableRead)
			s.Clients, s.Duration, s.Epoch, s.UntilFound, s.Openings = 8, time.Minute, 400, true, withoutSavepoints
			honest := lie.Name == "honest"
			if honest {
				s.Duration = time.Second
			}
			r, err := load.Run(t.Context(), &lyingCluster{liar, cluster}, s)
			if r == nil {
				t.Fatalf("%s: %v", lie.Name, err)
			}
			t.Logf("%s, told %d times: found %v after %d transactions, in %.1f s (%v)",
				lie.Name, liar.Told(), kindsOf(r), r.Transactions, r.Seconds, err)
			if honest == (liar.Told() > 0) || honest == r.Found() {
				t.Errorf("%s, told %d times:\n%s", lie.Name, liar.Told(), textOf(t, r))
			}
		}
	}
}
