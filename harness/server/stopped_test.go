package server

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// TestStoppedNode: a run that waits for a node which is stopped ends with its context, and so does the pool.
func TestStoppedNode(t *testing.T) {
	t.Parallel()
	const target = "galera:11.8,nodes=2"
	needsCluster(t, target)
	b, err := harness.Open(t.Context(), target, harness.Options{Dir: shortDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	const text = "/* init */ CREATE TABLE t (a INT PRIMARY KEY);\n/* tx1 */ INSERT INTO t VALUES (1);\n"
	c, err := corpus.Parse("stopped", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Run(t.Context(), c, harness.At(corpus.RepeatableRead)); err != nil {
		t.Fatal(err)
	}
	second := b.(*members).all[1].instance()
	if err := second.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := pool.Run(ctx, c, harness.At(corpus.RepeatableRead))
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a run does not wait for a node that is stopped: %v", err)
	case <-time.After(time.Second):
	}
	end()
	begun := time.Now()
	if err := <-done; err == nil {
		t.Error("a run that was broken off has a history")
	}
	if err := pool.Leave(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("the run and its pool ended %s after the context", took)
	}
}
