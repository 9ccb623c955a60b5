//go:build !notidb

package embedded_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// childEnv makes the test binary play one of the parts in children, in a
// process of its own, with the directory behind the colon.
const childEnv = "TXNFUZZ_TEST_CHILD"

var children = map[string]func(dir string) error{
	"reopen": reopen,
	"hang":   hang,
	"crash":  crash,
}

func playChild(spec string) error {
	part, dir, _ := strings.Cut(spec, ":")
	return children[part](dir)
}

func child(t *testing.T, part, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+part+":"+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// reopen starts the server twice in one process.
func reopen(dir string) error {
	for i := range 2 {
		b, err := harness.Open(context.Background(), "embedded", harness.Options{Dir: dir})
		if err != nil {
			return fmt.Errorf("open %d: %w", i, err)
		}
		p, err := harness.NewPool(context.Background(), b, harness.PoolOptions{})
		if err != nil {
			return fmt.Errorf("pool %d: %w", i, err)
		}
		c, err := corpus.Parse("blocked", []byte(blockedCase))
		if err != nil {
			return err
		}
		h, err := p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
		if err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		if len(h.Stmts) != len(c.Steps) || h.End != history.Complete {
			return fmt.Errorf("run %d: %d statements, end %q", i, len(h.Stmts), h.End)
		}
		if err := errors.Join(p.Close(), b.Close()); err != nil {
			return fmt.Errorf("close %d: %w", i, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range left {
			if strings.Contains(e.Name(), fmt.Sprintf("-%d-", os.Getpid())) {
				return fmt.Errorf("close %d left %s", i, e.Name())
			}
		}
	}
	return nil
}

// hang starts the server, says so, and waits to be killed.
func hang(dir string) error {
	if _, err := harness.Open(context.Background(), "embedded", harness.Options{Dir: dir}); err != nil {
		return err
	}
	fmt.Println("started")
	select {}
}

// crash dies in the middle of a case, as a panic in the server would make it.
func crash(dir string) error {
	b, err := harness.Open(context.Background(), "embedded", harness.Options{Dir: dir})
	if err != nil {
		return err
	}
	p, err := harness.NewPool(context.Background(), b, harness.PoolOptions{InFlight: filepath.Join(dir, "inflight")})
	if err != nil {
		return err
	}
	c, err := corpus.Parse("stuck", []byte(stuckCase))
	if err != nil {
		return err
	}
	time.AfterFunc(300*time.Millisecond, func() { panic("a goroutine of the server") })
	_, err = p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
	return err
}

const stuckCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ UPDATE t SET b = 12;
/* tx2 */ SELECT * FROM t;
`

// TestLeavesNothing closes and reopens the server in one process, kills another
// process, and lets the next start sweep what that one left.
func TestLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	killed := child(t, "hang", dir)
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child did not start: %v", err)
	}
	if line != "started\n" {
		t.Fatalf("the child said %q", line)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("a running server keeps %d directories, want 1", len(left))
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // reports the kill
	if err := child(t, "reopen", dir).Run(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("left behind: %s", e.Name())
	}
}

// TestCrashCandidate finds the case that took a process down.
func TestCrashCandidate(t *testing.T) {
	dir := t.TempDir()
	cmd := child(t, "crash", dir)
	cmd.Stderr = nil
	if err := cmd.Run(); err == nil {
		t.Fatal("the child was to crash")
	}
	found, err := harness.InFlightOrphans(filepath.Join(dir, "inflight"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("orphans %v, want one", found)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse(found[0], text)
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, stuckCase)
	want.SetLevels(map[int]corpus.Level{1: corpus.RepeatableRead, 2: corpus.RepeatableRead})
	if !c.Equal(want) {
		t.Fatalf("in flight was\n%swant\n%s", text, corpus.Print(want, corpus.Text))
	}
}

// TestStuck runs into the deadline, and the next case on the same worker runs
// as if nothing had been.
func TestStuck(t *testing.T) {
	p := newPool(t, harness.PoolOptions{DeadLine: 400 * time.Millisecond})
	for range 2 {
		h, err := p.Run(context.Background(), parse(t, stuckCase), harness.At(corpus.RepeatableRead))
		if err != nil {
			t.Fatal(err)
		}
		if h.End != history.Stuck {
			t.Fatalf("ended %q, want stuck", h.End)
		}
		last := h.Stmts[len(h.Stmts)-1]
		if last.Session != 2 || last.Return != 0 || len(last.Waits) != 1 || last.Waits[0].Until != 0 || last.Waits[0].Kind != history.RowLock {
			t.Fatalf("the waiting statement is recorded as %+v", last)
		}
		c := parse(t, blockedCase)
		if h, err = p.Run(context.Background(), c, harness.At(corpus.RepeatableRead)); err != nil {
			t.Fatal(err)
		}
		if h.End != history.Complete || len(h.Stmts) != len(c.Steps) {
			t.Fatalf("the next case ended %q after %d statements", h.End, len(h.Stmts))
		}
	}
}

// TestCancelled gives a worker back in working order when its caller gives up.
func TestCancelled(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, parse(t, stuckCase), harness.At(corpus.RepeatableRead)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline of the context", err)
	}
	if _, err := p.Run(context.Background(), parse(t, blockedCase), harness.At(corpus.RepeatableRead)); err != nil {
		t.Fatal(err)
	}
}

// TestPoolCloses checks that a closed pool has dropped its databases and ended
// its goroutines, and that more schemas than it keeps can be run: what it does not
// keep goes in bulk.
func TestPoolCloses(t *testing.T) {
	before, others := poolGoroutines(), countDatabases(t)
	p, err := harness.NewPool(context.Background(), shared, harness.PoolOptions{CacheSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i := range 60 {
		text := fmt.Sprintf("/* init */ CREATE TABLE t (a INT PRIMARY KEY, c%d INT);\n/* tx1 */ BEGIN;\n/* tx2 */ SELECT * FROM t;\n", i)
		if _, err := p.Run(context.Background(), parse(t, text), harness.At(corpus.RepeatableRead)); err != nil {
			t.Fatal(err)
		}
		most = max(most, countDatabases(t)-others)
	}
	if most > 3+2*16 || most < 10 {
		t.Errorf("%d databases at a time, the pool keeps 3 and drops 16 in one go", most)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := countDatabases(t); n > others {
		t.Fatalf("%d databases are left", n-others)
	}
	if _, err := p.Run(context.Background(), parse(t, blockedCase), harness.At(corpus.RepeatableRead)); !errors.Is(err, harness.ErrClosed) {
		t.Fatalf("Run after Close: %v", err)
	}
	for i := 0; ; i++ { // the driver's watchers end a little later than Close
		after := poolGoroutines()
		if len(after) <= len(before) {
			break
		}
		if i == 100 {
			t.Fatalf("%d goroutines of the pool or the driver, %d before:\n%s", len(after), len(before), strings.Join(after, "\n\n"))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// poolGoroutines returns the stacks of the goroutines that a pool is answerable
// for: its own and the driver's. The embedded server starts and ends others
// whenever it likes.
func poolGoroutines() (stacks []string) {
	buf := make([]byte, 4<<20)
	for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(s, "txnfuzz/harness.") || strings.Contains(s, "go-sql-driver/mysql.") || strings.Contains(s, "database/sql.") {
			stacks = append(stacks, s)
		}
	}
	return stacks
}

// countDatabases asks over a connection of its own. A target that ends leaves its databases to the server's end.
func countDatabases(t *testing.T) (n int) {
	t.Helper()
	connector, err := mysql.NewConnector(shared.(harness.Wired).Config())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'txnfuzz\\_%'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
