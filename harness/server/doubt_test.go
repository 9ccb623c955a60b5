package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// What the tool sets of its own servers must not make their answers doubtful when
// one of them is reached by its address.
func TestOwnTuningCannotMatter(t *testing.T) {
	for _, arg := range slices.Concat(everyServer, mysqlServer, mariadbServer) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "--"), "skip-"), "=")
		name = strings.ReplaceAll(strings.ReplaceAll(name, "-", "_"), "default_time_zone", "time_zone")
		if rules.ClassOf(name) == rules.Unclassed {
			t.Errorf("%s is of no class", arg)
		}
	}
}

func TestDoubtfulOptions(t *testing.T) {
	s, err := parseSpec("mysql:9.7,binlog=off,sort_buffer_size=65536,sql_mode=ANSI,STRICT_TRANS_TABLES,auto_increment_increment=5")
	if err != nil {
		t.Fatal(err)
	}
	if got := (&private{spec: s}).Doubtful(); !slices.Equal(got, []string{"auto_increment_increment", "sql_mode"}) {
		t.Errorf("doubtful: %q", got)
	}
}
