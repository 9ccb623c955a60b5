package innodb

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// phase is what came about between one submission and the next.
type phase struct {
	just  int
	items []item
}

// item is the end of a wait, or an error that ended a statement from outside.
type item struct {
	stmt, wait int
	abort      bool
}

// phases cuts a history at its submissions.
func (e *engine) phases() []phase {
	type event struct {
		at   history.Tick
		sub  bool
		item item
	}
	evs := make([]event, 0, 2*len(e.History.Stmts))
	for i := range e.History.Stmts {
		st := &e.History.Stmts[i]
		evs = append(evs, event{at: st.Submit, sub: true, item: item{stmt: i}})
		aborted := st.Return != 0 && (mvcc.ErrCode(st) == mvcc.ErrDeadlock || mvcc.ErrCode(st) == mvcc.ErrLockTimeout)
		for k, w := range st.Waits {
			if w.Until != 0 && !(aborted && k == len(st.Waits)-1) {
				evs = append(evs, event{at: w.Until, item: item{stmt: i, wait: k}})
			}
		}
		if aborted {
			evs = append(evs, event{at: st.Return, item: item{stmt: i, abort: true}})
		}
	}
	slices.SortStableFunc(evs, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	out := make([]phase, 0, len(e.History.Stmts))
	for _, ev := range evs {
		if ev.sub {
			out = append(out, phase{just: ev.item.stmt})
		} else if len(out) > 0 {
			last := &out[len(out)-1]
			last.items = append(last.items, ev.item)
		}
	}
	return out
}

func (e *engine) replay() (*mvcc.Difference, error) {
	var first *mvcc.Difference
	note := func(d *mvcc.Difference) bool {
		if d == nil {
			return false
		}
		if d.Stmt >= 0 {
			e.Steps[d.Stmt].Diff = d
		}
		if first == nil {
			first = d
		}
		return !e.KeepGoing
	}
	for _, ph := range e.phases() {
		d, err := e.phase(ph, note)
		if err != nil || d {
			return first, err
		}
	}
	for _, x := range e.running {
		d, err := e.NeverReturned(x.i)
		if err != nil {
			return nil, err
		}
		if note(d) {
			return first, nil
		}
	}
	d, err := e.finishInnoDB()
	if err != nil {
		return nil, err
	}
	note(d)
	return first, nil
}

// phase replays one submission and what it brought about. It reports whether
// the replay is to end.
func (e *engine) phase(ph phase, note func(*mvcc.Difference) bool) (bool, error) {
	e.choices.By = -1
	ended, moved := e.endedCount(), map[int]bool{}
	order, d, err := e.overdue(e.permute(ph), ph.just, moved)
	if err != nil || note(d) {
		return true, err
	}
	d, again, err := e.submit(ph)
	if err != nil || note(d) {
		return true, err
	}
	e.expectVictims(ph.items)
	var paused []*running
	queued := false // what was sent stands in a queue behind some of what is left of the order
	leaveQueue := func() (*mvcc.Difference, error) {
		x := again
		if again = nil; x == nil || e.running[x.st.Session] != x {
			return nil, nil
		}
		return e.resume(x, len(x.st.Waits) > 0 || x.st.Return == 0, 0)
	}
	for k, it := range order {
		if queued && again != nil && e.choices.Choose(2) == 1 {
			d, err := leaveQueue()
			if err != nil || note(d) {
				return true, err
			}
		}
		if it.abort {
			if it.stmt == ph.just && len(e.History.Stmts[it.stmt].Waits) == 0 {
				// It was aborted when it was sent.
				continue
			}
			if note(e.abort(it.stmt)) {
				return true, nil
			}
			if again != nil {
				// What was sent had run up to its block when the victim was
				// rolled back, and may have run into the next victim's locks.
				more := e.victims(order[k+1:], ph.just)
				if !more && k+1 < len(order) && e.choices.Choose(2) == 1 {
					// Others may have stood before it in the queue for the
					// victim's locks.
					queued = true
					continue
				}
				wait := -1
				if !more && len(again.st.Waits) > 0 {
					wait = 0 // the first one that was seen, behind the one that the victim ended
				}
				d, err := e.resume(again, more || wait == 0 || again.st.Return == 0, wait)
				if err != nil || note(d) {
					return true, err
				}
				if !more {
					again = nil
				}
			}
			continue
		}
		x := e.running[e.History.Stmts[it.stmt].Session]
		if x == nil || x.i != it.stmt {
			continue
		}
		moved[it.stmt] = true
		if e.choices.By = x.i; e.sameWait(x, it.wait) && e.choices.Choose(2) == 1 {
			continue
		}
		due, wait := it.wait+1 < len(x.st.Waits) || x.st.Return == 0, it.wait+1
		if !due && k+1 < len(order) && x.tx.Rules.Of(rules.Resumption) == rules.ByKey && e.choices.Choose(2) == 1 {
			// What the same event let go may stand before it at a row further on. That
			// wait is over before anybody can see it, and it goes on from its key.
			due, wait, paused = true, -1, append(paused, x)
		}
		d, err := e.resume(x, due, wait)
		if err != nil || note(d) {
			return true, err
		}
	}
	for _, x := range paused {
		if e.running[x.st.Session] != x {
			continue
		}
		d, err := e.resume(x, false, -1)
		if err != nil || note(d) {
			return true, err
		}
	}
	d, err = leaveQueue()
	if err != nil || note(d) {
		return true, err
	}
	if e.endedCount() != ended {
		d, err := e.advance(moved)
		if err != nil || note(d) {
			return true, err
		}
	}
	return false, nil
}

// overdue lets statements run whose wait ended in this phase for an earlier
// reason: whom they waited for had ended before, or what was submitted cannot
// have released a lock, so that purge did. They may have gone on before the
// submission, and been noticed after it. It returns the items that are left, and
// adds the statements that went on to moved.
func (e *engine) overdue(items []item, just int, moved map[int]bool) ([]item, *mvcc.Difference, error) {
	st := &e.History.Stmts[just]
	// Without an open transaction its session holds no lock that its end could release.
	open := e.Session(st.Session).Txn != nil
	releases := !st.InTxn && open || len(st.Waits) > 0 || mvcc.KindOf(e.Case.Steps[st.Line].Stmt).Control() || slices.ContainsFunc(items, func(it item) bool { return it.abort })
	var left []item
	for k, it := range items {
		x := e.running[e.History.Stmts[it.stmt].Session]
		if it.abort || x == nil || x.i != it.stmt {
			left = append(left, it)
			continue
		}
		// A statement that fails takes back the row that it put in, for which
		// others wait, but not the deleted one that no transaction is known to hold.
		here := releases || st.Result.Err != nil && x.holder != nil || it.wait+1 < len(x.st.Waits)
		if here && (x.holder == nil || x.holder.Ended == 0) {
			left = append(left, it)
			continue
		}
		if e.choices.By = x.i; e.choices.Choose(2) == 0 {
			left = append(left, it)
			continue
		}
		moved[x.i] = true
		if d, err := e.resume(x, it.wait+1 < len(x.st.Waits) || x.st.Return == 0, it.wait+1); d != nil || err != nil {
			return append(left, items[k+1:]...), d, err
		}
	}
	return left, nil, nil
}

// sameWait reports whether a wait and the one behind it may be one: the request that a
// statement waits with gets another name when the record is moved on its page, for
// example because somebody changed it (rules.LockRenamed). On others it counts only where both
// places are told and alike.
func (e *engine) sameWait(x *running, wait int) bool {
	if wait+1 >= len(x.st.Waits) {
		return false
	}
	was, is := &x.st.Waits[wait], &x.st.Waits[wait+1]
	return is.From == was.Until+1 && (e.Profile.Has(rules.LockRenamed) || samePlace(was.At, is.At))
}

// samePlace reports whether two places are told and may be one: of the fields only the
// first is sure to be the key's, and what follows a key changes.
func samePlace(a, b *history.Place) bool {
	return a != nil && b != nil && a.Table == b.Table && a.Index == b.Index && a.Kind == b.Kind && a.Mode == b.Mode && len(a.Fields) > 0 && len(b.Fields) > 0 && a.Fields[0] == b.Fields[0]
}

// waitedUnseen reports whether a statement that was just sent may have waited before the
// first wait that was seen of it: it closed a cycle of waits, which was over with its
// victim, and what was seen began later, at another lock.
func (e *engine) waitedUnseen(st *history.Stmt, items []item) bool {
	return len(st.Waits) > 0 && slices.ContainsFunc(items, func(it item) bool {
		v := &e.History.Stmts[it.stmt]
		return it.abort && v != st && mvcc.ErrCode(v) == mvcc.ErrDeadlock && v.Return < st.Waits[0].From
	})
}

// victims reports whether a deadlock ended a statement other than the given one.
func (e *engine) victims(items []item, but int) bool {
	return slices.ContainsFunc(items, func(it item) bool {
		return it.abort && it.stmt != but && mvcc.ErrCode(&e.History.Stmts[it.stmt]) == mvcc.ErrDeadlock
	})
}

func (e *engine) endedCount() int {
	n := 0
	for _, s := range e.Sessions {
		n += s.Ended
	}
	return n
}

// permute returns the items of a phase in one of their orders: what one event
// released may have run in any order, whatever the order of the answers.
func (e *engine) permute(ph phase) []item {
	rest := slices.Clone(ph.items)
	if len(rest) < 2 || len(rest) > 4 {
		return rest
	}
	out := make([]item, 0, len(rest))
	for len(rest) > 0 {
		k := e.choices.Choose(e.free(rest))
		out = append(out, rest[k])
		rest = slices.Delete(rest, k, k+1)
	}
	return out
}

// free returns how many of the items at the front can be the next one: an item
// cannot come before an earlier one of its own statement.
func (e *engine) free(items []item) int {
	for k := 1; k < len(items); k++ {
		for j := range k {
			if items[j].stmt == items[k].stmt {
				return k
			}
		}
	}
	return len(items)
}

// advance moves statements on that go on waiting although whom they waited for
// has ended: they may wait for another lock now.
func (e *engine) advance(moved map[int]bool) (*mvcc.Difference, error) {
	for _, n := range e.sessionNumbers() {
		x := e.running[n]
		if x == nil || moved[x.i] || x.holder == nil || x.holder.Ended == 0 {
			continue
		}
		e.choices.By = x.i
		if e.choices.Choose(2) == 1 {
			continue
		}
		if d, err := e.resume(x, true, -1); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (e *engine) sessionNumbers() []int {
	out := make([]int, 0, len(e.running))
	for n := range e.running {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
