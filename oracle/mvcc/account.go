package mvcc

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// RowVersion is one version of a row as a step found it.
type RowVersion struct {
	// Row is the row as text, of a deletion that of the version before.
	Row     string
	Deleted bool
	// Stmt is the index of the statement that wrote it, -1 for the set-up;
	// Session is 0 for the set-up.
	Stmt, Session int
	// Undone says that a rollback has taken it back, by then or later.
	Undone bool
	// Seen says that the step's view shows it.
	Seen bool
	// Same says that it is equal to the version before: a write that changed
	// nothing. Moved says that a column of a key is not.
	Same, Moved bool
}

// RowHistory is the version chain of one row, oldest version first.
type RowHistory struct {
	Table    string
	Row      int
	Versions []RowVersion
}

// Account tells the version chains as the statement i found them, or, for -1,
// as the history left them. viewed is false where the statement has no single
// view, as a write that judges each row when its scan passes it. The replay
// must have gone on behind its first difference.
func (r *Replay) Account(i int) (out []RowHistory, viewed bool) {
	store, view := r.rows(), versions.View{Tick: versions.Latest}
	if i >= 0 {
		view = r.Steps[i].View
	}
	viewed = view != versions.View{}
	for _, name := range store.Order {
		t := store.Tables[name]
		for _, c := range t.Chains {
			h := RowHistory{Table: t.Def.Name, Row: c.ID}
			seen := view.Version(c)
			for j := range c.Versions {
				v := &c.Versions[j]
				h.add(v, viewed && v == seen, false)
				if v.Txn != nil {
					r.relate(&h, t.Def, c, j)
				}
			}
			h.undone(store, c)
			if h.cut(i, r.History); len(h.Versions) > 0 {
				out = append(out, h)
			}
		}
		out = append(out, lostRows(store, t, i, r.History)...)
	}
	return out, viewed
}

func (h *RowHistory) add(v *versions.Version, seen, undone bool) {
	to := RowVersion{Stmt: -1, Seen: seen, Undone: undone, Deleted: v.Row == nil}
	if v.Txn != nil {
		to.Stmt, to.Session = v.Stmt, v.Txn.Session
	}
	if v.Row != nil {
		to.Row = versions.ShowRow(v.Row)
	} else if n := len(h.Versions); n > 0 {
		to.Row = h.Versions[n-1].Row
	}
	h.Versions = append(h.Versions, to)
}

// relate compares the newest version told, the j-th of its chain, with the one
// before. On InnoDB an UPDATE that changes the clustered key ends one chain and
// begins another.
func (r *Replay) relate(h *RowHistory, t *solve.Table, c *versions.Chain, j int) {
	to, row := &h.Versions[len(h.Versions)-1], c.Versions[j].Row
	if KindOf(r.Case.Steps[r.History.Stmts[to.Stmt].Line].Stmt) == stmt.Update && (j == 0 || row == nil) {
		to.Moved = true
	}
	if j == 0 || row == nil || c.Versions[j-1].Row == nil {
		return
	}
	before := c.Versions[j-1].Row
	to.Same = versions.EqualRows(row, before)
	for i := range t.Keys {
		to.Moved = to.Moved || !versions.EqualIn(&t.Keys[i], row, before)
	}
}

// undone adds the versions of a chain that rollbacks removed, behind those that
// earlier statements wrote.
func (h *RowHistory) undone(s *versions.Store, c *versions.Chain) {
	for k := range s.Undone {
		u := &s.Undone[k]
		if u.Chain != c {
			continue
		}
		var one RowHistory
		one.add(&u.Version, false, true)
		at := len(h.Versions)
		for at > 0 && h.Versions[at-1].Stmt > one.Versions[0].Stmt {
			at--
		}
		h.Versions = slices.Insert(h.Versions, at, one.Versions[0])
	}
}

// cut drops what was written by statements sent after the i-th had returned.
func (h *RowHistory) cut(i int, of *history.History) {
	if i < 0 || of.Stmts[i].Return == 0 {
		return
	}
	h.Versions = slices.DeleteFunc(h.Versions, func(v RowVersion) bool {
		return v.Stmt >= 0 && of.Stmts[v.Stmt].Submit > of.Stmts[i].Return
	})
}

// lostRows tells the rows that exist in rolled-back versions only.
func lostRows(s *versions.Store, t *versions.Table, i int, of *history.History) []RowHistory {
	var out []RowHistory
	done := map[*versions.Chain]bool{}
	for k := range s.Undone {
		u := &s.Undone[k]
		if u.Table != t || done[u.Chain] || slices.Contains(t.Chains, u.Chain) {
			continue
		}
		done[u.Chain] = true
		h := RowHistory{Table: t.Def.Name, Row: u.Chain.ID}
		h.undone(s, u.Chain)
		if h.cut(i, of); len(h.Versions) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// Promised returns what each table was to hold in the end, rows in text order.
func (r *Replay) Promised() []history.Table {
	store := r.rows()
	var out []history.Table
	for i := range r.History.Final {
		t := store.Tables[r.History.Final[i].Name]
		switch {
		case t == nil && r.leftAlone(&r.History.Final[i]):
			continue
		case t == nil:
			return nil
		}
		to := history.Table{Name: t.Def.Name, Columns: r.History.Final[i].Columns}
		rows, _ := t.Rows(versions.View{Tick: versions.Latest})
		for _, row := range rows {
			to.Rows = append(to.Rows, row.Cells())
		}
		SortRows(to.Rows)
		out = append(out, to)
	}
	return out
}

// Cells returns the rows of a prediction as a server would print them.
func (p *Prediction) Cells() [][]history.Cell {
	out := make([][]history.Cell, len(p.Rows))
	for i, row := range p.Rows {
		out[i] = solve.Row(row).Cells()
	}
	return out
}

// SortRows puts rows into the order of their text.
func SortRows(rows [][]history.Cell) {
	slices.SortStableFunc(rows, func(a, b []history.Cell) int {
		return cmp.Compare(history.RowText(a, history.Cell.Key), history.RowText(b, history.Cell.Key))
	})
}

// rows returns the tables as the replay left them: those of the path that it told last.
func (r *Replay) rows() *versions.Store {
	if r.Replayed != nil {
		return r.Replayed
	}
	return &r.Store
}
