package plainsql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Case computes statements of one case. It is for one goroutine.
type Case struct {
	c      *corpus.Case
	tables map[string]*table // nil: nothing is plain
	texts  map[string]ast.StmtNode
}

// Of reads the tables of a case.
func Of(c *corpus.Case) *Case { return &Case{c: c, tables: schemaOf(c)} }

// Answer is what the server answers to a question; nil: it is beyond what is plain.
func (p *Case) Answer(q *history.Question) *history.Answer {
	if p.tables == nil || q.Plan {
		return nil
	}
	n := p.parsed(q.SQL)
	if n == nil {
		return nil
	}
	tables := slices.Clone(q.Tables)
	r, err := p.run(n, tables)
	if err != nil {
		return nil
	}
	a := &history.Answer{Result: r}
	if stmt.KindOf(n) != stmt.Select {
		a.After = tables
	}
	return a
}

// Alone is what the server answers to a question about whole statements; nil: it is beyond what is plain.
func (p *Case) Alone(q *history.Solo) *history.SoloAnswer {
	if p.tables == nil || len(q.Before)+len(q.IDs) > 0 {
		return nil
	}
	a := &history.SoloAnswer{After: slices.Clone(q.Tables)}
	for i, step := range q.Steps {
		r, err := p.run(p.c.Steps[step].Stmt, a.After)
		if err != nil || r.Err != nil && i < len(q.Steps)-1 {
			return nil
		}
		if a.Results = append(a.Results, r); r.Err != nil { // which undoes the transaction
			a.After = slices.Clone(q.Tables)
		}
	}
	return a
}

// parsed returns the statement of a question. Most are lines of the case.
func (p *Case) parsed(sql string) ast.StmtNode {
	if p.texts == nil {
		p.texts = map[string]ast.StmtNode{}
		for _, l := range p.c.Steps {
			if text, err := corpus.Format(l.Stmt, corpus.Text); err == nil {
				p.texts[text] = l.Stmt
			}
		}
	}
	n, ok := p.texts[sql]
	if !ok {
		n, _ = corpus.ParseStatement(sql)
		p.texts[sql] = n
	}
	return n
}

// run runs a statement on tables, whose rows it replaces.
func (p *Case) run(n ast.StmtNode, tables []history.Table) (history.Result, error) {
	beyond := func() (history.Result, error) { return history.Result{}, errBeyond }
	v := stmt.Of(n)
	from := v.Source()
	if from == nil || v.Table() == nil || v.Table().Schema.L != "" ||
		v.Limit != nil || v.With != nil || v.Ignore || v.Several {
		return beyond()
	}
	name := v.Table().Name.L
	t := p.tables[name]
	at := slices.IndexFunc(tables, func(h history.Table) bool { return strings.EqualFold(h.Name, name) })
	if t == nil || at < 0 || len(tables[at].Columns) != len(t.columns) {
		return beyond()
	}
	for i, c := range tables[at].Columns {
		if !strings.EqualFold(c, t.columns[i].name) {
			return beyond()
		}
	}
	x := &running{source: &source{t, cmp.Or(from.AsName.L, name)}, on: &tables[at], where: v.Where}
	switch s := n.(type) {
	case *ast.SelectStmt:
		return x.query(s, &v)
	case *ast.UpdateStmt:
		return x.update(s, &v)
	case *ast.DeleteStmt:
		return x.delete(&v)
	case *ast.InsertStmt:
		return x.insert(s)
	}
	return beyond()
}

// source is the table of a statement, and what that calls it.
type source struct {
	t      *table
	called string
}

// named is the index of a column, -1 if it is none of the table.
func (s *source) named(n *ast.ColumnName) int {
	if n.Schema.L != "" || n.Table.L != "" && n.Table.L != s.called {
		return -1
	}
	return s.t.column(n.Name.L)
}

// running is a statement on a table.
type running struct {
	*source
	on    *history.Table
	where ast.ExprNode
}

// blank is a row without values: what is beyond what is plain in a text shows by it, too, whatever the rows are.
func (x *running) blank() *row {
	r := &row{x.source, make([]value, len(x.t.columns))}
	for i := range r.values {
		r.values[i].null = true
	}
	return r
}

// found reads the rows of the table; hits holds the indexes of those that the condition chooses.
func (x *running) found() (rows []row, hits []int, err error) {
	if _, err := x.blank().truth(x.where); err != nil {
		return nil, nil, err
	}
	for i, cells := range x.on.Rows {
		r := row{x.source, make([]value, len(cells))}
		for k := range cells {
			if r.values[k], err = x.t.columns[k].read(cells[k]); err != nil {
				return nil, nil, err
			}
		}
		rows = append(rows, r)
		met, err := r.truth(x.where)
		if err != nil {
			return nil, nil, err
		}
		if met == yes {
			hits = append(hits, i)
		}
	}
	return rows, hits, nil
}

func told(affected int) history.Result {
	return history.Result{Matched: -1, Changed: -1, Affected: int64(affected)}
}

func (x *running) query(s *ast.SelectStmt, v *stmt.View) (history.Result, error) {
	if s.Kind != ast.SelectStmtKindSelect || s.Distinct || s.GroupBy != nil || s.Having != nil ||
		len(s.WindowSpecs) > 0 || s.SelectIntoOpt != nil || s.Fields == nil {
		return history.Result{}, errBeyond
	}
	rows, hits, err := x.found()
	if err != nil {
		return history.Result{}, err
	}
	if hits, err = x.sorted(rows, hits, v.Order); err != nil {
		return history.Result{}, err
	}
	r := told(len(hits))
	r.Rows = make([][]history.Cell, len(hits))
	for _, f := range s.Fields.Fields {
		columns, err := x.field(f)
		if err != nil {
			return history.Result{}, err
		}
		for _, k := range columns {
			r.Columns = append(r.Columns, x.t.columns[k].name)
			for i, hit := range hits {
				r.Rows[i] = append(r.Rows[i], x.on.Rows[hit][k])
			}
		}
	}
	return r, nil
}

// field returns the indexes of the columns that a field stands for.
func (x *running) field(f *ast.SelectField) ([]int, error) {
	if w := f.WildCard; w != nil {
		if w.Schema.L != "" || w.Table.L != "" && w.Table.L != x.called {
			return nil, errBeyond
		}
		all := make([]int, len(x.t.columns))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	n, ok := f.Expr.(*ast.ColumnNameExpr)
	if !ok || f.AsName.L != "" {
		return nil, errBeyond
	}
	k := x.named(n.Name)
	if k < 0 {
		return nil, errBeyond
	}
	return []int{k}, nil
}

// sorted orders rows by columns of numbers, of which no two rows have the same and none is NULL.
func (x *running) sorted(rows []row, hits []int, by *ast.OrderByClause) ([]int, error) {
	if by == nil {
		return hits, nil
	}
	var columns []int
	for _, item := range by.Items {
		n, ok := item.Expr.(*ast.ColumnNameExpr)
		if !ok {
			return nil, errBeyond
		}
		k := x.named(n.Name)
		if k < 0 || x.t.columns[k].kind != number {
			return nil, errBeyond
		}
		for _, hit := range hits {
			if rows[hit].values[k].null {
				return nil, errBeyond
			}
		}
		columns = append(columns, k)
	}
	out := slices.Clone(hits)
	tie := false
	slices.SortStableFunc(out, func(a, b int) int {
		for i, k := range columns {
			c := cmp.Compare(rows[a].values[k].n, rows[b].values[k].n)
			if by.Items[i].Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		tie = tie || a != b
		return 0
	})
	if tie {
		return nil, errBeyond
	}
	return out, nil
}
