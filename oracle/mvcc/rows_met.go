package mvcc

import (
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// RowsMet returns the rows of each table on which the statement i was judged, in
// which the replay differed: those of its view, or, of a current read and of a
// write, the newest that were committed or its transaction's own. What the
// statement wrote itself is not among them.
func (r *Replay) RowsMet(i int) []history.Table {
	view := r.Steps[i].View
	if view == (View{}) || KindOf(r.c.Steps[r.h.Stmts[i].Line].Stmt) != stmt.Select {
		view = View{Tick: latest}
		if s := r.sessions[r.h.Stmts[i].Session]; s != nil {
			view.Own = s.txn
		}
	}
	view.Current = i + 1
	store := r.rows()
	var out []history.Table
	for k := range r.h.Initial {
		of := &r.h.Initial[k]
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
