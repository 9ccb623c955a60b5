package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// clusterTargets are the targets that are clusters, with what they must be.
var clusterTargets = []struct {
	target string
	roles  []harness.Role
	// decisive is what Topology tells of the settings.
	decisive map[string]string
	// refusal is the error of a write on a node that takes none.
	refusal uint16
}{
	{"galera:11.8,nodes=3,snapshot=off,wsrep_sync_wait=1",
		[]harness.Role{harness.Member, harness.Member, harness.Member},
		map[string]string{"wsrep_sync_wait": "1", "innodb_snapshot_isolation": "OFF", "wsrep_on": "ON"}, 0},
	{"galera:10.11,nodes=2", []harness.Role{harness.Member, harness.Member},
		map[string]string{"wsrep_sync_wait": "0", "innodb_snapshot_isolation": "OFF"}, 0},
	{"mysql:9.7,group=3", []harness.Role{harness.Primary, harness.Replica, harness.Replica},
		map[string]string{
			"group_replication_single_primary_mode": "ON", "group_replication_consistency": "BEFORE_ON_PRIMARY_FAILOVER",
		}, 1290},
	{"mysql:9.7,group=2,primary=multi,group_replication_consistency=BEFORE",
		[]harness.Role{harness.Member, harness.Member},
		map[string]string{
			"group_replication_single_primary_mode": "OFF", "group_replication_consistency": "BEFORE",
		}, 0},
}

// needsCluster skips a test of a cluster that this machine cannot start.
func needsCluster(t *testing.T, target string) {
	t.Helper()
	s, err := parseSpec(target)
	if err != nil {
		t.Fatal(err)
	}
	in, err := unpacked(t.Context(), s.family, s.version)
	if err == nil && s.joins.kind == harness.Galera {
		_, err = libraryOf(in)
	}
	switch {
	case err == nil:
	case errors.Is(err, os.ErrNotExist) && !required:
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

func TestMembers(t *testing.T) {
	var groups sync.Map // the target whose cluster has a name
	for _, c := range clusterTargets {
		t.Run(c.target, func(t *testing.T) {
			t.Parallel()
			needsCluster(t, c.target)
			b, err := harness.Open(t.Context(), c.target, harness.Options{Dir: shortDir(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			topology := b.(harness.Clustered).Topology()
			for name, want := range c.decisive {
				if got := topology.Settings[name]; got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if len(topology.Nodes) != len(c.roles) {
				t.Fatalf("%d nodes, want %d", len(topology.Nodes), len(c.roles))
			}
			if other, taken := groups.LoadOrStore(groupOf(t, topology), c.target); taken {
				t.Errorf("the cluster passes as that of %s", other)
			}
			var sides []*side
			for i, n := range topology.Nodes {
				if n.Role != c.roles[i] {
					t.Errorf("%s is %s, want %s", n.Name, n.Role, c.roles[i])
				}
				sides = append(sides, sideOf(t, n.Backend.(harness.Wired)))
			}
			must(t, sides[0], "CREATE DATABASE txnfuzz_c", "CREATE TABLE txnfuzz_c.t (node INT PRIMARY KEY)")
			writers := 0
			for i, s := range sides {
				if !until(func() bool { return s.exec(t.Context(), "SELECT 1 FROM txnfuzz_c.t") == nil }) {
					t.Fatalf("node %d does not get the table", i+1)
				}
				err := s.exec(t.Context(), fmt.Sprintf("INSERT INTO txnfuzz_c.t VALUES (%d)", i))
				var answer *mysql.MySQLError
				switch {
				case c.roles[i] != harness.Replica:
					if writers++; err != nil {
						t.Errorf("node %d takes no write: %v", i+1, err)
					}
				case !errors.As(err, &answer) || answer.Number != c.refusal:
					t.Errorf("node %d is a replica, and answers a write with %v, want error %d", i+1, err, c.refusal)
				}
			}
			for i, s := range sides {
				if !until(func() bool { return sees(t, s, writers) }) {
					t.Errorf("node %d does not get the %d rows of all", i+1, writers)
				}
			}
			if err := b.Alive(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// groupOf returns by what the cluster of a topology is told from others, as all of its nodes say.
func groupOf(t *testing.T, topology harness.Topology) string {
	t.Helper()
	var group string
	for i, n := range topology.Nodes {
		is, err := (&foreign{config: n.Backend.(harness.Wired).Config()}).Membership(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			group = is.Group
		}
		if is.Kind != topology.Kind || is.Group != group || is.Group == "" {
			t.Errorf("%s is of %s %q, want %s %q", n.Name, is.Kind, is.Group, topology.Kind, group)
		}
	}
	return group
}

// TestWiring: no two clusters have a name in common.
func TestWiring(t *testing.T) {
	a, b := newWiring(nil), newWiring(nil)
	if a.name == b.name || a.group == b.group {
		t.Errorf("%+v and %+v", a, b)
	}
	if uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !uuid.MatchString(a.group) {
		t.Errorf("%s is no UUID", a.group)
	}
}

// TestNotBreakable: no power fails where there are several servers, and who is alone is cut off from nobody.
func TestNotBreakable(t *testing.T) {
	power := harness.Options{PowerLoss: true}
	apart := harness.Options{Durable: true, Partition: true}
	for _, c := range []struct {
		target string
		with   harness.Options
		want   error
	}{
		{"mysql:9.7,replica=row", power, errPairPower}, {"postgres:18,standby=1", power, errPairPower},
		{"galera:11.8", power, errClusterPower}, {"mysql:9.7,group=3", power, errClusterPower},
		{"mysql:9.7", apart, errAlone}, {"postgres:18", apart, errAlone},
	} {
		_, err := harness.Open(t.Context(), c.target, c.with)
		var name *harness.NameError
		if errors.Is(err, os.ErrNotExist) && !required {
			continue
		}
		if !errors.Is(err, c.want) || !errors.As(err, &name) {
			t.Errorf("%s, %+v: %v, want %v", c.target, c.with, err, c.want)
		}
	}
}

// sees tells whether a node has so many rows.
func sees(t *testing.T, s *side, rows int) bool {
	t.Helper()
	got, err := s.query(t.Context(), "SELECT COUNT(*) FROM txnfuzz_c.t")
	return err == nil && string(got[0][0]) == fmt.Sprint(rows)
}

// TestMembersRestart looks that a cluster that begins anew is empty, complete, and reached by a port.
func TestMembersRestart(t *testing.T) {
	const target = "galera:11.8,nodes=2"
	needsCluster(t, target)
	port, err := portToListen()
	if err != nil {
		t.Fatal(err)
	}
	b, err := harness.Open(t.Context(), target, harness.Options{Dir: shortDir(t), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	m := b.(*members)
	must(t, sideOf(t, m), "CREATE DATABASE txnfuzz_c")
	old := groupOf(t, m.Topology())
	if err := m.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if groupOf(t, m.Topology()) == old {
		t.Errorf("the new cluster passes as the old one: %s", old)
	}
	for i, n := range m.Topology().Nodes {
		s := sideOf(t, n.Backend.(harness.Wired))
		if rows, err := s.query(t.Context(), "SHOW DATABASES LIKE 'txnfuzz%'"); err != nil || len(rows) > 0 {
			t.Errorf("node %d has %q, %v", i+1, rows, err)
		}
		if err := synced(t.Context(), s, "2"); err != nil {
			t.Error(err)
		}
	}
	at := sideOf(t, &foreign{config: m.TCP()})
	if rows, err := at.query(t.Context(), "SELECT 1"); err != nil || len(rows) != 1 {
		t.Errorf("by the port: %v", err)
	}
}

// TestMembersEndWithOwner kills the owner of a cluster.
func TestMembersEndWithOwner(t *testing.T) {
	const target = "galera:11.8,nodes=2"
	needsCluster(t, target)
	dir := shortDir(t)
	cmd, owned := startOwner(t, target, dir)
	if n := len(litter(owned)); len(owned) != 2 || n < whole(owned) {
		t.Fatalf("before the end there is %q of %d nodes", litter(owned), len(owned))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !until(func() bool { return len(litter(owned)) == 0 }) {
		t.Errorf("left after ten seconds: %v", litter(owned))
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestMembersCannotStart looks that a node which cannot start ends the wait of the others, and says why.
func TestMembersCannotStart(t *testing.T) {
	const target = "galera:11.8,nodes=2,wsrep_slave_threads=none"
	needsCluster(t, target)
	dir := shortDir(t)
	_, err := harness.Open(t.Context(), target, harness.Options{Dir: dir})
	var name *harness.NameError
	if !errors.As(err, &name) || !strings.Contains(err.Error(), "wsrep_slave_threads=none") {
		t.Errorf("%v, want an error of the option", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// forgetful is a Galera cluster whose second node does not know any more what it has.
type forgetful struct{ galera }

func (f forgetful) arm(b *private, at wiring, i int) {
	f.galera.arm(b, at, i)
	if i != 1 {
		return
	}
	prepare := b.part.prepare
	b.part.prepare = func(dir string) error {
		return errors.Join(prepare(dir), os.Remove(filepath.Join(dir, "data", "grastate.dat")),
			os.RemoveAll(filepath.Join(dir, "data", "test")))
	}
}

// TestGaleraStateTransfer looks that a node which has lost its position gets all data from another one.
func TestGaleraStateTransfer(t *testing.T) {
	const target = "galera:11.8,nodes=2"
	needsCluster(t, target)
	s, err := parseSpec(target)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMembers(t.Context(), s, harness.Options{Dir: shortDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.to = forgetful{m.to.(galera)}
	if err := m.assemble(t.Context(), (*private).begin); err != nil {
		t.Fatal(err)
	}
	if log := m.all[1].Log(); !strings.Contains(log, "SST received") {
		t.Errorf("no state was transferred: %s", log)
	}
	if _, err := os.Stat(filepath.Join(m.all[1].instance().folder.path, "data", "test")); err != nil {
		t.Errorf("not all was transferred: %v", err)
	}
	if err := synced(t.Context(), sideOf(t, m.all[1]), "2"); err != nil {
		t.Error(err)
	}
}

// TestGaleraNotInstalled looks that an error names the command that helps.
func TestGaleraNotInstalled(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for version, want := range map[string]string{
		"11.8": "scripts/servers galera:11.8 installs it", "10.5": "name one with the option wsrep_provider=PATH",
	} {
		_, err := libraryOf(installation{family: history.MariaDB, name: "mariadb:" + version})
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", version, err)
		}
	}
	t.Setenv("PATH", "")
	_, err := harness.Open(t.Context(), "galera:11.8,nodes=3", harness.Options{})
	if err == nil || !strings.Contains(err.Error(), "scripts/servers galera:11.8 installs both") {
		t.Error(err)
	}
}
