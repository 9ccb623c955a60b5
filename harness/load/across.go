package load

import (
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// across is what the documentation of a topology says of transactions on different nodes. Of those on one node what
// promised says holds as on a server alone, seen by themselves.
type across struct {
	// promise is what a history of all nodes can be held against. Without models nothing is promised.
	promise
	// also are anomalies that what is said excludes, although no model in promise does.
	also []model.Kind
	// quote is the sentence of the manual which promises most.
	quote string
	// withheld says what a user might expect, and is not promised.
	withheld string
	// fresh: a transaction reads all that any node had acknowledged before the transaction began.
	fresh bool
	// order is how the states of a replica stand to those of its primary.
	order order
	// refused: the manual says that such transactions cannot commit.
	refused bool
}

// documentedAcross says what is promised between the nodes of a topology at some levels if a condition holds.
type documentedAcross struct {
	kinds  []harness.TopologyKind
	dbms   history.DBMS // empty: any
	levels []corpus.Level
	when   func(settings map[string]string) bool // nil: whatever is set
	across
}

const (
	galeraLimits = "https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations"
	galeraLevels = "https://galeracluster.com/library/documentation/isolation-levels.html"
	galeraWaits  = "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables#wsrep_sync_wait"
	galeraOrder  = "https://mariadb.com/docs/galera-cluster/galera-architecture/certification-based-replication"
	groupSummary = "https://dev.mysql.com/doc/refman/9.7/en/group-replication-summary.html"
	groupWaits   = "https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-consistency-guarantees.html"
	groupLimits  = "https://dev.mysql.com/doc/refman/9.7/en/group-replication-limitations.html"
	replicaGaps  = "https://dev.mysql.com/doc/refman/9.7/en/replication-features-transaction-inconsistencies.html"
	mariaOrder   = "https://mariadb.com/docs/server/ha-and-performance/standard-replication/parallel-replication"
	hotStandby   = "https://www.postgresql.org/docs/current/hot-standby.html"
	binlogOrder  = "https://dev.mysql.com/doc/refman/9.7/en/replication-options-binary-log.html" +
		"#sysvar_binlog_order_commits"
	syncCommit = "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT"
)

var (
	freshSnapshots = []model.Model{model.SnapshotIsolation, model.StrongSnapshotIsolation}
	committed      = []model.Model{model.ReadCommitted}
	// own is what no node of its own may do, of the rows that one transaction reads and writes itself.
	own = []model.Kind{model.Internal, model.LostUpdate}
	// stale is what a transaction that reads less than was acknowledged makes, with or without others between.
	stale = []model.Kind{model.GSingleItem + "-realtime", model.GSingle + "-realtime"}
)

// Conditions of documentedAcross.

// readsWait: bit 1 of wsrep_sync_wait has reads wait for what the cluster had committed.
func readsWait(s map[string]string) bool {
	n, _ := strconv.Atoi(s["wsrep_sync_wait"])
	return n&1 != 0
}

func consistency(values ...string) func(map[string]string) bool {
	return func(s map[string]string) bool {
		return slices.Contains(values, strings.ToUpper(s["group_replication_consistency"]))
	}
}

func unordered(s map[string]string) bool {
	return strings.EqualFold(s["replica_preserve_commit_order"], "OFF")
}

func remoteApply(s map[string]string) bool { return s["synchronous_commit"] == "remote_apply" }

const (
	galeraLost = "lost updates (P4) between transactions that read without a lock, with innodb_snapshot_isolation " +
		"too: " +
		"MDEV-38977"
	galeraStale = "; reads of what another node has acknowledged: MDEV-38999"
	groupForks  = "that two nodes show two transactions in the same order: \"a transaction could be externalized " +
		"on one " +
		"member before the others\""
	groupStale = "; that a read sees what another node has acknowledged: \"Read-only transactions could result in " +
		"outdated " +
		"values\""
	groupLocks = "; locks: \"the lock is not shared across the members of the group\", and certification \"does not take " +
		"into account gap locks\""
)

// standbyForks is what a standby may show: 13.7 of the manual speaks of SERIALIZABLE, and a primary shows commits in the
// order in which sessions leave a list in memory, not in that of the log.
const standbyForks = "that the primary and the standby show two transactions in the same order: \"a Repeatable Read " +
	"transaction run on the standby can sometimes see a transient state that is inconsistent with any serial execution " +
	"of the transactions on the primary\" (https://www.postgresql.org/docs/current/mvcc-caveats.html), a long fork " +
	"(https://aws.amazon.com/blogs/database/" +
	"understanding-transaction-visibility-in-postgresql-clusters-with-read-replicas/)"

var groups = []harness.TopologyKind{harness.GroupSingle, harness.GroupMulti}

// acrossNodes is what vendors document; the first line that fits counts.
//
// Galera: its own manual says of nodes at the levels below SERIALIZABLE that "for transactions issued on different
// nodes, isolation is also strengthened by the first committer wins rule, which eliminates the lost update anomaly",
// and that it is "no weaker than that isolation level on a standalone MySQL/InnoDB". MariaDB's manual, which is newer,
// takes back the first: "Galera does not implement a first-committer-wins policy for all operation types". What both
// leave is one order of all commits, in which each snapshot lies somewhere, and that of two transactions which change
// or lock and change the same row one fails. Locks are local: what a transaction locks and does not change may be
// changed by a transaction of another node that is ordered before, so that there is write skew. That is snapshot
// isolation of what is split into views and the rest.
//
// Group Replication: "a global total order is established for the transactions" (20.1.1.3), in which they are
// certified, "the first committer wins". The nodes come to show them one by one, and in between not in one order.
var acrossNodes = []documentedAcross{
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{ser}, across: across{
		promise: promise{models: unmixed, says: "no write of a transaction is lost between those of another one",
			cite: galeraLevels},
		quote: "SERIALIZABLE isolation level is honored only between transactions issued on the same node and thus " +
			"should be avoided.",
		withheld: "anything of reads, once transactions run on different nodes"}},
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{ru}, across: across{
		promise: promise{models: unmixed, says: "no write of a transaction is lost between those of another one",
			cite: galeraLevels},
		quote:    "in either case it is no weaker than that isolation level on a standalone MySQL/InnoDB",
		withheld: "anything of reads"}},
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{rr}, when: readsWait, across: across{
		promise: promise{models: freshSnapshots, views: perTransaction,
			says: "all plain SELECTs of a transaction read one state of the cluster, with all that any node had committed " +
				"before; of transactions that change the same row of what they locked or read to change it, one fails",
			cite: galeraLimits + " " + galeraWaits},
		quote: "Users requiring real-time visibility must use the wsrep_sync_wait session variable to ensure the node " +
			"is " +
			"fully caught up before reading.",
		withheld: galeraLost, fresh: true}},
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{rr}, across: across{
		promise: promise{models: snapshots, views: perTransaction,
			says: "all plain SELECTs of a transaction read one state of the cluster, which may be an old one; of " +
				"transactions " +
				"that change the same row of what they locked or read to change it, one fails",
			cite: galeraLimits + " " + galeraOrder},
		quote: "MariaDB Galera Cluster utilizes a distributed variant of Snapshot Isolation. While this provides a " +
			"consistent " +
			"point-in-time view for reads, the system's optimistic concurrency control is subject to certain " +
			"transactional " +
			"phenomena even in healthy clusters",
		withheld: galeraLost + galeraStale}},
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{rc}, when: readsWait, across: across{
		promise: promise{models: freshSnapshots, views: perStatement,
			says: "each plain SELECT reads one state of the cluster, with all that any node had committed before; of " +
				"transactions that change the same row of what they locked or read to change it, one fails",
			cite: galeraLevels + " " + galeraWaits},
		quote:    "in either case it is no weaker than that isolation level on a standalone MySQL/InnoDB",
		withheld: galeraLost, fresh: true}},
	{kinds: []harness.TopologyKind{harness.Galera}, levels: []corpus.Level{rc}, across: across{
		promise: promise{models: snapshots, views: perStatement,
			says: "each plain SELECT reads one state of the cluster, which may be an old one; of transactions that change " +
				"the same row of what they locked or read to change it, one fails",
			cite: galeraLevels + " " + galeraOrder},
		quote:    "in either case it is no weaker than that isolation level on a standalone MySQL/InnoDB",
		withheld: galeraLost + galeraStale}},

	{kinds: []harness.TopologyKind{harness.GroupMulti}, levels: []corpus.Level{ser}, across: across{
		promise: promise{says: "nothing: such a transaction cannot commit", cite: groupLimits},
		quote: "Setting a transaction isolation level to SERIALIZABLE configures Group Replication to refuse to " +
			"commit the " +
			"transaction.",
		withheld: "the level", refused: true}},
	{kinds: []harness.TopologyKind{harness.GroupSingle, harness.GroupMulti}, levels: []corpus.Level{ru},
		across: across{
			promise: promise{models: unmixed, says: "no write of a transaction is lost between those of another one",
				cite: groupSummary},
			quote: "All servers therefore receive the same set of transactions in the same order, and a global total " +
				"order is " +
				"established for the transactions.",
			withheld: "anything of reads"}},
	{kinds: groups, levels: []corpus.Level{rc, rr, ser}, when: consistency("BEFORE", "BEFORE_AND_AFTER"),
		across: across{
			promise: promise{models: committed,
				says: "each transaction reads all that was acknowledged before it began; of transactions of different nodes " +
					"that " +
					"change the same row, the first to commit wins",
				cite: groupWaits + " " + groupSummary},
			also: slices.Concat(own, stale),
			quote: "This ensures that this transaction reads the latest value by affecting only the latency of the " +
				"transaction.",
			withheld: groupForks + groupLocks, fresh: true}},
	{kinds: groups, levels: []corpus.Level{rc, rr, ser}, when: consistency("AFTER"), across: across{
		promise: promise{models: committed,
			says: "what a transaction has changed is read by all that begin on any node after it was acknowledged; of " +
				"transactions of different nodes that change the same row, the first to commit wins",
			cite: groupWaits + " " + groupSummary},
		also: own,
		quote: "This mode ensures that when a transaction is committed on the local member, any subsequent " +
			"transaction reads " +
			"the written value or a more recent value on any group member.",
		withheld: groupForks + "; that what was read on one node, of a transaction that is not yet acknowledged, is " +
			"seen on " +
			"another" + groupLocks,
		fresh: true}},
	{kinds: groups, levels: []corpus.Level{rc, rr, ser}, across: across{
		promise: promise{models: committed,
			says: "nothing is read that does not commit; of transactions of different nodes that change the same row, the " +
				"first to commit wins",
			cite: groupSummary + " " + groupWaits},
		also:     own,
		quote:    "Group Replication is an eventual consistency system.",
		withheld: groupForks + groupStale + groupLocks}},

	{kinds: []harness.TopologyKind{harness.AsyncReplica}, levels: []corpus.Level{rc, rr, ser}, when: unordered,
		across: across{
			promise: promise{models: committed, says: "nothing is read on a replica that does not commit", cite: replicaGaps},
			also:    own,
			quote:   "To avoid gaps occurring on a multithreaded replica, set replica_preserve_commit_order=ON.",
			withheld: "that a replica shows what its primary has shown at some time, or any order; that it shows what was " +
				"acknowledged"}},
	{kinds: []harness.TopologyKind{harness.AsyncReplica}, dbms: history.MySQL, levels: []corpus.Level{rc, rr, ser},
		across: across{
			promise: promise{models: committed,
				says: "a replica goes through the states of its primary, behind it, and what a session reads on it never goes " +
					"back: both show commits in the order of the binary log",
				cite: binlogOrder + " " + replicaGaps},
			also: own,
			quote: "[with binlog_order_commits, the default] transactions are always committed in the same order as they " +
				"are written to the binary log. […] Gaps can only appear when using a multithreaded replica. To avoid gaps […] " +
				"set replica_preserve_commit_order=ON.",
			withheld: "that a replica shows what was acknowledged", order: primaryOrder}},
	{kinds: []harness.TopologyKind{harness.AsyncReplica}, dbms: history.MariaDB, levels: []corpus.Level{rc, rr, ser},
		across: across{
			promise: promise{models: snapshots,
				says: "a replica goes through the states of its primary, behind it, and what a session reads on it never goes " +
					"back",
				cite: mariaOrder},
			quote: "In-order executes transactions in parallel but orders the commit step of the transactions to happen " +
				"in the exact same order as on the primary.",
			withheld: "that a replica shows what was acknowledged", order: primaryOrder}},
	{kinds: []harness.TopologyKind{harness.AsyncReplica}, levels: []corpus.Level{ru}, across: across{
		promise: promise{models: unmixed, says: "no write of a transaction is lost between those of another one",
			cite: innodbLevel},
		quote: "SELECT statements are performed in a nonlocking fashion, but a possible earlier version of a row " +
			"might be used.",
		withheld: "anything of reads"}},

	{kinds: []harness.TopologyKind{harness.PhysicalStandby}, levels: []corpus.Level{ru, rc, rr, ser}, when: remoteApply,
		across: across{
			promise: promise{models: committed,
				says: "the standby goes through states of the order of the log, and what was acknowledged is visible there",
				cite: syncCommit + " " + hotStandby},
			also: own,
			quote: "commits will wait until replies from the current synchronous standby(s) indicate they have received " +
				"the commit " +
				"record of the transaction and applied it, so that it has become visible to queries on the standby(s)",
			withheld: standbyForks, fresh: true, order: logOrder}},
	{kinds: []harness.TopologyKind{harness.PhysicalStandby}, levels: []corpus.Level{ru, rc, rr, ser}, across: across{
		promise: promise{models: committed,
			says: "the standby goes through states of the order of the log, behind the primary, and what a session reads on " +
				"it never goes back",
			cite: hotStandby},
		also:     own,
		quote:    "We say that data on the standby is eventually consistent with the primary.",
		withheld: "that the standby shows what was acknowledged; " + standbyForks, order: logOrder}},
}

// tellsOf says that what is documented of some kinds of topologies, of one DBMS (empty: any) and where its settings are
// such (nil: always), is told of a topology.
func tellsOf(
	t harness.Topology, dbms history.DBMS, kinds []harness.TopologyKind, of history.DBMS, when func(map[string]string) bool,
) bool {
	return slices.Contains(kinds, t.Kind) && (of == "" || of == dbms) && (when == nil || when(t.Settings))
}

// promisedAcross returns what is promised of transactions on different nodes of a topology at a level. Where nothing is
// known of a topology nothing is promised.
func promisedAcross(t harness.Topology, server history.Server, level corpus.Level) across {
	for _, d := range acrossNodes {
		if !slices.Contains(d.levels, level) || !tellsOf(t, server.DBMS, d.kinds, d.dbms, d.when) {
			continue
		}
		a := d.across
		if a.views == whole {
			// What a transaction on one node reads and writes comes apart as on a server alone.
			a.views = promised(server, level).views
		}
		return a
	}
	return across{promise: promise{says: "nothing is known of what these nodes promise each other"}}
}
