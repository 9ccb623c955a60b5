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
	untold := &Finding{Class: Isolation, Level: "RR", level: corpus.RepeatableRead}
	helpless := &Finding{Class: Isolation, Reduced: true, Level: "RR", level: corpus.RepeatableRead, MendFailed: noTime}
	for _, x := range []struct {
		name  string
		told  *Finding
		other Finding
		want  string
	}{
		{"the same", told, Finding{Reduced: true, Mend: []string{"line 3"}, MendRuns: 100}, ": f\n"},
		{"the same, tried too rarely", told, Finding{Reduced: true, MayMend: []string{"line 3"}, MendRuns: 10, NeededRuns: 300, OneIn: 30}, ": f\n    there not seen in 10 runs with FOR UPDATE on\n      line 3\n    not proposed: 300 runs would be needed to tell, since without it 1 of 30 runs shows it\n"},
		{"another read", told, Finding{Reduced: true, Mend: []string{"line 4"}, MendRuns: 100}, ": f\n    there not seen in 100 runs with FOR UPDATE on\n      line 4\n"},
		{"none", told, Finding{Reduced: true, MendFailed: noTime}, ": f\n    there no FOR UPDATE is proposed: there was no time to try it\n"},
		{"none at either", helpless, Finding{Reduced: true, MendFailed: noTime}, ": f\n"},
		{"for another reason", helpless, Finding{Reduced: true, MendFailed: "every"}, ": f\n    there no FOR UPDATE is proposed: every\n"},
		{"not explained", told, Finding{}, " (not explained there: no time, so FOR UPDATE was not tried there): f\n"},
		{"not explained, and none is proposed here", helpless, Finding{}, " (not explained there: no time): f\n"},
		{"neither is", untold, Finding{}, " (not explained there either): f\n"},
	} {
		x.other.Class, x.other.Level, x.other.File = Isolation, "RC", "f"
		var b strings.Builder
		x.other.writeAlso(&b, x.told)
		if got, want := b.String(), "  also at RC"+x.want; got != want {
			t.Errorf("%s: %q, want %q", x.name, got, want)
		}
	}
}
