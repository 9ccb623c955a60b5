package promise

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// set gives a transaction the modes that a statement names.
func (u *unit) set(m *stmt.ModesStmt) {
	if l, err := corpus.ParseLevel(m.Level()); err == nil {
		u.level = l
	}
	for _, mode := range m.Modes {
		switch mode {
		case stmt.ReadOnly, stmt.ReadWrite:
			u.readOnly = mode == stmt.ReadOnly
		case stmt.Deferrable, stmt.NotDeferrable:
			u.deferrable = mode == stmt.Deferrable
		}
	}
}

// setting holds a SET TRANSACTION in an open transaction against what it has to answer: the level, DEFERRABLE and
// READ WRITE can be set before the first query only. An unjudgedError says that a savepoint is in the way, behind which
// some modes cannot be set, and others end with it.
// https://www.postgresql.org/docs/current/sql-set-transaction.html
func (t *timeline) setting(e *event, u *unit) error {
	m := e.node.(*stmt.ModesStmt)
	if len(u.saved) > 0 {
		return unjudgedError("SET TRANSACTION behind a savepoint")
	}
	if failed := e.st.Result.Err; failed != nil && ofOthers[failed.Code] {
		return nil
	}
	late, readOnly := false, u.readOnly
	for _, mode := range m.Modes {
		switch mode {
		case stmt.ReadOnly:
			readOnly = true
		case stmt.ReadWrite:
			late, readOnly = late || readOnly, false
		case stmt.Deferrable, stmt.NotDeferrable:
			late = true
		default:
			late = late || mode != stmt.LevelMode+u.level.String()
		}
	}
	if u.first != nil && late {
		t.must(e, insideTxn, "what it sets can be set before the first query of a transaction only")
	} else {
		t.must(e, "", "nothing keeps this mode from being set")
	}
	return nil
}

// safeReason is what the manual says of transactions that are SERIALIZABLE, READ ONLY and DEFERRABLE.
const safeReason = "such a transaction waits for its snapshot and is then without any risk of contributing to or being canceled by " +
	"a serialization failure: https://www.postgresql.org/docs/current/sql-set-transaction.html"

// unsafe rules on a transaction with a safe snapshot that is cancelled for the sake of a serial order, and on waits for
// such snapshots that the session in the way does not cause: it takes a serializable transaction that may write and has a
// snapshot. It may be one of another database, which is no session of the case.
func (j *judge) unsafe() bool {
	for _, e := range j.t.events {
		if e.unit != nil && e.unit.safe && e.st.Result.Err != nil && e.st.Result.Err.Code == errSerialization {
			j.broken(e, "unjustified-abort", "no error", e.st.Result.Err.String(), safeReason)
			return true
		}
		for _, w := range e.st.Waits {
			if w.Kind == history.SafeSnapshot && j.unsafeWait(e, w) {
				return true
			}
		}
	}
	return false
}

// unsafeWait is unsafe for one wait.
func (j *judge) unsafeWait(e *event, wait history.Wait) bool {
	if e.unit == nil || !e.unit.safe || e.unit.first != e {
		j.broken(e, "unjustified-wait", "no wait for a safe snapshot", "such a wait",
			"only the first query of a transaction that is SERIALIZABLE, READ ONLY and DEFERRABLE waits for a safe snapshot")
		return true
	}
	for _, session := range wait.Holders {
		may := slices.ContainsFunc(j.t.units, func(u *unit) bool {
			return u.session == session && u.first != nil && u.mayWrite && u.level == corpus.Serializable &&
				u.first.st.Submit < wait.From && u.over() > e.st.Submit
		})
		// What is of no transaction of the case is one of its own on the server: a wait for an advisory lock, a KILL.
		alone := slices.ContainsFunc(j.t.events, func(x *event) bool {
			return x.unit == nil && x.st.Session == session && x.st.Submit < wait.From && x.to > e.st.Submit
		})
		if !may && !alone {
			j.broken(e, "unjustified-wait", "no wait", fmt.Sprintf("a wait for tx%d", session),
				"that session has no open transaction that is serializable, may write and has a snapshot. "+safeReason)
			return true
		}
	}
	return false
}
