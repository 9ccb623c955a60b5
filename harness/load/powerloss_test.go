package load_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

// TestPowerLoss: what was synced is there when the power has failed; servers that do not sync lose what they
// acknowledged, and the finding says why; a call that is not undone lets the run not be judged.
func TestPowerLoss(t *testing.T) {
	for _, c := range []struct {
		target, options string
		losses          int
		why             string // a part of a finding's note; empty: nothing is found
		undecided       string // a part of why it is not judged
	}{
		{postgres18, "", 1, "", ""},
		{postgres18, ",fsync=off", 1, "fsync off", ""},
		{mariadb11, ",innodb_flush_log_at_trx_commit=2", 4, "innodb_flush_log_at_trx_commit=2", ""},
		{mysql97, ",innodb_use_native_aio=1", 1, "", "io_submit"},
	} {
		t.Run(c.target+c.options, func(t *testing.T) {
			t.Parallel()
			installed(t, c.target)
			b := open(t, c.target+c.options, harness.Options{Durable: true, PowerLoss: true})
			s := settings(t, c.target+c.options, "bank", corpus.RepeatableRead)
			s.Faults, s.FaultEvery, s.MaxFaults, s.Duration = []load.FaultKind{load.PowerLoss}, 500*time.Millisecond, c.losses, 0
			r, err := load.Run(t.Context(), b, s)
			if r == nil || c.why == "" && err != nil {
				t.Fatal(err)
			}
			if r.FaultKinds[load.PowerLoss] == 0 || c.why == "" && r.FaultKinds[load.PowerLoss] != c.losses || r.Undone == nil || r.Undone.Writes == 0 {
				t.Errorf("no power loss, or one that undid nothing: %+v", r.Undone)
			}
			told := slices.ContainsFunc(r.Findings, func(f load.Finding) bool {
				return c.why != "" && strings.Contains(f.Note, c.why)
			})
			if told != (c.why != "") || c.why == "" && r.Found() {
				t.Errorf("found:\n%s", textOf(t, r))
			}
			problem := ""
			if err := r.Problem(); err != nil {
				problem = err.Error()
			}
			if c.why == "" && (c.undecided == "") != (problem == "") || !strings.Contains(problem, c.undecided) {
				t.Errorf("the problem is %q, want %q", problem, c.undecided)
			}
			if text := textOf(t, r); !strings.Contains(text, "faults: ") || !strings.Contains(text, "power losses: ") {
				t.Errorf("the report does not tell of it:\n%s", text)
			}
		})
	}
}

// TestPowerLossRefused: only a server that was opened for it loses its power.
func TestPowerLossRefused(t *testing.T) {
	b := open(t, postgres18, harness.Options{Durable: true})
	if _, err := b.(harness.PowerLoser).LosePower(1); err == nil {
		t.Error("a server without a journal loses its power")
	}
	if err := b.Alive(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := load.ParseFaults("kill,powerloss, pause"); err != nil {
		t.Error(err)
	}
	if _, err := load.ParseFaults("power"); err == nil || !strings.Contains(err.Error(), "powerloss") {
		t.Error(err)
	}
}
