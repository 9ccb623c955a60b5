package export

import (
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// openBehind says how to see behind a statement whether a transaction is open: a text for
// an open one, and one for none. A client does not show what the server says of it in the
// status of each answer.
var openBehind = map[history.DBMS][2]string{
	// https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables#in_transaction
	history.MariaDB: {"then SELECT @@in_transaction in the same session gives 1", "then SELECT @@in_transaction gives 0"},
}

// openInStatus is for servers that no SELECT asks.
var openInStatus = [2]string{"the status of the answer says that a transaction is open", "the status of the answer says that none is open"}

// leavesOpen says of a timeline that what is wrong is a transaction that is open.
func leavesOpen(t *timeline.Timeline) bool { return t.Verdict.Kind == oracle.LeftOpen }

// showOpen rewrites, in a copy of a timeline, what the statement answered that left a
// transaction open, so that a reader can see it.
func showOpen(t *timeline.Timeline) {
	w := t.Account.Wrong
	if !leavesOpen(t) || w < 0 {
		return
	}
	behind, ok := openBehind[t.History.Server.DBMS]
	if !ok {
		behind = openInStatus
	}
	st := &t.History.Stmts[w]
	answer := oracle.Describe(t.Case.Steps[st.Line].Stmt, &st.Result)
	actual, expected := answer+"; "+behind[0], answer+"; "+behind[1]
	x := &t.Account.Steps[w]
	x.Expected, x.Actual = expected, actual
	for i := range t.Moments {
		if m := &t.Moments[i]; m.Stmt == w && m.Differs {
			m.Answer, m.Expected = actual, expected
		}
	}
}
