package advisory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Check returns the first difference of a history, nil for none. Of a case in which a raw statement calls the
// functions for advisory locks it claims nothing, since nobody knows for which rows that was.
func Check(c *corpus.Case, h *history.History) *history.Difference {
	if h.End != history.Complete || !slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return stmt.KindOf(l.Stmt) == stmt.Advisory }) ||
		slices.ContainsFunc(c.Steps, func(l corpus.Line) bool {
			raw, ok := l.Stmt.(*stmt.RawStmt)
			return ok && strings.Contains(strings.ToLower(raw.SQL), "advisory")
		}) {
		return nil
	}
	r := read(c, h)
	first := r.wrong
	for i := range h.Stmts {
		st := &h.Stmts[i]
		a, ok := c.Steps[st.Line].Stmt.(*stmt.AdvisoryStmt)
		if !ok || a.Unlocks() || first != nil && first.Stmt < i {
			continue
		}
		if d := r.request(st, a); d != nil {
			d.Stmt, first = i, d
		}
	}
	return first
}

// request judges a statement that asks for a lock.
func (r *reader) request(st *history.Stmt, a *stmt.AdvisoryStmt) *history.Difference {
	key := keyOf(a)
	failed := ""
	if st.Result.Err != nil {
		failed = st.Result.Err.State
	}
	surely := r.holder(func(h *holding) bool {
		return h.against(key, a.Shared(), st.Session) && h.has < st.Submit && h.gives > st.Return
	})
	// somebody reports whether anybody may have stood in the way at some moment between two.
	somebody := func(from, to history.Tick) bool {
		return r.holder(func(h *holding) bool {
			return h.against(key, a.Shared(), st.Session) && h.taken <= to && h.gone >= from
		}) != nil || r.asks(st, key, a.Shared(), from, to)
	}
	switch {
	case failed == deadlockDetected:
		if !r.cycle(st) {
			return &history.Difference{Kind: "unjustified-abort", Expected: "no deadlock", Actual: st.Result.Err.String(),
				Reason: "no other statement waited at the time, so that there was no cycle"}
		}
	case failed != "":
	case a.Tries() && answer(st) && surely != nil:
		return &history.Difference{Kind: "missing-wait", Expected: truth[false], Actual: truth[true], Reason: held(surely)}
	case a.Tries() && !answer(st) && !somebody(st.Submit, st.Return):
		return &history.Difference{Kind: "wrong-rows", Expected: truth[true], Actual: truth[false], Reason: "nobody has the lock, or waits for it"}
	case !a.Tries() && surely != nil:
		return &history.Difference{Kind: "missing-wait", Expected: "a wait", Actual: "the lock at once", Reason: held(surely)}
	}
	return r.waited(st, somebody)
}

// deadlockDetected is the SQLSTATE of the victim of a deadlock.
const deadlockDetected = "40P01"

// waited judges the waits of a statement: somebody must have stood in its way when it began to wait, and as long as
// others sent something: before that, all that answers has answered.
func (r *reader) waited(st *history.Stmt, somebody func(from, to history.Tick) bool) *history.Difference {
	if len(st.Waits) == 0 || slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind != history.Metadata }) {
		return nil
	}
	if !somebody(st.Submit, st.Waits[0].From) {
		return &history.Difference{Kind: "unjustified-wait", Expected: "no wait", Actual: "a wait", Reason: "nobody has the lock, or waits for it"}
	}
	for i := range r.h.Stmts {
		if at := r.h.Stmts[i].Submit; at > st.Waits[0].From && at < st.Return && !somebody(at, at) {
			return &history.Difference{Kind: "lost-wakeup", Expected: "the lock", Actual: "a wait that goes on",
				Reason: "nobody has the lock any more, or waits for it, and the statement waits on"}
		}
	}
	return nil
}

// holder returns a holding that is chosen, nil if none is.
func (r *reader) holder(chosen func(*holding) bool) *holding {
	if i := slices.IndexFunc(r.holdings, chosen); i >= 0 {
		return r.holdings[i]
	}
	return nil
}

// asks reports whether another session's statement was under way between two moments that asks for a lock which stands
// against this one: who comes later waits behind it.
func (r *reader) asks(st *history.Stmt, key string, shared bool, from, to history.Tick) bool {
	return slices.ContainsFunc(r.h.Stmts, func(o history.Stmt) bool {
		a, ok := r.c.Steps[o.Line].Stmt.(*stmt.AdvisoryStmt)
		return ok && o.Session != st.Session && !a.Unlocks() && keyOf(a) == key && !(a.Shared() && shared) &&
			o.Submit <= to && o.Return >= from
	})
}

// cycle reports whether a victim of a deadlock has waited, and a statement of another session beside it.
func (r *reader) cycle(st *history.Stmt) bool {
	return len(st.Waits) > 0 && slices.ContainsFunc(r.h.Stmts, func(o history.Stmt) bool {
		return o.Session != st.Session && o.Submit < st.Return && o.Return > st.Submit
	})
}

func held(h *holding) string {
	if h.owner < 0 {
		return "a prepared transaction has the lock"
	}
	return fmt.Sprintf("tx%d has the lock", h.owner)
}
