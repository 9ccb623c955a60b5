package campaign

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// FailOn says which findings make a run, or a replay, end as "something
// found". It never turns a broken run into a good one.
type FailOn string

const (
	// FailAny: every finding of a run, every violation of a replay.
	FailAny FailOn = "any"
	// FailNew: of a run, findings that neither the baseline nor a file in the
	// folder of findings knows; of a replay, violations that the header of the
	// case does not record for this target and level, and known deviations where
	// it records another verdict. (A known deviation where it records nothing is
	// no news: the rules have it.)
	FailNew FailOn = "new"
	// FailNone: none; findings are reported all the same.
	FailNone FailOn = "none"
)

// ParseFailOn reads new, any or none.
func ParseFailOn(s string) (FailOn, error) {
	switch f := FailOn(s); f {
	case FailAny, FailNew, FailNone:
		return f, nil
	}
	return "", fmt.Errorf("unknown choice %q: want new, any or none", s)
}

// Finding reports whether a finding of a run counts.
func (f FailOn) Finding(x *findings.Finding) bool {
	return f == FailAny || f == FailNew && x.New
}

// Replayed reports whether a verdict of a replay counts.
func (f FailOn) Replayed(r *findings.Replayed) bool {
	if f != FailNone && r.Against != nil && slices.ContainsFunc(r.Against.Differences, func(d findings.ReplayedDifference) bool { return d.Counts() }) {
		return true
	}
	switch r.Verdict {
	case oracle.Violation:
		return f == FailAny || f == FailNew && r.Recorded != r.Verdictline()
	case oracle.Known:
		return f == FailNew && r.Changed()
	}
	return false
}

// Report reports whether any finding of a run counts.
func (f FailOn) Report(r *Report) bool {
	for i := range r.Findings {
		if f.Finding(&r.Findings[i]) {
			return true
		}
	}
	return false
}
