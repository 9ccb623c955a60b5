// Package innodb replays histories on the rules of InnoDB, as MySQL and MariaDB have it. It
// takes a replay of package mvcc and says what each statement had to answer: a scan judges
// and locks row by row, a statement that waits has judged, and perhaps changed, what its scan
// has passed, and a deadlock or error 1020 (MariaDB, snapshot isolation) ends it from outside.
//
// It follows the manual's chapter on locking and the transaction model, and what the rules
// table (oracle/rules) says beyond it:
// https://dev.mysql.com/doc/refman/en/innodb-locking-transaction-model.html
package innodb

import (
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Engine replays histories of servers whose current reads work row by row
// (rules.Cursor).
type Engine struct{}

// Run implements mvcc.Engine.
func (Engine) Run(r *mvcc.Replay) (*mvcc.Difference, error) { return (&paths{Replay: r}).run() }

// LeavesPlaces implements mvcc.Engine.
func (Engine) LeavesPlaces() bool { return true }
