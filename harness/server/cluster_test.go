package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// installedClusters returns the private PostgreSQL servers that this machine can start, and skips the
// test if there is none.
func installedClusters(t testing.TB) (targets []string) {
	t.Helper()
	for _, r := range releases {
		if r.family != history.PostgreSQL {
			continue
		}
		if _, err := unpacked(t.Context(), r.family, r.version); err == nil {
			targets = append(targets, nameOf(r.family)+":"+r.version)
		}
	}
	if in, err := onPath(t.Context(), history.PostgreSQL); err == nil {
		if target := nameOf(history.PostgreSQL) + ":" + in.version; !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	if len(targets) == 0 {
		if required {
			t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set, and there is no PostgreSQL")
		}
		t.Skip("no PostgreSQL is installed: scripts/servers postgres:18 does it")
	}
	return targets
}

func eachCluster(t *testing.T, f func(t *testing.T, target string)) {
	each(t, installedClusters(t), f)
}

func startCluster(t testing.TB, target string, o harness.Options) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(*cluster)
}

func clusterSession(t testing.TB, b *cluster) *pgsession.Session {
	t.Helper()
	s, err := b.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func query(t testing.TB, s *pgsession.Session, sql string) [][]history.Cell {
	t.Helper()
	rows, err := s.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func TestClusterStarts(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		b := startCluster(t, target+",enable_seqscan=off,Deadlock-Timeout=20", harness.Options{})
		server := b.Server()
		if server.DBMS != history.PostgreSQL || !strings.HasPrefix(server.Version, strings.TrimPrefix(target, "postgres:")) {
			t.Errorf("%s is %+v", target, server)
		}
		want := map[string]string{"enable_seqscan": "off", "deadlock_timeout": "20", "fsync": "off", "timezone": "UTC",
			"default_transaction_isolation": "read committed"}
		for k, v := range want {
			if server.Settings[k] != v {
				t.Errorf("%s = %q, want %q", k, server.Settings[k], v)
			}
		}
		s := clusterSession(t, b)
		query(t, s, "CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1)")
		if err := b.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Query("SELECT 1"); err == nil {
			t.Error("a session of the old instance goes on")
		}
		if rows := query(t, clusterSession(t, b), "SELECT to_regclass('t')"); !rows[0][0].Null {
			t.Error("the new instance has the table of the old one")
		}
		if log := b.LogProblems(); len(log) > 0 {
			t.Errorf("problems in the log of a sound server: %q", log)
		}
	})
}

func TestClusterRefusesWhatItCannot(t *testing.T) {
	target := installedClusters(t)[0]
	for option, says := range map[string]string{
		"no_such_parameter=1":      "knows no such parameter",
		"max_connections=none":     "refuses this value",
		"max_connections=-4":       "refuses this value",
		"enable_seqscan=perhaps":   "refuses this value",
		"data_directory=/tmp":      "cannot be set",
		"unix_socket_directories=": "cannot be set",
		"snapshot=on":              "exists for mariadb only",
	} {
		dir := shortDir(t)
		b, err := harness.Open(t.Context(), target+","+option, options(dir))
		if err == nil {
			_ = b.Close()
		}
		var name *harness.NameError
		if !errors.As(err, &name) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", option, err, says)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: a failed start leaves %v", option, left)
		}
	}
}

func TestClusterDies(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		dir := shortDir(t)
		b := startCluster(t, target, options(dir))
		if err := b.Alive(t.Context()); err != nil {
			t.Fatalf("just started: %v", err)
		}
		s := clusterSession(t, b)
		if err := syscall.Kill(int(s.ID()), syscall.SIGSEGV); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Execute("SELECT 1"); err == nil {
			t.Error("the session of a backend that died goes on")
		}
		var err error
		if !until(func() bool { err = b.Alive(t.Context()); return err != nil }) {
			t.Fatal("no error of a dead server")
		}
		const says = "terminated by signal 11"
		if !until(func() bool { err = b.Alive(t.Context()); return err != nil && strings.Contains(err.Error(), says) }) {
			t.Errorf("of a dead server: %v", err)
		}
		if problems := b.LogProblems(); len(problems) == 0 || !strings.Contains(b.Log(), problems[0]) {
			t.Errorf("problems %q in the log:\n%s", problems, b.Log())
		}
		if err := b.Restart(t.Context()); err != nil {
			t.Fatalf("restart: %v", err)
		}
		if err := b.Alive(t.Context()); err != nil {
			t.Errorf("of the new instance: %v", err)
		}
	})
}

// TestClusterIsKilled ends the first process alone, whatever becomes of the others.
func TestClusterIsKilled(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		for name, kill := range map[string]func(p *process) error{
			"SIGKILL of the server":   func(p *process) error { return p.signal(syscall.SIGKILL) },
			"SIGSTOP of the server":   func(p *process) error { return p.signal(syscall.SIGSTOP) },
			"SIGKILL of the watchdog": func(p *process) error { return syscall.Kill(parentOf(p.pid), syscall.SIGKILL) },
			"SIGSTOP of all processes": func(p *process) error {
				return (&cluster{durable: true, running: running{current: p}}).Pause()
			},
		} {
			dir := shortDir(t)
			b, err := harness.Open(t.Context(), target, options(dir))
			if err != nil {
				t.Fatal(err)
			}
			p := b.(*cluster).instance()
			s := clusterSession(t, b.(*cluster))
			query(t, s, "BEGIN; CREATE TABLE t (a INT)")
			owned := []ownedInstance{{server: p.pid, watchdog: parentOf(p.pid), folder: p.folder.path,
				children: childrenOf(p.pid), segment: segmentText(t, p.folder.path)}}
			if n := len(litter(owned)); n < whole(owned)+3 {
				t.Fatalf("before the end there is %q", litter(owned))
			}
			began := time.Now()
			if err := kill(p); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !until(func() bool { return len(litter(owned)) == 0 }) {
				t.Errorf("%s leaves %q", name, litter(owned))
			}
			t.Logf("%s: all gone after %v", name, time.Since(began).Round(time.Millisecond))
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s leaves %v", name, left)
			}
		}
	})
}

// segmentText returns the key and the id of the shared memory of a server in a folder.
func segmentText(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.Split(string(text), "\n")[6]), " ")
}

func TestClusterRecovers(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		dir := shortDir(t)
		b := startCluster(t, target, harness.Options{Dir: dir, Durable: true})
		if b.Server().Settings["fsync"] != "on" || b.Server().Settings["synchronous_commit"] != "on" {
			t.Errorf("a durable server has the settings %v", b.Server().Settings)
		}
		query(t, clusterSession(t, b), "CREATE TABLE t (a INT PRIMARY KEY)")
		for i := range 3 {
			s := clusterSession(t, b)
			query(t, s, "INSERT INTO t VALUES ("+strconv.Itoa(i)+")")
			query(t, s, "BEGIN; INSERT INTO t VALUES ("+strconv.Itoa(100+i)+")")
			if err := b.Recover(t.Context()); err == nil {
				t.Fatal("a server that runs was recovered")
			}
			segment, children := segmentText(t, b.instance().folder.path), childrenOf(b.instance().pid)
			if err := b.Kill(); err != nil {
				t.Fatal(err)
			}
			for _, pid := range children {
				if parentOf(pid) != 0 {
					t.Errorf("process %d of the killed server is still there", pid)
				}
			}
			if slices.Contains(segments(), segment) {
				t.Error("the killed server leaves its shared memory")
			}
			if err := b.Alive(t.Context()); err == nil {
				t.Fatal("a killed server is alive")
			}
			if err := b.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows := query(t, clusterSession(t, b), "SELECT string_agg(a::text, ',' ORDER BY a) FROM t")
			if want := []string{"0", "0,1", "0,1,2"}[i]; rows[0][0].Text != want {
				t.Errorf("after kill %d the table holds %s, want %s", i+1, rows[0][0].Text, want)
			}
		}
		endsKilled(t, b, dir)
	})
}

func TestClusterPort(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		port := freePort(t)
		b := startCluster(t, target, harness.Options{Port: port})
		foreign, err := harness.Open(t.Context(), b.URL(), harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := foreign.Server().Version, b.Server().Version; got != want {
			t.Errorf("by the port it is version %s, by the socket %s", got, want)
		}
		if err := foreign.Alive(t.Context()); err != nil {
			t.Error(err)
		}
		if err := foreign.Close(); err != nil {
			t.Error(err)
		}
		at := "@127.0.0.1:" + strconv.Itoa(port) + "/postgres"
		for _, user := range []string{"txnfuzz", "txnfuzz:Wrong1Wrong", "postgres:Wrong1Wrong"} {
			_, err := harness.Open(t.Context(), "postgres://"+user+at, harness.Options{})
			if err == nil || strings.Contains(err.Error(), "Wrong1") {
				t.Errorf("%s: %v", user, err)
			}
		}
		if err := b.Alive(t.Context()); err != nil {
			t.Errorf("once the other client is gone: %v", err)
		}
	})
}

func TestPostgresDSN(t *testing.T) {
	b := startCluster(t, installedClusters(t)[0], harness.Options{Port: freePort(t)})
	s := clusterSession(t, b)
	for _, sql := range []string{
		"CREATE ROLE poor LOGIN PASSWORD 'Secret1'", "CREATE ROLE able LOGIN PASSWORD 'Secret1'",
		"CREATE ROLE lazy LOGIN PASSWORD 'Secret1'", "ALTER ROLE lazy SET default_transaction_read_only = on",
		"GRANT CREATE ON DATABASE postgres TO able, lazy", "CREATE DATABASE second",
	} {
		query(t, s, sql)
	}
	at := "@127.0.0.1:" + strconv.Itoa(b.port)
	for dsn, says := range map[string]string{
		"postgres://able:Secret1" + at + "/postgres":   "",
		"postgresql://able:Secret1" + at + "/postgres": "",
		"postgres://poor:Secret1" + at + "/postgres":   "may not create schemas",
		"postgres://able:Secret1" + at + "/second":     "may not create schemas",
		"postgres://lazy:Secret1" + at + "/postgres":   "read-only",
		"postgres://able:Secret1" + at + "/none":       "does not exist",
		"postgres://able:Secret1#x" + at + "/postgres": "malformed DSN",
		"postgres://able:Secret1/x" + at + "/postgres": "malformed DSN",
		"postgres://able:1?Secret1" + at + "/postgres": "malformed DSN",
		"postgres://able:Secret1@127.0.0.1:1/postgres": "connection refused",
		"postgres://able:Secret1@[::1/postgres":        "malformed DSN",
	} {
		foreign, err := harness.Open(t.Context(), dsn, harness.Options{})
		if says == "" {
			if err != nil {
				t.Errorf("%s: %v", dsn, err)
				continue
			}
			session, err := foreign.(harness.Database).Open(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			r, err := session.Execute("CREATE SCHEMA mine; SELECT current_user; DROP SCHEMA mine; SELECT 2")
			if err != nil || r.Err != nil || len(r.Earlier) != 1 {
				t.Errorf("%s: %+v, %v", dsn, r, err)
			}
			if err := errors.Join(session.Close(), foreign.Close()); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "Secret1") {
			t.Errorf("%s: %v, want %q and no password", dsn, err, says)
		}
	}
}

func TestTwoVersionsSideBySide(t *testing.T) {
	targets := installedClusters(t)
	seen := map[string]bool{}
	for _, target := range targets {
		b := startCluster(t, target, harness.Options{})
		s := clusterSession(t, b)
		query(t, s, "CREATE TABLE t (a INT)")
		version := query(t, s, "SHOW server_version")[0][0].Text
		if seen[version] {
			t.Errorf("%s is version %s, as another one", target, version)
		}
		seen[version] = true
	}
}

// BenchmarkClusterStart is the time from nothing to the first answer, and that of the end.
func BenchmarkClusterStart(b *testing.B) {
	for _, target := range installedClusters(b) {
		b.Run(target, func(b *testing.B) {
			startCluster(b, target, harness.Options{}) // the template is there
			var ends time.Duration
			for b.Loop() {
				s, err := openCluster(b.Context(), target, harness.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				began := time.Now()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				ends += time.Since(began)
				b.StartTimer()
			}
			b.ReportMetric(float64(ends.Milliseconds())/float64(b.N), "ms/end")
		})
	}
}

// TestIndexesAreChecked: an index that lacks a row of its table is told of, by the function that the harness asks.
func TestIndexesAreChecked(t *testing.T) {
	b := startCluster(t, "postgres:18", harness.Options{})
	s := clusterSession(t, b)
	query(t, s, "CREATE TABLE t (a INT, b INT); CREATE INDEX k ON t (b); INSERT INTO t VALUES (1, 1)")
	query(t, s, "SELECT public.bt_index_check('k'::regclass, true)")
	query(t, s, "UPDATE pg_index SET indisready = false WHERE indexrelid = 'k'::regclass")
	query(t, clusterSession(t, b), "INSERT INTO t VALUES (2, 2)")
	query(t, s, "UPDATE pg_index SET indisready = true WHERE indexrelid = 'k'::regclass")
	_, err := clusterSession(t, b).Query("SELECT public.bt_index_check('k'::regclass, true)")
	var refused *pgsession.Refusal
	if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "lacks matching index tuple") {
		t.Errorf("an index without an entry: %v", err)
	}
}
