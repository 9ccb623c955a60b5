package solve

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Insert computes the rows that an INSERT or REPLACE adds, in order, with
// Generated values where the server generates an AUTO_INCREMENT. Beside an
// error it returns the rows that were written before it: a duplicate key among
// them is the statement's error instead.
func (s *Solver) Insert(stmt *ast.InsertStmt, t *Table, v Views) ([]Row, error) {
	c := &compiler{s: s, d: s.d, views: v, write: true, scope: &scope{sources: []source{{t.Name, t, 0}}}}
	f := s.writeFrame(v, stmt.IgnoreErr)
	cols, err := insertColumns(stmt, t)
	if err != nil {
		return nil, err
	}
	if stmt.Select != nil {
		return c.insertSelect(&f, stmt, t, cols)
	}
	f.nullsLater = s.d.is(nullsLast)
	var out []Row
	for _, list := range stmt.Lists {
		var row Row
		var err error
		if s.leaves(stmt) {
			switch asked, failed, ok := s.askedRow(stmt, t, list); {
			case ok && failed == nil:
				out = append(out, asked)
				continue
			case ok:
				return s.partial(out), failed
			case s.asking.refuses():
				return nil, errToBeAsked
			}
		}
		row, err = c.insertRow(&f, t, cols, list, len(out)+1)
		if err != nil && s.asks(err, stmt) {
			if asked, failed, ok := s.askedRow(stmt, t, list); ok {
				row, err, f.err = asked, failed, nil
			}
		}
		if err != nil {
			return s.partial(out), err
		}
		out = append(out, row)
	}
	return out, nil
}

// partial returns what an INSERT wrote before it failed.
func (s *Solver) partial(rows []Row) []Row {
	if s.d.is(insertConvertsAll) {
		return nil
	}
	return rows
}

// insertRow computes the row of one value list, n counted from 1.
func (c *compiler) insertRow(f *frame, t *Table, cols []int, list []ast.ExprNode, n int) (Row, error) {
	if len(list) == 0 {
		cols = nil
	}
	if err := t.leavesRows(); err != nil {
		return nil, err
	}
	if len(list) != len(cols) {
		return nil, &SQLError{1136, fmt.Sprintf("Column count doesn't match value count at row %d", n)}
	}
	row := make(Row, len(t.Columns))
	given := make([]bool, len(t.Columns))
	for i := range list {
		given[cols[i]] = true
	}
	if c.d.is(defaultsFirst) {
		if c.fillDefaults(f, t, row, given); f.err != nil {
			return nil, f.err
		}
	}
	if c.d.is(nullsLast) {
		for i, x := range list {
			if _, ok := x.(*ast.DefaultExpr); ok {
				c.defaultOf(f, &t.Columns[cols[i]])
			}
		}
	}
	f.row = row
	for i, x := range list {
		col := &t.Columns[cols[i]]
		if d, ok := x.(*ast.DefaultExpr); ok {
			if d.Name != nil {
				return nil, errDefaultOf
			}
			row[cols[i]] = c.defaultOf(f, col)
		} else {
			if mentionsColumn(x) {
				return nil, unsupported("column in VALUES")
			}
			e, err := c.expr(x)
			if err != nil {
				return nil, err
			}
			row[cols[i]] = c.insertValue(f, col, e.forColumn(col).eval(f), e.typ)
		}
		if f.err != nil {
			return nil, f.err
		}
	}
	return row, c.complete(f, t, row, given)
}

// complete fills in missing values and looks for NULLs where none may be.
func (c *compiler) complete(f *frame, t *Table, row Row, given []bool) error {
	if !c.d.is(defaultsFirst) {
		c.fillDefaults(f, t, row, given)
	}
	for i := range row {
		if row[i].IsNull() && t.Columns[i].NotNull && f.err == nil {
			f.fail(1048, "Column '%s' cannot be null", t.Columns[i].Name)
		}
	}
	return f.err
}

// insertColumns returns the columns that values are given for.
func insertColumns(stmt *ast.InsertStmt, t *Table) ([]int, error) {
	if len(stmt.Columns) == 0 {
		out := make([]int, len(t.Columns))
		for i := range out {
			out[i] = i
		}
		return out, nil
	}
	var out []int
	seen := make([]bool, len(t.Columns))
	for _, n := range stmt.Columns {
		i := t.ColumnIndex(n.Name.O)
		if i < 0 {
			return nil, &SQLError{1054, fmt.Sprintf("Unknown column '%s' in 'field list'", n.Name.O)}
		}
		if seen[i] {
			return nil, &SQLError{1110, fmt.Sprintf("Column '%s' specified twice", n.Name.O)}
		}
		seen[i] = true
		out = append(out, i)
	}
	return out, nil
}

func (c *compiler) insertValue(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	if !col.Auto {
		return c.store(f, col, v, from)
	}
	if v.IsNull() && col.NotNull {
		return sqlvalue.NewGenerated()
	}
	w := c.store(f, col, v, from)
	if f.err == nil && !w.IsNull() && w.Sign() == 0 && c.d.Mode&NoAutoValueOnZero == 0 {
		return sqlvalue.NewGenerated()
	}
	return w
}

func (c *compiler) fillDefaults(f *frame, t *Table, row Row, given []bool) {
	for i := range row {
		if !given[i] {
			row[i] = c.defaultOf(f, &t.Columns[i])
		}
	}
}

func (c *compiler) insertSelect(f *frame, stmt *ast.InsertStmt, t *Table, cols []int) ([]Row, error) {
	sel, ok := stmt.Select.(*ast.SelectStmt)
	if !ok {
		return nil, unsupported("INSERT of %s", inWords(stmt.Select))
	}
	if err := t.leavesRows(); err != nil {
		return nil, err
	}
	q, err := c.s.query(sel, nil, c.views)
	if err != nil {
		return nil, err
	}
	if len(q.items) != len(cols) {
		return nil, &SQLError{1136, "Column count doesn't match value count at row 1"}
	}
	r, err := q.result(f)
	if err != nil {
		return nil, err
	}
	if r.Cut {
		return nil, errUnordered
	}
	f.castsStored, f.nullsLater, f.overflows = c.d.is(updateCasts), c.d.is(nullsLast), c.d.is(copiesOverflow)
	var out []Row
	for _, values := range r.Rows {
		row := make(Row, len(t.Columns))
		given := make([]bool, len(t.Columns))
		for _, i := range cols {
			given[i] = true
		}
		if c.d.is(defaultsFirst) {
			c.fillDefaults(f, t, row, given)
		}
		for i, v := range values {
			row[cols[i]] = c.insertValue(f, &t.Columns[cols[i]], v, q.items[i].typ)
		}
		if err := c.complete(f, t, row, given); err != nil {
			return c.s.partial(out), err
		}
		out = append(out, row)
	}
	if !r.TotalOrder && generates(out) {
		return nil, unsupported("AUTO_INCREMENT values of rows without a total order")
	}
	for i := range t.Columns {
		if col := &t.Columns[i]; len(out) == 0 && !col.HasDefault && !col.Auto && !slices.Contains(cols, i) {
			return nil, unsupported("column without a default in an INSERT of no row")
		}
	}
	return out, nil
}

// generates tells whether one of the rows gets an AUTO_INCREMENT value.
func generates(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return slices.ContainsFunc(r, sqlvalue.Value.IsGenerated) })
}

// OnDuplicate computes the ON DUPLICATE KEY UPDATE list: oldRow is the row in
// the way, newRow the row that could not be inserted, which VALUES(col) reads.
func (s *Solver) OnDuplicate(stmt *ast.InsertStmt, t *Table, oldRow, newRow Row, v Views) (Row, bool, error) {
	if stmt.Select != nil && slices.ContainsFunc(stmt.OnDuplicate, func(a *ast.Assignment) bool { return mentionsColumn(a.Expr) }) {
		return nil, false, unsupported("ON DUPLICATE KEY UPDATE that may read the columns of a query")
	}
	c := &compiler{s: s, d: s.d, views: v, write: true, values: t, scope: &scope{sources: []source{{t.Name, t, 0}}}}
	p, err := s.compile(stmt, t, v, func(_ *compiler, p *program) error {
		sets, err := c.assignments(stmt.OnDuplicate, t)
		p.sets, p.compiler = sets, c
		return err
	})
	if err != nil {
		if s.asks(err, stmt) {
			if row, changed, failed, ok := s.askedDuplicate(stmt, t, oldRow); ok {
				return row, changed, failed
			}
		}
		return nil, false, err
	}
	f := s.writeFrame(v, stmt.IgnoreErr)
	f.other = newRow
	f.castsStored, f.nullsLater, f.overflows = s.d.is(updateCasts), s.d.is(nullsLast), s.d.is(copiesOverflow)
	out, changed := p.compiler.assign(&f, t, p.sets, oldRow, false)
	return out, changed, f.err
}

func (c *compiler) valuesOf(n *ast.ValuesExpr) (expr, error) {
	if c.values == nil {
		return expr{}, unsupported("VALUES(col) outside ON DUPLICATE KEY UPDATE")
	}
	i := c.values.ColumnIndex(n.Column.Name.Name.O)
	if i < 0 {
		return expr{}, &SQLError{1054, fmt.Sprintf("Unknown column '%s' in 'field list'", n.Column.Name.Name.O)}
	}
	return expr{typ: c.values.Columns[i].Type, column: true, eval: func(f *frame) sqlvalue.Value { return f.other[i] }}, nil
}

type columnFinder struct{ found bool }

func (c *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.ColumnNameExpr:
		c.found = true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, c.found
}

func (c *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func mentionsColumn(n ast.ExprNode) bool {
	var c columnFinder
	n.Accept(&c)
	return c.found
}
