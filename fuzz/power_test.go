//go:build !notidb

package fuzz

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers the targets
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// powerTarget returns the target of the power test.
func powerTarget() string {
	if t := os.Getenv("TXNFUZZ_POWER_TARGET"); t != "" {
		return t
	}
	return "embedded"
}

// powerSeeds returns fresh seeds; how many is TXNFUZZ_POWER_SEEDS, default 1.
func powerSeeds(t *testing.T) []uint64 {
	n := 1
	if s := os.Getenv("TXNFUZZ_POWER_SEEDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("TXNFUZZ_POWER_SEEDS=%q: want a number from 1", s)
		}
	}
	out := make([]uint64, n)
	for i := range out {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			t.Fatal(err)
		}
		out[i] = binary.LittleEndian.Uint64(b[:]) >> 16
	}
	return out
}

// foundWithin is how long a lie may go unnoticed.
const foundWithin = time.Minute

// lieRun is what one lie did in one run.
type lieRun struct {
	cases, changed int
	first          time.Duration
	kinds          map[string]int
	// explained counts changed cases that were called a known deviation though
	// the honest run shows none; missed counts those called ok.
	explained, missed int
	example           string
}

// runLie runs generated cases through a lie until enough were changed and it
// was found, or until the time is up. A case counts as changed if the lie was
// told in it and an honest run gives another history.
func runLie(ctx context.Context, t *testing.T, b harness.Backend, l lying.Lie, seed uint64, enough int, limit time.Duration) lieRun {
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
	r := lieRun{kinds: map[string]int{}}
	start := time.Now()
	opts := mutate.Options{DBMS: b.Server().DBMS, Levels: harness.LevelsOf(b)}
	for s := seed; time.Since(start) < limit; s++ {
		for _, c := range mutate.FromInput(mutate.InputOf(s, mutate.InputLen), nil, opts) {
			told := liar.Told()
			h, err := lied.Run(ctx, c, caseLevels(c))
			if err != nil {
				t.Fatalf("run through the lie: %v\n%s", err, corpus.Print(c, corpus.Text))
			}
			r.cases++
			v := oracle.Check(c, h)
			switch v.Outcome {
			case oracle.Violation:
				r.kinds[string(v.Kind)]++
				if r.first == 0 {
					r.first = time.Since(start)
					r.example = fmt.Sprintf("seed %d: %s\n%s\nexpected %s\nactual   %s\n%s", s, v.Kind, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
				}
			}
			if liar.Told() > told && r.changed < enough {
				truth, err := honest.Run(ctx, c, caseLevels(c))
				if err != nil {
					t.Fatalf("honest run: %v", err)
				}
				if answers(c, h) != answers(c, truth) {
					r.changed++
					switch {
					case v.Outcome == oracle.OK:
						r.missed++
					case v.Outcome == oracle.Known && oracle.Check(c, truth).Outcome != oracle.Known:
						r.explained++
					}
				}
			}
		}
		if enough > 0 && r.changed >= enough && r.first > 0 {
			break
		}
		if enough > 0 && r.first == 0 && time.Since(start) > foundWithin {
			break
		}
	}
	return r
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
// must change what clients see in at least 20 cases, be found within a minute,
// and be called by its name.
func TestPower(t *testing.T) {
	ctx := context.Background()
	b, err := harness.Open(ctx, powerTarget(), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var longest time.Duration
	for _, seed := range powerSeeds(t) {
		for _, l := range lying.Lies {
			t.Run(fmt.Sprintf("%s/seed=%d", l.Name, seed), func(t *testing.T) {
				r := runLie(ctx, t, b, l, seed, 20, 5*time.Minute)
				t.Logf("%d cases, %d changed, found after %v, kinds %v; of the changed ones %d judged ok, %d explained away", r.cases, r.changed, r.first, r.kinds, r.missed, r.explained)
				longest = max(longest, r.first)
				switch {
				case r.changed < 20:
					t.Errorf("the lie changed the answers of %d cases only, so the run proves little", r.changed)
				case r.explained > 0:
					t.Errorf("%d cases that the lie changed were explained as known deviations", r.explained)
				case r.first == 0 || r.first > foundWithin:
					t.Errorf("not found in %d cases", r.cases)
				case !slices.Contains(l.Kinds, mostFrequent(r.kinds)):
					t.Errorf("found, but called %v; want one of %v\n%s", r.kinds, l.Kinds, r.example)
				}
			})
		}
	}
	t.Run("honest", func(t *testing.T) {
		r := runLie(ctx, t, b, lying.Honest, powerSeeds(t)[0], 0, max(longest, 20*time.Second))
		t.Logf("%d cases", r.cases)
		if len(r.kinds) > 0 {
			t.Errorf("the honest proxy was accused of %v\n%s", r.kinds, r.example)
		}
	})
}

func mostFrequent(kinds map[string]int) string {
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := names[i], names[j]
		return kinds[a] > kinds[b] || kinds[a] == kinds[b] && a < b
	})
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
