package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// FactVersion is a version as a replay holds it; Txn is -1 for the set-up.
type FactVersion struct {
	Txn, Stmt int
	Row       solve.Row
	Undone    bool
}

// FactRow is a row with all its versions, oldest first.
type FactRow struct {
	Table    *solve.Table
	ID       int
	Versions []FactVersion
}

// Facts is what tests derive dependencies from: who ran each statement (-1: nobody), which
// transactions committed, and the versions of each row in their order.
type Facts struct {
	Txns      []int
	Committed []bool
	Rows      []FactRow
	Solver    *solve.Solver
}

// Facts tells what a replay that was Observed holds. Transactions are numbered as by
// Dependencies.
func (r *Replay) Facts() *Facts {
	f := &Facts{Solver: r.Solver}
	var txns []*versions.Txn
	number := func(t *versions.Txn) int {
		if t == nil {
			return -1
		}
		k := slices.Index(txns, t)
		if k < 0 {
			k = len(txns)
			txns, f.Committed = append(txns, t), append(f.Committed, t.Commit > 0)
		}
		return k
	}
	for i := range r.Steps {
		f.Txns = append(f.Txns, number(r.Steps[i].txn))
	}
	store := r.rows()
	for _, name := range store.Order {
		t := store.Tables[name]
		rows := slices.Clone(t.Chains)
		for _, u := range store.Undone {
			if u.Table == t && !slices.Contains(rows, u.Chain) {
				rows = append(rows, u.Chain)
			}
		}
		for _, c := range rows {
			row := FactRow{Table: t.Def, ID: c.ID}
			for _, v := range c.Versions {
				row.Versions = append(row.Versions, FactVersion{number(v.Txn), v.Stmt, v.Row, false})
			}
			for _, u := range slices.Backward(store.Undone) {
				if u.Chain != c {
					continue
				}
				at := len(row.Versions)
				for at > 0 && row.Versions[at-1].Txn >= 0 && row.Versions[at-1].Stmt > u.Version.Stmt {
					at--
				}
				row.Versions = slices.Insert(row.Versions, at, FactVersion{number(u.Tx), u.Version.Stmt, u.Version.Row, true})
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}
