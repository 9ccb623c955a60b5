package model

import (
	"fmt"
	"strings"
)

// Promise is what a database promises at one isolation level.
type Promise struct {
	DBMS string
	// Version is a prefix of the versions that it holds for, empty for all.
	Version string
	Level   string // RU, RC, RR, SER
	// Setting, if not empty, must be in force: name=value of a target's option.
	Setting string
	Model   Model
	Link    string
	Note    string
}

const (
	innodbLink   = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
	mariadbLink  = "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/set-commands/set-transaction"
	snapshotLink = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation"
	tidbLink     = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
	postgresLink = "https://www.postgresql.org/docs/current/transaction-iso.html"
)

// Promises is what vendors document; the first line that fits counts. A level
// that is named after a model but documented to do less promises what is
// documented: InnoDB's REPEATABLE READ reads a snapshot and writes the newest
// rows, so updates can be lost and reads be skewed by locking reads.
var Promises = []Promise{
	{DBMS: "mysql", Level: "RU", Model: ReadUncommitted, Link: innodbLink},
	{DBMS: "mysql", Level: "RC", Model: ReadCommitted, Link: innodbLink},
	{DBMS: "mysql", Level: "RR", Model: ReadCommitted, Link: innodbLink, Note: "locking reads and writes see the newest rows, plain reads a snapshot"},
	{DBMS: "mysql", Level: "SER", Model: Serializable, Link: innodbLink},
	{DBMS: "mariadb", Level: "RU", Model: ReadUncommitted, Link: mariadbLink},
	{DBMS: "mariadb", Level: "RC", Model: ReadCommitted, Link: mariadbLink},
	{DBMS: "mariadb", Level: "RR", Setting: "snapshot=on", Model: SnapshotIsolation, Link: snapshotLink},
	{DBMS: "mariadb", Version: "11.7", Level: "RR", Setting: "snapshot!=off", Model: SnapshotIsolation, Link: snapshotLink, Note: "on by default since 11.6.2"},
	{DBMS: "mariadb", Version: "11.8", Level: "RR", Setting: "snapshot!=off", Model: SnapshotIsolation, Link: snapshotLink, Note: "on by default since 11.6.2"},
	{DBMS: "mariadb", Version: "12.", Level: "RR", Setting: "snapshot!=off", Model: SnapshotIsolation, Link: snapshotLink, Note: "on by default since 11.6.2"},
	{DBMS: "mariadb", Level: "RR", Model: ReadCommitted, Link: mariadbLink, Note: "locking reads and writes see the newest rows, plain reads a snapshot"},
	{DBMS: "mariadb", Level: "SER", Model: Serializable, Link: mariadbLink},
	{DBMS: "tidb", Level: "RC", Setting: "txn_mode=optimistic", Model: SnapshotIsolation, Link: tidbLink, Note: "READ COMMITTED has no effect in optimistic transactions, which stay at REPEATABLE READ"},
	{DBMS: "tidb", Level: "RC", Model: ReadCommitted, Link: tidbLink},
	{DBMS: "tidb", Level: "RR", Setting: "txn_mode=optimistic", Model: SnapshotIsolation, Link: tidbLink},
	{DBMS: "tidb", Level: "RR", Model: ReadCommitted, Link: tidbLink, Note: "pessimistic transactions write the newest rows, as MySQL does"},
	{DBMS: "postgres", Level: "RU", Model: ReadCommitted, Link: postgresLink},
	{DBMS: "postgres", Level: "RC", Model: ReadCommitted, Link: postgresLink},
	{DBMS: "postgres", Level: "RR", Model: SnapshotIsolation, Link: postgresLink},
	{DBMS: "postgres", Level: "SER", Model: Serializable, Link: postgresLink},
}

var levelNames = map[string]string{
	"RU": "RU", "READ UNCOMMITTED": "RU", "READ-UNCOMMITTED": "RU",
	"RC": "RC", "READ COMMITTED": "RC", "READ-COMMITTED": "RC",
	"RR": "RR", "REPEATABLE READ": "RR", "REPEATABLE-READ": "RR",
	"SER": "SER", "SERIALIZABLE": "SER",
}

// Promised tells what a target (mysql:9.7, mariadb:11.8,snapshot=off, embedded)
// promises at a level, given the settings in force.
func Promised(target, level string, settings map[string]string) (Promise, error) {
	words := strings.Split(target, ",")
	name, version, _ := strings.Cut(words[0], ":")
	if name == "embedded" {
		name = "tidb"
	}
	l, ok := levelNames[strings.ToUpper(level)]
	if !ok {
		return Promise{}, fmt.Errorf("what %s promises depends on the level, and %q is none", target, level)
	}
	value := func(option string) string {
		for _, w := range words[1:] {
			if n, v, _ := strings.Cut(w, "="); n == option {
				return v
			}
		}
		if v, ok := settings[option]; ok {
			return strings.ToLower(v)
		}
		if option == "snapshot" {
			return strings.ToLower(settings["innodb_snapshot_isolation"])
		}
		return strings.ToLower(settings["tidb_"+option])
	}
	known := false
	for _, p := range Promises {
		if p.DBMS != name {
			continue
		}
		known = true
		if p.Level != l || !strings.HasPrefix(version, p.Version) {
			continue
		}
		if option, v, not := strings.Cut(p.Setting, "!="); not {
			if value(option) == v {
				continue
			}
		} else if option, v, is := strings.Cut(p.Setting, "="); is && value(option) != v {
			continue
		}
		return p, nil
	}
	if known {
		return Promise{}, fmt.Errorf("%s has no level %s", target, level)
	}
	return Promise{}, fmt.Errorf("nothing is recorded of what %q promises: one of mysql, mariadb, tidb (embedded), postgres", target)
}
