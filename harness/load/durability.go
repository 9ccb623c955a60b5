package load

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// durability is a setting on which it depends what a server still has that was killed, or whose power has failed.
type durability struct {
	name string
	// weak are the values with which the vendor promises less; none are known: a kill shows no difference that is
	// documented.
	weak []weakness
}

// weakness is less than all that was acknowledged.
type weakness struct {
	values []string // in lower case
	power  bool     // of a power loss only, not of a kill
	less   string
}

// https://www.postgresql.org/docs/current/runtime-config-wal.html
// https://dev.mysql.com/doc/refman/en/innodb-parameters.html
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
var (
	mysqlDurabilities = []durability{
		{"innodb_flush_log_at_trx_commit", []weakness{
			{[]string{"0"}, false, "with innodb_flush_log_at_trx_commit=0 the manual lets a crash of the server lose what was " +
				"acknowledged in the last second (" + mysqlManual + "innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit)"},
			{[]string{"2"}, true, "with innodb_flush_log_at_trx_commit=2 the manual lets a crash of the system lose what was " +
				"acknowledged in the last second (" + mysqlManual + "innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit)"},
		}},
		{"sync_binlog", []weakness{{[]string{"0"}, true, "with sync_binlog=0 the manual says that after a power failure the " +
			"server may have committed what is not in its binary log, and recovery rolls back what it does not find there (" +
			mysqlManual + "replication-options-binary-log.html#sysvar_sync_binlog)"}}},
		{"innodb_doublewrite", []weakness{{[]string{"off", "0", "detect_only"}, true, "without the doublewrite buffer a page " +
			"that was written in part when the power failed cannot be restored (" +
			mysqlManual + "innodb-doublewrite-buffer.html)"}}},
		{"innodb_flush_method", []weakness{{[]string{"nosync", "littlesync"}, true, "innodb_flush_method nosync and littlesync " +
			"are for tests of speed, says the manual (" + mysqlManual + "innodb-parameters.html#sysvar_innodb_flush_method)"}}},
	}
	mariadbDurabilities = []durability{
		{"innodb_flush_log_at_trx_commit", []weakness{
			{[]string{"0"}, false, "with innodb_flush_log_at_trx_commit=0 the manual lets a crash of the server lose the last " +
				"second of transactions (" + mariadbManual + "#innodb_flush_log_at_trx_commit)"},
			{[]string{"2"}, true, "with innodb_flush_log_at_trx_commit=2 the manual lets a crash of the system or a power outage " +
				"lose the last second of transactions (" + mariadbManual + "#innodb_flush_log_at_trx_commit)"},
		}},
		{"sync_binlog", []weakness{{[]string{"0"}, true, "with sync_binlog=0 the system decides when the binary log is " +
			"written, says the manual (https://mariadb.com/docs/server/ha-and-performance/standard-replication/" +
			"replication-and-binary-log-system-variables#sync_binlog)"}}},
		{"innodb_doublewrite", []weakness{{[]string{"off", "0"}, true, "without the doublewrite buffer a page that was " +
			"written in part when the power failed cannot be restored (" + mariadbManual + "#innodb_doublewrite)"}}},
		{"innodb_flush_method", []weakness{{[]string{"nosync", "littlesync"}, true, "innodb_flush_method nosync and littlesync " +
			"are for tests of speed, says the manual (" + mariadbManual + "#innodb_flush_method)"}}},
	}
	durabilities = map[history.DBMS][]durability{
		history.MySQL:   mysqlDurabilities,
		history.MariaDB: mariadbDurabilities,
		history.PostgreSQL: {
			{"synchronous_commit", []weakness{{[]string{"off"}, false, "with synchronous_commit off the manual lets a crash " +
				"lose what was acknowledged in the last moments before it (" + postgresManual + "wal-async-commit.html)"}}},
			{"fsync", []weakness{{[]string{"off"}, true, "with fsync off, says the manual, a power failure or a crash of the " +
				"system can end in unrecoverable data corruption (" + postgresManual + "runtime-config-wal.html#GUC-FSYNC)"}}},
			{"full_page_writes", []weakness{{[]string{"off"}, true, "with full_page_writes off, says the manual, a failure of " +
				"the system might lead to data corruption, unrecoverable or silent (" +
				postgresManual + "runtime-config-wal.html#GUC-FULL-PAGE-WRITES)"}}},
		},
	}
)

const (
	mysqlManual    = "https://dev.mysql.com/doc/refman/en/"
	mariadbManual  = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables"
	postgresManual = "https://www.postgresql.org/docs/current/"
)

// durableSettings tells how a server is set, as far as it has told; empty where nothing is known of it.
func durableSettings(s history.Server) string {
	var parts []string
	for _, d := range durabilities[s.DBMS] {
		if is, ok := s.Settings[d.name]; ok {
			parts = append(parts, d.name+"="+is)
		}
	}
	return strings.Join(parts, ", ")
}

// undurable says why a server may lose what it acknowledged; empty: it may not. power: its power has failed.
func undurable(s history.Server, power bool) string {
	var says []string
	for _, d := range durabilities[s.DBMS] {
		// Without a binary log there is nothing to sync.
		if d.name == "sync_binlog" && strings.EqualFold(s.Settings["log_bin"], "OFF") {
			continue
		}
		for _, w := range d.weak {
			if slices.Contains(w.values, strings.ToLower(s.Settings[d.name])) && (power || !w.power) {
				says = append(says, w.less)
			}
		}
	}
	return strings.Join(says, "; ")
}

// excuse says why the server of a run may lose what it acknowledged; empty: it may not.
func (r *run) excuse() string {
	return undurable(r.backend.Server(), r.powerLost.Load())
}

// gone are the errors of a table, a schema or a database that is not there.
var gone = map[code]bool{"1146": true, "1049": true, "42P01": true, "3F000": true, "3D000": true}
