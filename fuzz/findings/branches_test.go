package findings

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestBranches(t *testing.T) {
	presence := map[string]Presence{"s": Shows, "a": Absent, "u": Untestable, "o": Otherwise}
	for _, x := range []struct {
		name   string
		dbms   history.DBMS
		builds string // VERSION=PRESENCE, in any order
		want   string
		turns  []string
	}{
		{
			"by number", history.PostgreSQL, "18.4=s 9.6.1=a 12.22=s 10.23=a",
			"absent in 9.6.1, 10.23; shows in 12.22, 18.4", []string{"comes 10.23 12.22"},
		},
		{
			"vendor's words", history.MariaDB, "11.8.9-MariaDB=s 10.11.18-MariaDB=s 10.5.29-MariaDB=s",
			"shows in 10.5.29 to 11.8.9", nil,
		},
		{
			"untestable passed over", history.PostgreSQL, "11.1=a 12.1=s 13.1=u 14.1=a",
			"absent in 11.1; shows in 12.1; not testable in 13.1; absent in 14.1", []string{"comes 11.1 12.1", "goes 12.1 14.1"},
		},
		{
			"otherwise is absent", history.PostgreSQL, "11.1=a 12.1=o 13.1=s",
			"absent in 11.1; shows otherwise in 12.1; shows in 13.1", []string{"comes 12.1 13.1"},
		},
		{
			"fix brought to all branches", history.PostgreSQL, "10.20=u 12.14=s 12.22=a 13.10=s 13.23=a 14.3=s 14.23=a",
			"not testable in 10.20; shows in 12.14, then absent in 12.22; shows in 13.10, then absent in 13.23; shows in 14.3, then absent in 14.23",
			[]string{"goes 12.14 12.22", "goes 13.10 13.23", "goes 14.3 14.23"},
		},
		{
			"came with a branch, then fixed", history.PostgreSQL, "11.5=a 11.22=a 12.14=s 12.22=a 13.10=s 13.23=a",
			"absent in 11.5, 11.22; shows in 12.14, then absent in 12.22; shows in 13.10, then absent in 13.23",
			[]string{"comes 11.22 12.14", "goes 12.14 12.22", "goes 13.10 13.23"},
		},
		{
			"fixed in the newest branch alone", history.PostgreSQL, "16.1=s 16.14=s 17.0=s 17.6=s 18.1=a 18.4=a",
			"shows in 16.1 to 17.6; absent in 18.1, 18.4", []string{"goes 17.6 18.1"},
		},
		{
			"two builds of one version", history.PostgreSQL, "15.1=s 15.18=a 15.18=a 16.1=s 16.1=s 16.2=s",
			"shows in 15.1, then absent in 15.18; shows in 16.1, 16.2", []string{"goes 15.1 15.18", "comes 15.18 16.1"},
		},
		{
			"old branch stays broken", history.PostgreSQL, "14.3=s 14.23=s 15.3=s 15.18=a",
			"shows in 14.3, 14.23; shows in 15.3, then absent in 15.18", []string{"goes 15.3 15.18"},
		},
		{
			"older branch fixed, younger not", history.PostgreSQL, "14.3=s 14.23=a 15.3=s 15.18=s",
			"shows in 14.3, then absent in 14.23; shows in 15.3, 15.18", []string{"goes 14.3 14.23", "comes 14.23 15.3"},
		},
		{
			"brought back to an old branch", history.PostgreSQL, "14.3=a 14.23=s 15.3=a 15.18=s",
			"absent in 14.3, then shows in 14.23; absent in 15.3, then shows in 15.18",
			[]string{"comes 14.3 14.23", "comes 15.3 15.18"},
		},
		{
			"two numbers of MariaDB", history.MariaDB, "10.11.2-MariaDB=s 10.5.19-MariaDB=s 10.5.29-MariaDB=a 10.11.18-MariaDB=a",
			"shows in 10.5.19, then absent in 10.5.29; shows in 10.11.2, then absent in 10.11.18",
			[]string{"goes 10.5.19-MariaDB 10.5.29-MariaDB", "goes 10.11.2-MariaDB 10.11.18-MariaDB"},
		},
		{
			"TiDB's own version and date", history.TiDB,
			"8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af=a 8.0.11-TiDB-v8.5.4-20250102-0123456789ab=s v8.2.0-20240703-230bbc2ef5ef=s 8.0.11-TiDB-None=u v10.1.0=a",
			"not testable in 8.0.11-TiDB-None; shows in 8.2.0-20240703; shows in 8.5.4-20250102, then absent in 8.5.4-20251126; absent in 10.1.0",
			[]string{"goes 8.0.11-TiDB-v8.5.4-20250102-0123456789ab 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var builds []OnBuild
			for _, b := range strings.Fields(x.builds) {
				version, p, _ := strings.Cut(b, "=")
				builds = append(builds, OnBuild{Build: version, DBMS: x.dbms, Version: version, Presence: presence[p]})
			}
			SortBuilds(builds)
			if got := InVersions(builds); got != x.want {
				t.Errorf("%s\nwant %s", got, x.want)
			}
			var turns []string
			for _, b := range builds {
				if b.Turn != "" {
					turns = append(turns, strings.Join([]string{string(b.Turn), b.After, b.Build}, " "))
				}
			}
			if !slices.Equal(turns, x.turns) {
				t.Errorf("turns %q, want %q", turns, x.turns)
			}
		})
	}
}

// TestUnlikeSettings: what versions do by default is told beside what they show.
func TestUnlikeSettings(t *testing.T) {
	const name = "innodb_snapshot_isolation"
	on := func(version, build string, p Presence, value string) OnBuild {
		b := OnBuild{Build: build, DBMS: history.MariaDB, Version: version, Presence: p, Settings: map[string]string{"log_bin": "OFF"}}
		if value != "" {
			b.Settings[name] = value
		}
		return b
	}
	for _, x := range []struct {
		builds []OnBuild
		want   string
	}{
		{[]OnBuild{on("10.5.23-MariaDB", "mariadb:10.5", Absent, ""), on("10.11.18-MariaDB", "mariadb:10.11", Absent, "OFF"), on("11.8.9-MariaDB", "mariadb:11.8", Shows, "ON")},
			"absent in 10.5.23, 10.11.18; shows in 11.8.9; innodb_snapshot_isolation is not there in 10.5.23, OFF in 10.11.18, ON in 11.8.9"},
		{[]OnBuild{on("10.11.18-MariaDB", "mariadb:10.11", Absent, "OFF"), on("10.11.18-MariaDB", "mariadb:10.11,snapshot=on", Shows, "ON")},
			"absent in 10.11.18, then shows in 10.11.18,snapshot=on; innodb_snapshot_isolation is OFF in 10.11.18, ON in 10.11.18,snapshot=on"},
		{[]OnBuild{on("10.11.18-MariaDB", "mariadb:10.11", Shows, "OFF"), on("11.8.9-MariaDB", "mariadb:11.8", Shows, "ON")},
			"shows in 10.11.18, 11.8.9"},
		{[]OnBuild{on("10.11.18-MariaDB", "/b/mariadbd,base=/x", Absent, "ON"), on("11.8.9-MariaDB", "mariadb:11.8", Shows, "ON")},
			"absent in 10.11.18; shows in 11.8.9"},
	} {
		SortBuilds(x.builds)
		if got := InVersions(x.builds); got != x.want {
			t.Errorf("%s\nwant\n%s", got, x.want)
		}
	}
}
