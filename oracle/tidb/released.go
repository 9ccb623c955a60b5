package tidb

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// maxReleased bounds the statements whose order is tried: 24 orders of four.
const maxReleased = 4

// releasedTogether returns the groups of statements that waited at the same time and then all went on, at
// least one of them a write that is a transaction of its own: the lock went from one to the next, the former
// committed on its own, and their answers arrive in any order. So which came first is not seen. Each group is
// in the order of its answers and has two to maxReleased members. Writes that commit by themselves come
// first; behind them those of other transactions, and locking reads, which overlapped with one of them.
func (r *engine) releasedTogether() [][]*history.Stmt {
	var alone, others []*history.Stmt
	for i := range r.History.Stmts {
		switch st := &r.History.Stmts[i]; {
		case len(st.Waits) == 0 || st.Return == 0:
		case r.wroteAlone(st):
			alone = append(alone, st)
		case r.gotLocks(st):
			others = append(others, st)
		}
	}
	var out [][]*history.Stmt
	add := func(group []*history.Stmt) {
		if len(group) >= 2 && len(group) <= maxReleased {
			slices.SortFunc(group, func(a, b *history.Stmt) int { return cmp.Compare(a.Return, b.Return) })
			out = append(out, group)
		}
	}
	if len(alone) > 0 {
		first := slices.MinFunc(alone, func(a, b *history.Stmt) int { return cmp.Compare(a.Return, b.Return) }).Return
		add(slices.DeleteFunc(slices.Clone(alone), func(st *history.Stmt) bool { return lastWait(st).From > first }))
	}
	for _, w := range alone {
		overlaps := func(st *history.Stmt) bool {
			return st != w && lastWait(st).From < w.Return && lastWait(w).From < st.Return
		}
		if !slices.ContainsFunc(others, overlaps) {
			continue
		}
		group := []*history.Stmt{w}
		for _, st := range slices.Concat(alone, others) {
			if overlaps(st) {
				group = append(group, st)
			}
		}
		add(group)
	}
	return out
}

func lastWait(st *history.Stmt) history.Wait { return st.Waits[len(st.Waits)-1] }

// gotLocks reports whether a statement that locks rows was not refused a lock.
func (r *engine) gotLocks(st *history.Stmt) bool {
	switch mvcc.ErrCode(st) {
	case mvcc.ErrDeadlock, mvcc.ErrLockTimeout, mvcc.ErrNowait:
		return false
	}
	kind := mvcc.KindOf(r.Case.Steps[st.Line].Stmt)
	return kind.Writes() || kind.LocksRead()
}

// wroteAlone reports whether a statement is a write that committed by itself.
func (r *engine) wroteAlone(st *history.Stmt) bool {
	return !st.InTxn && !st.Result.InTxn && st.Result.Err == nil && mvcc.KindOf(r.Case.Steps[st.Line].Stmt).Writes()
}

// orders calls try with each order of n things but the first, until it says stop.
func orders(n int, try func([]int) (stop bool)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var permute func(k int) bool
	first := true
	permute = func(k int) bool {
		if k == n {
			skip := first
			first = false
			return !skip && try(order)
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			if permute(k + 1) {
				return true
			}
			order[k], order[i] = order[i], order[k]
		}
		return false
	}
	permute(0)
}

// inSomeOrder replays the history with statements that were released together in
// each order of their effects, and with those that may have waited unseen at their end,
// and reports whether one fits.
func (r *engine) inSomeOrder() (fits bool, err error) {
	for _, group := range r.releasedTogether() {
		ticks := make([]history.Tick, len(group))
		for i, st := range group {
			ticks[i] = st.Return
		}
		keep := func(w *engine) bool {
			return !slices.ContainsFunc(group, func(st *history.Stmt) bool { return !w.wroteAlone(st) && !w.keepsLocks(st) })
		}
		orders(len(group), func(order []int) bool {
			moved := make(map[*history.Stmt]history.Tick, len(group))
			for i, k := range order {
				moved[group[k]] = ticks[i]
			}
			fits, err = r.fitsMoved(moved, keep)
			return fits || err != nil
		})
		if fits || err != nil {
			return fits, err
		}
	}
	for _, st := range r.besideAnEnd() {
		if fits || err != nil {
			break
		}
		fits, err = r.fitsMoved(map[*history.Stmt]history.Tick{st: st.Return}, func(w *engine) bool { return w.keepsLocks(st) })
	}
	return fits, err
}

// besideAnEnd returns the statements that were not seen to wait, while another session's
// statement, which had waited, was answered and ended its transaction: a COMMIT, one that
// a deadlock aborted, or a write that is a transaction of its own, which went on as this
// session gave back locks that it did not need. What that transaction held was free before
// its answer came, so the wait for it may have been too short to be seen.
func (r *engine) besideAnEnd() []*history.Stmt {
	var out []*history.Stmt
	for i := range r.History.Stmts {
		st := &r.History.Stmts[i]
		if len(st.Waits) > 0 || mvcc.KindOf(r.Case.Steps[st.Line].Stmt).Control() {
			continue
		}
		if slices.ContainsFunc(r.History.Stmts, func(o history.Stmt) bool {
			return o.Session != st.Session && len(o.Waits) > 0 && o.Return > st.Submit && o.Return < st.Return &&
				(mvcc.ErrCode(&o) == mvcc.ErrDeadlock || mvcc.KindOf(r.Case.Steps[o.Line].Stmt).Commits() || r.wroteAlone(&o))
		}) {
			out = append(out, st)
		}
	}
	return out
}

// keepsLocks reports whether no write that a statement was moved behind wrote what its
// transaction had to have locked when the statement was sent: that got past a lock, which
// no order of effects excuses.
func (r *engine) keepsLocks(st *history.Stmt) bool {
	for a := range r.Touched {
		w := &r.Touched[a]
		if at := r.Effect(&r.History.Stmts[w.Stmt]); w.Session == st.Session || at < st.Submit || at > r.Effect(st) || len(w.Images) == 0 {
			continue
		}
		for b := range r.Touched {
			o := &r.Touched[b]
			if o.Session == st.Session && o.At < st.Submit && (o.Txn.Ended == 0 || o.Txn.Ended > st.Submit) && o.Table == w.Table &&
				r.Steps[o.Stmt].Kind != stmt.Select && r.MatchesAny(o, w.Images) {
				return false
			}
		}
	}
	return true
}

// fitsMoved reports whether some path fits the whole history if statements took effect
// at the given moments; legal, if not nil, says whether one that fits may be.
func (r *engine) fitsMoved(moved map[*history.Stmt]history.Tick, legal func(*engine) bool) (bool, error) {
	ch := &mvcc.Choices{}
	for range mvcc.MaxWorlds {
		w := r.world(ch)
		w.Moved = moved
		d, err := w.replay()
		if err != nil {
			return false, err
		}
		if d == nil && (legal == nil || legal(w)) {
			r.Moved = moved
			r.take(w)
			return true, nil
		}
		if !ch.Next() {
			break
		}
	}
	return false, nil
}
