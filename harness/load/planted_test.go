package load_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/lying"
)

var (
	unchecked = flag.Int64("unchecked", 1,
		"of the consistent snapshots that begin amid two commits, one in so many is not checked")
	uncheckedFor      = flag.Duration("unchecked-for", 20*time.Second, "how long the lost update is looked for")
	uncheckedOf       = flag.String("unchecked-workload", "mixed", "the workload that looks for it")
	uncheckedOpenings = flag.String("unchecked-openings", "",
		"how its transactions begin, and all else as the command has it without flags; empty: with a snapshot")
	uncheckedPrograms = flag.Duration("unchecked-programs", 0,
		"how long programs are made of what is found, which then must not end the load")
	uncheckedAmong = flag.Int("unchecked-clients", 16, "clients that look for it")
)

// TestLostUpdateOfASnapshot: a server whose snapshot isolation now and then is none loses
// updates, which a run finds.
func TestLostUpdateOfASnapshot(t *testing.T) {
	for _, target := range installed(t, mariadb11) {
		b := open(t, target, harness.Options{})
		liar := lying.Through(b, lying.UncheckedSnapshot(2, *unchecked))
		s := settings(t, target, *uncheckedOf, corpus.RepeatableRead)
		s.Clients, s.Duration, s.Epoch, s.UntilFound = *uncheckedAmong, *uncheckedFor, 500, *uncheckedPrograms == 0
		s.Reads, s.Openings = load.PlainReads, []load.Opening{load.OpenSnapshot}
		s.Programs = *uncheckedPrograms
		if *uncheckedOpenings != "" {
			s.Epoch, s.Reads, s.Seed = 0, load.AutoReads, rand.Uint64()
			var err error
			if s.Openings, err = load.ParseOpenings(*uncheckedOpenings); err != nil {
				t.Fatal(err)
			}
		}
		r, err := load.Run(t.Context(), liar, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d transactions, %d committed, in %.0f s; %d snapshots were not checked",
			r.Transactions, r.OK, r.Seconds, liar.Told())
		lost := func(f load.Finding) bool { return f.Kind == "lost-update" || strings.HasPrefix(f.Kind, "G-") }
		if !slices.ContainsFunc(r.Findings, lost) {
			t.Errorf("no lost update was found:\n%s", textOf(t, r))
		}
		for _, f := range r.Findings {
			again(t, f)
		}
		if *uncheckedPrograms > 0 {
			tellPrograms(t, r)
		}
	}
}

// tellPrograms fails unless a program shows its anomaly ten times as often a transaction as the load did.
func tellPrograms(t testing.TB, r *load.Report) {
	t.Helper()
	if !showsTenfold(t, r) {
		t.Errorf("no program shows its anomaly ten times as often:\n%s", textOf(t, r))
	}
}

func showsTenfold(t testing.TB, r *load.Report) (often bool) {
	for _, f := range r.Findings {
		if f.ProgramRate == nil || f.ProgramRate.Shown == 0 {
			continue
		}
		p, err := load.ReadProgram(f.Program)
		if err != nil {
			t.Fatal(err)
		}
		per, whole := p.OneInTransactions(), p.Load.OneIn()
		t.Logf("%s: a program (%s) shows it in 1 of %.0f transactions (%d times), the load in 1 of %.0f (%d times)",
			f.Kind, p.Describe(), per, p.Rate.Shown, whole, p.Load.Shown)
		often = often || per*10 <= whole
	}
	return often
}
