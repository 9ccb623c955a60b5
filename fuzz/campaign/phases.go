package campaign

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// PhaseTime is one part of what cases take. Its JSON keys are part of the command
// line's contract.
type PhaseTime struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"` // summed over workers
	// MeanMicros is the mean of a run, in µs; Share is one of all phases together.
	MeanMicros float64 `json:"mean_us"`
	Share      float64 `json:"share"`
}

// PhaseTimes are all parts: making inputs, what harness.Phases holds, judging.
// Judging goes on beside the next cases, and what is run again for a finding's sake
// counts too, so their sum is not the time of a campaign.
type PhaseTimes []PhaseTime

// Names of the phases that are not the harness's.
const (
	phaseInput = "input"
	phaseJudge = "judge"
)

// beside holds what a campaign spends that its target does not see.
type beside struct{ input, judge atomic.Int64 }

// charge adds the time since a moment to a sum.
func charge(sum *atomic.Int64, since time.Time) { sum.Add(int64(time.Since(since))) }

func (b *beside) times(of harness.Phases, runs int) PhaseTimes {
	p := make(PhaseTimes, 0, harness.NumPhases+2)
	add := func(name string, d time.Duration) { p = append(p, PhaseTime{Phase: name, Seconds: d.Seconds()}) }
	add(phaseInput, time.Duration(b.input.Load()))
	for i, d := range of {
		add(harness.Phase(i).String(), d)
	}
	add(phaseJudge, time.Duration(b.judge.Load()))
	p.rates(runs)
	return p
}

// rates fills in means and shares.
func (p PhaseTimes) rates(runs int) {
	all := 0.0
	for i := range p {
		all += p[i].Seconds
	}
	for i := range p {
		p[i].MeanMicros = p[i].Seconds * 1e6 / float64(max(runs, 1))
		p[i].Share = p[i].Seconds / max(all, 1e-9)
	}
}

// plus adds phase by phase what another part of a campaign took.
func (p PhaseTimes) plus(q PhaseTimes) PhaseTimes {
	out := append(PhaseTimes(nil), p...)
	for _, x := range q {
		found := false
		for i := range out {
			if out[i].Phase == x.Phase {
				out[i].Seconds += x.Seconds
				found = true
			}
		}
		if !found {
			out = append(out, x)
		}
	}
	return out
}

// Text is the means, for one line: `make 120 µs (4%)`.
func (p PhaseTimes) Text() string {
	parts := make([]string, len(p))
	for i, x := range p {
		parts[i] = fmt.Sprintf("%s %.0f µs (%.0f%%)", strings.ReplaceAll(x.Phase, "_", " "), x.MeanMicros, 100*x.Share)
	}
	return strings.Join(parts, ", ")
}
