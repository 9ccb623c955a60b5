package server

import (
	"context"
	"testing"
	"time"
)

func eachServerB(b *testing.B, f func(b *testing.B, target string)) {
	for _, target := range installedTargets(b) {
		b.Run(target, func(b *testing.B) { f(b, target) })
	}
}

// BenchmarkStart is the time from nothing to the first answer.
func BenchmarkStart(b *testing.B) {
	eachServerB(b, func(b *testing.B, target string) {
		start(b, target) // the template is there
		for b.Loop() {
			s, err := openPrivate(b.Context(), target, options(""))
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

// BenchmarkPoll is one question, with two statements outstanding that do not
// wait, or of which one waits.
func BenchmarkPoll(b *testing.B) {
	eachServerB(b, func(b *testing.B, target string) {
		s := start(b, target)
		holder, waiter := sideOf(b, s), sideOf(b, s)
		must(b, holder, "CREATE DATABASE txnfuzz_test", "USE txnfuzz_test", "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1)")
		must(b, waiter, "USE txnfuzz_test")
		p, err := s.Prober(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		conns := []uint64{connID(b, holder), connID(b, waiter)}
		poll := func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Waiting(b.Context(), conns); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run("idle", poll)
		must(b, waiter, "SET innodb_lock_wait_timeout = 100", "BEGIN")
		must(b, holder, "BEGIN", "UPDATE t SET b = b + 1")
		b.Run("transaction", poll)
		done := make(chan error, 1)
		go func() { done <- waiter.exec(context.Background(), "UPDATE t SET b = b + 1") }()
		time.Sleep(50 * time.Millisecond)
		b.Run("row lock", poll)
		must(b, holder, "COMMIT")
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkHoldPurge is what a case costs beside its statements: purge held and
// released.
func BenchmarkHoldPurge(b *testing.B) {
	eachServerB(b, func(b *testing.B, target string) {
		hold := &purgeHold{side: side{to: start(b, target)}}
		for b.Loop() {
			if err := hold.BeginCase(b.Context(), 0, nil); err != nil {
				b.Fatal(err)
			}
			if err := hold.EndCase(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		_ = hold.side.Close()
	})
}

// BenchmarkTables is the making and dropping of a table, which the fixed
// statistics must not make dear.
func BenchmarkTables(b *testing.B) {
	eachServerB(b, func(b *testing.B, target string) {
		s := sideOf(b, start(b, target))
		must(b, s, "CREATE DATABASE txnfuzz_test", "USE txnfuzz_test")
		for b.Loop() {
			must(b, s, "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b))", "INSERT INTO t VALUES (1, 1), (2, 2)", "DROP TABLE t")
		}
	})
}
