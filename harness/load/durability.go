package load

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// durability is a setting on which it depends what a killed server still has.
type durability struct {
	name string
	// off is the value with which the vendor promises less, as less says; empty: a kill shows no difference that is
	// documented, only a crash of the whole system does.
	off, less string
}

// https://www.postgresql.org/docs/current/runtime-config-wal.html
var durabilities = map[history.DBMS][]durability{
	history.PostgreSQL: {
		{"synchronous_commit", "off", "with synchronous_commit off the manual lets a crash lose what was acknowledged in " +
			"the last moments before it (https://www.postgresql.org/docs/current/wal-async-commit.html)"},
		{name: "fsync"}, {name: "full_page_writes"},
	},
}

// durableSettings tells how a server is set; empty where nothing is known of it.
func durableSettings(s history.Server) string {
	var parts []string
	for _, d := range durabilities[s.DBMS] {
		parts = append(parts, d.name+"="+s.Settings[d.name])
	}
	return strings.Join(parts, ", ")
}

// undurable says why a server may lose what it acknowledged; empty: it may not.
func undurable(s history.Server) string {
	for _, d := range durabilities[s.DBMS] {
		if d.off != "" && s.Settings[d.name] == d.off {
			return d.less
		}
	}
	return ""
}
