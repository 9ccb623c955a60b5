package promise

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Errors of PostgreSQL's two-phase commit.
// https://www.postgresql.org/docs/current/sql-prepare-transaction.html
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	nameTaken     = "42710"
	noSuchName    = "42704"
	insideTxn     = "25001"
	noTransaction = "25P01"
	serialization = "40001"
	notSupported  = "0A000"
)

// oddity is an answer that no rows and no order of transactions can make right.
type oddity struct {
	e                   *event
	kind, expected, why string
}

// preparing is place for a statement of two-phase commit. A prepared transaction is open still, and nobody's: its
// session may begin another one, and whoever says COMMIT PREPARED commits it.
func (t *timeline) preparing(e *event, u *unit, open map[int]*unit) error {
	began := open[u.session] != nil
	if began {
		t.join(e, u, open)
	}
	if e.kind == stmt.Prepare {
		return t.prepares(e, u, began, open)
	}
	name := e.node.(*stmt.PreparedStmt).Name
	failed := e.st.Result.Err
	p := t.prepared[name]
	switch {
	case began && u.failed:
		e.refused = true
		if t.accepted == nil && (failed == nil || !refusal(failed)) {
			t.accepted = e
		}
	case began:
		u.failed = true
		t.must(e, insideTxn, "a prepared transaction cannot be ended within a transaction")
	case p == nil:
		t.must(e, noSuchName, "no transaction of this name is prepared")
	case failed != nil && ofOthers[failed.Code]:
		return unjudgedError("the end of a prepared transaction that is interrupted")
	case failed != nil:
		t.must(e, "", "a transaction that is prepared can be committed and rolled back, whatever others have done since")
	default:
		t.close(e, p, e.kind == stmt.CommitPrepared, nil)
		delete(t.prepared, name)
	}
	return nil
}

// prepares is preparing for PREPARE TRANSACTION. Like COMMIT it rolls back a transaction that an error has aborted.
func (t *timeline) prepares(e *event, u *unit, began bool, open map[int]*unit) error {
	name := e.node.(*stmt.PreparedStmt).Name
	failed := e.st.Result.Err
	if e.st.Result.InTxn {
		return unjudgedError("a PREPARE TRANSACTION that ends no transaction")
	}
	switch {
	case began && !u.failed && failed != nil && failed.State == notSupported && u.notifies():
		t.close(e, u, false, open)
	case !began && failed != nil, failed != nil && failed.State != nameTaken && failed.State != serialization:
		return unjudgedError("a PREPARE TRANSACTION that fails")
	case !began:
		return nil
	case u.failed:
		t.must(e, "", "the transaction was aborted, so that there is nothing to prepare")
		t.close(e, u, false, open)
	case t.prepared[name] != nil:
		t.must(e, nameTaken, "a transaction of this name is prepared already")
		t.close(e, u, false, open)
	case failed != nil:
		if failed.State == nameTaken {
			t.must(e, "", "no transaction of this name is prepared")
		}
		t.close(e, u, false, open)
	default:
		t.prepared[name] = u
		delete(open, u.session)
	}
	return nil
}

// notifies says that a transaction has listened or notified, and so may not be prepared.
func (u *unit) notifies() bool {
	return slices.ContainsFunc(u.events, func(e *event) bool { return e.kind.OfNotifications() })
}

// must notes a statement that does not fail as it has to; an empty SQLSTATE stands for no error.
func (t *timeline) must(e *event, state, why string) {
	got, o := "", &oddity{e: e, kind: "wrong-error", expected: "SQLSTATE " + state, why: why}
	if e.st.Result.Err != nil {
		got = e.st.Result.Err.State
	}
	switch {
	case got == state || t.odd != nil:
		return
	case got == "":
		o.kind = "missing-error"
	case state == "":
		o.kind, o.expected = "unexpected-error", "no error"
	}
	t.odd = o
}

// opensSnapshot says that a statement is one whose transaction has a snapshot from then on.
func (e *event) opensSnapshot() bool { return e.data() || stmt.TakesSnapshot(e.node) }
