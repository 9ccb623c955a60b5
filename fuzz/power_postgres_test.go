package fuzz

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying/pglying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// postgresRun is what one lie did at one level.
type postgresRun struct {
	cases, toldIn int // toldIn counts the cases in which the lie was told
	told          int64
	took          time.Duration
	found         *oracle.Verdict
	at            *corpus.Case
	innocent      bool     // the lie was not told in the case that was called a violation
	broke         []string // what the judges broke down with
}

// tellOnPostgres runs cases of one level through a lie until one is called a violation, or so many have run or so
// much time has passed. They are judged through the liar, too, as a user's are.
func tellOnPostgres(t *testing.T, b harness.Backend, l pglying.Lie, level corpus.Level, seed uint64, cases int, within time.Duration) (r postgresRun) {
	t.Helper()
	liar, err := pglying.Through(b, l)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
	if err != nil {
		t.Fatalf("pool through the lie: %v", err)
	}
	defer pool.Close()
	through := target.Through(l.Name, liar, pool)
	begun := time.Now()
	for n := 0; r.cases < cases && time.Since(begun) < within; n++ {
		o := mutate.Options{DBMS: b.Server().DBMS, Levels: []corpus.Level{level}}
		if n%5 == 4 {
			o.Tables = 2
		}
		data := mutate.InputOf(seed+uint64(n), mutate.InputLen)
		if n%8 == 7 {
			data = mutate.WideInput(seed+uint64(n), 3)
		}
		for _, c := range campaign.Sayable(b.Server().DBMS, mutate.FromInput(data, nil, o)) {
			told := liar.Told()
			trial, broke := judged(t, through, c, level)
			if broke != "" {
				r.broke = append(r.broke, broke)
				continue
			}
			if trial.Err != nil {
				t.Fatalf("run through the lie: %v\n%s", trial.Err, corpus.Print(c, corpus.Text))
			}
			r.cases++
			if liar.Told() > told {
				r.toldIn++
			}
			r.told, r.took = liar.Told(), time.Since(begun)
			if trial.Verdict.Outcome == oracle.Violation {
				r.found, r.at, r.innocent = &trial.Verdict, c, liar.Told() == told
				return r
			}
		}
	}
	return r
}

// judged is Judge, of which a breakdown must not end the other runs.
func judged(t *testing.T, on *target.Target, c *corpus.Case, level corpus.Level) (trial target.Trial, broke string) {
	defer func() {
		if p := recover(); p != nil {
			broke = fmt.Sprintf("%v\n%s\n%s", p, corpus.Print(c, corpus.Text), debug.Stack())
		}
	}()
	return on.Judge(t.Context(), c, target.LevelsFor(c, level)), ""
}

// unnoticedOnPostgres holds the lies that the judges do not notice, by name and short name of the level, and why.
var unnoticedOnPostgres = map[string]string{}

// TestPowerOnPostgres plants isolation bugs between the harness and a PostgreSQL. Each must be found at each level
// at which it is one, and nothing be said of an honest server.
func TestPowerOnPostgres(t *testing.T) {
	size := sizeOfPower(t)
	cases, within, honest := 1500, 30*time.Second, 3*time.Second
	if size.within > 0 {
		cases, within, honest = 1<<30, time.Minute, size.honest
	}
	for _, name := range targettest.Among(t, cmp.Or(os.Getenv("TXNFUZZ_POWER_TARGET"), "postgres:18")) {
		if !strings.HasPrefix(name, "postgres") {
			t.Skipf("%s is no PostgreSQL", name)
		}
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		for _, l := range append([]pglying.Lie{pglying.Honest}, pglying.Lies...) {
			for _, level := range l.Levels {
				why := unnoticedOnPostgres[l.Name+" "+level.Short()]
				if why != "" && size.within == 0 {
					continue
				}
				for _, seed := range size.draw(t, size.seeds) {
					t.Run(fmt.Sprintf("%s/%s/%s/seed=%d", name, l.Name, level.Short(), seed), func(t *testing.T) {
						t.Parallel()
						if l.Name == pglying.Honest.Name {
							if r := tellOnPostgres(t, b, l, level, seed, 1<<30, honest); r.found != nil {
								t.Errorf("an honest server is accused\n%s", r.text())
							} else {
								t.Logf("%d cases", r.cases)
							}
							return
						}
						r := tellOnPostgres(t, b, l, level, seed, cases, within)
						for _, b := range r.broke {
							t.Logf("a judge broke down: %s", b)
						}
						t.Logf("%d cases, told in %d, %d times, %v", r.cases, r.toldIn, r.told, r.took.Round(10*time.Millisecond))
						switch {
						case r.found == nil && why == "":
							t.Error("not found")
						case r.found == nil:
							t.Logf("not found: %s", why)
						case r.innocent:
							t.Errorf("a case in which no lie was told is called a violation\n%s", r.text())
						case why != "":
							t.Errorf("found, although the judges should not notice it: %s\n%s", why, r.text())
						default:
							t.Logf("found\n%s", r.text())
						}
					})
				}
			}
		}
	}
}

func (r *postgresRun) text() string {
	return fmt.Sprintf("%s: %s\nexpected %s\nactual   %s\n%s", r.found.Kind, r.found.Reason, r.found.Expected, r.found.Actual,
		corpus.Print(r.at, corpus.Text))
}

// TestLevelsOfLies: a lie is told of levels that the table of unnoticed ones names rightly.
func TestUnnoticedLiesAreLies(t *testing.T) {
	for key := range unnoticedOnPostgres {
		if !slices.ContainsFunc(pglying.Lies, func(l pglying.Lie) bool {
			return slices.ContainsFunc(l.Levels, func(level corpus.Level) bool { return l.Name+" "+level.Short() == key })
		}) {
			t.Errorf("no lie is told as %q", key)
		}
	}
}
