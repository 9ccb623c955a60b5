//go:build !notidb

package embedded_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// severable is a backend whose connections can all be cut at once.
type severable struct {
	harness.Wired
	mu    sync.Mutex
	conns []net.Conn
}

func (s *severable) Dial(ctx context.Context) (net.Conn, error) {
	c, err := s.Wired.Dial(ctx)
	if err == nil {
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
	}
	return c, err
}

// sever cuts the newest connections first: as the older ones end, the server lets go what they
// have locked, and answers who waits for it.
func (s *severable) sever() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Backward(s.conns) {
		_ = c.Close()
	}
	s.conns = nil
}

// TestLost cuts all connections while a statement waits. The history must hold
// what was seen, and the pool must work again and drop everything at its end.
func TestLost(t *testing.T) {
	b, others := &severable{Wired: shared.(harness.Wired)}, countDatabases(t)
	p, err := harness.NewPool(context.Background(), b, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		time.AfterFunc(200*time.Millisecond, b.sever)
		h, err := p.Run(context.Background(), parse(t, stuckCase), harness.At(corpus.RepeatableRead))
		var lost *harness.LostError
		if !errors.As(err, &lost) {
			t.Fatalf("got %v, want a LostError", err)
		}
		if h == nil || h.End != history.Lost || h.Detail == "" || len(h.Initial) != 1 {
			t.Fatalf("partial history: %+v", h)
		}
		if n := len(h.Stmts); n != 3 || h.Stmts[1].Return == 0 || h.Stmts[2].Return != 0 || len(h.Stmts[2].Waits) != 1 {
			t.Fatalf("the partial history holds %d statements: %+v", n, h.Stmts)
		}
		c := parse(t, blockedCase)
		if h, err = p.Run(context.Background(), c, harness.At(corpus.RepeatableRead)); err != nil {
			t.Fatal(err)
		}
		if h.End != history.Complete || len(h.Stmts) != len(c.Steps) {
			t.Fatalf("the next case ended %q after %d statements", h.End, len(h.Stmts))
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := countDatabases(t); n > others {
		t.Errorf("%d databases are left", n-others)
	}
}

// TestExplainPlans fetches a plan after a run, and leaves out what has none.
func TestExplainPlans(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	c := parse(t, blockedCase)
	h, err := p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ExplainPlans(context.Background(), c, h, []int{0, 2}); err != nil {
		t.Fatal(err)
	}
	if _, has := h.Plans[0]; has || len(h.Plans) != 1 {
		t.Errorf("BEGIN has a plan: %v", h.Plans)
	}
	const want = "id\testRows\ttask\taccess object\toperator info\n"
	if got := h.Plans[2]; len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("plan of the UPDATE: %q", got)
	}
	if err := p.ExplainPlans(context.Background(), c, h, []int{99}); err == nil {
		t.Error("no error for a statement that is not there")
	}
}
