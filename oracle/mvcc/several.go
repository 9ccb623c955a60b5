package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// writesSeveral reports whether a statement has the form of a write of several tables, of
// which it may write one and only read the others.
func writesSeveral(node ast.StmtNode) bool {
	of := stmt.Of(node)
	return (of.Kind == stmt.Update || of.Kind == stmt.Delete) && (of.Several || stmt.SoleTable(of.From) == nil)
}

// errSeveralFails is the loss of a write of several tables whose error may come from any
// row that its plan has it look at.
var errSeveralFails = &Loss{Slug: "unsupported: a write to several tables that fails"}

// chosenRow is what a write does to one row. Of a new one c and old are nil, and row is nil of
// one that it deletes.
type chosenRow struct {
	t        *Table
	c        *Chain
	old, row solve.Row
	changed  bool
}

// chosenRows returns what a write of several tables does on the rows of a view, table by
// table and in the order of their clustered keys.
func (r *Replay) chosenRows(node ast.StmtNode, view View) ([]chosenRow, error) {
	from := stmt.Of(node).From
	f := &tableFinder{}
	from.Accept(f)
	var tables []*Table
	for _, name := range f.names {
		t := r.table(name)
		switch {
		case t == nil:
			return nil, &Loss{Slug: "unsupported: a table that no set-up line creates"}
		case slices.Contains(tables, t):
			return nil, &Loss{Slug: "unsupported: a write that names a table twice"}
		}
		tables = append(tables, t)
	}
	on, chains := make([]solve.Found, len(tables)), make([][]*Chain, len(tables))
	for i, t := range tables {
		rows, of := t.Rows(view)
		r.scanOrder(t, rows, of)
		on[i], chains[i] = solve.Found{Table: t.Def, Rows: rows}, of
	}
	list, err := r.solver.WriteSeveral(node, on)
	if err != nil {
		return nil, lossOf("solver", err)
	}
	out := make([]chosenRow, len(list))
	for k, c := range list {
		out[k] = chosenRow{tables[c.In], chains[c.In][c.At], on[c.In].Rows[c.At], c.Row, c.Changed}
	}
	return out, nil
}

// severalPrediction counts what a write of several tables does.
func severalPrediction(kind stmt.Kind, rows []chosenRow) *Prediction {
	p := &Prediction{Matched: -1}
	if kind == stmt.Update {
		p.Matched = int64(len(rows))
	}
	for _, w := range rows {
		p.read = append(p.read, w.c)
		if w.changed {
			p.Changed++
		}
	}
	return p
}

// touchSeveral notes what a write of several tables read and wrote.
func (r *Replay) touchSeveral(i int, tx *Txn, at history.Tick, node ast.StmtNode, rows []chosenRow) {
	r.touchJoined(i, tx, at, stmt.Of(node).From)
	r.touchChosen(i, tx, at, rows)
}

// touchChosen notes the rows that a statement wrote.
func (r *Replay) touchChosen(i int, tx *Txn, at history.Tick, rows []chosenRow) {
	for _, w := range rows {
		if !w.changed {
			continue
		}
		images := slices.DeleteFunc([]solve.Row{w.old, w.row}, func(row solve.Row) bool { return row == nil })
		r.touched = append(r.touched, touch{stmt: i, session: r.h.Stmts[i].Session, txn: tx, at: at, table: w.t, write: true, images: images, wide: true})
	}
}

// several predicts a write of several tables and applies it.
func (r *Replay) several(i int, tx *Txn, kind stmt.Kind, node ast.StmtNode, view View) (*Prediction, error) {
	code := errCode(&r.h.Stmts[i])
	if code != 0 && code != errDup {
		return nil, errSeveralFails
	}
	rows, err := r.chosenRows(node, view)
	if err != nil {
		return nil, err
	}
	p := severalPrediction(kind, rows)
	r.touchSeveral(i, tx, r.h.Stmts[i].Submit, node, rows)
	for _, w := range rows {
		switch {
		case w.row == nil:
			r.store.Delete(w.t, w.c, tx)
		case w.changed || tx.Rules.of(rules.NoOpUpdate) == rules.NoOpWrites:
			r.store.Update(w.t, w.c, w.row, tx)
		}
	}
	switch {
	case r.sharesKey(rows, tx):
		p.Err = errDup
	case code == errDup:
		return nil, errSeveralFails
	}
	return p, nil
}

// sharesKey reports whether a row that a write of several tables has changed has a key of
// another one. Which rows have each other's keys in passing is the plan's affair; what they
// have in the end is not.
func (r *Replay) sharesKey(rows []chosenRow, tx *Txn) bool {
	now := View{Tick: latest, Own: tx}
	return slices.ContainsFunc(rows, func(w chosenRow) bool {
		return w.changed && w.row != nil && len(r.duplicates(w.t, now, w.row, nil)) > 1 // itself is one
	})
}
