package load

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// several are servers of which nothing is known but how many they are, and of which kind; empty: Galera.
type several struct {
	harness.Backend
	nodes int
	kind  harness.TopologyKind
}

func (s several) Topology() harness.Topology {
	return harness.Topology{Kind: cmp.Or(s.kind, harness.Galera), Nodes: make([]harness.Node, s.nodes)}
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
		{"a group of two", ours{several: several{nodes: 2, kind: harness.GroupSingle}}, []FaultKind{Kill}, "want 3 or more"},
		{"a replica", ours{several: several{nodes: 2, kind: harness.AsyncReplica}}, []FaultKind{Kill, Partition}, ""},
		{"a standby", ours{several: several{nodes: 2, kind: harness.PhysicalStandby}}, []FaultKind{Pause}, ""},
		{"a replica of others", several{nodes: 2, kind: harness.AsyncReplica}, []FaultKind{Kill},
			"not killed, paused or cut off"},
		{"power of a standby", ours{several: several{nodes: 2, kind: harness.PhysicalStandby}}, []FaultKind{PowerLoss},
			"loses its power"},
	} {
		s := Settings{Target: "t", Faults: c.faults}
		err := s.checkBreaking(c.of)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestReconnected: who reads on a replica that may have been started again is another session behind that.
func TestReconnected(t *testing.T) {
	for _, c := range []struct {
		role   harness.Role
		faults []FaultKind
		want   int64
	}{
		{harness.Replica, []FaultKind{Kill}, 5}, {harness.Replica, nil, 2}, {harness.Primary, []FaultKind{Kill}, 2},
	} {
		r := &run{settings: Settings{Faults: c.faults, Clients: 3}, backend: ours{}, cluster: &cluster{}}
		x := &client{run: r, node: &node{Node: harness.Node{Role: c.role}}, process: 2}
		if x.reconnected(); x.process != c.want {
			t.Errorf("%s, faults %v: session %d, want %d", c.role, c.faults, x.process, c.want)
		}
	}
}

// deaf is a connection to a node that answers some statements with 1047.
type deaf struct {
	to     func(sql string) bool
	closed bool
}

func (d *deaf) change(q string) (int64, error) {
	if d.to(q) {
		return 0, &mysql.MySQLError{Number: 1047, Message: "WSREP has not yet prepared node for application use"}
	}
	return 1, nil
}

func (d *deaf) query(q string, _ *answer) error {
	_, err := d.change(q)
	return err
}

func (d *deaf) close() { d.closed = true }

// TestRefusedRollback: where ROLLBACK is refused the transaction is open, and the next one would be a part of it.
func TestRefusedRollback(t *testing.T) {
	w, err := findWorkload("append")
	if err != nil {
		t.Fatal(err)
	}
	rollback := func(sql string) bool { return sql == "ROLLBACK" }
	for _, c := range []struct {
		name, end string
		deaf      func(string) bool
		closed    bool
	}{
		{"a node without quorum", "COMMIT", func(string) bool { return true }, true},
		{"a planned ROLLBACK", "ROLLBACK", rollback, true},
		{"a COMMIT and its ROLLBACK", "COMMIT", func(sql string) bool { return rollback(sql) || sql == "COMMIT" }, true},
		{"only the COMMIT", "COMMIT", func(sql string) bool { return sql == "COMMIT" }, false},
	} {
		d := &deaf{to: c.deaf}
		r := &run{workload: w, dialect: mysqlDialect, settings: Settings{Clients: 1}, begun: time.Now()}
		e := r.newEpoch(0, nil)
		x := &client{run: r, session: &session{conn: d}, openings: []*opening{&openings[0]}, chooser: chooser{
			rand: rand.New(rand.NewPCG(1, 2)), epoch: e, locks: readLocks[PlainReads], step: 1}}
		for {
			x.plan.draw(w, &x.chooser, x.openings)
			if !slices.ContainsFunc(x.plan.steps, func(s step) bool { return s.kind.IsRead() }) {
				break // reads would want rows
			}
		}
		if err := x.perform(&tape{}, c.end); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d.closed != c.closed || (x.session.conn == nil) != c.closed {
			t.Errorf("%s: the connection was closed: %v, want %v", c.name, d.closed, c.closed)
		}
	}
}

// TestOutcomeWhileBroken: what a member of a group says of a COMMIT while one of them is broken does not tell whether the
// others have committed.
func TestOutcomeWhileBroken(t *testing.T) {
	refused := &mysql.MySQLError{Number: 3101}
	for _, c := range []struct {
		name             string
		faults           []FaultKind
		down, committing bool
		want             kv.Status
	}{
		{"no faults", nil, false, true, kv.Fail},
		{"between faults", []FaultKind{Partition}, false, true, kv.Fail},
		{"in one", []FaultKind{Partition}, true, true, kv.Info},
		{"in one, before the COMMIT", []FaultKind{Partition}, true, false, kv.Fail},
	} {
		r := &run{settings: Settings{Faults: c.faults}, backend: ours{several: several{nodes: 3}}, cluster: &cluster{}}
		if c.down {
			r.down.Add(1)
		}
		if got, by := r.outcome(refused, c.committing); got != c.want || by != "3101" {
			t.Errorf("%s: %v %s, want %v", c.name, got, by, c.want)
		}
		if got, _ := r.outcome(&mysql.MySQLError{Number: 1213}, c.committing); got != kv.Fail {
			t.Errorf("%s: a deadlock: %v", c.name, got)
		}
	}
}
