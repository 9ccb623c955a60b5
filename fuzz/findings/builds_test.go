package findings

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle"
)

func TestPresence(t *testing.T) {
	wrong := func(kind oracle.Kind, fingerprint string) oracle.Verdict {
		return oracle.Verdict{Outcome: oracle.Violation, Kind: kind, Fingerprint: fingerprint}
	}
	for _, x := range []struct {
		verdict     oracle.Verdict
		fingerprint string
		kind        oracle.Kind
		want        Presence
	}{
		{oracle.Verdict{Outcome: oracle.Unknown}, "", "", Untestable},
		{oracle.Verdict{Outcome: oracle.OK}, "", "", Absent},
		{wrong(oracle.ServerLog, "f"), "", "", Shows},
		{wrong(oracle.ServerLog, "f"), "f", oracle.ServerCrash, Shows},
		{wrong(oracle.ServerLog, "f"), "g", oracle.ServerLog, Shows},
		{wrong(oracle.ServerLog, "f"), "g", oracle.ServerCrash, Otherwise},
		{wrong(oracle.ServerLog, "f"), "g", "", Otherwise},
		{wrong(oracle.ServerLog, "f"), "", oracle.ServerLog, Shows},
		{wrong(oracle.ServerLog, "f"), "", oracle.ServerCrash, Otherwise},
		{wrong(oracle.ServerLog, ""), "", oracle.ServerCrash, Otherwise},
	} {
		if got := presence(&x.verdict, x.fingerprint, x.kind); got != x.want {
			t.Errorf("%+v for %q and %q: %s, want %s", x.verdict, x.fingerprint, x.kind, got, x.want)
		}
	}
}

func TestInVersions(t *testing.T) {
	for _, x := range []struct {
		versions, presence []string
		want               string
		turns              int
	}{
		{[]string{"18.4", "9.6.1", "12.22", "10.23"}, []string{"s", "a", "s", "a"}, "absent in 9.6.1, 10.23; shows in 12.22, 18.4", 1},
		{[]string{"11.8.9-MariaDB", "10.11.18-MariaDB", "10.5.29-MariaDB"}, []string{"s", "s", "s"}, "shows in 10.5.29 to 11.8.9", 0},
		{[]string{"1", "2", "3", "4"}, []string{"a", "s", "u", "a"}, "absent in 1; shows in 2; not testable in 3; absent in 4", 2},
		{[]string{"1", "2", "3"}, []string{"a", "o", "s"}, "absent in 1; shows otherwise in 2; shows in 3", 1},
	} {
		var builds []OnBuild
		for i, v := range x.versions {
			builds = append(builds, OnBuild{Version: v, Presence: map[string]Presence{"s": Shows, "a": Absent, "u": Untestable, "o": Otherwise}[x.presence[i]]})
		}
		SortBuilds(builds)
		if got := InVersions(builds); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
		if got := Turns(builds); len(got) != x.turns {
			t.Errorf("%s: %d turns, want %d", x.want, len(got), x.turns)
		}
	}
}
