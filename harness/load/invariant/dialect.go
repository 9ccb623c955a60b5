package invariant

import (
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

func dialectOf(s history.Server, skips bool) *dialect {
	d := &dialect{
		dbms: s.DBMS, postgres: s.DBMS == history.PostgreSQL, snapshot: mysqlSnapshot, skips: skips, engine: " ENGINE=InnoDB",
	}
	if d.postgres {
		d.snapshot, d.engine = postgresSnapshot, ""
	}
	return d
}

// between is a condition on a column of numbers.
func between(column string, from, to int64) string {
	return column + " BETWEEN " + strconv.FormatInt(from, 10) + " AND " + strconv.FormatInt(to, 10)
}
