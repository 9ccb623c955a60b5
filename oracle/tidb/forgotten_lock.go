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
		if f != nil && r.views.Choose(2) == 0 {
			return []forgottenLock{*f}, nil
		}
	}
	return nil, nil
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
		if f.table != t {
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
	kept.left, kept.leftBy = nil, i
	for k, c := range chains {
		if !changed[k] {
			kept.left = append(kept.left, c)
		}
	}
}

// leftBefore reports whether the statement before one was a failed UPDATE that had left a row unchanged.
func (r *engine) leftBefore(i int, tx *versions.Txn, row *versions.Chain) bool {
	kept := r.of(tx)
	between := func(st history.Stmt) bool { return st.Session == tx.Session }
	return slices.Contains(kept.left, row) && !slices.ContainsFunc(r.History.Stmts[kept.leftBy+1:i], between)
}
