package target

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReplicasPlus: a run that was interrupted tells what all its parts have seen.
func TestReplicasPlus(t *testing.T) {
	one := &Replicas{Compared: 1, Watched: 2, Reads: 3, Refused: 4, Judged: 5, Undecided: 6, Unsafe: 7, Documented: 8, Others: 9,
		Rebuilt: 10, Stopped: []string{"it stops: txnfuzz_1_2_3.t"}}
	two := *one
	two.Stopped = []string{"it stops: txnfuzz_4_5_6.t", "it stops otherwise"}
	want := &Replicas{Compared: 2, Watched: 4, Reads: 6, Refused: 8, Judged: 10, Undecided: 12, Unsafe: 14, Documented: 16,
		Others: 18, Rebuilt: 20, Stopped: []string{"it stops: txnfuzz_1_2_3.t", "it stops otherwise"}}
	if diff := cmp.Diff(want, one.Plus(&two)); diff != "" {
		t.Error(diff)
	}
	if one.Plus(nil) != one || (*Replicas)(nil).Plus(one) != one {
		t.Error("a part without a replica changes what the other one has seen")
	}
}
