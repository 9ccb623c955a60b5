package campaign

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// TestOn: workers share a target, or each has its own.
func TestOn(t *testing.T) {
	a, b, x := &target.Target{Name: "a"}, &target.Target{Name: "b"}, &target.Target{Name: "x"}
	shared, own := &campaign{target: a}, &campaign{target: a, others: []*target.Target{b, x}}
	for worker, want := range []*target.Target{a, b, x} {
		if got := shared.on(worker); got != a {
			t.Errorf("worker %d has %s, want the common one", worker, got.Name)
		}
		if got := own.on(worker); got != want {
			t.Errorf("worker %d has %s, want %s", worker, got.Name, want.Name)
		}
	}
}
