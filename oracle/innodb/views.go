package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// innodbViews gives the solver what one view sees; rows of a table under scan
// can be put in the place of what the view sees of it.
type innodbViews struct {
	e    *engine
	view versions.View
	only *versions.Table
	rows []solve.Row
	// via is the secondary index that a read of uncommitted data goes by;
	// covering says that it reads nothing else, marked that a statement which
	// waits in this index has marked the old entry deleted.
	via              *solve.Key
	covering, marked bool
	// once is a unique secondary index whose look-ups end at the first row that
	// they find, although two records of one row may be visible; points is the condition
	// on which it looks up, nil for any.
	once   *solve.Key
	points ast.ExprNode
	// asked answers the subqueries of a statement that locks; see running. joined are
	// the tables that it locks itself, if there are several.
	asked  *asked
	joined map[*versions.Table]bool
}

// asked is what the subqueries of a write or a locking read were answered from.
// Those that lock nothing open a read view, of which uncommitted data is what it held
// then; those that read the statement's own table do so before it changes anything.
type asked struct {
	x *running
	// locks says that they lock what they read, which is what is newest.
	locks bool
	// at is when the read view was opened, 0 before; behind says that this is when the
	// first row was waited for, or, with toLast, the last one; passing that the transaction
	// does not keep it.
	at                      history.Tick
	behind, toLast, passing bool
	// buffered says that all rows of the statement's own table are locked first, in a join
	// buffer, and the subqueries are read behind them.
	// https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/semi-join-subquery-optimizations
	buffered bool
	// anew says that what neither a read view nor locks hold is read for each row.
	anew bool
	// names are the tables that they read, rows what was read.
	names map[string]bool
	rows  map[*versions.Table][]solve.Row
}
