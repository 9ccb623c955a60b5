package findings

import "testing"

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
