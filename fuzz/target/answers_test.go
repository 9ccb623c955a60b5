package target

import (
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/unique"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestAnswersSeeLies: of cases with unique values the answers alone tell lies from an honest
// server, without a rule or a replay. They cannot see all: of a lock that was not taken, only
// what comes of it.
func TestAnswersSeeLies(t *testing.T) {
	b, err := harness.Open(t.Context(), "mariadb:11.8", harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const (
		tellFor = 90 * time.Second
		honest  = 400 // cases
	)
	for _, name := range []string{
		lying.Honest.Name, "read-committed-served-as-read-uncommitted", "read-committed-served-as-repeatable-read",
		"repeatable-read-served-as-read-committed", "locking-read-takes-no-lock", "rollback-is-kept", "commit-is-lost", "snapshot-taken-too-late",
		"select-answered-from-a-cache", "writes-committed-at-once", "rollback-to-savepoint-ignored",
	} {
		lie := lying.Honest
		if i := slices.IndexFunc(lying.Lies, func(l lying.Lie) bool { return l.Name == name }); i >= 0 {
			lie = lying.Lies[i]
		} else if name != lying.Honest.Name {
			t.Fatalf("there is no lie %s", name)
		}
		t.Run(name, func(t *testing.T) {
			pool, err := harness.NewPool(t.Context(), lying.Through(b, lie), harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			begun, ran, read := time.Now(), 0, 0
			kinds := map[oracle.Kind]int{}
			for n := uint64(1); len(kinds) == 0 && time.Since(begun) < tellFor && (name != lying.Honest.Name || read < honest); n++ {
				c := mutate.Generate(mutate.NewBytes(mutate.InputOf(n, mutate.InputLen)), mutate.Options{Levels: harness.LevelsOf(b), DBMS: b.Server().DBMS})
				u, err := unique.Case(c)
				if err != nil {
					continue
				}
				h, err := pool.Run(t.Context(), u, harness.Levels{By: LevelsFor(u, corpus.RepeatableRead)})
				if err != nil {
					continue // a case that this server refuses
				}
				ran++
				v := oracle.JudgeAnswers(u, h)
				if v.Outcome != oracle.Unknown {
					read++
				}
				if v.Outcome == oracle.Violation {
					kinds[v.Kind]++
					t.Logf("%s: %s\n%s", v.Kind, v.Actual, corpus.Print(u, corpus.Text))
				}
			}
			t.Logf("%d cases, %d read off, %v, after %v", ran, read, kinds, time.Since(begun).Round(time.Millisecond))
			switch {
			case name == lying.Honest.Name && len(kinds) > 0:
				t.Error("an honest server is accused")
			case name == lying.Honest.Name && read < honest:
				t.Errorf("%d cases were read off, want %d", read, honest)
			case name != lying.Honest.Name && len(kinds) == 0:
				t.Error("the lie is not seen")
			}
		})
	}
}
