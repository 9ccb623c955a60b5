package fuzz

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// BenchmarkPipeline measures generate, run and check against the same recorded
// histories sent again in the same order: block points known, no probe, no
// oracle, the same resets. Both take turns in blocks, so that the machine's
// other load meets both alike; `ratio` is the pipeline's speed as a share of
// the replay's. TXNFUZZ_BENCH_TARGET names another target than the default.
func BenchmarkPipeline(b *testing.B) {
	const block = 64
	target := os.Getenv("TXNFUZZ_BENCH_TARGET")
	if target == "" {
		target = DefaultTarget
	}
	ctx := context.Background()
	backend, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	pool, err := harness.NewPool(ctx, backend, harness.PoolOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	opts := mutate.Options{DBMS: backend.Server().DBMS, Levels: harness.LevelsOf(backend)}
	type run struct {
		c    *corpus.Case
		h    *history.History
		took time.Duration
	}
	var pipeline, replay, running, checking time.Duration
	var spent harness.Stats // by the pipeline, not by the replays
	cases, racy, blocked := 0, 0, 0
	seed := uint64(1)
	b.ResetTimer()
	for cases < b.N {
		runs := make([]run, 0, block)
		before := pool.Stats()
		for len(runs) < block {
			start := time.Now()
			for _, c := range mutate.FromInput(mutate.InputOf(seed, mutate.InputLen), nil, opts) {
				begun := time.Now()
				h, err := pool.Run(ctx, c, caseLevels(c))
				if err != nil {
					b.Fatal(err)
				}
				ran := time.Now()
				oracle.Check(c, h)
				running += ran.Sub(begun)
				checking += time.Since(ran)
				for i := range h.Stmts {
					if len(h.Stmts[i].Waits) > 0 {
						blocked++
					}
				}
				runs = append(runs, run{c, h, time.Since(start)})
				start = time.Now()
			}
			seed++
		}
		addSpent(&spent, before, pool.Stats())
		for _, r := range runs {
			start := time.Now()
			_, err := pool.RunRecorded(ctx, r.c, r.h)
			if errors.Is(err, harness.ErrDiverged) || r.h.End != history.Complete {
				racy++ // counts on neither side
				continue
			}
			if err != nil {
				b.Fatal(err)
			}
			replay += time.Since(start)
			pipeline += r.took
			cases++
		}
	}
	b.ReportMetric(replay.Seconds()/pipeline.Seconds(), "ratio")
	b.ReportMetric(float64(cases)/pipeline.Minutes(), "cases/min")
	b.ReportMetric(float64(cases)/replay.Minutes(), "replayed/min")
	b.ReportMetric(float64(racy), "racy")
	ran := float64(spent.Cases)
	b.ReportMetric(float64(spent.Statements)/running.Seconds(), "stmts/s")
	b.ReportMetric(float64(blocked)/float64(spent.Statements), "blocked")
	b.ReportMetric(float64(spent.Asks)/ran, "asks/case")
	b.ReportMetric(float64(spent.WaitsTimed)/ran, "waits/case")
	b.ReportMetric(spent.WaitKnown.Seconds()*1e6/float64(max(spent.WaitsTimed, 1)), "µs/wait-known")
	b.ReportMetric(running.Seconds()*1e6/ran, "µs/run")
	b.ReportMetric(checking.Seconds()*1e6/ran, "µs/check")
}

func caseLevels(c *corpus.Case) harness.Levels {
	l := harness.Levels{Default: corpus.RepeatableRead, By: map[int]corpus.Level{}}
	for _, s := range c.Sessions() {
		if lv, ok := c.LevelOf(s); ok {
			l.By[s] = lv
		}
	}
	return l
}

// addSpent adds what a pool counted between two moments.
func addSpent(sum *harness.Stats, before, after harness.Stats) {
	sum.Cases += after.Cases - before.Cases
	sum.Statements += after.Statements - before.Statements
	sum.Asks += after.Asks - before.Asks
	sum.WaitKnown += after.WaitKnown - before.WaitKnown
	sum.WaitsTimed += after.WaitsTimed - before.WaitsTimed
}
