package load_test

import (
	"context"
	"flag"
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
	uncheckedFor   = flag.Duration("unchecked-for", 20*time.Second, "how long the lost update is looked for")
	uncheckedOf    = flag.String("unchecked-workload", "mixed", "the workload that looks for it")
	uncheckedAmong = flag.Int("unchecked-clients", 16, "clients that look for it")
)

// untilFound ends a run when a line of its progress tells of a finding.
type untilFound struct{ end context.CancelFunc }

func (u untilFound) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), "found ") {
		u.end()
	}
	return len(b), nil
}

// TestLostUpdateOfASnapshot: a server whose snapshot isolation now and then is none loses
// updates, which a run finds.
func TestLostUpdateOfASnapshot(t *testing.T) {
	for _, target := range installed(t, mariadb11) {
		b := open(t, target, harness.Options{})
		liar := lying.Through(b, lying.UncheckedSnapshot(2, *unchecked))
		s := settings(t, target, *uncheckedOf, corpus.RepeatableRead)
		s.Clients, s.Duration, s.Epoch = *uncheckedAmong, *uncheckedFor, 500
		s.Reads, s.Openings = load.PlainReads, []load.Opening{load.OpenSnapshot}
		ctx, end := context.WithCancel(t.Context())
		s.Progress = untilFound{end}
		r, err := load.Run(ctx, liar, s)
		end()
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
	}
}
