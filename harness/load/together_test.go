package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// What nodes may show together depends on the topology: the same reads break the promise of one and not of the other.
func TestStatesOfNodes(t *testing.T) {
	const (
		mysqlReplica = iota
		mysqlUnordered
		mariaReplica
		standby
		standbyApplied
		galera
		topologies
	)
	servers := [topologies]struct {
		server history.Server
		harness.Topology
	}{
		mysqlReplica: {history.Server{DBMS: history.MySQL}, harness.Topology{Kind: harness.AsyncReplica}},
		mysqlUnordered: {history.Server{DBMS: history.MySQL}, harness.Topology{Kind: harness.AsyncReplica,
			Settings: map[string]string{"replica_preserve_commit_order": "OFF"}}},
		mariaReplica: {history.Server{DBMS: history.MariaDB, Settings: map[string]string{"innodb_snapshot_isolation": "ON"}},
			harness.Topology{Kind: harness.AsyncReplica}},
		standby: {history.Server{DBMS: history.PostgreSQL}, harness.Topology{Kind: harness.PhysicalStandby}},
		standbyApplied: {history.Server{DBMS: history.PostgreSQL}, harness.Topology{Kind: harness.PhysicalStandby,
			Settings: map[string]string{"synchronous_commit": "remote_apply"}}},
		galera: {history.Server{DBMS: history.MariaDB}, harness.Topology{Kind: harness.Galera}},
	}
	for _, c := range []struct {
		name           string
		first, replica string
		found          []int // on these topologies it is a finding
	}{
		{"an old state", `
			1 ok 1-2: append 1 1
			1 ok 3-4: append 1 2`, `
			5 ok 9-10: r 1 [1]`,
			[]int{standbyApplied}},
		{"commits in another order than the primary showed them", `
			1 ok 1-9: append 1 1
			2 ok 1-9: append 2 2
			3 ok 1-9: r 1 [1]; r 2 []`, `
			5 ok 1-9: r 1 []; r 2 [2]`,
			[]int{mysqlReplica, mariaReplica, galera}},
		{"a session that goes back", `
			1 ok 1-9: append 1 1`, `
			5 ok 1-4: r 1 [1]
			5 ok 5-9: r 1 []`,
			[]int{mysqlReplica, mariaReplica, standby, standbyApplied}},
		{"two replicas' sessions, of which the later one is behind", `
			1 ok 1-9: append 1 1`, `
			5 ok 1-4: r 1 [1]
			6 ok 5-9: r 1 []`,
			[]int{standbyApplied}},
		{"a commit without the one that it follows", `
			1 ok 1-2: append 1 1; append 2 2
			2 ok 3-4: append 2 3
			2 ok 5-6: r 2 [2 3]`, `
			5 ok 1-9: r 1 []; r 2 [2 3]`,
			[]int{mysqlReplica, mariaReplica, standby, standbyApplied, galera}},
		{"what was rolled back", `
			1 fail 1-2: append 1 1`, `
			5 ok 3-9: r 1 [1]`,
			[]int{mysqlReplica, mysqlUnordered, mariaReplica, standby, standbyApplied, galera}},
		{"the state of the primary", `
			1 ok 1-2: append 1 1; append 2 2
			2 ok 1-9: r 1 [1]; append 2 3`, `
			5 ok 3-9: r 1 [1]; r 2 [2]
			5 ok 10-12: r 1 [1]; r 2 [2 3]`,
			nil},
	} {
		for i, s := range servers {
			role := harness.Role(harness.Primary)
			if s.Kind == harness.Galera {
				role = harness.Member
			}
			nodes := []*node{{Node: harness.Node{Name: "a", Role: role}}, {Node: harness.Node{Name: "b", Role: harness.Replica}}}
			r := &run{
				backend:  onTape{server: s.server},
				settings: Settings{Level: corpus.RepeatableRead, Workload: "append", Found: t.TempDir(), Clients: 2},
				workload: appends{}, begun: time.Now(), database: "x",
				cluster: &cluster{form: "x", nodes: nodes, promise: promisedAcross(s.Topology, s.server, corpus.RepeatableRead)},
			}
			j, err := newJudge(r)
			if err != nil {
				t.Fatal(err)
			}
			first, second := parseTape(t, c.first), parseTape(t, c.replica)
			first.on("a")
			second.on("b")
			second.replica = true
			if err := j.isolation(&epoch{}, inOrder([]*tape{first, second})); err != nil {
				t.Fatal(err)
			}
			if found := len(j.findings) > 0; found != slices.Contains(c.found, i) {
				t.Errorf("%s on %s %v: found %+v", c.name, s.Kind, s.Settings, j.findings)
			}
			for _, f := range j.findings {
				h, err := kv.LoadFile(f.File, "")
				if err != nil {
					t.Fatal(err)
				}
				if f.Promised == "" || h.Node(h.Len()-1) == "" || !strings.Contains(f.Promised, "https://") {
					t.Errorf("%s on %s: promised %q, nodes %v", c.name, s.Kind, f.Promised, h.Header.Nodes)
				}
			}
		}
	}
}

// on has all transactions of a tape be of one node.
func (t *tape) on(node string) {
	for i := range t.txns {
		t.txns[i].node = node
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		roles   string // P, R or M
		clients int
		want    string // by client, the node's number
	}{
		{"PR", 2, "01"}, {"PR", 16, "0000000000111111"}, {"PRR", 3, "012"}, {"PRR", 9, "000000121"},
		{"MMM", 7, "0120120"}, {"PRR", 4, "0012"},
	} {
		x := &cluster{}
		for i, role := range c.roles {
			of := map[rune]harness.Role{'P': harness.Primary, 'R': harness.Replica, 'M': harness.Member}[role]
			x.nodes = append(x.nodes, &node{Node: harness.Node{Name: string(rune('0' + i)), Role: of}})
		}
		got := ""
		for _, n := range x.spread(c.clients) {
			got += n.Name
		}
		if got != c.want {
			t.Errorf("%s, %d clients: %s, want %s", c.roles, c.clients, got, c.want)
		}
	}
}
