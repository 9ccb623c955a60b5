package mvcc

import "github.com/txnfuzz/txnfuzz/corpus/stmt"

// ReadsByKeyToo reports whether a plain SELECT, at which the replay ended, may be answered with the
// rows of a table told by key as well as by row. See versions.Table.See.
func (r *Replay) ReadsByKeyToo(i int) bool {
	if KindOf(r.Case.Steps[r.History.Stmts[i].Line].Stmt) != stmt.Select {
		return false
	}
	store := r.Replayed
	if store == nil {
		store = &r.Store
	}
	for _, t := range store.Tables {
		if _, too := t.See(r.Steps[i].View); too {
			return true
		}
	}
	return false
}
