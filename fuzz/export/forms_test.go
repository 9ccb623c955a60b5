package export

import (
	"context"
	"database/sql"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// finding is a stored case that shows something on a target at a level.
type finding struct{ target, file, level string }

// findings are one finding on each server, and those that need a setting.
var findings = []finding{
	{"mysql:9.7", "mysql-no-op-update-renews-null.sql", "RR"},
	{"mariadb:11.8", "mariadb-index-hides-changed-record.sql", "RR"},
	{"mariadb:10.11", "innodb-unique-lookup-misses-own-insert.sql", "RR"},
	{"mariadb:10.11,snapshot=on", "mariadb-index-hides-changed-record.sql", "RR"},
	{"mariadb:10.5", "innodb-unique-lookup-misses-own-insert.sql", "RR"},
}

// elsewhere is a server of the same family that does not promise the same.
var elsewhere = map[string]string{
	"mysql:9.7": "mysql:9.7,binlog=off", "mariadb:11.8": "mariadb:11.8,snapshot=off",
	"mariadb:10.11": "mariadb:10.11,snapshot=on", "mariadb:10.11,snapshot=on": "mariadb:10.11",
}

func open(t *testing.T, target string) harness.Wired {
	t.Helper()
	serverRoot(t)
	b, err := harness.Open(t.Context(), target, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(harness.Wired)
}

// record runs a case once and tells what was seen.
func record(t *testing.T, b harness.Wired, target, file string, c *corpus.Case, level corpus.Level) *timeline.Timeline {
	t.Helper()
	pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{Workers: 1, Clean: true})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	levels := map[int]corpus.Level{}
	for _, n := range c.Sessions() {
		levels[n] = level
	}
	h, err := pool.Run(t.Context(), c, harness.Levels{By: levels})
	if err != nil {
		t.Fatal(err)
	}
	return timeline.Of(timeline.Run{File: file, Target: target, Case: c, Levels: levels, History: h, Verdict: oracle.Check(c, h)})
}

// result of an exported test.
const (
	passes = "passes"
	fails  = "fails"
	skips  = "is skipped"
)

// runGo runs an exported Go test on the server of a DSN, and says how it ends and what it prints. Its imports are those of
// this module.
func runGo(t *testing.T, text []byte, dsn string) (fate, printed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "anomaly_test.go")
	write(t, file, text)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", file)
	cmd.Env = append(os.Environ(), "DSN="+dsn)
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "--- SKIP: TestAnomaly"):
		return skips, string(out)
	case err == nil:
		return passes, string(out)
	case !strings.Contains(string(out), "--- FAIL: TestAnomaly"):
		t.Errorf("the test did not run:\n%s", out)
	}
	return fails, string(out)
}

// actOut runs an exported test against a server, through the socket that is given,
// and says how it ends.
func actOut(t *testing.T, b harness.Wired, tl *timeline.Timeline, format string, as As, socket string) (string, string) {
	t.Helper()
	user := b.Config().User
	files, err := Write(tl, format, as)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if format == "go" {
		return runGo(t, files.Text, user+"@unix("+socket+")/")
	}
	execute(t, b, "CREATE DATABASE txnfuzz_forms")
	defer execute(t, b, "DROP DATABASE txnfuzz_forms")
	test := filepath.Join(dir, "a.test")
	write(t, test, files.Text)
	write(t, filepath.Join(dir, "a.result"), files.Beside[".result"])
	cmd := program(t, "mariadb-test", "--no-defaults", "--socket="+socket, "--user="+user, "--plugin-dir="+plugins(t), "--database=txnfuzz_forms", "--test-file="+test, "--result-file="+filepath.Join(dir, "a.result"))
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return passes, string(out)
	case cmd.ProcessState.ExitCode() == 62:
		return skips, string(out)
	case !strings.Contains(string(out), "Result ") && !strings.Contains(string(out), "failed"):
		t.Errorf("ended without a comparison:\n%s", out)
	}
	return fails, string(out)
}

// TestFindingsInBothForms acts findings of each server out: the test for a
// maintainer fails where the bug is, the demonstration passes, and a server that
// promises something else skips both.
func TestFindingsInBothForms(t *testing.T) {
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Run(f.target, func(t *testing.T) {
			stored, err := corpus.Load(filepath.Join("..", "..", "corpus", "found", f.file))
			if err != nil {
				t.Fatal(err)
			}
			level, err := corpus.ParseLevel(f.level)
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, f.target)
			tl := record(t, b, f.target, f.file, stored, level)
			if o := tl.Verdict.Outcome; o != oracle.Known && o != oracle.Violation {
				t.Fatalf("%s shows nothing: %s", f.file, o)
			}
			for target, server := range map[string]harness.Wired{f.target: b, elsewhere[f.target]: nil} {
				if target == "" {
					continue
				}
				if server == nil {
					server = open(t, target)
				}
				cfg := server.Config()
				for _, format := range []string{"mtr", "go"} {
					for as, want := range map[As]string{Test: fails, Demo: passes} {
						if target != f.target {
							want = skips
						}
						if got, out := actOut(t, server, tl, format, as, cfg.Addr); got != want {
							t.Errorf("%s as %s on %s: it %s, want that it %s:\n%s", format, as, target, got, want, out)
						}
					}
				}
			}
		})
	}
}

// liars are the targets that lies are told of.
var liars = []string{target}

// lies are cases that show nothing, and the lie that makes them show something.
var lies = []struct{ lie, level, text string }{
	{"read-committed-served-as-read-uncommitted", "RC", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`},
	// Bytes that no terminal shows, in an order of their own, and a BIT that looks like a letter.
	{"read-committed-served-as-read-uncommitted", "RC", `
/* init */ CREATE TABLE t (a VARBINARY(4) PRIMARY KEY, b BIT(8), c BIT(3));
/* init */ INSERT INTO t VALUES (x'01', b'1000001', b'101'), ('1', b'1000010', b'10'), (x'0c', NULL, b'11');
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b'1000011', c = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`},
	{"commit-is-lost", "RR", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = b + 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
`},
}

// TestHonestAndLyingServers acts what was seen on a lying server out on that one
// and on an honest one: the forms must tell them apart, each in its way.
func TestHonestAndLyingServers(t *testing.T) {
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, target := range liars {
		b := open(t, target)
		levels := corpus.Levels
		if b.Server().DBMS == history.TiDB {
			levels = []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}
		}
		told := lying.For(b.Server().DBMS, levels)
		for _, l := range lies {
			if !slices.ContainsFunc(told, func(x lying.Lie) bool { return x.Name == l.lie }) {
				continue
			}
			t.Run(target+"/"+l.lie, func(t *testing.T) { tellsApart(t, b, target, l.lie, l.level, l.text) })
		}
	}
}

// tellsApart records a case on a server that tells a lie and acts the exports out.
func tellsApart(t *testing.T, b harness.Wired, target, lie, levelName, text string) {
	t.Helper()
	liar := lying.Through(b, lieOf(t, lie))
	c, err := corpus.Parse(lie, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	level, err := corpus.ParseLevel(levelName)
	if err != nil {
		t.Fatal(err)
	}
	tl := record(t, liar, target, lie, c, level)
	if tl.Verdict.Outcome != oracle.Violation {
		t.Fatalf("the lie does not show: %s %s", tl.Verdict.Outcome, tl.Verdict.Reason)
	}
	for _, x := range []struct {
		addr, server string
		wants        map[As]string
	}{
		{b.Config().Addr, "honest", map[As]string{Test: passes, Demo: fails}},
		{listen(t, liar), "lying", map[As]string{Test: fails, Demo: passes}},
	} {
		for _, format := range []string{"mtr", "go"} {
			for as, want := range x.wants {
				if got, out := actOut(t, b, tl, format, as, x.addr); got != want {
					t.Errorf("%s as %s on the %s server: it %s, want that it %s:\n%s", format, as, x.server, got, want, out)
				}
			}
		}
	}
}

func lieOf(t *testing.T, name string) lying.Lie {
	t.Helper()
	for _, l := range lying.Lies {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no lie is named %s", name)
	return lying.Lie{}
}

// listen makes a backend reachable for other clients, by a socket.
func listen(t *testing.T, b harness.Wired) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lie") // t.TempDir's names are too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := b.Dial(context.Background())
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near); far.Close() }()
			go func() { _, _ = io.Copy(near, far); near.Close() }()
		}
	}()
	return path
}

// execute runs a statement on the server itself.
func execute(t *testing.T, b harness.Wired, statement string) {
	t.Helper()
	connector, err := mysql.NewConnector(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// plugins is where the client has what it needs to log in to MySQL.
func plugins(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(serverRoot(t), "usr", "lib", "*", "libmariadb3", "plugin"))
	if len(found) == 0 {
		t.Fatal("the unpacked server has no plugins for clients")
	}
	return found[0]
}
