package fuzz

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// endTargets are the servers on which the lies about ends of sessions are told.
func endTargets(t *testing.T) []string {
	if one := os.Getenv("TXNFUZZ_POWER_TARGET"); one != "" {
		return []string{one}
	}
	names := targettest.Among(t, "mariadb:11.8", "mysql:9.7")
	if slices.Contains(target.Installed(t.Context()), target.Default) { // not with the tag notidb
		names = append(names, target.Default)
	}
	return names
}

// TestPowerOverEnds plants bugs that show only where sessions are killed or disconnected. Each must be
// found within a minute, and nothing be said of an honest server in as many cases.
func TestPowerOverEnds(t *testing.T) {
	for _, name := range endTargets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := harness.Open(t.Context(), name, harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for _, x := range []struct {
				lie   lying.Lie
				kinds string
			}{
				{lying.KeepsKilled, "kept-rollback wrong-rows wrong-final-state wrong-count dirty-read stale-read non-repeatable-read missing-wait missing-error unexpected-error"},
				{lying.KeepsDeadLocks, "lost-wakeup unjustified-abort"},
			} {
				t.Run(x.lie.Name, func(t *testing.T) {
					v, c, n := firstViolation(t, b, x.lie, time.Minute)
					if v == nil {
						t.Fatalf("not found in %d cases", n)
					}
					t.Logf("found in case %d: %s: %s\nexpected %s\nactual   %s\n%s", n, v.Kind, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
					if !strings.Contains(" "+x.kinds+" ", " "+string(v.Kind)+" ") {
						t.Errorf("called %s, want one of %s", v.Kind, x.kinds)
					}
				})
			}
			t.Run("honest", func(t *testing.T) {
				if v, c, n := firstViolation(t, b, lying.Honest, 10*time.Second); v != nil {
					t.Errorf("case %d: %s: %s\nexpected %s\nactual   %s\n%s", n, v.Kind, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
				}
			})
		})
	}
}

// firstViolation runs generated cases whose sessions end through a lie, until one shows a violation or the
// time is up.
func firstViolation(t *testing.T, b harness.Backend, l lying.Lie, within time.Duration) (*oracle.Verdict, *corpus.Case, int) {
	t.Helper()
	liar := lying.Through(b, l)
	pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{DeadLine: 7 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	through := target.Through(l.Name, liar, pool)
	opts := mutate.Options{DBMS: b.Server().DBMS, Levels: harness.LevelsOf(b), SkipLocked: rules.SkipsLocked(b.Server())}
	n := 0
	for seed, start := uint64(1)<<33, time.Now(); time.Since(start) < within; seed++ {
		for i, c := range mutate.FromInput(mutate.InputOf(seed, mutate.InputLen), nil, opts) {
			if c = mutate.EndSessions(c, seed<<8+uint64(i)); c == nil {
				continue
			}
			n++
			r := through.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
			if r.Err != nil && r.Verdict.Outcome != oracle.Violation {
				t.Fatalf("run through the lie: %v\n%s", r.Err, corpus.Print(c, corpus.Text))
			}
			if r.Verdict.Outcome == oracle.Violation {
				return &r.Verdict, c, n
			}
		}
	}
	return nil, nil, n
}

// dying is a target whose server dies of a KILL.
const dying = "dying"

func init() {
	harness.Register(dying, func(ctx context.Context, name string, o harness.Options) (harness.Backend, error) {
		o.Durable = true // as a server must be that is killed by its owner
		b, err := harness.Open(ctx, strings.TrimPrefix(name, dying+":"), o)
		if err != nil {
			return nil, err
		}
		return lying.Through(b, lying.DiesOfKill), nil
	}, nil)
}

// TestServerDiesOfKill: that is a finding within a minute, whose file contains the KILL.
func TestServerDiesOfKill(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:11.8") { // what dies is the proxy's doing
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		report, err := campaign.RunHere(ctx, campaign.Settings{
			Target: dying + ":" + name, Out: t.TempDir(), Cases: 3, Seed: 46, Ends: campaign.All, Conflict: mutate.Mix,
		})
		if report == nil || len(report.Findings) == 0 {
			t.Fatalf("no finding; %v", err)
		}
		f := report.Findings[0]
		text, readErr := os.ReadFile(f.File)
		if f.Kind != oracle.ServerCrash || readErr != nil || !bytes.Contains(text, []byte("KILL")) {
			t.Errorf("%s in %s: %v\n%s", f.Kind, filepath.Base(f.File), readErr, text)
		}
		t.Logf("%d cases, %d findings, %v", report.Cases, len(report.Findings), err)
	}
}
