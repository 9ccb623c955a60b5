package mvcc

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// finish rolls back what is still open, as the harness did, and compares the
// final state.
func (r *Replay) finish() (*Difference, error) {
	for _, t := range r.openTxns(nil) {
		r.rollback(t, latest)
	}
	if r.store.err != nil {
		return nil, lossOf("key", r.store.err)
	}
	if r.h.End == history.Lost || len(r.h.Final) == 0 {
		return nil, nil
	}
	for i := range r.h.Final {
		obs := &r.h.Final[i]
		t := r.table(obs.Name)
		if t == nil {
			return nil, &Loss{Slug: "table in the end that no line creates", Detail: obs.Name}
		}
		w := r.seen(t, View{Tick: latest})
		g := cellTexts(obs.Rows)
		slices.Sort(g)
		if slices.Equal(w, g) {
			continue
		}
		d := &Difference{Stmt: -1, Kind: "wrong-final-state", Expected: listRows(w, true), Actual: listRows(g, true),
			Reason: fmt.Sprintf("table %s does not hold what the committed transactions wrote", t.Def.Name)}
		r.nameFinal(d, t, g)
		return d, nil
	}
	return nil, nil
}

// nameFinal refines a difference of the final state: whose commit is missing,
// or whose rollback left something behind?
func (r *Replay) nameFinal(d *Difference, t *Table, got []string) {
	for _, tx := range r.writers(t) {
		if tx.Commit > 0 && slices.Equal(got, r.seen(t, View{Tick: latest, WithoutTxn: tx})) {
			d.Kind = "lost-commit"
			d.Reason = fmt.Sprintf("the writes of a committed transaction of tx%d are missing from table %s", tx.Session, t.Def.Name)
			return
		}
	}
	for _, w := range r.writeStmts() {
		if slices.Equal(got, r.seen(t, View{Tick: latest, Without: w + 1})) {
			d.Kind = "lost-write"
			d.Reason = fmt.Sprintf("what tx%d wrote in its %s is missing from table %s", r.h.Stmts[w].Session, r.Steps[w].Kind, t.Def.Name)
			return
		}
	}
	undone := r.rolledBack()
	for _, tx := range undone {
		if slices.Equal(got, r.seen(r.keeping(tx).Tables[t.Def.Name], View{Tick: latest})) {
			d.Kind = "kept-rollback"
			d.Reason = fmt.Sprintf("writes of a transaction of tx%d that was rolled back are in table %s", tx.Session, t.Def.Name)
			return
		}
	}
	if len(undone) > 1 && slices.Equal(got, r.seen(r.keeping(undone...).Tables[t.Def.Name], View{Tick: latest})) {
		d.Kind = "kept-rollback"
		d.Reason = fmt.Sprintf("the writes of all transactions that were rolled back are in table %s", t.Def.Name)
	}
}

func (r *Replay) writers(t *Table) []*Txn {
	var out []*Txn
	for _, c := range t.Chains {
		for i := range c.Versions {
			if w := c.Versions[i].Txn; w != nil && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// seen returns what a view sees of a table, sorted.
func (r *Replay) seen(t *Table, v View) []string {
	rows, _ := t.Rows(v)
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = FormatRow(rows[i])
	}
	slices.Sort(out)
	return out
}
