package campaign

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// benchTarget is the target of TXNFUZZ_BENCH_TARGET, else the default.
func benchTarget() string {
	if target := os.Getenv("TXNFUZZ_BENCH_TARGET"); target != "" {
		return target
	}
	return target.Default
}

// madeLike returns the n-th input's cases of a campaign with one worker.
func madeLike(t *target.Target, n int) []*corpus.Case {
	o := generatorOptions(t.Server(), t.Levels(), "", n)
	return Sayable(t.Server().DBMS, mutate.FromInput(mutate.InputOf(freshSeed(1, 0, n), mutate.InputLen), nil, o))
}

// judgeLike judges a run as a campaign does. On PostgreSQL that asks the server what statements answer alone; on others,
// where that is seldom, it is left out.
func judgeLike(ctx context.Context, t *target.Target, r *target.Trial) {
	if t.Server().DBMS == history.PostgreSQL {
		t.Decide(ctx, r)
		return
	}
	target.JudgeByOracle(ctx, r)
}

// BenchmarkPipeline measures what a campaign does, making, running and judging
// cases, against the same recorded histories sent again in the same order: block
// points known, no probe, no oracle, the same resets. Each has a pool of one
// worker on the same server, and both take turns in blocks, so that the
// machine's other load meets both alike. `ratio` is the pipeline's speed as a
// share of the replay's: the median over blocks, p25 and p75 are the quartiles,
// `ratio-all` is that of the sums. `limit` compares with less: the same statements
// sent in that order on tables that are there and filled, and nothing else, so that
// it sees what making, filling and reading tables costs, as does `µs/PHASE`.
//
// A replay in which the server took another way counts on neither side, and the
// `diverged` are counted: where several sessions wait for one lock, it is the
// server that chooses, and from there on the replay waits for what does not
// come. So do the `stalled`: either run of a case took 100 ms, because the server
// was late to see a deadlock or something else had the processor.
func BenchmarkPipeline(b *testing.B) {
	const (
		// block is large, since at its end the judging of the last cases has no next case to run beside.
		block = 256
		stall = 100 * time.Millisecond
	)
	ctx := context.Background()
	backend, err := harness.Open(ctx, benchTarget(), harness.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	options := harness.PoolOptions{Workers: 1, DeadLine: 7 * time.Second}
	pool, err := harness.NewPool(ctx, backend, options)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Leave()
	on := target.Through(benchTarget(), backend, pool)
	defer collectLess(on.Name)()
	replays, err := harness.NewPool(ctx, backend, options)
	if err != nil {
		b.Fatal(err)
	}
	defer replays.Close()
	levels := on.Levels()
	type run struct {
		r    target.Trial
		took time.Duration
	}
	var (
		pipeline, replay time.Duration
		bare             time.Duration // of the replay, the statements alone
		judged           beside
		whole            time.Duration // of the pipeline, diverged ones too
		ratios           []float64
		spent            harness.Stats // by the pipeline, not by the replays
		blocked          int
		cases            int
		diverged         int
		stalled          int
	)
	n := 0
	b.ResetTimer()
	for cases < b.N {
		runs := make([]*run, 0, block)
		before := pool.Stats()
		judging := newFollower()
		begun := time.Now()
		last := begun
		for len(runs) < block {
			made := time.Now()
			cases := madeLike(on, n)
			charge(&judged.input, made)
			for _, c := range cases {
				x := &run{r: on.Run(ctx, c, levelsWithin(c, levels, n))}
				runs = append(runs, x)
				judging.do(func() error {
					defer charge(&judged.judge, time.Now())
					judgeLike(b.Context(), on, &x.r)
					return x.r.Err
				})
				now := time.Now()
				x.took, last = now.Sub(last), now
			}
			n++
		}
		if err := judging.end(); err != nil {
			b.Fatal(err)
		}
		rest := time.Since(last) / time.Duration(len(runs))
		whole += time.Since(begun)
		addSpent(&spent, before, pool.Stats())
		var blockPipeline, blockReplay time.Duration
		for _, x := range runs {
			for i := range x.r.History.Stmts {
				if len(x.r.History.Stmts[i].Waits) > 0 {
					blocked++
				}
			}
			sending := replays.Stats().Phases[harness.Run]
			start := time.Now()
			h, err := replays.RunRecorded(ctx, x.r.Case, x.r.History)
			took := time.Since(start)
			if errors.Is(err, harness.ErrDiverged) || err == nil && !same(h, x.r.History) {
				diverged++
				// The next is not to pay for connections and tables that went.
				if _, err := replays.Run(ctx, x.r.Case, harness.Levels{By: x.r.Levels}); err != nil {
					b.Fatal(err)
				}
				continue
			}
			if err != nil {
				b.Fatal(err)
			}
			if took > stall || x.took > stall {
				stalled++
				continue
			}
			cases++
			blockReplay += took
			bare += replays.Stats().Phases[harness.Run] - sending
			blockPipeline += x.took + rest
		}
		replay += blockReplay
		pipeline += blockPipeline
		ratios = append(ratios, blockReplay.Seconds()/blockPipeline.Seconds())
	}
	slices.Sort(ratios)
	quantile := func(q float64) float64 { return ratios[int(q*float64(len(ratios)-1)+0.5)] }
	b.ReportMetric(quantile(0.5), "ratio")
	b.ReportMetric(quantile(0.25), "ratio-p25")
	b.ReportMetric(quantile(0.75), "ratio-p75")
	b.ReportMetric(replay.Seconds()/pipeline.Seconds(), "ratio-all")
	b.ReportMetric(bare.Seconds()/pipeline.Seconds(), "limit")
	for _, x := range judged.times(spent.Phases, int(spent.Cases)) {
		b.ReportMetric(x.MeanMicros, "µs/"+x.Phase)
	}
	b.ReportMetric(float64(cases)/pipeline.Minutes(), "cases/min")
	b.ReportMetric(float64(cases)/replay.Minutes(), "replayed/min")
	b.ReportMetric(float64(diverged), "diverged")
	b.ReportMetric(float64(stalled), "stalled")
	ran := float64(spent.Cases)
	b.ReportMetric(float64(spent.Statements)/whole.Seconds(), "stmts/s")
	b.ReportMetric(float64(blocked)/float64(spent.Statements), "blocked")
	b.ReportMetric(float64(spent.Asks)/ran, "asks/case")
	b.ReportMetric(float64(spent.WaitsTimed)/ran, "waits/case")
	b.ReportMetric(spent.WaitKnown.Seconds()*1e6/float64(max(spent.WaitsTimed, 1)), "µs/wait-known")
}

// same says that two runs of a case gave the same answers and ended alike.
func same(a, b *history.History) bool {
	if a.End != b.End || len(a.Stmts) != len(b.Stmts) || !reflect.DeepEqual(a.Final, b.Final) {
		return false
	}
	for i := range a.Stmts {
		x, y := a.Stmts[i].Result, b.Stmts[i].Result
		if (x.Err == nil) != (y.Err == nil) || x.Err != nil && x.Err.Code != y.Err.Code {
			return false
		}
		x.Err, y.Err = nil, nil
		if a.Stmts[i].Line != b.Stmts[i].Line || !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// BenchmarkTwoWorkers measures what a second worker adds where every case
// waits: `factor` is the speed of two as a multiple of that of one, the median
// over blocks that take turns.
func BenchmarkTwoWorkers(b *testing.B) {
	const block = 64
	ctx := context.Background()
	on, err := target.Open(ctx, benchTarget(), target.Options{Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer on.Close()
	defer collectLess(on.Name)()
	levels := on.Levels()
	var cases []target.Trial
	for n := 0; len(cases) < block; n++ {
		for _, c := range madeLike(on, n) {
			r := on.Run(ctx, c, levelsWithin(c, levels, n))
			if r.Err == nil && r.History.End == history.Complete && slices.ContainsFunc(r.History.Stmts, func(s history.Stmt) bool { return len(s.Waits) > 0 }) {
				cases = append(cases, r)
			}
		}
	}
	// through runs all cases with some workers, each of which has its share.
	through := func(workers int) time.Duration {
		start := time.Now()
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				judging := newFollower()
				for i := w; i < len(cases); i += workers {
					r := on.Run(ctx, cases[i].Case, cases[i].Levels)
					judging.do(func() error { target.JudgeByOracle(b.Context(), &r); return r.Err })
				}
				if err := judging.end(); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		return time.Since(start)
	}
	through(2)
	var factors []float64
	var one, two time.Duration
	ran := 0
	b.ResetTimer()
	for ; ran < b.N; ran += len(cases) {
		o, t := through(1), through(2)
		one, two = one+o, two+t
		factors = append(factors, o.Seconds()/t.Seconds())
	}
	slices.Sort(factors)
	b.ReportMetric(factors[len(factors)/2], "factor")
	b.ReportMetric(factors[len(factors)/4], "factor-p25")
	b.ReportMetric(factors[len(factors)*3/4], "factor-p75")
	b.ReportMetric(float64(ran)/one.Minutes(), "one/min")
	b.ReportMetric(float64(ran)/two.Minutes(), "two/min")
}

// addSpent adds what a pool counted between two moments.
func addSpent(sum *harness.Stats, before, after harness.Stats) {
	sum.Cases += after.Cases - before.Cases
	sum.Statements += after.Statements - before.Statements
	sum.Asks += after.Asks - before.Asks
	sum.WaitKnown += after.WaitKnown - before.WaitKnown
	sum.WaitsTimed += after.WaitsTimed - before.WaitsTimed
	for i, d := range after.Phases.Minus(before.Phases) {
		sum.Phases[i] += d
	}
}
