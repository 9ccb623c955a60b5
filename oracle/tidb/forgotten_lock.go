package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// forgets returns the lock that an UPDATE forgets which started again with a newer view.
// TiDB takes the lock of an attempt that needs a single one in another way (fair locking)
// and gives it back, without waiting for that, when the next attempt needs other ones:
// https://docs.pingcap.com/tidb/stable/system-variables#tidb_pessimistic_txn_fair_locking-new-in-v700
// If that comes late, the lock which the transaction counts as its own is gone. So the
// lock is forgotten or not, which is a choice. It was seen only where an attempt met one
// row, which it would have left unchanged, as a failed UPDATE right before it had, or whose
// key the last attempt writes again, and the last one met one other row, or the same under
// another key.
func (r *engine) forgets(i int, tx *versions.Txn, s *ast.UpdateStmt, t *versions.Table, view versions.View, now, news []solve.Row, chains []*versions.Chain) ([]forgottenLock, error) {
	st := &r.History.Stmts[i]
	if view.Tick == st.Submit || len(now) != 1 || tx.Rules.Of(rules.StaleLocks) != rules.LocksForgotten {
		return nil, nil
	}
	attempts := []history.Tick{st.Submit}
	for _, w := range r.CommittedTxns() {
		if w != tx && w.Commit > st.Submit && w.Commit < view.Tick {
			attempts = append(attempts, w.Commit+1)
		}
	}
	for _, at := range attempts {
		f, err := r.singleLock(i, versions.View{Tick: at, Own: tx}, s, t, now[0], news[0], chains[0])
		if err != nil {
			return nil, err
		}
		if f == nil && len(attempts) > 1 {
			f, err = r.sharedEntry(versions.View{Tick: at, Own: tx}, s, t, now[0], chains[0])
			if err != nil {
				return nil, err
			}
		}
		if f != nil && r.views.Choose(2) == 0 {
			return []forgottenLock{*f}, nil
		}
	}
	return nil, nil
}

// sharedEntry returns the lock of a secondary unique key's entry that an attempt and the last one share,
// although they met different rows: another transaction has deleted the one and inserted the other with
// the same key. An UPDATE locks also the entries that it leaves as they are:
// https://docs.pingcap.com/tidb/stable/system-variables#tidb_lock_unchanged_keys-new-in-v711-and-v730
// What the attempt gives back late is then the entry that the last one has locked again. It was seen
// only where an attempt had waited for two other transactions, one after the other.
func (r *engine) sharedEntry(attempt versions.View, s *ast.UpdateStmt, t *versions.Table, now solve.Row, last *versions.Chain) (*forgottenLock, error) {
	rows, met, err := r.scan(t, s, attempt)
	if err != nil {
		_, err = mvcc.SQLErrorOf(err)
		return nil, err
	}
	if len(met) != 1 || met[0] == last {
		return nil, nil
	}
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if !k.Unique || k == t.Clustered {
			continue
		}
		was, null := r.Store.KeyOf(t.Def, k, rows[0])
		if is, _ := r.Store.KeyOf(t.Def, k, now); !null && was == is {
			return &forgottenLock{table: t, row: last, key: is, entry: k}, nil
		}
	}
	return nil, nil
}

// lookUp notes what an UPDATE that then failed as a duplicate had looked up, and so locked: an entry of
// a secondary unique key.
func (r *engine) lookUp(tx *versions.Txn, s *ast.UpdateStmt, t *versions.Table, rows []solve.Row, chains []*versions.Chain) {
	f, points := cheapestFilter(t.Def, r.Possible(s.Where))
	if len(chains) != 1 || points != 1 || f.key == t.Clustered {
		return
	}
	tuple, _ := r.Store.KeyOf(t.Def, f.key, rows[0])
	r.of(tx).lookedUp = forgottenLock{table: t, row: chains[0], key: tuple, entry: f.key}
}

// mistakes reports whether an INSERT takes a lock for its own that a failed UPDATE right before it, by
// whose look-up the row in its way was locked, is still giving back. The storage answers that
// request without a look at the row. Whether the lock was still there is a choice.
func (r *engine) mistakes(i int, tx *versions.Txn, row solve.Row, dups []*versions.Chain) bool {
	kept := r.of(tx)
	l := kept.lookedUp
	if tx.Rules.Of(rules.StaleLocks) != rules.LocksForgotten || len(dups) != 1 || l.row != dups[0] || !r.rightBehind(kept.leftBy, i, tx) {
		return false
	}
	if tuple, null := r.Store.KeyOf(l.table.Def, l.entry, row); null || tuple != l.key || r.views.Choose(2) == 1 {
		return false
	}
	kept.forgotten = append(kept.forgotten, l)
	return true
}

// forgotEntry reports whether a transaction has forgotten the lock of a key's entry.
func (r *engine) forgotEntry(tx *versions.Txn, k *solve.Key, tuple string) bool {
	return slices.ContainsFunc(r.of(tx).forgotten, func(f forgottenLock) bool { return f.entry == k && f.key == tuple })
}

// singleLock returns the lock of an attempt that the last one, which makes next of now,
// makes the transaction forget; nil if there is none.
func (r *engine) singleLock(i int, attempt versions.View, s *ast.UpdateStmt, t *versions.Table, now, next solve.Row, last *versions.Chain) (*forgottenLock, error) {
	rows, met, err := r.scan(t, s, attempt)
	if err != nil {
		_, err = mvcc.SQLErrorOf(err)
		return nil, err
	}
	if len(met) != 1 {
		return nil, nil
	}
	key := r.Store.ClusteredKeyOf(t, rows[0])
	if met[0] == last && key == r.Store.ClusteredKeyOf(t, now) {
		return nil, nil
	}
	made, changed, err := r.Solver.Update(s, t.Def, rows[0], &mvcc.Stored{Store: &r.Store, View: attempt})
	if err != nil {
		_, err = mvcc.SQLErrorOf(err)
		return nil, err
	}
	if changed && !r.leftBefore(i, attempt.Own, met[0]) && (t.Clustered == nil || key != r.Store.ClusteredKeyOf(t, made) || key != r.Store.ClusteredKeyOf(t, next)) {
		return nil, nil
	}
	return &forgottenLock{table: t, row: met[0], key: key}, nil
}

// forgot reports whether a transaction has forgotten the lock of a row.
func (r *engine) forgot(tx *versions.Txn, t *versions.Table, c *versions.Chain, row solve.Row) bool {
	return slices.ContainsFunc(r.of(tx).forgotten, func(f forgottenLock) bool {
		if f.table != t || f.entry != nil {
			return false
		}
		if t.Clustered == nil || row == nil {
			return f.row == c
		}
		return f.key == r.Store.ClusteredKeyOf(t, row)
	})
}

// leave notes the rows that a failed UPDATE had matched and left unchanged.
func (r *engine) leave(i int, tx *versions.Txn, chains []*versions.Chain, changed []bool) {
	kept := r.of(tx)
	kept.left, kept.leftBy, kept.lookedUp = nil, i, forgottenLock{}
	for k, c := range chains {
		if !changed[k] {
			kept.left = append(kept.left, c)
		}
	}
}

// leftBefore reports whether the statement before one was a failed UPDATE that had left a row unchanged.
func (r *engine) leftBefore(i int, tx *versions.Txn, row *versions.Chain) bool {
	kept := r.of(tx)
	return slices.Contains(kept.left, row) && r.rightBehind(kept.leftBy, i, tx)
}

// rightBehind reports whether a transaction has sent nothing between two of its statements.
func (r *engine) rightBehind(before, i int, tx *versions.Txn) bool {
	return !slices.ContainsFunc(r.History.Stmts[before+1:i], func(st history.Stmt) bool { return st.Session == tx.Session })
}
