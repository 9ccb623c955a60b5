package main

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// course is how far a session's transaction has come.
type course struct {
	txn *txn
	// touched says that one of its statements named a table.
	touched bool
	// idle says of its savepoints that it had touched none yet.
	idle map[string]bool
}

// transactions finds out which transaction each statement belongs to.
//
// On InnoDB, ROLLBACK TO a savepoint that was set before the transaction touched a table
// takes all of it back, its locks and its snapshot, too: what follows is as if it had just
// begun. Whether the reads before it are still the transaction's is a question of
// definition. Here, as in oracle/versions, they are those of one that was rolled back. A
// savepoint that was set later, and any on TiDB, takes back what was written and not what
// was read.
func (f *facts) transactions() {
	f.txns = make([]*txn, len(f.h.Stmts))
	open := map[int]*course{}
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		c := open[s.Session]
		if c != nil {
			f.txns[i] = c.txn
		}
		switch n := f.node(i); {
		case stmt.KindOf(n).Begins():
			if c != nil {
				c.txn.end, c.txn.committed = i, true
			}
			c = &course{txn: &txn{session: s.Session, end: -1}, touched: stmt.KindOf(n) == stmt.BeginSnapshot, idle: map[string]bool{}}
			open[s.Session], f.txns[i] = c, c.txn
		case stmt.KindOf(n).Ends():
			if c != nil {
				_, commit := n.(*ast.CommitStmt)
				c.txn.end, c.txn.committed = i, commit
			}
			delete(open, s.Session)
		case c == nil:
			f.txns[i] = &txn{session: s.Session, end: i, committed: s.Result.Err == nil}
		case s.Result.Err == nil:
			f.savepoint(c, n)
			c.touched = c.touched || f.step(i).table != ""
		default:
			c.touched = c.touched || f.step(i).table != ""
		}
	}
}

// savepoint keeps whether a savepoint is idle, and begins the transaction anew where one
// is gone back to.
func (f *facts) savepoint(c *course, n ast.StmtNode) {
	switch of := stmt.Of(n); of.Kind {
	case stmt.Savepoint:
		c.idle[strings.ToLower(of.Savepoint)] = !c.touched
	case stmt.RollbackTo:
		if c.idle[strings.ToLower(of.Savepoint)] && f.h.Server.DBMS != history.TiDB {
			c.txn, c.touched = &txn{session: c.txn.session, end: -1}, false
		}
	}
}
