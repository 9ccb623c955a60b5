package export

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// A client does not show whether a session is in a transaction: the server tells it in
// the status of each answer.

// openBehind are the ways to see it behind a statement, as texts for an open transaction
// and for none.
var openBehind = map[history.DBMS][2]string{
	// https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables#in_transaction
	history.MariaDB: {"then SELECT @@in_transaction in the same session gives 1", "then SELECT @@in_transaction gives 0"},
}

var openInStatus = [2]string{"the status of the answer says that a transaction is open", "the status of the answer says that none is open"}

// leavesOpen says of a timeline that what is wrong is a transaction that is open.
func leavesOpen(t *timeline.Timeline) bool { return t.Verdict.Kind == mvcc.LeftOpen }

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
	answer := plain(mvcc.Describe(t.Case.Steps[st.Line].Stmt, &st.Result))
	actual, expected := answer+"; "+behind[0], answer+"; "+behind[1]
	x := &t.Account.Steps[w]
	x.Expected, x.Actual = expected, actual
	for i := range t.Moments {
		if m := &t.Moments[i]; m.Stmt == w && m.Differs {
			m.Answer, m.Expected = actual, expected
		}
	}
	for i, why := range t.Account.Why {
		t.Account.Why[i] = strings.Replace(why, "should get outside of a transaction; it gets inside of one", "should leave no transaction open; it leaves one open", 1)
	}
}
