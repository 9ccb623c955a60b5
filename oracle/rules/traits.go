package rules

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Trait is something that only some servers do and that is no matter of isolation, but that
// an engine has to know to tell which rows a statement comes to, or whether it fails.
type Trait uint8

// The traits.
const (
	// NowaitTimesOut: NOWAIT fails with the error of a wait that took too long.
	NowaitTimesOut Trait = iota
	// ReadOnlyIgnored: READ ONLY transactions are taken for others, refused or accepted as
	// a setting wants it.
	ReadOnlyIgnored
	// OwnTableRefused: a write whose subquery reads its own table fails.
	OwnTableRefused
	// IgnoresTimeout: IGNORE makes a warning of a lock wait that took too long.
	IgnoresTimeout
	// LockRenamed: the request that a statement waits with gets another name when its
	// record is moved on the page.
	LockRenamed
	// SemiJoinBuffers: a semi-join may read rows into a join buffer before its subquery.
	SemiJoinBuffers
	// UpdatesInOrder: an UPDATE with ORDER BY may go by an index that has the order and
	// change rows as it goes, instead of sorting first.
	UpdatesInOrder
	// NullHoldsDefault: what lies below a NULL is the column's default at first, and zeros
	// once NULL is assigned: the two differ as records.
	NullHoldsDefault
	// UniqueKeyClusters: in a table without a primary key the first unique key whose columns
	// are all NOT NULL identifies rows.
	UniqueKeyClusters
	numTraits
)

// TraitRule says of which servers a trait is one. Links are the vendor's page or code.
type TraitRule struct {
	Trait Trait
	DBMS  []history.DBMS
	Links []string
	Says  string
}

// TraitTable holds what is known of each trait; servers that it does not name do not have it.
var TraitTable = []TraitRule{
	{NowaitTimesOut, mariadb, []string{"https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait"},
		"NOWAIT fails with error 1205, as a wait that took too long does, and not with error 3572"},
	{ReadOnlyIgnored, tidb, []string{"https://docs.pingcap.com/tidb/stable/system-variables#tidb_enable_noop_functions-new-in-v40"},
		"READ ONLY transactions may write, where they are not refused"},
	{OwnTableRefused, mysql, []string{"https://dev.mysql.com/doc/refman/en/subquery-errors.html"},
		"a write fails with error 1093 if a subquery of it names the table that it changes, outside of a derived table"},
	{IgnoresTimeout, mariadb, []string{"https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/inserting-loading-data/ignore"},
		"IGNORE makes a warning of a lock wait that took too long, and the rows that were not reached stay as they are"},
	{LockRenamed, mysql, []string{"https://dev.mysql.com/doc/refman/en/performance-schema-data-locks-table.html"},
		"the lock request that a statement waits with gets another name if somebody changes the record so that it is moved on its page (so it was seen; the manual calls these names internal)"},
	{SemiJoinBuffers, mariadb, []string{"https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/subquery-optimizations/semi-join-subquery-optimizations"},
		"a locking read that is a semi-join may read rows of its table into a join buffer before it reads the subquery"},
	{UpdatesInOrder, mysql, []string{"https://dev.mysql.com/doc/refman/en/order-by-optimization.html"},
		"an UPDATE with ORDER BY may go by an index that has the order, and change rows as it goes; others sort first"},
	{NullHoldsDefault, mysql, []string{"https://github.com/mysql/mysql-server/blob/trunk/sql/sql_update.cc"},
		"an UPDATE that assigns NULL to a NULL whose column has a default other than zero writes a version, and counts no row as changed: whole records are compared"},
	{UniqueKeyClusters, innodb, []string{"https://dev.mysql.com/doc/refman/en/innodb-index-types.html"},
		"in a table without a primary key the first UNIQUE key of whole columns that are all NOT NULL identifies rows"},
}

// Has reports whether the profile's server has a trait.
func (p *Profile) Has(t Trait) bool { return p.traits&(1<<t) != 0 }

// traitsOf returns the traits of a server as a set.
func traitsOf(dbms history.DBMS) (set uint16) {
	for i := range TraitTable {
		if r := &TraitTable[i]; slices.Contains(r.DBMS, dbms) {
			set |= 1 << r.Trait
		}
	}
	return set
}

// The traits fit into the set.
const _ = uint16(1) << (numTraits - 1)
