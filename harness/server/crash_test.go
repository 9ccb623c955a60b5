package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// startDurable opens an instance that can be killed, below a folder of the test.
func startDurable(t *testing.T, target, dir string) *private {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, target, harness.Options{Dir: dir, Durable: true})
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

func TestKillAndRecover(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		dir := shortDir(t)
		b := startDurable(t, target, dir)
		s := sideOf(t, b)
		must(t, s, "CREATE DATABASE txnfuzz_test", "CREATE TABLE txnfuzz_test.t (a INT PRIMARY KEY)")
		for i := range 3 {
			must(t, s, fmt.Sprintf("INSERT INTO txnfuzz_test.t VALUES (%d)", i))
			must(t, s, "BEGIN", fmt.Sprintf("INSERT INTO txnfuzz_test.t VALUES (%d)", 100+i))
			if err := b.Recover(t.Context()); err == nil {
				t.Fatal("a server that runs was recovered")
			}
			if err := b.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := b.Alive(t.Context()); err == nil {
				t.Fatal("a killed server is alive")
			}
			if err := b.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = s.Close() // its connection broke
			rows, err := s.query(t.Context(), "SELECT GROUP_CONCAT(a ORDER BY a) FROM txnfuzz_test.t")
			if want := []string{"0", "0,1", "0,1,2"}[i]; err != nil || string(rows[0][0]) != want {
				t.Errorf("after kill %d the table holds %s, want %s (%v)", i+1, rows, want, err)
			}
		}
		endsKilled(t, b, dir)
	})
}

// endsKilled kills a server that has recovered and closes it: nothing of it is left in the folder of its files.
func endsKilled(t *testing.T, b interface {
	harness.Backend
	harness.Crasher
	LogProblems() []string
}, dir string) {
	t.Helper()
	if p := b.LogProblems(); len(p) > 0 {
		t.Errorf("the recovered server complains: %q", p)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("a killed and closed instance leaves %v", left)
	}
}

func TestPause(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := startDurable(t, target, shortDir(t))
		if err := b.Pause(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := b.Alive(ctx); err == nil {
			t.Error("a paused server answers")
		}
		if err := b.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := b.Alive(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOnlyADurableServerIsKilled(t *testing.T) {
	for _, target := range installedTargets(t) {
		b := start(t, target)
		if err := b.Kill(); err == nil {
			t.Errorf("%s: killed", target)
		}
		if err := b.Alive(t.Context()); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestLostData shows that a server that cannot start on its data is told from one
// that could not be started for another reason.
func TestLostData(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		dir := shortDir(t)
		b := startDurable(t, target, dir)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ibdata1", "mysql.ibd"} {
			path := filepath.Join(b.current.folder.path, "data", name)
			if info, err := os.Stat(path); err == nil {
				if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		var lost *harness.RecoveryError
		err := b.Recover(t.Context())
		if !errors.As(err, &lost) || lost.Log == "" {
			t.Fatalf("recovered without its data: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
