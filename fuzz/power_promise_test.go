package fuzz

import (
	"cmp"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// byPromise are the lies that the judge by promise must find in cases with constraints, none of
// which it has a model of. What it cannot notice is not among them: a lock that was not taken, if no
// answer shows it.
var byPromise = []string{
	"read-committed-served-as-read-uncommitted", "read-committed-served-as-repeatable-read",
	"repeatable-read-served-as-read-committed", "commit-is-lost", "rollback-is-kept", "snapshot-taken-too-early",
	"row-missing-from-an-answer", "writes-committed-at-once", "affected-rows-miscounted",
	"cascade-forgets-a-child", "trigger-fires-twice", "foreign-key-is-not-checked",
}

// TestPromisePower tells lies between the harness and a server whose tables have foreign keys and
// triggers. The scratch connection of the judge never passes the liar.
func TestPromisePower(t *testing.T) {
	for _, name := range targettest.Among(t, cmp.Or(os.Getenv("TXNFUZZ_POWER_TARGET"), "mariadb:10.11")) {
		t.Run(name, func(t *testing.T) { promisePower(t, name, byPromise) })
	}
}

// TestPromisePowerOfSnapshotIsolation tells lies about a server that promises error 1020.
func TestPromisePowerOfSnapshotIsolation(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:11.8") {
		promisePower(t, name, []string{"changed-record-is-not-told", "repeatable-read-served-as-read-committed"})
	}
}

func promisePower(t *testing.T, name string, lies []string) {
	b, err := harness.Open(t.Context(), name, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	honest, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer honest.Close()
	beside := target.Through("beside the liar", b, honest)
	rule := func(p *harness.Pool, seed uint64) (g promise.Ruling, ran bool) {
		c := mutate.Constrained(seed, mutate.Options{DBMS: b.Server().DBMS, Levels: harness.LevelsOf(b)})
		h, err := p.Run(t.Context(), c, harness.Levels{By: target.LevelsFor(c, 0)})
		if err != nil {
			return g, false
		}
		if g, err = beside.RuleByPromise(t.Context(), c, h); err != nil {
			t.Fatal(err)
		}
		return g, true
	}
	for _, l := range append([]lying.Lie{lying.Honest}, slices.Concat(lying.Lies, lying.ConstraintLies)...) {
		if l.Name != lying.Honest.Name && !slices.Contains(lies, l.Name) {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			liar := lying.Through(b, l)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			begun, cases := time.Now(), 0
			const few = 150
			for seed := uint64(1); ; seed++ {
				g, ran := rule(pool, seed)
				if !ran {
					continue
				}
				cases++
				switch {
				case g.Broken && l.Name == lying.Honest.Name:
					t.Fatalf("seed %d: %s: expected %s, actual %s", seed, g.Kind, g.Expected, g.Actual)
				case g.Broken:
					t.Logf("found after %d cases, %s: %s", cases, time.Since(begun).Round(10*time.Millisecond), g.Kind)
					return
				case l.Name == lying.Honest.Name && cases == few:
					return
				case time.Since(begun) > time.Minute:
					t.Fatalf("not found within a minute, in %d cases of which %d told it", cases, liar.Told())
				}
			}
		})
	}
}
