package findings

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// SameBug returns the predicate of a reduction: whether another verdict shows what
// the wanted one does. Mostly that means the same fingerprint. But a verdict that
// names several known deviations is of several bugs. The smallest case that shows
// all of them is as large as their cases together, and hard to reach, since no
// deletion may hurt any of them. So the predicate accepts any part of the deviations
// that includes keep (any part at all if keep is empty), and from then on wants that
// part. It therefore has a state, and serves one reduction.
func SameBug(want oracle.Verdict, keep string) func(oracle.Verdict) bool {
	if len(want.Causes()) == 0 {
		return func(v oracle.Verdict) bool { return v.Fingerprint == want.Fingerprint && want.Fingerprint != "" }
	}
	rules := want.Rules
	return func(v oracle.Verdict) bool {
		if v.Outcome != oracle.Known || len(v.Rules) == 0 || keep != "" && !slices.Contains(v.Rules, keep) {
			return false
		}
		for _, r := range v.Rules {
			if !slices.Contains(rules, r) {
				return false
			}
		}
		rules = v.Rules
		return true
	}
}
