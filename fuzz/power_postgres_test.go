package fuzz

import (
	"fmt"
	"os"
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

// postgresSize bounds what one lie is told at one level: until it is found, in so many cases, or for so long. With
// only, no case is run in which the lie cannot be told.
type postgresSize struct {
	only   bool
	cases  int
	within time.Duration
}

// postgresRun is what one lie did at one level. Of its cases it was told in some.
type postgresRun struct {
	cases, toldIn int
	took          time.Duration
	found         *oracle.Verdict
	at            *corpus.Case
	// innocent says that the lie was not told in the case that was called a violation.
	innocent bool
}

// tellOnPostgres tells a lie in cases of one level. They are judged through the liar, too, as a user's are.
func tellOnPostgres(
	t *testing.T, b harness.Backend, l pglying.Lie, level corpus.Level, seed uint64, size postgresSize,
) (r postgresRun) {
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
	for n := uint64(0); r.cases < size.cases && time.Since(begun) < size.within; n++ {
		o := mutate.Options{DBMS: b.Server().DBMS, Levels: []corpus.Level{level}}
		if n%5 == 4 {
			o.Tables = 2
		}
		data := mutate.InputOf(seed+n, mutate.InputLen)
		if n%8 == 7 || size.only && l.Transactions > 2 {
			data = mutate.WideInput(seed+n, 3)
		}
		for _, c := range campaign.Sayable(b.Server().DBMS, mutate.FromInput(data, nil, o)) {
			r.cases++
			if l.OwnWords {
				c = inOwnWords(c, l, seed+n)
			}
			if size.only && !tellable(c, l) {
				continue
			}
			told := liar.Told()
			trial := through.Judge(t.Context(), c, target.LevelsFor(c, level))
			r.took = time.Since(begun)
			if trial.Err != nil {
				t.Fatalf("run through the lie: %v\n%s", trial.Err, corpus.Print(c, corpus.Text))
			}
			lied := liar.Told() > told
			if lied {
				r.toldIn++
			}
			if trial.Verdict.Outcome == oracle.Violation {
				r.found, r.at, r.innocent = &trial.Verdict, c, !lied
				return r
			}
		}
	}
	return r
}

// inOwnWords returns a case with words of PostgreSQL's own, those that the lie needs if some seed gives them.
func inOwnWords(c *corpus.Case, l pglying.Lie, seed uint64) (worded *corpus.Case) {
	const tries, newest = 200, 18
	for n := range uint64(tries) {
		if worded = mutate.PostgresWords(c, seed*tries+n, newest, false); tellable(worded, l) {
			break
		}
	}
	return worded
}

// tellable says that a case has what the lie needs to be told.
func tellable(c *corpus.Case, l pglying.Lie) bool {
	said := l.Form == "" || slices.ContainsFunc(c.Steps, func(line corpus.Line) bool {
		sql, err := corpus.Format(line.Stmt, corpus.PostgreSQL)
		return err == nil && strings.Contains(sql, l.Form)
	})
	return said && len(c.Sessions()) >= l.Transactions
}

// TestPowerOnPostgres plants isolation bugs between the harness and a PostgreSQL. Each must be found at each level
// at which it is one, and nothing be said of an honest server.
func TestPowerOnPostgres(t *testing.T) {
	power := sizeOfPower(t)
	size := postgresSize{only: true, cases: 1500, within: 30 * time.Second}
	honest := postgresSize{cases: 1 << 30, within: 3 * time.Second}
	if power.within > 0 {
		size = postgresSize{cases: 1 << 30, within: time.Minute}
		honest.within = power.honest
	}
	wanted := "postgres:18"
	if one := os.Getenv("TXNFUZZ_POWER_TARGET"); strings.HasPrefix(one, "postgres:") {
		wanted = one
	}
	for _, name := range targettest.Among(t, wanted) {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		for _, level := range pglying.Honest.Levels {
			t.Run(name+"/"+pglying.Honest.Name+"/"+level.Short(), func(t *testing.T) {
				t.Parallel()
				r := tellOnPostgres(t, b, pglying.Honest, level, power.draw(t, 1)[0], honest)
				t.Logf("%d cases", r.cases)
				if r.found != nil {
					t.Errorf("an honest server is accused\n%s", r.text())
				}
			})
		}
		for _, l := range pglying.Lies {
			for _, level := range l.Levels {
				for _, seed := range power.draw(t, power.seeds) {
					t.Run(fmt.Sprintf("%s/%s/%s/seed=%d", name, l.Name, level.Short(), seed), func(t *testing.T) {
						t.Parallel()
						mustFind(t, tellOnPostgres(t, b, l, level, seed, size))
					})
				}
			}
		}
	}
}

// mustFind fails a test where a lie was not found.
func mustFind(t *testing.T, r postgresRun) {
	t.Helper()
	t.Logf("%d cases, told in %d, %v", r.cases, r.toldIn, r.took.Round(10*time.Millisecond))
	switch {
	case r.found == nil:
		t.Error("not found")
	case r.innocent:
		t.Errorf("a case in which no lie was told is called a violation\n%s", r.text())
	default:
		t.Logf("found\n%s", r.text())
	}
}

// text prints what was found.
func (r *postgresRun) text() string {
	if r.found == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s\nexpected %s\nactual   %s\n%s", r.found.Kind, r.found.Reason, r.found.Expected,
		r.found.Actual, corpus.Print(r.at, corpus.Text))
}
