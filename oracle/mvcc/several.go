package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// WritesSeveral reports whether a statement has the form of a write of several tables, of
// which it may write one and only read the others.
func WritesSeveral(node ast.StmtNode) bool {
	of := stmt.Of(node)
	return (of.Kind == stmt.Update || of.Kind == stmt.Delete) && (of.Several || stmt.SoleTable(of.From) == nil)
}

// ErrSeveralFails is the loss of a write of several tables whose error may come from any
// row that its plan has it look at.
var ErrSeveralFails = &Loss{Slug: "unsupported: a write to several tables that fails"}

// ChosenRow is what a write does to one row. Of a new one c and old are nil, and row is nil of
// one that it deletes.
type ChosenRow struct {
	Table    *versions.Table
	Chain    *versions.Chain
	Old, Row solve.Row
	Changed  bool
}

// ChosenRows returns what a write of several tables does on the rows of a view, table by
// table and in the order of their clustered keys.
func (r *Replay) ChosenRows(node ast.StmtNode, view versions.View) ([]ChosenRow, error) {
	from := stmt.Of(node).From
	f := &TableFinder{}
	from.Accept(f)
	var tables []*versions.Table
	for _, name := range f.Names {
		t := r.Table(name)
		switch {
		case t == nil:
			return nil, &Loss{Slug: "unsupported: a table that no set-up line creates"}
		case slices.Contains(tables, t):
			return nil, &Loss{Slug: "unsupported: a write that names a table twice"}
		}
		tables = append(tables, t)
	}
	on, chains := make([]solve.Found, len(tables)), make([][]*versions.Chain, len(tables))
	for i, t := range tables {
		rows, of := t.Rows(view)
		r.ScanOrder(t, rows, of)
		on[i], chains[i] = solve.Found{Table: t.Def, Rows: rows}, of
	}
	list, err := r.Solver.WriteSeveral(node, on)
	if err != nil {
		return nil, LossOf("solver", err)
	}
	out := make([]ChosenRow, len(list))
	for k, c := range list {
		out[k] = ChosenRow{tables[c.In], chains[c.In][c.At], on[c.In].Rows[c.At], c.Row, c.Changed}
	}
	return out, nil
}

// SeveralPrediction counts what a write of several tables does.
func SeveralPrediction(kind stmt.Kind, rows []ChosenRow) *Prediction {
	p := &Prediction{Matched: -1}
	if kind == stmt.Update {
		p.Matched = int64(len(rows))
	}
	for _, w := range rows {
		p.Read = append(p.Read, w.Chain)
		if w.Changed {
			p.Changed++
		}
	}
	return p
}

// TouchSeveral notes what a write of several tables read and wrote.
func (r *Replay) TouchSeveral(i int, tx *versions.Txn, at history.Tick, node ast.StmtNode, rows []ChosenRow) {
	r.TouchJoined(i, tx, at, stmt.Of(node).From)
	r.TouchChosen(i, tx, at, rows)
}

// TouchChosen notes the rows that a statement wrote.
func (r *Replay) TouchChosen(i int, tx *versions.Txn, at history.Tick, rows []ChosenRow) {
	for _, w := range rows {
		if !w.Changed {
			continue
		}
		images := slices.DeleteFunc([]solve.Row{w.Old, w.Row}, func(row solve.Row) bool { return row == nil })
		r.Touched = append(r.Touched, Touch{Stmt: i, Session: r.History.Stmts[i].Session, Txn: tx, At: at, Table: w.Table, Write: true, Images: images, Wide: true})
	}
}
