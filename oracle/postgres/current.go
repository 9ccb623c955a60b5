package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// current judges a write or a locking read, and applies its effect.
func (w *world) current(run *running) (*mvcc.Difference, error) {
	hits, passed, err := w.recheck(run)
	if err != nil {
		return nil, err
	}
	p := &mvcc.Prediction{Matched: -1, Changed: int64(len(hits) + len(run.inserted)), Rows: asValues(run.returned)}
	// errs are the errors that the statement comes to; of several, any may come first.
	var errs []string
	if run.failure != "" {
		errs = append(errs, run.failure)
	}
	var inTheWay []int
	for i := range hits {
		h := &hits[i]
		if h.state != "" {
			errs = append(errs, h.state)
		}
		if run.kind.LocksRead() {
			p.Changed = -1
		}
		if run.kind.LocksRead() || returns(run.node) {
			p.Rows = append(p.Rows, asValues(h.rows)...)
		}
		p.Read = append(p.Read, h.chain)
	}
	if run.counts {
		p.Rows, p.Changed = [][]sqlvalue.Value{{sqlvalue.NewString(strconv.FormatInt(p.Changed, 10))}}, -1
	}
	for _, h := range slices.Concat(hits, passed) {
		inTheWay = append(inTheWay, w.holders(run.st.Session, h.chain, run.mode(&h))...)
	}
	if failsByPlan(run.node, stateOf(&run.st.Result), strings.Join(errs, " ")) {
		return nil, errPlan
	}
	dups := w.duplicatesOf(run.table, run.tx, makes(run, hits))
	if dups.certain {
		errs = append(errs, uniqueViolation)
	}
	if got := stateOf(&run.st.Result); strings.HasPrefix(got, ofValue) && !slices.Contains(errs, got) {
		// Constants are computed when the statement is planned, whether there are rows or not.
		a, err := w.ask(run, run.node, nil)
		if err != nil {
			return nil, err
		}
		if stateOf(&a.Result) == got {
			errs = append(errs, got)
		}
	}
	if len(errs) > 0 {
		p.Err = history.NumberOf(errs[0])
	}
	if dups.possible {
		p.LeaveOpen("the order in which an UPDATE meets its rows")
	}
	if got := stateOf(&run.st.Result); slices.Contains([]string{deadlockDetected, lockNotAvailable, queryCanceled}, got) {
		p.LeaveOpen("who of those that stand in each other's way fails, and when")
	}
	w.Steps[run.i].Expected = p
	d := w.compareCurrent(run, p, errs, dups, append(inTheWay, dups.waits...))
	if run.st.Result.Err == nil {
		w.apply(run, hits, passed)
	}
	w.settle(run)
	return d, nil
}

// compareCurrent compares the answer of a write or locking read with what was predicted.
// inTheWay holds the sessions that it had to wait for still.
func (w *world) compareCurrent(run *running, p *mvcc.Prediction, errs []string, dups duplicates, inTheWay []int) *mvcc.Difference {
	res := &run.st.Result
	refuses := stmt.Of(run.node).Lock.Wait == stmt.Fails
	differs := func(kind, expected, reason string) *mvcc.Difference {
		return &mvcc.Difference{Stmt: run.i, Kind: kind, Expected: expected, Actual: history.Describe(run.told(), res), Reason: reason}
	}
	switch got := stateOf(res); {
	case got == deadlockDetected:
		if !w.deadlocked(run.st) {
			return differs("unjustified-abort", "no deadlock", "no sessions waited for each other in a cycle")
		}
		return nil
	case got == queryCanceled && run.st.Interrupted:
		return nil
	case got == lockNotAvailable:
		if !refuses || len(inTheWay)+len(w.running) == 0 {
			return differs("unjustified-abort", "no error", "it was not told to fail where it would wait, or nobody stood in the way")
		}
		return nil
	case got != "":
		if slices.Contains(errs, got) || got == uniqueViolation && dups.possible {
			return nil
		}
		d := w.compareError(run.i, "")
		if len(errs) > 0 {
			d.Kind, d.Expected = "wrong-error", fmt.Sprintf("SQLSTATE %v", errs)
		}
		return d
	case len(errs) > 0:
		return differs("missing-error", fmt.Sprintf("SQLSTATE %v", errs), fmt.Sprintf("the %s had to fail", run.kind))
	case len(inTheWay) > 0 && refuses:
		return differs("missing-error", "SQLSTATE "+lockNotAvailable, "with NOWAIT it must fail where it would wait")
	case len(inTheWay) > 0:
		return differs("missing-wait", "a wait", fmt.Sprintf("the %s had to wait for the end of %s", run.kind, transactionOf(inTheWay[0])))
	}
	d := w.Compare(run.i, run.told(), p)
	if d == nil && !run.counts && returns(run.node) {
		d = w.compareReturned(run, p)
	}
	return d
}

// apply writes the versions and takes the locks of a statement that succeeded.
func (w *world) apply(run *running, hits, passed []hit) {
	s := w.session(run.st.Session)
	lock := func(c *versions.Chain, mode versions.Mode) {
		s.locks.Take(versions.Lock{Txn: run.tx, Row: c, Mode: mode})
	}
	for _, row := range run.inserted {
		lock(w.Store.Insert(run.table, row, run.tx), versions.Exclusive)
	}
	for i := range hits {
		h := &hits[i]
		lock(h.chain, run.mode(h))
		switch {
		case run.kind == stmt.Delete:
			w.Store.Delete(run.table, h.chain, run.tx)
		case h.after != nil:
			w.Store.Update(run.table, h.chain, h.after, run.tx)
		}
	}
	for i := range passed {
		lock(passed[i].chain, run.mode(&passed[i]))
	}
}
