package server

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// required says that a missing server is a failure: set where the servers are
// known to be installed, so that a test cannot go unnoticed.
var required = os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != ""

// installedTargets returns the private targets of MySQL and MariaDB that this machine can
// start.
func installedTargets(t testing.TB) []string {
	t.Helper()
	var targets []string
	for _, r := range releases {
		if r.family == history.TiDB || r.family == history.PostgreSQL {
			continue
		}
		name := string(r.family) + ":" + r.version
		if _, err := unpacked(t.Context(), r.family, r.version); err == nil {
			targets = append(targets, name)
		} else if required {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set: %v", err)
		}
	}
	return targets
}

// eachServer runs a test against every installed server, on all of them at a time: most of a test is
// waiting, for a server to start or for a lock.
func eachServer(t *testing.T, f func(t *testing.T, target string)) {
	each(t, installedTargets(t), f)
}

func each(t *testing.T, targets []string, f func(t *testing.T, target string)) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			f(t, target)
		})
	}
}

// inTurn is for tests that set the environment.
func inTurn(t *testing.T, targets []string, f func(t *testing.T, target string)) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) { f(t, target) })
	}
}

// ofTheEmbedded is the TiDB whose commit this module embeds. Another one takes ten minutes to compile,
// so that it is nowhere required.
const ofTheEmbedded = "2025-11"

// installedTiDBs returns the private TiDBs that this machine can start.
func installedTiDBs(t *testing.T) []string {
	t.Helper()
	var targets []string
	for _, r := range releases {
		if r.family != history.TiDB {
			continue
		}
		if _, err := unpacked(t.Context(), r.family, r.version); err == nil {
			targets = append(targets, string(r.family)+":"+r.version)
		} else if required && r.version == ofTheEmbedded {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set: %v", err)
		}
	}
	return targets
}

// anyTiDB returns the installed TiDBs and skips the test if there is none.
func anyTiDB(t *testing.T) []string {
	t.Helper()
	targets := installedTiDBs(t)
	if len(targets) == 0 {
		t.Skip("no TiDB is installed: scripts/servers tidb:2025-11 does it")
	}
	return targets
}

// eachTiDB runs a test against every installed TiDB.
func eachTiDB(t *testing.T, f func(t *testing.T, target string)) {
	each(t, anyTiDB(t), f)
}

// start opens a private instance that ends with the test.
func start(t testing.TB, target string) *private {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(*private)
}

// must runs statements on a connection.
func must(t testing.TB, s *side, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if err := s.exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// sideOf returns a connection that ends with the test.
func sideOf(t testing.TB, to dialer) *side {
	s := &side{to: to}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// connID returns CONNECTION_ID() of a connection.
func connID(t testing.TB, s *side) uint64 {
	t.Helper()
	rows, err := s.query(t.Context(), "SELECT CONNECTION_ID()")
	if err != nil {
		t.Fatal(err)
	}
	id, err := number(rows[0][0])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestVendorDefaults(t *testing.T) {
	for target, want := range map[string]map[string]string{
		"mysql:9.7":                 {"log_bin": "ON", "binlog_format": "ROW", "transaction_isolation": "REPEATABLE-READ"},
		"mysql:9.7,binlog=off":      {"log_bin": "OFF"},
		"mariadb:11.8":              {"log_bin": "OFF", "innodb_snapshot_isolation": "ON"},
		"mariadb:11.8,snapshot=off": {"innodb_snapshot_isolation": "OFF"},
		"mariadb:11.8,binlog=row":   {"log_bin": "ON", "binlog_format": "ROW"},
		"mariadb:10.11":             {"log_bin": "OFF", "innodb_snapshot_isolation": "OFF"},
		"mariadb:10.11,snapshot=on": {"innodb_snapshot_isolation": "ON"},
		"mariadb:10.5":              {"log_bin": "OFF", "innodb_stats_auto_recalc": "OFF"},
		"mysql:9.7,sql_mode=":       {"sql_mode": ""},
		"mariadb:10.5,sql_mode=ANSI_QUOTES,NO_ZERO_DATE,binlog=off,innodb-lock-wait-timeout=7": {"sql_mode": "ANSI_QUOTES,NO_ZERO_DATE", "innodb_lock_wait_timeout": "7"},
	} {
		release, _, _ := strings.Cut(target, ",")
		if !contained(installedTargets(t), release) {
			continue
		}
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			s := start(t, target).Server()
			if string(s.DBMS) != release[:strings.Index(release, ":")] || !strings.HasPrefix(s.Version, release[strings.Index(release, ":")+1:]+".") {
				t.Errorf("server is %s %s", s.DBMS, s.Version)
			}
			for k, v := range want {
				if got, ok := s.Settings[k]; !ok || got != v {
					t.Errorf("%s = %q, want %q", k, got, v)
				}
			}
		})
	}
}

func contained(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func options(dir string) harness.Options { return harness.Options{Dir: dir} }
