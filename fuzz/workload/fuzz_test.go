package workload

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// FuzzWorkload runs the workload of the file TXNFUZZ_WORKLOAD (default: the bank) on
// TXNFUZZ_TARGET at the last of TXNFUZZ_LEVELS (default: the strongest) and fails where
// something is wrong. Without a target it only checks that inputs are made the same
// each time.
func FuzzWorkload(f *testing.F) {
	w := load(f, "bank")
	if path := os.Getenv("TXNFUZZ_WORKLOAD"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if w, err = workload.Parse(path, text); err != nil {
			f.Fatal(err)
		}
	}
	sets := mutate.Sets(w, 2)
	for seed := range uint64(8) {
		f.Add(bytesOf(seed))
	}
	same := func(t *testing.T, data []byte) {
		a, b := mutate.Make(w, sets, data), mutate.Make(w, sets, data)
		if mutate.Numbered(a.Calls) != mutate.Numbered(b.Calls) || len(a.Order) != len(b.Order) {
			t.Fatalf("not the same: %s, %s", mutate.Numbered(a.Calls), mutate.Numbered(b.Calls))
		}
	}
	target := os.Getenv("TXNFUZZ_TARGET")
	if target == "" {
		f.Fuzz(same)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		f.Fatal(err)
	}
	pool, err := harness.NewPool(ctx, b, harness.PoolOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := errors.Join(pool.Leave(), b.Close()); err != nil {
			f.Error(err)
		}
	})
	levels := harness.LevelsOf(b)
	level := levels[len(levels)-1]
	if names := os.Getenv("TXNFUZZ_LEVELS"); names != "" {
		if level, err = corpus.ParseLevel(names[strings.LastIndexByte(names, ',')+1:]); err != nil {
			f.Fatal(err)
		}
	}
	stage := NewStage(w, pool)
	f.Fuzz(func(t *testing.T, data []byte) {
		same(t, data)
		if err := stage.Try(t.Context(), sets, data, level); err != nil {
			t.Error(err)
		}
	})
}
