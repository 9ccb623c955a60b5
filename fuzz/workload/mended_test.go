package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// That a mended workload showed nothing is no proof if it ran for too short a time, or if
// it is known not to mend everything.
func TestNothingSeenIsToldWithWhatItProves(t *testing.T) {
	for _, x := range []struct {
		name string
		m    Mended
		want string
	}{
		{"enough cases", Mended{Level: "RC", Runs: []MendedRun{{Cases: 300, Wanted: 300}}}, "this file was run at RC, 300 cases in 0.0 s: nothing seen"},
		{"too few", Mended{Level: "RC", Runs: []MendedRun{{Cases: 60, Wanted: 300}}}, "this file was run at RC, 60 cases in 0.0 s: nothing seen, but that is too few to tell: 300 cases would be needed"},
		{"it does not mend all", Mended{Level: "RC", NotMended: []string{"x with a × b: why", "y with b × b: why"}, Runs: []MendedRun{{Cases: 300, Wanted: 300}}}, "it does not mend\n  x with a × b: why\n  y with b × b: why\nthis file was run at RC, 300 cases in 0.0 s: nothing seen, which proves little, since this file does not mend all"},
		{"too few, and it does not mend all", Mended{Level: "RC", NotMended: []string{"x with a × b: why"}, Runs: []MendedRun{{Cases: 42, Wanted: 300}}}, "it does not mend\n  x with a × b: why\nthis file was run at RC, 42 cases in 0.0 s: nothing seen, but that is too few to tell: 300 cases would be needed"},
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
		{"the same", told, Finding{Reduced: true, Mend: []string{"line 3"}, MendRuns: 100}, " (the same FOR UPDATE, not seen in 100 runs): f\n"},
		{"the same, tried too rarely", told, Finding{Reduced: true, MayMend: []string{"line 3"}, MendRuns: 10, NeededRuns: 300, OneIn: 30}, ": f\n    there not seen in 10 runs with FOR UPDATE on\n      line 3\n    not proposed: 300 runs would be needed to tell, since without it about 1 of 30 runs with new values shows it\n"},
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

// Where no FOR UPDATE helps and where none was tried are told apart, and only the former
// leads to what else helps.
func TestNoneHelpsIsNotUntried(t *testing.T) {
	every := "with FOR UPDATE on every SELECT of these transactions it is seen, too"
	for _, x := range []struct {
		name              string
		f                 Finding
		untried, helpless bool
	}{
		{"not explained", Finding{}, true, false},
		{"no time to try", Finding{Reduced: true, MendFailed: noTime}, true, false},
		{"none helps", Finding{Reduced: true, MendFailed: every}, false, true},
		{"one helps", Finding{Reduced: true, Mend: []string{"line 1"}}, false, false},
	} {
		x.f.Class, x.f.Level = Isolation, "RC"
		if x.f.untried() != x.untried || x.f.helpless() != x.helpless {
			t.Errorf("%s: untried %v, helpless %v", x.name, x.f.untried(), x.f.helpless())
		}
		r := &Report{Findings: []*Finding{&x.f}}
		var text, page strings.Builder
		if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
			t.Fatal(err)
		}
		const words = "no FOR UPDATE helps for 1 finding at RC: lock a row"
		if strings.Contains(text.String(), words) != x.helpless || strings.Contains(page.String(), words) != x.helpless {
			t.Errorf("%s:\n%s\n%s", x.name, text.String(), page.String())
		}
	}
	told := (&Mended{Level: "RC", Runs: []MendedRun{{Seen: []MendedSeen{{Kind: StateKind, Expected: true}, {Kind: AnswersKind, Expected: true, Untried: true}}}}}).Told()
	if len(told) != 3 || !strings.HasSuffix(told[1], ", which it does not mend") || !strings.HasSuffix(told[2], ", for which there was no time to try a FOR UPDATE") {
		t.Errorf("%q", told)
	}
}

// The lines that the header of a mended file names are not its own, and it says so.
func TestLinesOfMendedFile(t *testing.T) {
	w := twoRoads(t, 1)
	const words = "-- Line numbers are those of roads.workload, not of this file."
	for _, x := range []struct {
		m    Mended
		want bool
	}{
		{Mended{Level: "RC", Undecided: []string{"line 5"}}, true},
		{Mended{Level: "RC", Runs: []MendedRun{{Cases: 1, Seen: []MendedSeen{{}}, Added: []string{"line 5"}}}}, true},
		{Mended{Level: "RC", Runs: []MendedRun{{Cases: 1}}}, false},
	} {
		if text := string(workload.Print(x.m.workload(w))); strings.Contains(text, words) != x.want {
			t.Errorf("%+v:\n%s", x.m, text)
		}
	}
}
