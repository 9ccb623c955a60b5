//go:build amd64

package server

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pause"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// heldPool runs cases whose statements are held in a cluster; program is that of its server.
func heldPool(t *testing.T, target string) (p *harness.Pool, program *pause.Image) {
	t.Helper()
	tracer, err := pause.New()
	if errors.Is(err, pause.ErrForbidden) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tracer.Close()
	b := startCluster(t, target, harness.Options{})
	if program, err = pause.Open(b.in.binary); err != nil {
		t.Fatal(err)
	}
	if p, err = harness.NewPool(t.Context(), b, harness.PoolOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, program
}

// heldRun runs a case at READ COMMITTED of which one statement is held where a function begins, until the last one.
func heldRun(t *testing.T, p *harness.Pool, program *pause.Image, hold, function, steps string) (*history.History, error) {
	t.Helper()
	text := fmt.Sprintf(`-- hold: %s at %s+0x0 of %s hit 1 until tx2 %d
/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
%s`, hold, function, program.Build, strings.Count(steps, "tx2"), steps)
	c, err := corpus.Parse("held", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	by := map[int]corpus.Level{}
	for _, s := range c.Sessions() {
		by[s] = corpus.ReadCommitted
	}
	h, err := p.Run(t.Context(), c, harness.Levels{By: by})
	skipForbidden(t, err)
	return h, err
}

// skipForbidden skips a test where the kernel lets nobody trace the processes of another user.
func skipForbidden(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), pause.ErrForbidden.Error()) {
		t.Skip(err)
	}
}

// TestHeldBackend holds a COMMIT where it has yet to be seen: another session writes, commits and reads meanwhile. On a
// loaded machine that session may get no processor for so long that the hold is left.
func TestHeldBackend(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		p, program := heldPool(t, target)
		const steps = `/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 1 WHERE k = 1;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET v = 1 WHERE k = 2;
/* tx2 */ SELECT k, v FROM t ORDER BY k;
`
		const wanted = 20
		held := 0
		for tries := 0; held < wanted && tries < 20*wanted; tries++ {
			h, err := heldRun(t, p, program, "tx1 3", "ProcArrayEndTransaction", steps)
			if err != nil || h.End != history.Complete {
				t.Fatalf("%v: %+v", err, h)
			}
			commit, read := &h.Stmts[2], &h.Stmts[4]
			if !h.Held() || read.Return > commit.Return {
				continue
			}
			held++
			if got := textOfRows(read.Result.Rows); got != "1,0 2,1" {
				t.Fatalf("%q is read at %d, while the COMMIT lasts from %d to %d", got, read.Return, commit.Submit, commit.Return)
			}
			if got := textOfRows(h.Final[0].Rows); got != "1,1 2,1" && got != "2,1 1,1" {
				t.Fatalf("in the end: %s", got)
			}
		}
		if held < wanted {
			t.Errorf("the COMMIT was held in %d runs, want %d", held, wanted)
		}
		elsewhere := *program
		elsewhere.Build = strings.Repeat("0", 40)
		var unheld *harness.UnheldError
		if _, err := heldRun(t, p, &elsewhere, "tx1 3", "ProcArrayEndTransaction", steps); !errors.As(err, &unheld) {
			t.Errorf("a place of another build: %v", err)
		}
	})
}

func textOfRows(rows [][]history.Cell) string {
	var out []string
	for _, r := range rows {
		out = append(out, r[0].Text+","+r[1].Text)
	}
	return strings.Join(out, " ")
}

// TestHeldLatch holds an INSERT that has locked a page, which no view of the server shows: who waits for that is left, is
// not said to wait for a lock, and goes on behind the hold. On a loaded machine the INSERT may come to its place too late.
func TestHeldLatch(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		p, program := heldPool(t, target)
		var h *history.History
		var err error
		for tries := 0; tries < 100 && (h == nil || err == nil && !h.Held()); tries++ {
			h, err = heldRun(t, p, program, "tx1 1", "PageAddItemExtended", `/* tx1 */ INSERT INTO t VALUES (3, 0);
/* tx2 */ SELECT k, v FROM t ORDER BY k;
`)
		}
		if err != nil || h.End != history.Complete || !h.Held() {
			t.Fatalf("%v: %+v", err, h)
		}
		if w := h.Stmts[1].Waits; len(w) != 1 || w[0].Kind != history.Silence {
			t.Errorf("beside a locked page the reader waits: %+v", w)
		}
	})
}

// TestHoldsEnd lets go what is held and what is traced: each session of the server goes on without a tracer.
func TestHoldsEnd(t *testing.T) {
	eachCluster(t, func(t *testing.T, target string) {
		if tracer, err := pause.New(); errors.Is(err, pause.ErrForbidden) {
			t.Skip(err)
		} else if err == nil {
			tracer.Close()
		}
		b := startCluster(t, target, harness.Options{})
		program, err := pause.Open(b.in.binary)
		if err != nil {
			t.Fatal(err)
		}
		h, err := b.Holder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := clusterSession(t, b)
		held, err := h.Arm(t.Context(), s.ID(), &corpus.Hold{Function: "ProcArrayEndTransaction", Build: program.Build, Hit: 1})
		skipForbidden(t, err)
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error)
		go func() {
			_, err := s.Execute("SELECT 1")
			answered <- err
		}()
		<-held.Hit()
		if !held.Stands() || tracerOf(t, s.ID()) == "0" {
			t.Fatal("the session does not stand, or nobody traces it")
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if got := tracerOf(t, s.ID()); got != "0" {
			t.Errorf("process %s traces the session", got)
		}
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		query(t, s, "SELECT 1")
	})
}

// tracerOf is the pid of what traces a process, 0 for nothing.
func tracerOf(t *testing.T, pid uint64) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "TracerPid:")
	return strings.Fields(rest)[0]
}
