package fuzz

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// powerTargets returns the targets of the power test: the built-in one and a
// MariaDB, or what TXNFUZZ_POWER_TARGET names.
func powerTargets(t *testing.T) []string {
	if one := os.Getenv("TXNFUZZ_POWER_TARGET"); one != "" {
		return []string{one}
	}
	var out []string
	for _, name := range target.Installed(t.Context()) {
		if name == target.Default || name == "mariadb:10.11" {
			out = append(out, name)
		}
	}
	if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" && !slices.Contains(out, "mariadb:10.11") {
		t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set and mariadb:10.11 is not installed")
	}
	return out
}

// powerSize says how much of the power test is run: by default what a build
// can afford, with TXNFUZZ_POWER=full what says something about the tool.
type powerSize struct {
	seeds   int
	changed int           // cases in which a lie must have changed what a client saw
	within  time.Duration // a lie must be found in; 0: any time up to limit
	limit   time.Duration // of one lie
	honest  time.Duration
}

func sizeOfPower(t *testing.T) powerSize {
	switch v := os.Getenv("TXNFUZZ_POWER"); v {
	case "":
		return powerSize{seeds: 1, changed: 10, limit: 5 * time.Minute, honest: 5 * time.Second}
	case "full", "cost":
		return powerSize{seeds: 3, changed: 20, within: 30 * time.Second, limit: 2 * time.Minute, honest: 10 * time.Minute}
	default:
		t.Fatalf("TXNFUZZ_POWER=%q: want full or nothing", v)
		return powerSize{}
	}
}

// draw returns n seeds: in the full size such as no earlier run has had, else
// always the same, so that a build does not fail by chance.
func (p powerSize) draw(t *testing.T, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i+1) << 32
		if p.within == 0 {
			continue
		}
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			t.Fatal(err)
		}
		out[i] = binary.LittleEndian.Uint64(b[:]) >> 16
	}
	return out
}

// lieRun is what one lie did in one run.
type lieRun struct {
	cases, changed int
	first          time.Duration
	firstCases     int // how many cases had run when it was found
	kinds          map[string]int
	steps          map[string]int // by the statement that a violation names
	// explained counts pairs with a changed case that was called a known
	// deviation though the honest run shows none; missed counts the cases called
	// ok; innocent counts violations of cases in which no lie was told.
	explained, missed, innocent int
	example, explainedExample   string
}

// lieSize says how long a lie is told: until enough cases were changed and it was
// found, or until the limit; enough 0: until it was found, or if on is set until
// the limit. The inputs have a length in bytes.
type lieSize struct {
	seed     uint64
	inputLen int
	enough   int
	on       bool
	limit    time.Duration
}

// runLie runs generated cases through a lie. A case counts as changed if the lie
// was told in it and an honest run gives another history.
func runLie(ctx context.Context, t *testing.T, b harness.Backend, l lying.Lie, size lieSize) lieRun {
	t.Helper()
	liar := lying.Through(b, l)
	lied, err := harness.NewPool(ctx, liar, harness.PoolOptions{})
	if err != nil {
		t.Fatalf("pool through the lie: %v", err)
	}
	defer lied.Close()
	honest, err := harness.NewPool(ctx, b, harness.PoolOptions{})
	if err != nil {
		t.Fatalf("honest pool: %v", err)
	}
	defer honest.Close()
	// Judged as for a user: what the server also answers alone is no finding.
	liarTarget := target.Through(l.Name, liar, lied)
	r := lieRun{kinds: map[string]int{}, steps: map[string]int{}}
	explained := map[uint64]bool{} // by seed: the orders of one pair show one deviation
	start := time.Now()
	opts := mutate.Options{DBMS: b.Server().DBMS, Levels: harness.LevelsOf(b), SkipLocked: rules.SkipsLocked(b.Server())}
	for s := size.seed; time.Since(start) < size.limit; s++ {
		opts.Computed = 64 * int(s%2) // of some the liar has to compute SQL, alone
		data := mutate.InputOf(s, size.inputLen)
		if l.Transactions > 2 {
			data = mutate.WideInput(s, 3+int(s%2))
		}
		for _, c := range mutate.FromInput(data, nil, opts) {
			told := liar.Told()
			trial := liarTarget.Judge(ctx, c, target.LevelsFor(c, corpus.RepeatableRead))
			if trial.Err != nil {
				t.Fatalf("run through the lie: %v\n%s", trial.Err, corpus.Print(c, corpus.Text))
			}
			r.cases++
			h, v := trial.History, trial.Verdict
			if v.Reason == judging.ReasonSolver {
				t.Errorf("%s, seed %d: a lie is told as a disagreement about SQL: %s\n%s", l.Name, s, v.Actual, corpus.Print(c, corpus.Text))
			}
			if v.Outcome == oracle.Violation {
				r.kinds[string(v.Kind)]++
				r.steps[stepOf(c, h, v.Stmt)]++
				if liar.Told() == told {
					r.innocent++
					t.Logf("violation without a lie, seed %d: %s\n%s\nexpected %s\nactual   %s\n%s", s, v.Kind, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
				}
				if r.first == 0 {
					r.first, r.firstCases = time.Since(start), r.cases
					r.example = fmt.Sprintf("seed %d: %s\n%s\nexpected %s\nactual   %s\n%s", s, v.Kind, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
				}
			}
			if liar.Told() > told && r.changed < size.enough {
				truth, err := honest.Run(ctx, c, harness.Levels{By: target.LevelsFor(c, corpus.RepeatableRead)})
				if err != nil {
					t.Fatalf("honest run: %v", err)
				}
				if answers(c, h) != answers(c, truth) {
					r.changed++
					switch {
					case v.Outcome == oracle.OK:
						r.missed++
					case v.Outcome == oracle.Known && !toldByServer(c, h) && oracle.Check(c, truth).Outcome != oracle.Known:
						explained[s] = true
						r.explainedExample = fmt.Sprintf("seed %d: %v\n%s\nexpected %s\nactual   %s\n%s", s, v.Rules, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
					}
				}
			}
		}
		if !size.on && r.changed >= size.enough && r.first > 0 {
			break
		}
	}
	r.explained = len(explained)
	return r
}

// toldByServer says that TiDB itself told of a deviation, by an error that no lie can make
// it give: COMMIT misses a lock, or is the victim of a deadlock; or a statement has started
// again too often. Whether it comes may depend on what a lie changed, and on the load.
func toldByServer(c *corpus.Case, h *history.History) bool {
	return h.Server.DBMS == history.TiDB && slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool {
		e := s.Result.Err
		return mvcc.LostLock(e) || mvcc.RetriedTooOften(e) || e != nil && e.Code == 1213 && oracle.KindOf(c.Steps[s.Line].Stmt) == stmt.Commit
	})
}

// stepOf names the sort of the statement that a violation names.
func stepOf(c *corpus.Case, h *history.History, at int) string {
	if at < 0 {
		return "final state"
	}
	return string(stmt.KindOf(c.Steps[h.Stmts[at].Line].Stmt))
}

// answers prints all that a client saw.
func answers(c *corpus.Case, h *history.History) string {
	var b strings.Builder
	for _, s := range oracle.Tell(c, h, &oracle.Verdict{Stmt: -1}).Steps {
		fmt.Fprintln(&b, h.Stmts[s.Stmt].Line, s.Actual)
	}
	fmt.Fprintln(&b, h.Final)
	return b.String()
}

// TestPower plants isolation bugs between the harness and a real server. Each
// must change what clients see in some cases, be found, and be called by its
// name; nothing may be said of a case in which no lie was told.
func TestPower(t *testing.T) {
	for _, target := range powerTargets(t) {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			powerOn(t, target)
		})
	}
}

func powerOn(t *testing.T, target string) {
	ctx := t.Context()
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	size := sizeOfPower(t)
	for _, seed := range size.draw(t, size.seeds) {
		for _, l := range lying.For(b.Server().DBMS, harness.LevelsOf(b)) {
			t.Run(fmt.Sprintf("%s/seed=%d", l.Name, seed), func(t *testing.T) {
				r := runLie(ctx, t, b, l, lieSize{seed: seed, inputLen: mutate.InputLen, enough: size.changed, limit: size.limit})
				t.Logf("%d cases, %d changed, found after %v in case %d, kinds %v, steps %v; of the changed ones %d judged ok, %d explained away",
					r.cases, r.changed, r.first.Round(time.Millisecond), r.firstCases, r.kinds, r.steps, r.missed, r.explained)
				switch {
				case r.changed < size.changed:
					t.Errorf("the lie changed the answers of %d cases only, so the run proves little", r.changed)
				case r.explained*explainable(l) > r.changed:
					t.Errorf("cases of %d pairs that the lie changed were explained as known deviations\n%s", r.explained, r.explainedExample)
				case r.innocent > 0:
					t.Errorf("%d cases without a lie were called violations", r.innocent)
				case r.first == 0 || size.within > 0 && r.first > size.within:
					t.Errorf("found after %v in %d cases", r.first, r.cases)
				case !named(r.kinds, l.Kinds, size.changed):
					t.Errorf("found, but called %v; want one of %v\n%s", r.kinds, l.Kinds, r.example)
				case !named(r.steps, l.Steps, size.changed):
					t.Errorf("found, but in %v; want one of %v\n%s", r.steps, l.Steps, r.example)
				}
			})
		}
	}
	t.Run("honest", func(t *testing.T) {
		r := runLie(ctx, t, b, lying.Honest, lieSize{seed: size.draw(t, 1)[0], inputLen: mutate.InputLen, on: true, limit: size.honest})
		t.Logf("%d cases", r.cases)
		if len(r.kinds) > 0 {
			t.Errorf("the honest proxy was accused of %v\n%s", r.kinds, r.example)
		}
	})
}

// explainable says which share of the cases that a lie changed may be explained
// as known deviations, as its inverse. A lie changes who waits when, so that a
// true deviation of the server may show in the run with it only; locks that a
// stronger level takes make it show often.
func explainable(l lying.Lie) int {
	if l.Stronger {
		return 3
	}
	return 20
}

// named says that the names wanted are found more often than any other; among
// few violations any of them does.
func named(seen map[string]int, want []string, changed int) bool {
	wanted, other := 0, 0
	for name, n := range seen {
		if slices.Contains(want, name) {
			wanted += n
		} else {
			other = max(other, n)
		}
	}
	return wanted > 0 && (changed < 20 || wanted >= other)
}

// TestFormsCostLittle compares inputs with and without forms of statements
// beside the plain ones: over ten seeds, all lies that show in any statement
// together must be found in at most a fifth more cases, and none be lost. It runs
// with TXNFUZZ_POWER=cost; some minutes for a target.
func TestFormsCostLittle(t *testing.T) {
	if os.Getenv("TXNFUZZ_POWER") != "cost" {
		t.Skip("measures what the generator's forms cost: TXNFUZZ_POWER=cost")
	}
	for _, target := range powerTargets(t) {
		t.Run(target, func(t *testing.T) {
			b, err := harness.Open(t.Context(), target, harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			const limit = time.Minute
			plain, all := 0, 0
			for _, l := range lying.For(b.Server().DBMS, harness.LevelsOf(b)) {
				if l.Form != "" || l.Transactions > 2 {
					continue
				}
				before, after := 0, 0
				for n := range uint64(10) {
					seed := (n + 1) << 36
					was := runLie(t.Context(), t, b, l, lieSize{seed: seed, inputLen: mutate.PlainLen, limit: limit})
					is := runLie(t.Context(), t, b, l, lieSize{seed: seed, inputLen: mutate.InputLen, limit: limit})
					if is.first == 0 {
						t.Errorf("%s, seed %d: not found in %d cases; with plain statements in case %d", l.Name, seed, is.cases, was.firstCases)
					}
					before, after = before+was.cases, after+is.cases
				}
				t.Logf("%s: %d cases until it is found, %d with plain statements only", l.Name, after, before)
				plain, all = plain+before, all+after
			}
			t.Logf("all lies: %d cases, %d with plain statements only: %.2f times", all, plain, float64(all)/float64(max(plain, 1)))
			if float64(all) > 1.2*float64(plain) {
				t.Errorf("%d cases are more than 1.2 times %d", all, plain)
			}
		})
	}
}
