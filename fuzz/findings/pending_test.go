package findings

import (
	"context"
	"slices"
	"testing"
)

// What is new comes before what is only to be smaller, what does not fit is
// counted, and after the last case nobody waits for a smaller file.
func TestPendingOrderAndBounds(t *testing.T) {
	p := newPending()
	for _, j := range []job{
		{f: &Finding{ID: "improve"}, what: toImprove}, {f: &Finding{ID: "reduce"}, what: toReduce},
		{f: &Finding{ID: "one"}}, {f: &Finding{ID: "two"}},
	} {
		p.add(j)
	}
	if doing, waiting := p.counts(); doing != 0 || waiting != 4 {
		t.Errorf("doing %d, waiting %d", doing, waiting)
	}
	for range maxPending[toConfirm] + 5 {
		p.add(job{f: &Finding{ID: "more"}})
	}
	if _, waiting := p.counts(); waiting != 4+maxPending[toConfirm]+5 || len(p.jobs[toConfirm]) != maxPending[toConfirm] || p.leftOver != 7 {
		t.Errorf("waiting %d, %d left over", waiting, p.leftOver)
	}
	p.jobs[toConfirm] = p.jobs[toConfirm][:2]
	p.noMore()
	p.add(job{f: &Finding{ID: "late"}, what: toImprove})
	var did []string
	if err := p.run(t.Context(), func(_ context.Context, j job) error {
		did = append(did, j.f.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(did, []string{"one", "two", "reduce"}) {
		t.Errorf("%q", did)
	}
}
