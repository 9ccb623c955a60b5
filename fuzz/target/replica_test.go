package target_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// lies are what is done to a replica behind the back of its primary between two runs of the same case, on the replica
// whose database has the tables of the first run.
var lies = []struct {
	name string
	sql  []string
	// want is the kind of the finding, says what it must tell.
	want oracle.Kind
	says string
}{
	{"a row is deleted", []string{"DELETE FROM t WHERE a = 1"}, oracle.ReplicaStopped, "error 1032"},
	{"the table is dropped", []string{"DROP TABLE t"}, oracle.ReplicaStopped, "error 1146"},
	// MariaDB can run triggers of a replica for rows that the primary sends: this one changes what comes.
	// https://mariadb.com/kb/en/running-triggers-on-the-replica-for-row-based-events/
	{"a row is changed as it comes", []string{
		"SET GLOBAL slave_run_triggers_for_rbr = YES",
		"CREATE TRIGGER lie BEFORE INSERT ON t FOR EACH ROW SET NEW.b = IF(NEW.a = 3, 7, NEW.b)",
	}, oracle.ReplicaDiffers, "only the primary has (3,5); only the replica has (3,7)"},
	// Nothing tells that this has to do with the case, and it does not come again behind a new replica.
	{"the replica is stopped by hand", []string{"STOP SLAVE SQL_THREAD"}, "", ""},
}

const replicatedCase = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 5);
/* tx1 */ COMMIT;
`

// TestLyingReplica plants each lie behind an honest run, and looks whether the next run finds it and the one behind
// that, on a replica that was begun anew, is honest again.
func TestLyingReplica(t *testing.T) {
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		on, b := openReplicated(t, server+",replica=row", target.Options{})
		c := targettest.Case(t, replicatedCase)
		levels := target.LevelsFor(c, corpus.RepeatableRead)
		for _, lie := range lies {
			t.Run(lie.name, func(t *testing.T) {
				if r := on.Judge(t.Context(), c, levels); r.Verdict.Outcome != oracle.OK {
					t.Fatalf("before the lie: %+v", r.Verdict)
				}
				plant(t, b, lie.sql)
				r := on.Judge(t.Context(), c, levels)
				if r.Verdict.Kind != lie.want || !strings.Contains(r.Verdict.Actual, lie.says) {
					t.Errorf("with the lie: %+v; want %s that says %s", r.Verdict, lie.want, lie.says)
				}
			})
		}
		if r := on.Judge(t.Context(), c, levels); r.Verdict.Outcome != oracle.OK {
			t.Errorf("behind the lies: %+v", r.Verdict)
		}
		seen := on.Replicas()
		if seen.Compared == 0 || seen.Rebuilt < len(lies) || seen.Others != 1 {
			t.Errorf("%+v", seen)
		}
		if len(seen.Stopped) != 1 || seen.Stopped[0] != "it stops: it was stopped without an error" {
			t.Errorf("of stops that did not come again the replica had said %q", seen.Stopped)
		}
	}
}

// TestRunCutOffByReplica looks that a run whose time is up while its replica is begun anew leaves a target to others.
func TestRunCutOffByReplica(t *testing.T) {
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		on, b := openReplicated(t, server+",replica=row", target.Options{})
		c := targettest.Case(t, replicatedCase)
		levels := target.LevelsFor(c, corpus.RepeatableRead)
		on.Judge(t.Context(), c, levels)
		plant(t, b, []string{"DROP TABLE t"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		target.CutOffAtRebuild(on, cancel)
		on.Judge(ctx, c, levels)
		if ctx.Err() == nil {
			t.Fatal("the replica was not begun anew")
		}
		if r := on.Judge(t.Context(), c, levels); r.Verdict.Outcome != oracle.OK {
			t.Errorf("behind a run that was cut off: %+v, %v", r.Verdict, r.Err)
		}
	}
}

// openReplicated opens a target with a replica, whose backend it returns, too.
func openReplicated(t *testing.T, name string, o target.Options) (*target.Target, harness.Replicated) {
	t.Helper()
	on := targettest.Open(t, name, o)
	b, ok := target.BackendOf(on).(harness.Replicated)
	if !ok {
		t.Fatalf("%s has no replica", name)
	}
	return on, b
}

// plant runs statements on the replica, in each database there that has tables of a case.
func plant(t *testing.T, b harness.Replicated, statements []string) {
	t.Helper()
	w, err := harness.WiredOf(b.Topology().Nodes[1].Backend)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const databases = `SELECT table_schema FROM information_schema.tables WHERE table_schema LIKE 'txnfuzz\_%'`
	rows, err := conn.QueryContext(ctx, databases)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil || len(names) == 0 {
		t.Fatal("no tables on the replica: ", err)
	}
	for _, name := range names {
		for _, s := range append([]string{"SET sql_log_bin = 0", "USE " + name}, statements...) {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
}

// TestUnsafeStatement looks that what the manual calls unsafe in STATEMENT form is counted, and no finding.
func TestUnsafeStatement(t *testing.T) {
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		on, _ := openReplicated(t, server+",replica=statement", target.Options{})
		c := targettest.Case(t, `
/* init */ CREATE TABLE t (a VARCHAR(50));
/* tx1 */ INSERT INTO t VALUES (UUID());
`)
		r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
		if r.History == nil {
			t.Fatal(r.Err)
		}
		if trouble := r.History.Replica; r.Verdict.Outcome == oracle.Violation || trouble == nil || len(trouble.Unsafe) != 1 {
			t.Errorf("verdict %+v, trouble %+v", r.Verdict, trouble)
		}
		if seen := on.Replicas(); seen.Documented != 1 || seen.Unsafe != 1 {
			t.Errorf("%+v", seen)
		}
		_, err := target.Offered(on, []corpus.Level{corpus.ReadCommitted})
		if err == nil || !strings.Contains(err.Error(), "error 1665") {
			t.Errorf("READ COMMITTED in STATEMENT form: %v", err)
		}
		c = targettest.Case(t, `
/* init */ CREATE TABLE t (a INT);
/* tx1 */ SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
/* tx1 */ INSERT INTO t VALUES (1);
`)
		r = on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
		if r.Verdict.Reason != target.ReasonRefused {
			t.Errorf("a case that sets READ COMMITTED: %+v", r.Verdict)
		}
	}
}

// TestStandby looks that a standby of PostgreSQL is read and compared, and trusted while it is honest.
func TestStandby(t *testing.T) {
	for _, server := range targettest.Among(t, "postgres:18") {
		on, b := openReplicated(t, server+",standby=1,sync=remote_apply", target.Options{})
		c := targettest.Case(t, replicatedCase)
		for range 5 {
			if r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead)); r.Verdict.Outcome != oracle.OK {
				t.Fatalf("%+v", r.Verdict)
			}
		}
		if seen := on.Replicas(); seen.Compared < 5 || seen.Rebuilt != 0 || seen.Watched < 5 || seen.Judged < 10 {
			t.Errorf("%+v", seen)
		}
		becomesStale(t, on, b, c)
	}
}

func TestReplicaOfOthersRefused(t *testing.T) {
	for _, name := range []string{
		"root@tcp(127.0.0.1:3306)/,replica=row", "root@tcp(127.0.0.1:3306)/?replica=row",
		"postgres://a@127.0.0.1/x?standby=1",
	} {
		if err := target.Check(name); err == nil || !strings.Contains(err.Error(), "servers that txnfuzz starts itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
