package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/commute"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// runner runs a case once; a nil history says that it could not be run.
type runner func(ctx context.Context, c *corpus.Case) (*history.History, error)

// result is what came of one swap.
type result int

const (
	equal result = iota
	waitsDiffer
	// byChance: a difference that did not show in every run.
	byChance
	// byRule: one of the runs shows a known deviation.
	byRule
	unexplained
	notRun
)

// again is how often both orders are run again before a difference counts. Each run of one
// order must differ from each of the other.
const again = 4

// try runs a case with two of its statements swapped, and looks into what is different.
func try(ctx context.Context, run runner, c *corpus.Case, h *history.History, s commute.Swap) (r result, other *history.History, rules []string, what string, err error) {
	twin := s.Of(c)
	other, err = run(ctx, twin)
	if err != nil || other == nil {
		return notRun, nil, nil, "", err
	}
	o, what := commute.Compare(h, other)
	switch o {
	case commute.Equal:
		return equal, other, nil, "", nil
	case commute.WaitsDiffer:
		return waitsDiffer, other, nil, what, nil
	}
	first, second := []*history.History{h}, []*history.History{other}
	for range again {
		a, err := run(ctx, c)
		if err != nil || a == nil {
			return notRun, nil, nil, "", err
		}
		b, err := run(ctx, twin)
		if err != nil || b == nil {
			return notRun, nil, nil, "", err
		}
		first, second = append(first, a), append(second, b)
		for _, a := range first {
			for _, b := range second {
				if o, _ := commute.Compare(a, b); o != commute.Differ {
					return byChance, other, nil, what, nil
				}
			}
		}
	}
	for _, x := range []oracle.Verdict{oracle.Check(c, h), oracle.Check(twin, other)} {
		if x.Outcome == oracle.Known {
			rules = append(rules, x.Rules...)
		}
	}
	if len(rules) > 0 {
		slices.Sort(rules)
		return byRule, other, slices.Compact(rules), what, nil
	}
	return unexplained, other, nil, fmt.Sprintf("steps %d and %d swapped, since %s: %s", s.At+1, s.At+2, s.Why, what), nil
}
