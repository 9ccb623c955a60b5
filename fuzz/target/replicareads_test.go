package target_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// readCase leaves the rows 1 to 5, of which 3 and 4 are committed together, and 5 behind them.
const readCase = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 5);
/* tx2 */ INSERT INTO t VALUES (5, 5);
/* tx1 */ INSERT INTO t VALUES (4, 5);
/* tx1 */ COMMIT;
/* tx2 */ INSERT INTO t VALUES (6, 5);
`

// readLies are what a replica shows for a moment, while the case is read there. What is deleted is put back before the
// replica is compared.
var readLies = []struct {
	name    string
	deletes []int
	// shape is what is wrong with it where the replica keeps to the order of the commits, unordered where it does not;
	// empty: nothing.
	shape, unordered string
}{
	{"nothing", nil, "", ""},
	{"it goes back", []int{6}, history.ReadBack, ""},
	{"half of a transaction", []int{4, 6}, history.ReadTorn, history.ReadTorn},
	{"the last transaction without the one before", []int{3, 4}, history.ReadNoState, ""},
	{"the second and third transaction without the first", []int{5}, history.ReadNoState, ""},
	{"a row of the set-up is missing", []int{1}, history.ReadNoState, history.ReadNoState},
}

// misled is a primary whose replica shows something else for a moment: when it has applied all, and has been read so.
type misled struct {
	mysqlPair
	follows atomic.Int64
	deletes []int // what it is to leave out next
}

type mysqlPair interface {
	harness.Replicated
	harness.Wired
}

// Follow has every second follower, which is asked before the tables are compared, tell the lie.
func (m *misled) Follow(ctx context.Context) (harness.Follower, error) {
	f, err := m.mysqlPair.Follow(ctx)
	if m.follows.Add(1)%2 == 0 || err != nil {
		return f, err
	}
	return &misleading{f, m}, nil
}

type misleading struct {
	harness.Follower
	m *misled
}

func (f *misleading) CatchUp(ctx context.Context) error {
	if err := f.Follower.CatchUp(ctx); err != nil || f.m.deletes == nil {
		return err
	}
	keys := strings.Trim(strings.ReplaceAll(fmt.Sprint(f.m.deletes), " ", ", "), "[]")
	f.m.deletes = nil
	return f.m.mislead(ctx, keys)
}

func (m *misled) mislead(ctx context.Context, keys string) error {
	w, err := harness.WiredOf(m.Topology().Nodes[1].Backend) // which may be a new one since
	if err != nil {
		return err
	}
	connector, err := mysql.NewConnector(w.Config())
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var db string
	err = conn.QueryRowContext(ctx, `SELECT table_schema FROM information_schema.tables
		WHERE table_schema LIKE 'txnfuzz\_%' AND table_name = 't'`).Scan(&db)
	if err != nil {
		return err
	}
	for _, s := range []string{
		"SET sql_log_bin = 0", "USE " + db, "CREATE TABLE kept AS SELECT * FROM t WHERE a IN (" + keys + ")",
		"", "DELETE FROM t WHERE a IN (" + keys + ")",
		"", "INSERT INTO t SELECT * FROM kept", "DROP TABLE kept",
	} {
		if s == "" {
			err = m.untilRead(ctx, conn)
		} else {
			_, err = conn.ExecContext(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// untilRead waits until the sessions on the replica have read it a few times more: each read ends with COMMIT.
func (m *misled) untilRead(ctx context.Context, conn *sql.Conn) error {
	reads := func() (n int, err error) {
		var name string
		err = conn.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Com_commit'").Scan(&name, &n)
		return n, err
	}
	first, err := reads()
	for deadline := time.Now().Add(20 * time.Second); err == nil; {
		var n int
		if n, err = reads(); n >= first+4 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the replica is not read: %d reads", n-first)
		}
	}
	return err
}

// misordered is a primary whose sessions pass through a lie.
type misordered struct {
	harness.Wired
	pair harness.Replicated
}

func (m *misordered) Topology() harness.Topology { return m.pair.Topology() }

func (m *misordered) Follow(ctx context.Context) (harness.Follower, error) { return m.pair.Follow(ctx) }

func (m *misordered) Rebuild(ctx context.Context) error { return m.pair.Rebuild(ctx) }

// TestMisorderedReplica looks that a replica is found out which applies the transactions of a case in another order than
// the primary did. The first takes it longest.
func TestMisorderedReplica(t *testing.T) {
	const rows, changes = 100, 15
	var all []string
	for i := range rows {
		all = append(all, fmt.Sprintf("(%d, 1)", i))
	}
	c := targettest.Case(t, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES `+strings.Join(all, ", ")+`;
`+strings.Repeat("/* tx1 */ UPDATE t SET b = b + 1;\n", changes)+`
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (1000, 1);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`)
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		var liar *lying.Backend
		name := "misordered"
		harness.Register(name, func(ctx context.Context, _ string, o harness.Options) (harness.Backend, error) {
			b, err := harness.Open(ctx, server+",replica=row,workers=4", o)
			if err != nil {
				return nil, err
			}
			liar = lying.Through(b, lying.Misordered(64))
			return &misordered{liar, b.(harness.Replicated)}, nil
		}, nil)
		on := targettest.Open(t, name, target.Options{})
		for n := range 200 {
			r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.Verdict.Kind != oracle.ReplicaRead {
				continue
			}
			t.Logf("found in run %d: %s", n+1, r.Verdict.Fingerprint)
			return
		}
		t.Errorf("not found; told %d times, %+v", liar.Told(), on.Replicas())
	}
}

// openMisled opens a target by a name of its own.
func openMisled(t *testing.T, server string) (*target.Target, *misled) {
	t.Helper()
	m := &misled{}
	name := "misled-" + strings.NewReplacer(":", "-", ",", "-", "=", "-", ".", "-").Replace(server)
	harness.Register(name, func(ctx context.Context, _ string, o harness.Options) (harness.Backend, error) {
		b, err := harness.Open(ctx, server, o)
		if err != nil {
			return nil, err
		}
		m.mysqlPair = b.(mysqlPair)
		return m, nil
	}, nil)
	return targettest.Open(t, name, target.Options{}), m
}

// TestMisleadingReplica plants each lie, on a replica that promises an order and on one that does not.
func TestMisleadingReplica(t *testing.T) {
	for _, topology := range []struct {
		server, form string
		ordered      bool
	}{{"mariadb:11.8", ",replica=row", true}, {"mysql:9.7", ",replica=row,workers=4,order=off", false}} {
		for _, server := range targettest.Among(t, topology.server) {
			on, m := openMisled(t, server+topology.form)
			c := targettest.Case(t, readCase)
			for _, lie := range readLies {
				t.Run(server+": "+lie.name, func(t *testing.T) {
					shape := lie.unordered
					if topology.ordered {
						shape = lie.shape
					}
					m.deletes = lie.deletes
					judgedAs(t, on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead)), shape)
				})
			}
			if seen := on.Replicas(); seen.Watched < int64(len(readLies)) || seen.Reads == 0 || seen.Judged == 0 {
				t.Errorf("%+v", seen)
			}
		}
	}
}

// staleStandby makes a standby that COMMITs do not wait for, behind the back of who was told that they do, and that applies
// them late.
var staleStandby = [][]string{
	{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"},
	{"ALTER SYSTEM SET recovery_min_apply_delay = 50", "SELECT pg_reload_conf()"},
}

// becomesStale looks that a standby is found out once it is such a one, by a case that leaves it no time.
func becomesStale(t *testing.T, on *target.Target, b harness.Replicated, c *corpus.Case) {
	t.Helper()
	for i, node := range b.Topology().Nodes {
		db, err := harness.DatabaseOf(node.Backend)
		if err != nil {
			t.Fatal(err)
		}
		s, err := db.Open(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range staleStandby[i] {
			if r, err := s.Execute(sql); err != nil || r.Err != nil {
				t.Fatalf("%s: %v %v", sql, err, r.Err)
			}
		}
		_ = s.Close()
	}
	const want = "replica-read/standby/" + history.ReadStale
	for deadline := time.Now().Add(20 * time.Second); ; { // until the servers have read their settings
		r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
		if r.Verdict.Fingerprint == want {
			return
		}
		if r.Verdict.Outcome != oracle.OK || time.Now().After(deadline) {
			t.Fatalf("%+v, %v; want %s", r.Verdict, r.Err, want)
		}
	}
}

// judgedAs looks at a verdict, and whether the history alone, as it comes back from a file, gives the same.
func judgedAs(t *testing.T, r target.Trial, shape string) {
	t.Helper()
	text, err := json.Marshal(r.History)
	if err != nil {
		t.Fatal(err)
	}
	again := target.Trial{Case: r.Case, Levels: r.Levels, History: &history.History{}}
	if err := json.Unmarshal(text, again.History); err != nil {
		t.Fatal(err)
	}
	target.JudgeByOracle(t.Context(), &again)
	for _, r := range []target.Trial{r, again} {
		v := r.Verdict
		switch {
		case shape == "" && v.Outcome != oracle.OK:
			t.Errorf("%+v, %v; want no finding", v, r.Err)
		case shape != "" && (v.Kind != oracle.ReplicaRead || v.Fingerprint != "replica-read/row/"+shape):
			t.Errorf("%+v, %v; want %s", v, r.Err, shape)
		case shape != "" && (!strings.Contains(v.Expected, "(6,5) behind step") || v.Reason == ""):
			t.Errorf("it is told by: expected %s, actual %s, %s", v.Expected, v.Actual, v.Reason)
		}
	}
}
