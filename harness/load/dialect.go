package load

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// dialect is how a server spells what a run sends.
type dialect struct {
	// level sets that of a session. create and drop make and end the place of a run's table, which enter makes that of
	// a session: a database or, where one connection sees all of them, a schema.
	level, create, enter, drop string
	// locks end a SELECT; orders puts what it returns in the order of the primary key.
	locks  [5]string
	orders string
	// list and register append to a list and set a register, whether or not there is a row of the key. They are given
	// the key and the value.
	list, register string
	// inline gives the table of predicates its index where the definition of a table can have one; else index does.
	inline, index string
	// change and upsert, behind an INSERT, set all columns of the mixed workload and put the value at the end of the
	// trail: they are given the key, the value, c7 and c5. hint, given the name of an index, makes a SELECT use it;
	// empty: there is none.
	change, upsert, hint string
	// steer is what a session of the mixed workload begins with, so that it uses indexes.
	steer []string
	// replaces: there is REPLACE.
	replaces bool
	// tidy goes before the name of a table from which many rows were deleted; empty: nothing need be done.
	tidy string
}

var dialects = map[history.DBMS]*dialect{
	history.PostgreSQL: {
		level:  "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ",
		create: "CREATE SCHEMA %s", enter: "SET search_path = %s", drop: "DROP SCHEMA IF EXISTS %s CASCADE",
		locks: [...]string{plain: "", forShare: " FOR SHARE", forUpdate: " FOR UPDATE",
			noWait: " FOR UPDATE NOWAIT", skipLocked: " FOR UPDATE SKIP LOCKED"}, orders: " ORDER BY k",
		list: "INSERT INTO append_list (k, val) VALUES (%d, '%d') " +
			"ON CONFLICT (k) DO UPDATE SET val = append_list.val || ',' || '%[2]d'",
		register: "INSERT INTO register (k, v) VALUES (%d, %d) ON CONFLICT (k) DO UPDATE SET v = %[2]d",
		index:    "CREATE INDEX ON predicate_row (class, k)",
		change:   "UPDATE mixed_row SET trail = trail || ',%[2]d', v = %[2]d, c7 = %[3]d, c5 = %[4]d",
		upsert:   " ON CONFLICT (k) DO UPDATE SET trail = mixed_row.trail || ',%[2]d', v = %[2]d, c7 = %[3]d, c5 = %[4]d",
		steer:    []string{"SET enable_seqscan = off"},
		// Each epoch would step over the rows of all before it.
		tidy: "VACUUM ",
	},
}

// mysqlDialect is that of all others. MariaDB knows no FOR SHARE; all know the older words. A range of the primary key
// is read in its order.
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/lock-in-share-mode
var mysqlDialect = &dialect{
	level:  "SET SESSION TRANSACTION ISOLATION LEVEL ",
	create: "CREATE DATABASE %s", enter: "USE %s", drop: "DROP DATABASE IF EXISTS %s",
	locks: [...]string{plain: "", forShare: " LOCK IN SHARE MODE", forUpdate: " FOR UPDATE",
		noWait: " FOR UPDATE NOWAIT", skipLocked: " FOR UPDATE SKIP LOCKED"},
	list: "INSERT INTO append_list (k, val) VALUES (%d, '%d') " +
		"ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', '%[2]d')",
	register: "INSERT INTO register (k, v) VALUES (%d, %d) ON DUPLICATE KEY UPDATE v = %[2]d",
	inline:   ", KEY (class, k)",
	change:   "UPDATE mixed_row SET trail = CONCAT(trail, ',%[2]d'), v = %[2]d, c7 = %[3]d, c5 = %[4]d",
	upsert:   " ON DUPLICATE KEY UPDATE trail = CONCAT(trail, ',%[2]d'), v = %[2]d, c7 = %[3]d, c5 = %[4]d",
	hint:     "FORCE INDEX (%s) ",
	replaces: true,
}

func dialectOf(dbms history.DBMS) *dialect {
	if d, ok := dialects[dbms]; ok {
		return d
	}
	return mysqlDialect
}

// begin returns what the session of a client begins with.
func (d *dialect) begin(level corpus.Level, database string) []string {
	return []string{d.level + level.String(), fmt.Sprintf(d.enter, database)}
}
