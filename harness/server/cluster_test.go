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

// processes returns those whose arguments speak of a folder, and the children of one of them.
func processes(folder string, first int) (pids []string) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range found {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), folder) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	for _, pid := range childrenOf(first) {
		pids = append(pids, strconv.Itoa(pid))
	}
	return pids
}

var _ = syscall.SIGKILL
