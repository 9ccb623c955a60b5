package findings

import (
	"context"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// factRuns bounds the runs in which a server is asked for facts about a finding that
// does not show each time.
const factRuns = 3

// forFacts runs a finding that was confirmed once more, and asks the server for what it
// knows. It returns the run that showed the same, or r if none did: then nothing is
// told. refuted says that the server did the same, and that by the plans that it told
// this is no violation: then the oracle had foreseen another plan.
func forFacts(ctx context.Context, judge target.JudgeFunc, r *target.Trial) (_ *target.Trial, refuted bool) {
	if judge == nil || r.Verdict.Kind.OfServer() || r.History == nil {
		return r, false
	}
	for range factRuns {
		t := judge(ctx, r.Case, r.Levels)
		if ctx.Err() != nil || t.History == nil {
			break
		}
		if t.Verdict.Fingerprint == r.Verdict.Fingerprint {
			return &t, false
		}
		if t.Verdict.Outcome != oracle.Violation && Refutes(&t, r) {
			return &t, true
		}
	}
	return r, false
}

// Refutes says that a run for facts is another thing than r, and would be the same
// without what the server told. That nothing can be said of it refutes nothing.
func Refutes(told, r *target.Trial) bool {
	v := told.Verdict.Outcome
	return v != oracle.Unknown && told.Verdict.Fingerprint != r.Verdict.Fingerprint && judgedUntold(told).Fingerprint == r.Verdict.Fingerprint
}

// judgedUntold is the verdict of a run without what the server told of it.
func judgedUntold(t *target.Trial) oracle.Verdict {
	h := *t.History
	h.Facts = nil
	return oracle.Judge(t.Case, &h, false)
}
