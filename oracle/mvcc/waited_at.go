package mvcc

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// WaitedAt is a wait of which the server told the place.
type WaitedAt struct {
	// Stmt and Wait are indexes into History.Stmts and Stmt.Waits.
	Stmt, Wait int
	At         *history.Place
	// Table is nil where the place's is not one of the case; Key for the clustered
	// index, which is Clustered or, if that is nil, hidden.
	Table          *solve.Table
	Key, Clustered *solve.Key
	// Row is a version of the record; nil where none or several come into question.
	Row solve.Row
	// Known says that the record is one, or that the place is the end of the index.
	Known bool
}

// WaitedAt returns what the server told of the places of a history's waits, in order.
// The replay must have run. It costs a comparison with each version of each row of a
// table for each wait.
func (r *Replay) WaitedAt() []WaitedAt {
	store := r.rows()
	var out []WaitedAt
	for i := range r.History.Stmts {
		for k := range r.History.Stmts[i].Waits {
			if at := r.History.Stmts[i].Waits[k].At; at != nil {
				w := WaitedAt{Stmt: i, Wait: k, At: at}
				w.find(store, r.History.Server.DBMS)
				out = append(out, w)
			}
		}
	}
	return out
}

// find looks for the record of a place among all versions that there were.
func (w *WaitedAt) find(store *versions.Store, dbms history.DBMS) {
	var t *versions.Table
	for name, one := range store.Tables {
		if strings.EqualFold(name, w.At.Table) {
			t = one
		}
	}
	if t == nil {
		return
	}
	key, ok := record.Index(w.At, t.Def, t.Clustered)
	if !ok {
		return
	}
	w.Table, w.Key, w.Clustered = t.Def, key, t.Clustered
	if w.At.Kind == history.Supremum {
		w.Known = true
		return
	}
	var chain *versions.Chain
	several := false
	consider := func(c *versions.Chain, row solve.Row) {
		if row == nil {
			return
		}
		behind := t.Clustered
		if dbms == history.TiDB && key != nil {
			behind = nil // what it locks of indexes are unique keys, without the row's
		}
		switch record.Match(w.At, t.Def, behind, key, row) {
		case record.Unsure:
			several = true
		case record.Yes:
			several = several || chain != nil && chain != c
			chain, w.Row = c, row
		}
	}
	for _, c := range t.Chains {
		for v := range c.Versions {
			consider(c, c.Versions[v].Row)
		}
	}
	for k := range store.Undone {
		if u := &store.Undone[k]; u.Table == t {
			consider(u.Chain, u.Version.Row)
		}
	}
	if w.Known = chain != nil && !several; !w.Known {
		w.Row = nil
	}
}

// String says in words where the wait was: "row (3) of t", "the gap before (3) of index
// b of t", "the end of index b of t".
func (w *WaitedAt) String() string {
	in := w.At.Table
	if w.Table == nil || w.Key != nil || w.At.Kind != history.RecordLock {
		in = fmt.Sprintf("index %s of %s", w.At.Index, w.At.Table)
	}
	what := "row"
	if w.Key != nil {
		what = "entry"
	}
	switch w.At.Kind {
	case history.Supremum:
		return "the end of " + in
	case history.GapLock, history.InsertIntention:
		what = "the gap before"
	}
	values := w.values()
	if values == "" {
		return what + " of " + in
	}
	return fmt.Sprintf("%s (%s) of %s", what, values, in)
}

// values prints what the row holds in the columns of the index, or the fields as the
// server printed them.
func (w *WaitedAt) values() string {
	if w.Row == nil || w.Table == nil {
		return strings.Join(w.At.Fields[:min(len(w.At.Fields), 4)], ",")
	}
	var columns []int
	switch {
	case w.Key != nil:
		columns = w.Key.Columns
	case w.Clustered != nil:
		columns = w.Clustered.Columns
	default:
		for c := range w.Table.Columns {
			columns = append(columns, c)
		}
	}
	var out []string
	for _, c := range columns {
		text, null := w.Row[c].Text()
		out = append(out, history.Cell{Text: text, Null: null}.String())
	}
	return strings.Join(out, ",")
}
