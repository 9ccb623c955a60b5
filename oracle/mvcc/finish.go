package mvcc

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Final compares what the tables held in the end with what they had to hold: content
// gives the rows of one as the replay left it. What was open is rolled back by then.
func (r *Replay) Final(content func(*versions.Table) []solve.Row) (*Difference, error) {
	if r.History.End == history.Lost {
		return nil, nil
	}
	for i := range r.History.Final {
		obs := &r.History.Final[i]
		t := r.Table(obs.Name)
		switch {
		case t == nil && r.leftAlone(obs):
			continue
		case t == nil:
			return nil, &Loss{Slug: "table in the end that no line creates", Detail: obs.Name}
		}
		rows := content(t)
		want, got := rowTexts(rows), CellTexts(obs.Rows)
		slices.Sort(want)
		slices.Sort(got)
		if slices.Equal(want, got) {
			continue
		}
		d := &Difference{Stmt: -1, Kind: "wrong-final-state", Expected: ListRows(shownRows(rows), false), Actual: ListRows(shownCells(obs.Rows), false),
			Reason: fmt.Sprintf("table %s does not hold what the committed transactions wrote", t.Def.Name)}
		r.nameFinal(d, t, got)
		return d, nil
	}
	return nil, nil
}

// Newest gives the rows of a table behind everything.
func Newest(t *versions.Table) []solve.Row {
	rows, _ := t.Rows(versions.View{Tick: versions.Latest})
	return rows
}

// nameFinal refines a difference of the final state: whose commit is missing,
// or whose rollback left something behind?
func (r *Replay) nameFinal(d *Difference, t *versions.Table, got []string) {
	for _, tx := range r.writers(t) {
		if tx.Commit > 0 && slices.Equal(got, r.Seen(t, versions.View{Tick: versions.Latest, WithoutTxn: tx})) {
			d.Kind = "lost-commit"
			d.Reason = fmt.Sprintf("the writes of a committed transaction of tx%d are missing from table %s", tx.Session, t.Def.Name)
			return
		}
	}
	for _, w := range r.WriteStmts() {
		if slices.Equal(got, r.Seen(t, versions.View{Tick: versions.Latest, Without: w + 1})) {
			d.Kind = "lost-write"
			d.Reason = fmt.Sprintf("what tx%d wrote in its %s is missing from table %s", r.History.Stmts[w].Session, r.Steps[w].Kind, t.Def.Name)
			return
		}
	}
	undone := r.RolledBack()
	for _, tx := range undone {
		if slices.Equal(got, r.Seen(r.Keeping(tx).Tables[t.Def.Name], versions.View{Tick: versions.Latest})) {
			d.Kind = "kept-rollback"
			d.Reason = fmt.Sprintf("writes of a transaction of tx%d that was rolled back are in table %s", tx.Session, t.Def.Name)
			return
		}
	}
	if len(undone) > 1 && slices.Equal(got, r.Seen(r.Keeping(undone...).Tables[t.Def.Name], versions.View{Tick: versions.Latest})) {
		d.Kind = "kept-rollback"
		d.Reason = fmt.Sprintf("the writes of all transactions that were rolled back are in table %s", t.Def.Name)
	}
}

func (r *Replay) writers(t *versions.Table) []*versions.Txn {
	var out []*versions.Txn
	for _, c := range t.Chains {
		for i := range c.Versions {
			if w := c.Versions[i].Txn; w != nil && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// Seen returns what a view sees of a table, sorted.
func (r *Replay) Seen(t *versions.Table, v versions.View) []string {
	rows, _ := t.Rows(v)
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = versions.FormatRow(rows[i])
	}
	slices.Sort(out)
	return out
}
