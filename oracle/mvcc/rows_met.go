package mvcc

import (
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// RowsMet returns the rows of each table on which the statement i was judged, in
// which the replay differed: those of its view, or, of a current read and of a
// write, the newest that were committed or its transaction's own. What the
// statement wrote itself is not among them.
func (r *Replay) RowsMet(i int) []history.Table {
	view := r.Steps[i].View
	if view == (versions.View{}) || KindOf(r.Case.Steps[r.History.Stmts[i].Line].Stmt) != stmt.Select {
		view = versions.View{Tick: versions.Latest}
		if s := r.Sessions[r.History.Stmts[i].Session]; s != nil {
			view.Own = s.Txn
		}
	}
	view.Current = i + 1
	store := r.rows()
	var out []history.Table
	for k := range r.History.Initial {
		of := &r.History.Initial[k]
		t := store.Tables[of.Name]
		if t == nil {
			return nil
		}
		to := history.Table{Name: of.Name, Columns: of.Columns}
		rows, _ := t.Rows(view)
		for _, row := range rows {
			to.Rows = append(to.Rows, row.Cells())
		}
		out = append(out, to)
	}
	return out
}
