package main

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// check derives the edges of a run of an instrumented case twice and compares them. Errors
// are those of gather.
func check(p *plan, h *history.History, v *oracle.Verdict) (comparison, error) {
	f, err := gather(p, h)
	if err != nil {
		return comparison{}, err
	}
	d, err := dependencies(p, h, v)
	if err != nil {
		return comparison{}, err
	}
	return f.against(d)
}

func (f *facts) against(d *mvcc.Dependencies) (comparison, error) {
	answers, err := f.derive()
	if err != nil {
		return comparison{}, err
	}
	oracles, err := f.graphEdges(d)
	if err != nil {
		return comparison{}, err
	}
	return f.compare(answers, oracles), nil
}

// dependencies returns the oracle's graph. Only where its rules explain all of a run is
// that exact.
func dependencies(p *plan, h *history.History, v *oracle.Verdict) (*mvcc.Dependencies, error) {
	switch v.Outcome {
	case oracle.OK, oracle.Known:
		if v.Oracle == oracle.Promised {
			return nil, unusable("it was judged by promise alone, which makes no graph")
		}
	case oracle.Violation:
		return nil, &notUsable{why: fmt.Sprintf("the oracle says violation %s", v.Kind), finding: true}
	default:
		return nil, unusable("the oracle says %s %s", v.Outcome, v.Reason)
	}
	_, d := oracle.Phenomena(p.c, h, v)
	switch {
	case d == nil:
		return nil, fmt.Errorf("a run with the verdict %s has no graph", v.Outcome)
	case d.Coarse:
		return nil, unusable("the oracle cannot tell of a condition which rows match")
	}
	return d, nil
}
