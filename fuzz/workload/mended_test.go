package workload

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// That a mended workload showed nothing is no proof if it ran for too short a time, or if
// it is known not to mend everything.
func TestNothingSeenIsToldWithWhatItProves(t *testing.T) {
	for _, x := range []struct {
		name string
		m    Mended
		want string
	}{
		{"enough cases", Mended{Level: "RC", Runs: []MendedRun{{Cases: 300, Wanted: 300}}}, "run itself at RC, 300 cases in 0.0 s: nothing seen"},
		{"too few", Mended{Level: "RC", Runs: []MendedRun{{Cases: 60, Wanted: 300}}}, "run itself at RC, 60 cases in 0.0 s: nothing seen, but 300 cases would be needed to tell"},
		{"others are left", Mended{Level: "RC", Left: []string{"a", "b"}, Runs: []MendedRun{{Cases: 300, Wanted: 300}}}, "run itself at RC, 300 cases in 0.0 s: nothing seen, which proves little: for 2 findings no FOR UPDATE is known"},
	} {
		if got := strings.Join(x.m.Told(), "\n"); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A finding that is told at its strongest level says what differs at the others.
func TestOtherLevelsTellWhatMendsThere(t *testing.T) {
	told := &Finding{Class: Isolation, Reduced: true, Level: "RR", level: corpus.RepeatableRead, Mend: []string{"line 3"}}
	for _, x := range []struct {
		name  string
		other Finding
		want  string
	}{
		{"the same", Finding{Mend: []string{"line 3"}, MendRuns: 100}, ""},
		{"another read", Finding{Mend: []string{"line 4"}, MendRuns: 100}, "    there not seen in 100 runs with FOR UPDATE on\n      line 4\n"},
		{"none", Finding{MendFailed: "there was no time to try it"}, "    there no FOR UPDATE is proposed: there was no time to try it\n"},
	} {
		x.other.Class, x.other.Reduced = Isolation, true
		var b strings.Builder
		x.other.writeOther(&b, told)
		if got := b.String(); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}
