package server

import (
	"context"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var historyLength = regexp.MustCompile(`History list length (\d+)`)

func TestPurgeRunsInAQuarterOfTheCases(t *testing.T) {
	held := 0
	for key := range uint64(1000) {
		if heldOf(key) {
			held++
		}
	}
	if held != 750 {
		t.Errorf("held in %d of 1000 cases, want 750", held)
	}
}

// TestPurgeIsHeld: while a case runs nothing of it is purged, afterwards all is.
func TestPurgeIsHeld(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		p, err := b.Prober(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		observer := p.(harness.CaseObserver)
		s := sideOf(t, b)
		must(t, s, "CREATE DATABASE txnfuzz_test", "USE txnfuzz_test", "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1)")
		if b.server.DBMS == history.MySQL {
			must(t, s, "SET GLOBAL innodb_purge_rseg_truncate_frequency = 1") // else the length lags behind
		}
		length := func() int {
			rows, err := s.query(t.Context(), "SHOW ENGINE INNODB STATUS")
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(string(historyLength.FindSubmatch(rows[0][2])[1]))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, key := range []uint64{0, 3} {
			if !until(func() bool { return length() == 0 }) {
				t.Fatalf("key %d: history list length %d before the case", key, length())
			}
			if err := observer.BeginCase(t.Context(), key, nil); err != nil {
				t.Fatal(err)
			}
			for range 20 {
				must(t, s, "UPDATE t SET b = b + 1")
			}
			purged := until(func() bool { return length() == 0 })
			if purged == heldOf(key) {
				t.Errorf("key %d: purged during the case: %v", key, purged)
			}
			if err := observer.EndCase(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := observer.EndCase(t.Context()); err != nil {
				t.Fatalf("ended twice: %v", err)
			}
		}
	})
}

func TestSilence(t *testing.T) {
	now := time.Now()
	p := &silenceProber{since: map[uint64]time.Time{}, after: 30 * time.Millisecond, clock: func() time.Time { return now }}
	ask := func(conns ...uint64) int {
		ws, err := p.Waiting(context.Background(), conns)
		if err != nil {
			t.Fatal(err)
		}
		return len(ws)
	}
	p.Submitted(1)
	p.Submitted(2)
	if ask(1, 2) != 0 {
		t.Error("waits at once")
	}
	now = now.Add(20 * time.Millisecond)
	if ask(1) != 0 { // 2 answered
		t.Error("waits too early")
	}
	p.Submitted(2)
	now = now.Add(20 * time.Millisecond)
	if ask(1, 2) != 1 {
		t.Error("want 1 to wait, and 2, of which another statement runs, not to")
	}
	if err := p.BeginCase(context.Background(), 0, nil); err != nil || ask(1) != 0 {
		t.Error("the case before counts")
	}
}
