package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// access is how a statement reaches its rows.
type access struct {
	t *versions.Table
	// key is the index scanned; nil for the clustered one.
	key *solve.Key
	// all says that every entry of the index is met; else only those that the
	// conditions on the index's columns admit.
	all bool
	// ranged says that the entry behind a range is met too.
	ranged bool
	// covering says that the index holds all that the statement reads.
	covering bool
	// unique says that one row at most is looked up by a whole unique key.
	unique bool
	cols   map[int]bool
	where  ast.ExprNode
	// late says of a row that an index merge reads it by the clustered index, behind
	// those that other indexes lead to; nil if there is no merge.
	late func(solve.Row) bool
	// rest is the condition of the other parts of an index merge. ended says that the
	// remaining one had no row, and that the statement waited behind its range before all
	// else.
	rest  ast.ExprNode
	ended bool
	// other says that another index may lead to the rows; scan sets it.
	other bool
	// back says that the index is read from its end.
	back bool
	// pending holds the indexes that a row's newest version has no entry in yet, since
	// the statement that writes it waits; scan sets it.
	pending map[*versions.Chain][]*solve.Key
}

// entry is one entry of an index: a record, and the row whose index columns
// place it.
type entry struct {
	c   *versions.Chain
	row solve.Row
	// late says that an index merge meets it behind all that are not.
	late bool
}

// spot is a place on the way of a statement where it may wait.
type spot struct {
	t *versions.Table
	// key is the index, nil for the clustered one.
	key *solve.Key
	// rows are the versions of a row of which the entry may be.
	rows []solve.Row
	// tuple says that the entry is that of another row with the same values in the index.
	tuple bool
	// gap says that an entry goes in, for which the gap must be free.
	gap bool
	// scan says that a scan is at the entry: one of a secondary index then locks the record
	// in the clustered one, too. exclusive is the lock that it asks for.
	scan, exclusive bool
}
