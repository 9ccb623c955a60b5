package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// standing is what is known of a record for a statement that wants to lock it now.
type standing uint8

const (
	// isUnsure: somebody may have locked it.
	isUnsure standing = iota
	// isTaken: another open transaction surely holds a lock that stands against the
	// wanted one, whatever indexes the two go by.
	isTaken
	// isFree: nobody else can hold such a lock.
	isFree
)

// reach is what a statement may have locked of a table: every record, or those for which
// some conditions ever held.
type reach struct {
	all   bool
	parts []ast.ExprNode
}

// other is an open transaction of another session, as a statement that does not wait
// finds it.
type other struct {
	tx *versions.Txn
	// moving says that a statement of its session may have run at the same time: what it
	// holds changes.
	moving bool
	// reached says what its statements so far may have locked of the table.
	reached []reach
}

// skipping is what a SKIP LOCKED makes of the rows that match.
type skipping struct {
	t      *versions.Table
	others []other
	// limited says that it has a LIMIT, and so may end before it has looked at every row.
	limited bool
	// free holds the rows that match and that nobody else can have locked, perhaps those
	// of which this is not certain, taken those that somebody has surely locked.
	free, unsure, taken []hit
	seen                map[*versions.Chain]bool
}
