package innodb

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// InnoDB judges row by row while a scan goes on, and a statement that waits has
// already judged, and perhaps changed, what its scan passed. So each statement
// runs as a coroutine that stops where the history says that it waited; other
// statements run in between.
//
// Where a statement waited follows from the locks that are surely held, or from what
// the server told of the wait (see place); else each place is a choice, and choices
// are tried in turn until the whole history fits.

// running is a statement between its submission and its end.
type running struct {
	e    *engine
	i    int
	st   *history.Stmt
	tx   *versions.Txn
	auto bool
	kind stmt.Kind
	node ast.StmtNode
	// start is when it began, mark how many writes its transaction had then.
	// seq is the number of the newest version at its start.
	start history.Tick
	mark  int
	seq   int
	// due says that the history makes it wait (again) before it ends; place is where the
	// server told that it does, nil if it did not.
	due    bool
	place  *mvcc.Place
	waited bool
	// atUnseen says that it is told to wait at a record that no statement of the case has
	// written, such as one that an earlier case has left deleted.
	atUnseen bool
	// from is the first choice of the current segment; holder is whom it waits
	// for, nil where no surely held lock tells.
	from   int
	holder *versions.Txn
	// sure says that it cannot do without what the holder holds.
	sure bool
	// at is the record at which its scan waits, nil elsewhere; wants is the mode of the
	// lock that it asked for.
	at    *versions.Chain
	wants versions.Mode

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	p     *mvcc.Prediction
	err   error
	// stillToUndo holds what a transaction had written before the row that this statement
	// waits for, if that one is being rolled back.
	stillToUndo []written
	// covered says that its locks stay on an index that holds all it reads.
	covered bool
	// collided is a transaction whose uncommitted key this statement did not
	// wait for.
	collided *versions.Txn
	// overran is a transaction whose waiting statement had changed a row that
	// this statement changed then: no such thing can have happened.
	overran *versions.Txn
	// table is what a write changes, images the rows that it really changed.
	table  *versions.Table
	images []image
	// asked answers its subqueries, nil where each finds what is newest under its own
	// locks.
	asked *asked
	// inTheWay holds the rows that stood in the way of its own, if that is observed.
	inTheWay []mvcc.Obstacle
	// open is why other answers than its own are allowed; mayRefuse says that error 1020 is.
	open      string
	mayRefuse bool
	// scansAll says that it can but scan its whole table, metChanged that it came to a record
	// that may have it refused with error 1020.
	scansAll, metChanged bool
	// skip is what a SKIP LOCKED makes of the rows that it meets, nil for others.
	skip *skipping
	// mayStop says that it is a locking read which may stop before it has met all rows, at a
	// place that no order tells; cut that it has, and taken the rows that others hold and for
	// which it has not waited.
	mayStop, cut bool
	taken        []hit
	// tooFew says that without those there are not enough for it to have stopped.
	tooFew bool
}

var errAbandoned = errors.New("statement abandoned")

// image is a row before and after a statement changed it; nil for none.
type image struct{ old, new solve.Row }

// hit is a row that a scan found to match.
type hit struct {
	c   *versions.Chain
	row solve.Row
}

// written is one change of a record: the version that it made.
type written struct {
	c       *versions.Chain
	version versions.Version
}
