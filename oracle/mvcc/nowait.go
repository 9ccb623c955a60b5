package mvcc

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// refusesToWait reports whether a statement is a NOWAIT, which fails where it would
// wait: with error 3572, on MariaDB with that of a wait that lasts too long.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait
func refusesToWait(node ast.StmtNode) bool {
	s, ok := node.(*ast.SelectStmt)
	return ok && s.LockInfo != nil && noWait(s.LockInfo.LockType)
}

// refusesToWait is the same of a statement of the history, less what the rule
// RefusedWait excuses.
func (r *Replay) refusesToWait(st *history.Stmt) bool {
	node := r.c.Steps[st.Line].Stmt
	return refusesToWait(node) && !r.waitsInMerge(st, node.(*ast.SelectStmt))
}

// waitsInMerge reports whether a NOWAIT waited that may have merged two indexes, under
// the rule RefusedWait. Before the tables are known every condition may.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (r *Replay) waitsInMerge(st *history.Stmt, s *ast.SelectStmt) bool {
	if !waitedForRow(st) || errCode(st) == errNowait || r.rulesAt(r.h.Levels[st.Session]).of(rules.RefusedWait) != rules.WaitsInMerge {
		return false
	}
	name := singleTable(s.From)
	if name == nil || s.Where == nil {
		return false
	}
	t := r.table(name.Name.O)
	if t == nil {
		return true
	}
	cols, keys := columnsIn(t.Def, s.Where), 0
	for i := range t.Def.Keys {
		if cols[t.Def.Keys[i].Columns[0]] {
			keys++
		}
	}
	return keys > 1
}

// NowaitWaited is the kind of a difference: a statement that was not to wait for
// a row lock waited for one.
const NowaitWaited = "nowait-waited"

// waitedInSpite looks for a NOWAIT that was seen to wait for a row lock while
// another session sent a statement, and that then did not fail as it promises.
// The server need not find the lock, so none is asked for where it did not wait.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait
// https://docs.pingcap.com/tidb/stable/pessimistic-transaction
func (r *Replay) waitedInSpite() *Difference {
	refusal := uint16(errNowait)
	if r.h.Server.DBMS == history.MariaDB {
		refusal = errLockTimeout
	}
	for i := range r.h.Stmts {
		st := &r.h.Stmts[i]
		if len(st.Waits) == 0 || errCode(st) == refusal || !r.refusesToWait(st) {
			continue
		}
		for _, w := range st.Waits {
			meanwhile := func(o history.Stmt) bool {
				return o.Session != st.Session && o.Submit > w.From && (st.Return == 0 || o.Submit < st.Return)
			}
			if w.Kind == history.RowLock && slices.ContainsFunc(r.h.Stmts, meanwhile) {
				return &Difference{Stmt: i, Kind: NowaitWaited, Expected: fmt.Sprintf("error %d", refusal), Actual: describe(KindOf(r.c.Steps[st.Line].Stmt), &st.Result),
					Reason: "it was seen to wait for a row lock until another session had sent a statement, although NOWAIT fails at once where it would wait"}
			}
		}
	}
	return nil
}
