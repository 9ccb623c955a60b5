package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
)

// TestBuildsOf: a family stands for its versions that are installed, each with what the case was found on beside it.
func TestBuildsOf(t *testing.T) {
	t.Parallel()
	installed := map[string]bool{}
	for _, x := range harness.Available(t.Context()) {
		installed[x.Name] = x.Available
	}
	for _, c := range []struct{ home, with, without string }{
		{"galera:11.8", "galera:11.8 galera:10.11", "galera mariadb:11.8"},
		{"galera:11.8,nodes=3,wsrep_sync_wait=1", "galera:10.11,nodes=3,wsrep_sync_wait=1", "galera:10.11"},
		{"mysql:9.7,group=3,primary=multi", "mysql:9.7,group=3,primary=multi", "mysql:9.7"},
		{"mysql:9.7,replica=row", "mysql:9.7,replica=row", "mysql:9.7 mysql"},
		{"mariadb:11.8,snapshot=off", "mariadb:11.8 mariadb:10.11", "mariadb:11.8,snapshot=off galera:11.8"},
	} {
		list, err := buildsOf(t.Context(), []string{familyOf(c.home)}, c.home)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range strings.Fields(c.with) {
			server, _, _ := strings.Cut(want, ",")
			if installed[server] && !slices.Contains(list, build{target: want}) {
				t.Errorf("%s: %v has no %s", c.home, list, want)
			}
		}
		for _, not := range strings.Fields(c.without) {
			if slices.Contains(list, build{target: not}) {
				t.Errorf("%s: %v has %s", c.home, list, not)
			}
		}
	}
	for _, c := range []struct{ server, home, want string }{
		{"mariadb", "galera:11.8", "galera"}, {"mariadb", "galera:11.8,nodes=2", "galera,nodes=2"},
		{"mysql", "mysql:9.7,group=3", "mysql,group=3"}, {"mysql", "mysql:9.7,binlog=off", "mysql"},
	} {
		if got := likeHome(c.server, c.home); got != c.want {
			t.Errorf("a program of %s, for %s: %s, want %s", c.server, c.home, got, c.want)
		}
	}
	if list, err := buildsOf(t.Context(), []string{"none"}, "none"); err != nil || fmt.Sprint(list) != "[{none }]" {
		t.Errorf("%v, %v", list, err)
	}
}

// TestBisect: a bug of PostgreSQL is told apart by version, and the result stands in the file; a build that is not there
// does not keep the others from telling.
func TestBisect(t *testing.T) {
	t.Parallel()
	if len(targettest.Among(t, "postgres:18", "postgres:10")) < 2 {
		t.Skip("postgres:18 and postgres:10 are not both installed")
	}
	const found = "corpus/found/postgres-recheck-loses-union-row.sql"
	text, err := os.ReadFile("../../" + found)
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "found.sql", string(text))
	args := []string{"bisect", file, "--builds", "postgres:18", "--builds", "postgres:10", "--builds", "postgres:9", "--write", "--json", "-"}
	got := txnfuzz(t, args...)
	list := decode[[]findings.OnBuild](t, got.stdout)
	want := []findings.Presence{findings.Untestable, findings.Absent, findings.Shows}
	if got.code != 0 || len(list) != len(want) {
		t.Fatalf("status %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	for i := range list {
		if list[i].Presence != want[i] {
			t.Errorf("%s: %s (%s)", list[i].Build, list[i].Presence, list[i].Said)
		}
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "; absent in 10.23; shows in 18.") {
		t.Errorf("%v\n%s", err, text)
	}
	if got := txnfuzz(t, "bisect", file, "--builds", "postgres:9"); got.code != 3 || !strings.Contains(got.stderr, "no build could tell") {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
}
