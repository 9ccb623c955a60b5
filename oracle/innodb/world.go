package innodb

import (
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// engine replays a history on InnoDB's rules along one path of choices.
type engine struct {
	*mvcc.Replay
	*kept
	choices *mvcc.Choices
	// loose admits every place of waiting, also against the locks.
	loose bool
	// exploring says that it is looked for what else is allowed.
	exploring bool
	// anywhere says that its path need not keep to the places of waiting that the server told.
	anywhere bool
	// units holds the transactions that have committed; partial says that one of them was
	// rolled back in part, missed that one is none of a serial order.
	units           []*versions.Txn
	partial, missed bool
	transactions    map[*versions.Txn]*transaction
	// clock counts what happens; the ticks of views and transactions are its.
	clock   history.Tick
	running map[int]*running
	locks   versions.Locks
	// uncertainLocks holds locks that a server may or may not have kept.
	uncertainLocks versions.Locks
	// pending holds the secondary indexes that do not yet have the entry of a
	// record's newest version, because the statement that wrote it waits.
	pending map[*versions.Chain][]*solve.Key
	// counters holds the AUTO_INCREMENT value behind those that were taken.
	counters map[*versions.Table]int64
	nextSeq  int
	nextRID  int
	started  []history.Tick
	// needs holds transactions that stood in the way of a statement when it was
	// sent, by its index, where a deadlock made that matter.
	needs map[int][]*versions.Txn
}

// paths looks for the ways through a history that its waits leave open.
type paths struct {
	*mvcc.Replay
	*kept
	// units holds the committed transactions of the way that was found; partial says that
	// one of them was rolled back in part, missed that one is none of a serial order.
	units           []*versions.Txn
	partial, missed bool
	// anywhere says that paths need not keep to the places of waiting that the server told.
	anywhere bool
}
