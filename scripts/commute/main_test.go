package main

import (
	"context"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// tellFor is how long a lie is told before the test gives up.
const tellFor = 2 * time.Minute

// TestPlanted: an honest server gives no difference, and each planted one shows.
func TestPlanted(t *testing.T) {
	b, err := harness.Open(t.Context(), "mariadb:11.8", harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, l := range []lying.Lie{lying.Honest, lying.ReadRenewsSnapshots, lying.UpdateDropsLocks} {
		t.Run(l.Name, func(t *testing.T) {
			pool, err := harness.NewPool(t.Context(), lying.Through(b, l), harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			server := b.Server()
			o := &options{seed: 7, each: 6, out: t.TempDir()}
			sum := newTally()
			honest := l.Name == lying.Honest.Name
			for n := uint64(1); time.Since(sum.begun) < tellFor && sum.count[unexplained] == 0 && (!honest || sum.compared() < 150); n++ {
				of := harness.LevelsOf(b)
				if l.Name == lying.ReadRenewsSnapshots.Name {
					of = []corpus.Level{corpus.RepeatableRead} // elsewhere no snapshot lasts
				}
				c := generate(o.seed, n, &server, of)
				levels := harness.Levels{By: target.LevelsFor(c, corpus.RepeatableRead)}
				run := func(ctx context.Context, c *corpus.Case) (*history.History, error) {
					h, err := pool.Run(ctx, c, levels)
					if err != nil {
						return nil, nil // a case that this server refuses
					}
					return h, nil
				}
				if err := o.swapsOf(t.Context(), run, c, n, sum); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%s, after %v", sum.line(), time.Since(sum.begun).Round(time.Millisecond))
			switch found := sum.count[unexplained] > 0; {
			case honest && found:
				t.Error("an honest server is accused")
			case honest && sum.compared() < 150:
				t.Error("too few swaps were compared to tell")
			case !honest && !found:
				t.Error("the lie was not found")
			}
		})
	}
}
