package target

import (
	"slices"
	"testing"
)

// simpler are targets, and those that are simpler in one respect.
var simpler = []struct {
	name     string
	sessions int
	alone    bool
	want     []string
}{
	{"galera:11.8", 2, false, []string{"galera:11.8,nodes=2"}},
	{"galera:11.8,nodes=3", 3, false, nil},
	{"galera:11.8,nodes=5,wsrep_sync_wait=1", 3, true,
		[]string{"mariadb:11.8", "galera:11.8,nodes=3,wsrep_sync_wait=1", "galera:11.8,nodes=4,wsrep_sync_wait=1"}},
	{"galera:11.8,nodes=2", 1, false, nil},
	{"galera,snapshot=off", 1, true, []string{"mariadb,snapshot=off", "galera,nodes=2,snapshot=off"}},
	{"mysql:9.7,group=3,primary=multi", 2, false, []string{"mysql:9.7,group=2,primary=multi"}},
	{"mysql:9.7,group=3,primary=multi,sql_mode=ANSI,STRICT_ALL_TABLES", 2, true, []string{
		"mysql:9.7,sql_mode=ANSI,STRICT_ALL_TABLES", "mysql:9.7,sql_mode=ANSI,STRICT_ALL_TABLES,binlog=row",
		"mysql:9.7,group=2,primary=multi,sql_mode=ANSI,STRICT_ALL_TABLES",
		"mysql:9.7,group=3,sql_mode=ANSI,STRICT_ALL_TABLES",
	}},
	// All sessions are on the primary.
	{"mysql:9.7,group=3", 3, false, []string{"mysql:9.7,group=2"}},
	{"mysql:9.7,replica=row,workers=4,order=off", 2, false,
		[]string{"mysql:9.7,replica=row", "mysql:9.7,replica=row,order=off", "mysql:9.7,replica=row,workers=4"}},
	{"mariadb:11.8,replica=mixed,workers=4", 2, true, []string{
		"mariadb:11.8", "mariadb:11.8,log_bin=ON,binlog_format=MIXED", "mariadb:11.8,replica=mixed",
		"mariadb:11.8,replica=row,workers=4",
	}},
	{"mysql:9.7,replica=row", 2, false, nil},
	{"postgres:18,standby=1,sync=remote_apply", 2, true, []string{"postgres:18", "postgres:18,standby=1"}},
	{"mariadb:11.8,snapshot=off", 2, true, nil},
	{"root@tcp(127.0.0.1:3306)/", 2, true, nil},
}

func TestSimplerTopologies(t *testing.T) {
	for _, x := range simpler {
		if got := SimplerTopologies(x.name, x.sessions, x.alone); !slices.Equal(got, x.want) {
			t.Errorf("%s for %d sessions, alone %t: %q, want %q", x.name, x.sessions, x.alone, got, x.want)
		}
	}
}

// TestSimplerIsSmaller looks that what is simpler is less by its extent, so that no search goes round.
func TestSimplerIsSmaller(t *testing.T) {
	for _, x := range simpler {
		servers, options := Extent(x.name)
		for _, name := range SimplerTopologies(x.name, x.sessions, x.alone) {
			s, o := Extent(name)
			if s > servers || s == servers && o >= options {
				t.Errorf("%s has %d servers and %d options, %s has %d and %d", name, s, o, x.name, servers, options)
			}
		}
	}
}
