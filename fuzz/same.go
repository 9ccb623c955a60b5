package fuzz

import (
	"context"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// SameBug returns the predicate of a reduction: whether another verdict shows
// what the wanted one does. For most it is the fingerprint. A verdict of several
// known deviations is of several bugs; to keep them all makes the smallest case
// the sum of theirs, and hard to get to, since whatever is deleted must hurt
// none of them. There the predicate takes any part of the deviations that holds
// keep, or any part at all if that is empty, and from then on wants that part.
// It therefore has a state, and is for one reduction.
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

// Try judges a case at the levels of its header, as reduce.Options wants it.
func (t *Target) Try(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
	return try(t.Judge)(ctx, c)
}
