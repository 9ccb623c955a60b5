package mvcc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Cause judges errors that only concurrency can justify: each needs a wait.
func (r *Replay) Cause(i int, tx *versions.Txn) *Difference {
	st := &r.History.Stmts[i]
	var why string
	switch ErrCode(st) {
	case ErrDeadlock:
		if len(st.Waits) > 0 || r.OthersWaited(st) {
			return nil
		}
		why = "no session waited for a lock, so there was no deadlock"
	case ErrLockTimeout, ErrNowait:
		switch refuses := r.refusesToWait(st); {
		case r.waitedInSkipping(i) != nil:
			return r.waitedInSkipping(i)
		case refuses && ErrCode(st) == ErrLockTimeout && r.refusal() != ErrLockTimeout && waitedForRow(st):
			return r.WaitedAnyway(i)
		case ErrCode(st) == ErrLockTimeout && len(st.Waits) > 0, refuses && (r.othersHold(st) || r.OthersWaited(st)):
			return nil
		case refuses:
			why = "no other transaction was open that could hold the lock"
		case ErrCode(st) == ErrNowait:
			why = "it was not told to fail where it would wait"
		default:
			why = "it was not seen to wait for a lock"
		}
	case ErrWriteConflict:
		if tx.Begin == st.Submit {
			return nil
		}
		why = "a pessimistic transaction waits for locks, it does not find write conflicts"
	default:
		return nil
	}
	return &Difference{Stmt: i, Kind: "unjustified-abort", Expected: "no error", Actual: st.Result.Err.String(), Reason: why}
}

// WaitedAnyway judges a NOWAIT or SKIP LOCKED that answered: it must not have waited for
// a row. A subquery's locks are waited for all the same.
func (r *Replay) WaitedAnyway(i int) *Difference {
	if d := r.waitedInSkipping(i); d != nil {
		return d
	}
	st := &r.History.Stmts[i]
	node := r.Case.Steps[st.Line].Stmt
	if !r.refusesToWait(st) || !waitedForRow(st) || ErrCode(st) == ErrNowait || HasSubquery(node) {
		return nil
	}
	return &Difference{Stmt: i, Kind: "missing-error", Expected: fmt.Sprintf("error %d at once", r.refusal()), Actual: "waited, then " + history.Describe(KindOf(node), &st.Result),
		Reason: "with NOWAIT it must fail instead of waiting, and it waited for a row"}
}

// refusal is the error of a NOWAIT that does not get its lock.
func (r *Replay) refusal() uint16 {
	if r.Profile.Has(rules.NowaitTimesOut) {
		return ErrLockTimeout
	}
	return ErrNowait
}

func waitedForRow(st *history.Stmt) bool {
	return slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind == history.RowLock })
}

// othersHold reports whether another session is in a transaction and has locked or
// changed something of a table that the statement names.
func (r *Replay) othersHold(st *history.Stmt) bool {
	own := &TableFinder{}
	r.Case.Steps[st.Line].Stmt.Accept(own)
	for i := range r.History.Stmts {
		o := &r.History.Stmts[i]
		s := r.Sessions[o.Session]
		kind := KindOf(r.Case.Steps[o.Line].Stmt)
		if o.Session == st.Session || s == nil || s.Txn == nil || kind.Control() || kind == stmt.Select && r.History.Levels[o.Session] != corpus.Serializable {
			continue
		}
		other := &TableFinder{}
		r.Case.Steps[o.Line].Stmt.Accept(other)
		if slices.ContainsFunc(other.Names, func(n string) bool {
			return slices.ContainsFunc(own.Names, func(m string) bool { return strings.EqualFold(n, m) })
		}) {
			return true
		}
	}
	return false
}

// OthersWaited reports whether another session had a wait outstanding while
// the statement ran.
func (r *Replay) OthersWaited(st *history.Stmt) bool {
	for j := range r.History.Stmts {
		o := &r.History.Stmts[j]
		if o.Session == st.Session {
			continue
		}
		for _, w := range o.Waits {
			if w.From < st.Return && (w.Until == 0 || w.Until > st.Submit) {
				return true
			}
		}
	}
	return false
}

func (r *Replay) OthersOpen(session int) bool {
	for n, s := range r.Sessions {
		if n != session && s.Txn != nil {
			return true
		}
	}
	return false
}

// leftOpen reports whether a statement waits, itself or by others, for a session that
// sends nothing any more and whose transaction may hold locks. Where the server does
// not say who stands in the way, that may be any other session.
func (r *Replay) leftOpen(i int) bool {
	seen := map[int]bool{}
	var open func(i int) bool
	open = func(i int) bool {
		st := &r.History.Stmts[i]
		if seen[st.Session] || r.Steps[i].Kind.Control() {
			return false
		}
		seen[st.Session] = true
		var holders []int
		if n := len(st.Waits); n > 0 {
			holders = st.Waits[n-1].Holders
		}
		for n, s := range r.Sessions {
			if n == st.Session || len(holders) > 0 && !slices.Contains(holders, n) {
				continue
			}
			at := slices.IndexFunc(r.History.Stmts, func(o history.Stmt) bool { return o.Session == n && o.Return == 0 })
			if at >= 0 && open(at) || at < 0 && s.Txn != nil && r.mayHoldLocks(n) {
				return true
			}
		}
		return false
	}
	return open(i)
}

// mayHoldLocks reports whether a session has run anything but plain SELECTs.
func (r *Replay) mayHoldLocks(session int) bool {
	for i := range r.History.Stmts {
		if st := &r.History.Stmts[i]; st.Session == session {
			if k := KindOf(r.Case.Steps[st.Line].Stmt); !k.Control() && (k != stmt.Select || slices.Contains(Levels(r.Case, r.History), corpus.Serializable)) {
				return true
			}
		}
	}
	return false
}

// NeverReturned judges a statement that got no answer. It may wait for a transaction
// whose session sends nothing any more, which the case has left open.
func (r *Replay) NeverReturned(i int) (*Difference, error) {
	st := &r.History.Stmts[i]
	if r.History.End != history.Stuck {
		return nil, nil
	}
	for j := range r.History.Stmts {
		if o := &r.History.Stmts[j]; o.Return == 0 && slices.ContainsFunc(o.Waits, func(w history.Wait) bool { return w.Kind == history.Silence }) {
			// Nobody knows whether it waited or was only slow; nor, then, whether
			// others waited for it.
			return nil, &Loss{Slug: "silence"}
		}
	}
	if r.leftOpen(i) {
		return nil, nil
	}
	d := &Difference{Stmt: i, Expected: "an answer", Actual: "none"}
	if r.OthersOpen(st.Session) {
		d.Kind, d.Reason = "undetected-deadlock", fmt.Sprintf("tx%d waited until nothing was left that could release it; the server broke no cycle", st.Session)
	} else {
		d.Kind, d.Reason = "lost-wakeup", fmt.Sprintf("tx%d still waited although no other transaction was open", st.Session)
	}
	return d, nil
}

// OpenTxns returns the open transactions of other sessions, by session number.
func (r *Replay) OpenTxns(own *versions.Txn) []*versions.Txn {
	var out []*versions.Txn
	for n := 1; n <= len(r.Sessions)+64 && len(out) < len(r.Sessions); n++ {
		if s := r.Sessions[n]; s != nil && s.Txn != nil && s.Txn != own {
			out = append(out, s.Txn)
		}
	}
	return out
}
