package pgsession_test

import (
	"context"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers the target
)

// start opens the newest PostgreSQL that is installed, which ends with the test.
func start(t testing.TB) harness.Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, "postgres", harness.Options{})
	if err != nil {
		t.Skip(err)
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
