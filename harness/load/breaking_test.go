package load

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
)

// several are servers of which nothing is known but how many they are; broken: their nodes are ours to break.
type several struct {
	harness.Backend
	nodes int
}

func (s several) Topology() harness.Topology {
	return harness.Topology{Kind: harness.Galera, Nodes: make([]harness.Node, s.nodes)}
}

type ours struct {
	harness.Breakable
	several
}

func (o ours) Topology() harness.Topology { return o.several.Topology() }

func TestCheckBreaking(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     harness.Backend
		faults []FaultKind
		want   string // empty: they are taken
	}{
		{"none", several{nodes: 3}, nil, ""},
		{"all", ours{several: several{nodes: 3}}, []FaultKind{Kill, Pause, Partition}, ""},
		{"nodes of others", several{nodes: 3}, []FaultKind{Pause}, "not killed, paused or cut off"},
		{"no majority would be left", ours{several: several{nodes: 2}}, []FaultKind{Kill}, "want 3 or more"},
		{"power", ours{several: several{nodes: 3}}, []FaultKind{Kill, PowerLoss}, "loses its power"},
	} {
		s := Settings{Target: "t", Faults: c.faults}
		err := s.checkBreaking(c.of)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
