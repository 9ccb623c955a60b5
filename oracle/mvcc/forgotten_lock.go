package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// forgottenLock is a lock that a transaction has given back and still counts as its own:
// it does not ask for it again, others get it, and COMMIT fails because it is missing.
type forgottenLock struct {
	t *Table
	c *Chain
	// key is the clustered key's tuple, which is what is locked where there is one.
	key string
}

// forgets returns the lock that an UPDATE forgets which started again with a newer view.
// TiDB takes the lock of an attempt that needs a single one in another way (fair locking)
// and gives it back, without waiting for that, when the next attempt needs other ones:
// https://docs.pingcap.com/tidb/stable/system-variables#tidb_pessimistic_txn_fair_locking-new-in-v700
// If that comes late, the lock which the transaction counts as its own is gone. So the
// lock is forgotten or not, which is a choice. It was seen only where an attempt met one
// row, which it would have left unchanged or whose key the last attempt writes again,
// and the last one met one other row, or the same under another key.
func (r *Replay) forgets(i int, tx *Txn, s *ast.UpdateStmt, t *Table, view View, now, news []solve.Row, chains []*Chain) ([]forgottenLock, error) {
	st := &r.h.Stmts[i]
	if view.Tick == st.Submit || len(now) != 1 || tx.Rules.of(rules.StaleLocks) != rules.LocksForgotten {
		return nil, nil
	}
	attempts := []history.Tick{st.Submit}
	for _, w := range r.committed() {
		if w != tx && w.Commit > st.Submit && w.Commit < view.Tick {
			attempts = append(attempts, w.Commit+1)
		}
	}
	for _, at := range attempts {
		f, err := r.singleLock(View{Tick: at, Own: tx}, s, t, now[0], news[0], chains[0])
		if err != nil {
			return nil, err
		}
		if f != nil && r.views.choose(2) == 0 {
			return []forgottenLock{*f}, nil
		}
	}
	return nil, nil
}

// singleLock returns the lock of an attempt that the last one, which makes next of now,
// makes the transaction forget; nil if there is none.
func (r *Replay) singleLock(attempt View, s *ast.UpdateStmt, t *Table, now, next solve.Row, last *Chain) (*forgottenLock, error) {
	rows, met, err := r.scan(t, s, attempt)
	if err != nil {
		_, err = sqlError(err)
		return nil, err
	}
	if len(met) != 1 {
		return nil, nil
	}
	key := r.store.clusteredKeyOf(t, rows[0])
	if met[0] == last && key == r.store.clusteredKeyOf(t, now) {
		return nil, nil
	}
	made, changed, err := r.solver.Update(s, t.Def, rows[0], &stored{&r.store, attempt})
	if err != nil {
		_, err = sqlError(err)
		return nil, err
	}
	if changed && (t.Clustered == nil || key != r.store.clusteredKeyOf(t, made) || key != r.store.clusteredKeyOf(t, next)) {
		return nil, nil
	}
	return &forgottenLock{t, met[0], key}, nil
}

// forgot reports whether a transaction has forgotten the lock of a row.
func (tx *Txn) forgot(s *Store, t *Table, c *Chain, row solve.Row) bool {
	return slices.ContainsFunc(tx.forgotten, func(f forgottenLock) bool {
		if f.t != t {
			return false
		}
		if t.Clustered == nil || row == nil {
			return f.c == c
		}
		return f.key == s.clusteredKeyOf(t, row)
	})
}
