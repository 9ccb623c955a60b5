package campaign

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// AgainstReport says how two targets differed. Its JSON keys are part of the command
// line's contract.
type AgainstReport struct {
	Target        string            `json:"target"`
	ServerVersion string            `json:"server_version"`
	Settings      map[string]string `json:"settings"`
	// Cases counts those that ran on both targets, Broken those that broke down on one.
	Cases  int `json:"cases"`
	Broken int `json:"broken"`
	// Statements counts those whose answers were compared, Parted the cases whose waits
	// differ, which were compared up to there.
	Statements int `json:"compared_statements"`
	Parted     int `json:"parted"`
	// Vanished counts the differences that did not show again and again: what comes by
	// chance on either server.
	Vanished    int             `json:"not_reproduced"`
	Differences []DifferenceSum `json:"differences"`
}

// DifferenceSum counts the differences of one sort.
type DifferenceSum struct {
	Kind        against.Kind        `json:"kind"`
	Attribution against.Attribution `json:"attribution"`
	Statement   stmt.Kind           `json:"statement"`
	Reason      string              `json:"reason"`
	// Follows says that they follow from an earlier difference in their cases.
	Follows bool   `json:"follows,omitempty"`
	Link    string `json:"link,omitempty"`
	Count   int    `json:"count"`
	// Example is a file with the first case.
	Example string `json:"example"`
}

// same says that a sum is that of a sort of differences.
func (s *DifferenceSum) same(t *DifferenceSum) bool {
	return s.Kind == t.Kind && s.Attribution == t.Attribution && s.Statement == t.Statement && s.Reason == t.Reason && s.Follows == t.Follows
}

func sumOf(d *against.Difference) DifferenceSum {
	if d.Attribution == against.Unattributed && d.Reason == "" {
		d.Reason = target.Unexplained
	}
	return DifferenceSum{Kind: d.Kind, Attribution: d.Attribution, Statement: d.Statement, Reason: d.Reason, Follows: d.Follows, Link: d.Link}
}

// ErrNothingCompared says that no case ran on both targets.
var ErrNothingCompared = errors.New("not one case ran on both targets")

// none says that nothing was compared although it should have been.
func (r *AgainstReport) none() bool { return r != nil && r.Cases == 0 }

// merged adds the counts of a later part of a campaign; either may be nil.
func (r *AgainstReport) merged(more *AgainstReport) *AgainstReport {
	switch {
	case r == nil:
		return more
	case more == nil:
		return r
	}
	out := *r
	out.Cases, out.Broken, out.Statements = r.Cases+more.Cases, r.Broken+more.Broken, r.Statements+more.Statements
	out.Parted, out.Vanished = r.Parted+more.Parted, r.Vanished+more.Vanished
	out.Differences = slices.Clone(r.Differences)
	for _, d := range more.Differences {
		out.add(d)
	}
	return &out
}

// add adds a sum and reports whether it is the first of its sort.
func (r *AgainstReport) add(d DifferenceSum) bool {
	for i := range r.Differences {
		if x := &r.Differences[i]; x.same(&d) {
			x.Count += d.Count
			return false
		}
	}
	r.Differences = append(r.Differences, d)
	return true
}

// againstTally is an AgainstReport for several goroutines.
type againstTally struct {
	mu sync.Mutex
	r  AgainstReport
}

func (t *againstTally) begin(other *target.Target) {
	s := other.Server()
	t.r = AgainstReport{Target: other.Name, ServerVersion: s.Version, Settings: s.Settings, Differences: []DifferenceSum{}}
	if t.r.Settings == nil {
		t.r.Settings = map[string]string{}
	}
}

func (t *againstTally) change(f func(*AgainstReport)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.r)
}

func (t *againstTally) skip()     { t.change(func(r *AgainstReport) { r.Broken++ }) }
func (t *againstTally) vanished() { t.change(func(r *AgainstReport) { r.Vanished++ }) }

func (t *againstTally) compared(c *against.Comparison) {
	t.change(func(r *AgainstReport) {
		r.Cases++
		r.Statements += c.Statements
		if c.Apart >= 0 {
			r.Parted++
		}
	})
}

// add counts a difference and reports whether it is the first of its sort.
func (t *againstTally) add(d *against.Difference) (first bool) {
	t.change(func(r *AgainstReport) {
		s := sumOf(d)
		s.Count = 1
		first = r.add(s)
	})
	return first
}

// example notes the file with the first case of a sort.
func (t *againstTally) example(d *against.Difference, file string) {
	t.change(func(r *AgainstReport) {
		s := sumOf(d)
		for i := range r.Differences {
			if x := &r.Differences[i]; x.same(&s) && x.Example == "" {
				x.Example = file
			}
		}
	})
}

// report returns the counts so far, the most frequent first within each attribution.
func (v *versus) report() *AgainstReport {
	var out AgainstReport
	v.tally.change(func(r *AgainstReport) {
		out = *r
		out.Differences = append([]DifferenceSum{}, r.Differences...)
	})
	slices.SortStableFunc(out.Differences, func(a, b DifferenceSum) int {
		return cmp.Or(cmp.Compare(slices.Index(Attributions, a.Attribution), slices.Index(Attributions, b.Attribution)), b.Count-a.Count)
	})
	return &out
}

// Attributions is the order in which differences are listed: what matters first.
var Attributions = []against.Attribution{against.Unattributed, against.Reported, against.BothRight, against.Rule, against.ErrorCode, against.Dialect}

// Count returns how many differences are put down to one thing.
func (r *AgainstReport) Count(a against.Attribution) int {
	n := 0
	for i := range r.Differences {
		if d := &r.Differences[i]; d.Attribution == a {
			n += d.Count
		}
	}
	return n
}
