package invariant

import (
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// dialect is how a server spells what the workloads send.
type dialect struct {
	dbms     history.DBMS
	postgres bool
	// snapshot makes a control session's transactions read one snapshot.
	snapshot string
	// skips says that locking reads can step over locked rows.
	skips bool
	// engine ends a CREATE TABLE.
	engine string
}

const (
	mysqlSnapshot    = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
	postgresSnapshot = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"
)

// skipsSince is the version that has SKIP LOCKED.
// https://dev.mysql.com/doc/refman/8.0/en/innodb-locking-reads.html
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select#skip-locked
// https://www.postgresql.org/docs/release/9.5.0/
var skipsSince = map[history.DBMS][2]int{history.MySQL: {8, 0}, history.MariaDB: {10, 6}, history.PostgreSQL: {9, 5}}

func dialectOf(s history.Server) *dialect {
	d := &dialect{dbms: s.DBMS, postgres: s.DBMS == history.PostgreSQL, snapshot: mysqlSnapshot, engine: " ENGINE=InnoDB"}
	if d.postgres {
		d.snapshot, d.engine = postgresSnapshot, ""
	}
	if since, ok := skipsSince[s.DBMS]; ok {
		major, minor := 0, 0
		_, _ = fmt.Sscanf(s.Version, "%d.%d", &major, &minor)
		d.skips = major > since[0] || major == since[0] && minor >= since[1]
	}
	return d
}

// between is a condition on a column of numbers.
func between(column string, from, to int64) string {
	return column + " BETWEEN " + strconv.FormatInt(from, 10) + " AND " + strconv.FormatInt(to, 10)
}
