package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestTiDBIsWhatTheOracleKnows: a private TiDB says of itself what one behind a data source
// name does, its variables can be set by the target's name, and it shows two levels.
func TestTiDBIsWhatTheOracleKnows(t *testing.T) {
	eachTiDB(t, func(t *testing.T, target string) {
		b := start(t, target+",tidb_enable_metadata_lock=ON,sql_mode=ANSI_QUOTES,NO_ZERO_DATE")
		s := b.Server()
		ours := s.DBMS == history.TiDB && strings.HasPrefix(s.Version, "v"+b.in.version)
		if !ours || !strings.Contains(s.Build, "Store: unistore") {
			t.Errorf("%+v", s)
		}
		for name, want := range map[string]string{
			"tidb_enable_metadata_lock": "ON", "sql_mode": "ANSI_QUOTES,NO_ZERO_DATE", "tidb_txn_mode": "pessimistic",
			"store": "unistore", "pessimistic-auto-commit": "true", "innodb_lock_wait_timeout": "2",
		} {
			if got := s.Settings[name]; got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		if diff := cmp.Diff([]corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, b.Levels()); diff != "" {
			t.Error(diff)
		}
		f, err := harness.Open(t.Context(), "root@unix("+b.current.socket().path+")/", harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		delete(s.Settings, "sql_mode") // as the target has it, this time without the option's being asked for
		there := f.Server()
		delete(there.Settings, "sql_mode")
		if diff := cmp.Diff(s, there); diff != "" {
			t.Errorf("private and behind a data source name:\n%s", diff)
		}
	})
}

// TestTiDBPort lets a client in by TCP with the drawn password, and no other; the cases
// get in by the socket all the same.
func TestTiDBPort(t *testing.T) {
	eachTiDB(t, func(t *testing.T, target string) {
		b, err := harness.Open(t.Context(), target, harness.Options{Port: freePort(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		testPort(t, b)
		must(t, sideOf(t, b.(dialer)), "CREATE DATABASE txnfuzz_test")
	})
}

// TestTiDBOfOnesOwn starts the program whose path the user gave.
func TestTiDBOfOnesOwn(t *testing.T) {
	inTurn(t, anyTiDB(t), func(t *testing.T, target string) {
		s, err := parseSpec(target)
		if err != nil {
			t.Fatal(err)
		}
		in, err := unpacked(t.Context(), s.family, s.version)
		if err != nil {
			t.Fatal(err)
		}
		build := filepath.Join(t.TempDir(), "server-of-mine")
		link(t, in.binary, build)
		family, value, err := OwnBinary(t.Context(), build)
		if err != nil || family != "tidb" {
			t.Fatalf("%s, %v", family, err)
		}
		t.Setenv(harness.EnvBinary, value)
		if b := start(t, "tidb"); b.in.binary != in.binary || !b.in.own {
			t.Errorf("started %+v", b.in)
		}
		_, err = harness.Open(t.Context(), target, harness.Options{})
		if err == nil || !strings.Contains(err.Error(), "not "+s.version) {
			t.Errorf("another version: %v", err)
		}
		_, _, err = OwnBinary(t.Context(), build+",share="+t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "no such folders") {
			t.Errorf("with a folder: %v", err)
		}
	})
}

// TestTiDBRefuses names that are none of TiDB's, and what a TiDB of our own cannot do.
func TestTiDBRefuses(t *testing.T) {
	eachTiDB(t, func(t *testing.T, target string) {
		for options, want := range map[string]string{
			"no_such_variable=1":           "no_such_variable=1: Unknown system variable",
			"tidb_txn_mode=hopeful":        "tidb_txn_mode=hopeful",
			"tidb_enable_metadata_lock=x":  "tidb_enable_metadata_lock=x",
			"innodb_lock_wait_timeout=0":   "has made 1 of it",
			"tidb_config=1":                "tidb_config=1",
			"tidb_txn_mode=optimistic":     "the rules cover pessimistic only",
			"tidb_enable_metadata_lock=ON": "cannot be killed and recovered",
		} {
			t.Run(options, func(t *testing.T) {
				t.Parallel()
				dir := shortDir(t)
				o := harness.Options{Dir: dir, Durable: strings.Contains(want, "recovered")}
				b, err := harness.Open(t.Context(), target+","+options, o)
				if err == nil {
					_ = b.Close()
				}
				var name *harness.NameError
				if !errors.As(err, &name) || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("a failed start leaves %v", left)
				}
			})
		}
	})
}

// TestTiDBDies by a signal that the Go runtime tells of, and is replaced.
func TestTiDBDies(t *testing.T) {
	eachTiDB(t, func(t *testing.T, target string) {
		b := start(t, target)
		if err := b.Alive(t.Context()); err != nil {
			t.Fatalf("just started: %v", err)
		}
		if p := b.LogProblems(); len(p) > 0 {
			t.Fatalf("problems in the log of a sound server: %q", p)
		}
		must(t, sideOf(t, b), "CREATE DATABASE txnfuzz_test")
		if err := syscall.Kill(b.current.pid, syscall.SIGABRT); err != nil {
			t.Fatal(err)
		}
		var err error
		if !until(func() bool { err = b.Alive(t.Context()); return err != nil }) {
			t.Fatal("no error of a dead server")
		}
		if !strings.Contains(err.Error(), "SIGABRT") {
			t.Errorf("of a dead server: %v", err)
		}
		log := b.Log()
		if !strings.Contains(log, "SIGABRT: abort") || strings.Count(log, "\ngoroutine ") != 1 {
			t.Errorf("last words:\n%s", log)
		}
		dead := b.current.folder.path
		began := time.Now()
		if err := b.Restart(t.Context()); err != nil {
			t.Fatalf("restart: %v", err)
		}
		t.Logf("replaced in %v", time.Since(began).Round(time.Millisecond))
		if err := b.Alive(t.Context()); err != nil {
			t.Errorf("of the new instance: %v", err)
		}
		if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the dead instance's folder is still there: %v", err)
		}
	})
}

// TestTiDBLastWords keeps the innermost functions of the goroutine that broke down.
func TestTiDBLastWords(t *testing.T) {
	var frames strings.Builder
	for i := range 20 {
		const path = "github.com/pingcap/tidb/pkg/x"
		fmt.Fprintf(&frames, "%s.F%d(0xc001)\n\t%s/x.go:%d +0x1\n", path, i, path, i)
	}
	const message = "panic: [executor:1317] Query execution was interrupted\n\n"
	const head = "goroutine 7 [running]:\n"
	inner := "panic({0x1, 0x2})\n\truntime/panic.go:770 +0x132\nruntime.gopanic(0x1)\n\truntime/panic.go:1 +0x1\n"
	others := "\ngoroutine 1 [chan receive]:\nmain.main()\n\tmain.go:1 +0x1\n"
	text := "hello\n" + message + head + inner + frames.String() + others
	want := message + head + strings.Join(strings.SplitAfter(frames.String(), "\n")[:20], "")
	if diff := cmp.Diff(want, lastWords(text)); diff != "" {
		t.Error(diff)
	}
	if got := lastWords("started\nready\n"); got != "" {
		t.Errorf("last words of one who lives: %q", got)
	}
	if got := lastWords("fatal error: out of memory"); got != "fatal error: out of memory" {
		t.Errorf("without a stack: %q", got)
	}
}
