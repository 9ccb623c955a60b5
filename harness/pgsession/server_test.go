package pgsession_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers the target
)

// start opens the newest PostgreSQL that is installed, which ends with the test.
func start(t testing.TB) harness.Database {
	t.Helper()
	return startTarget(t, "postgres")
}

// startTarget is start for a target.
func startTarget(t testing.TB, name string) harness.Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, name, harness.Options{})
	if errors.Is(err, os.ErrNotExist) && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(harness.Database)
}

func open(t testing.TB, db harness.Database) *pgsession.Session {
	t.Helper()
	s, err := db.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*pgsession.Session)
}

func must(t testing.TB, s *pgsession.Session, sql string) {
	t.Helper()
	if _, err := s.Query(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// sleeps waits until the server is in the statement pg_sleep of a session.
func sleeps(t testing.TB, watch *pgsession.Session, id uint64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		rows, err := watch.Query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = " + itoa(id))
		if err != nil {
			t.Error(err)
			return
		}
		if len(rows) == 1 {
			return
		}
	}
	t.Errorf("session %d does not sleep", id)
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }
