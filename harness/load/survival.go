package load

import (
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// survival is what is promised of what a node of a topology has acknowledged that fails then, as long as the others go
// on.
type survival struct {
	kinds []harness.TopologyKind
	dbms  history.DBMS                 // empty: any
	when  func(map[string]string) bool // of the settings; nil: always
	says  string
	// received: of a primary and its replica, the replica has received what the primary acknowledges.
	received bool
}

// survivals is what vendors document; the first line that fits counts.
var survivals = []survival{
	{kinds: []harness.TopologyKind{harness.Galera}, says: "what a node has acknowledged all have, and who is cut off " +
		"acknowledges nothing: \"No lost transactions\" (" + galeraGuide + "), and of synchronous replication, " +
		"theoretically, \"If one of the nodes crashed, then there would be no data loss\" (" + galeraAbout + ")"},
	{kinds: groups, says: "what a member has acknowledged a majority has, and who is cut off acknowledges nothing: \"it " +
		"requires a majority of servers to be active to reach quorum and thus make a decision\", \"if one server fails, " +
		"there are still two servers to form a majority (two out of three) and allow the system to continue to make " +
		"decisions\" (" + groupTolerant + ")"},
	{kinds: []harness.TopologyKind{harness.AsyncReplica}, dbms: history.MySQL, says: "what the primary has acknowledged " +
		"it has again when it is back: \"Logs are written and flushed to disk at each transaction commit\" (" + mysqlManual +
		"innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit). The replica has what it has received, and comes to " +
		"the rest by itself: \"Replication is asynchronous by default; replicas do not need to be connected permanently\" " +
		"(" + mysqlManual + "replication.html), and \"GTID auto-positioning means the replica can reliably identify and " +
		"retrieve missing transactions\" (" + mysqlManual + "replication-solutions-unexpected-replica-halt.html)"},
	{kinds: []harness.TopologyKind{harness.AsyncReplica}, says: "what the primary has acknowledged it has again when it " +
		"is back: innodb_flush_log_at_trx_commit=1 \"guarantees that after a crash, committed transactions will not be lost " +
		"and will be consistent with the binlog\" (" + mariaFlush + "). The replica has what it has received, and comes to " +
		"the rest by itself: mysql.gtid_slave_pos \"is updated with the new position as part of each transaction committed " +
		"during replication\" (" + mariaPosition + ")"},
	{kinds: []harness.TopologyKind{harness.PhysicalStandby}, when: standbyReceives, received: true, says: "what the " +
		"primary has acknowledged both have: \"each commit of a write transaction will wait until confirmation is received " +
		"that the commit has been written to the write-ahead log on disk of both the primary and standby server\" (" +
		postgresSync + ")"},
	{kinds: []harness.TopologyKind{harness.PhysicalStandby}, says: "what the primary has acknowledged it has again when " +
		"it is back, and the standby comes to what it lacks by itself: \"Streaming replication is asynchronous by default " +
		"[…], in which case there is a small delay between committing a transaction in the primary and the changes " +
		"becoming visible in the standby\" (" + postgresStream + ")"},
}

// standbyReceives: COMMIT waits for the standby.
func standbyReceives(s map[string]string) bool {
	return s["synchronous_commit"] == "on" || remoteApply(s)
}

// survivalOf returns what is promised; the zero value where nothing is known of such a topology.
func survivalOf(t harness.Topology, dbms history.DBMS) survival {
	for _, s := range survivals {
		if tellsOf(t, dbms, s.kinds, s.dbms, s.when) {
			return s
		}
	}
	return survival{}
}

const (
	galeraGuide   = "https://mariadb.com/kb/en/what-is-mariadb-galera-cluster"
	galeraAbout   = "https://mariadb.com/kb/en/about-galera-replication"
	groupTolerant = "https://dev.mysql.com/doc/refman/9.7/en/group-replication-fault-tolerance.html"
	mariaFlush    = "https://mariadb.com/docs/server/ref/mdb/system-variables/innodb_flush_log_at_trx_commit"
	mariaPosition = "https://mariadb.com/docs/server/reference/system-tables/the-mysql-database-tables/" +
		"mysqlgtid_slave_pos-table"
	postgresSync   = postgresManual + "warm-standby.html#SYNCHRONOUS-REPLICATION"
	postgresStream = postgresManual + "warm-standby.html#STREAMING-REPLICATION"
)
