package solve

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// assignment is one col = value of a SET list.
type assignment struct {
	col int
	expr
	// dflt says that the value is the column's default.
	dflt bool
}

func (c *compiler) assignments(list []*ast.Assignment, t *Table) ([]assignment, error) {
	if err := t.leavesRows(); err != nil {
		return nil, err
	}
	var out []assignment
	for _, a := range list {
		i := t.ColumnIndex(a.Column.Name.O)
		if i < 0 {
			return nil, &SQLError{1054, fmt.Sprintf("Unknown column '%s' in 'field list'", a.Column.Name.O)}
		}
		for _, earlier := range out {
			if earlier.col == i && c.d.is(updateCasts) {
				return nil, unsupported("column assigned twice")
			}
		}
		if d, ok := a.Expr.(*ast.DefaultExpr); ok {
			if d.Name != nil {
				return nil, errDefaultOf
			}
			if !t.Columns[i].HasDefault {
				// The error may come although no row matches.
				return nil, unsupported("DEFAULT of a column without one")
			}
			out = append(out, assignment{col: i, dflt: true})
			continue
		}
		e, err := c.expr(a.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, assignment{col: i, expr: e})
	}
	return out, nil
}

// assign runs a SET list on a copy of the row. MySQL and MariaDB evaluate it
// left to right on the row as it is changed.
// https://dev.mysql.com/doc/refman/9.7/en/update.html
func (c *compiler) assign(f *frame, t *Table, sets []assignment, row Row, seesOld bool) (Row, bool) {
	out := append(Row(nil), row...)
	f.row = out
	if seesOld {
		f.row = row
	}
	changed := false
	if c.d.is(defaultsFirst) || c.d.is(nullsLast) {
		for i := range sets {
			if sets[i].dflt {
				c.defaultOf(f, &t.Columns[sets[i].col])
			}
		}
	}
	for i := range sets {
		a := &sets[i]
		col := &t.Columns[a.col]
		var v sqlvalue.Value
		if a.dflt {
			v = c.defaultOf(f, col)
		} else if a.moment && col.Type.Class == BitClass {
			// Negated it may be a decimal, with an error of its own.
			v = f.refuse("number of a date or time stored in a BIT")
		} else {
			v = c.store(f, col, a.forColumn(col).eval(f), a.typ)
			if a.computed && a.typ.Class == StringClass && col.Type.Class != StringClass && c.d.is(updateCasts) && isSQL(f.err) {
				f.err = unsupported("computed text that is no number, behind a CAST")
			}
		}
		if f.err != nil {
			return nil, false
		}
		out[a.col] = v
		f.emptied = f.emptied || col.Type.Blob && v.Str() == "" && !v.IsNull() && c.d.is(emptiedIsSilent)
	}
	for i := range sets {
		if col := &t.Columns[sets[i].col]; f.nullsLater && col.NotNull && out[sets[i].col].IsNull() {
			f.fail(1048, "Column '%s' cannot be null", col.Name)
			return nil, false
		}
	}
	for i := range out {
		changed = changed || out[i] != row[i] && !(c.d.is(zerosEqual) && zeros(out[i], row[i]))
	}
	if !changed {
		copy(out, row)
	}
	return out, changed
}

// forColumn returns the form of an expression that a column takes: a number
// for a hexadecimal literal, unless the column holds strings.
func (e *expr) forColumn(col *Column) *expr {
	switch {
	case e.number == nil:
	case isMember(col.Type) || isTemporal(col.Type):
		out := *e
		out.eval = func(f *frame) sqlvalue.Value {
			return f.refuse("hexadecimal literal stored in an ENUM, SET, date or time")
		}
		return &out
	case col.Type.Class != StringClass:
		return e.number
	}
	return e
}

var errDefaultOf = unsupported("DEFAULT of a named column")

func (c *compiler) defaultOf(f *frame, col *Column) sqlvalue.Value {
	switch {
	case col.Auto:
		return sqlvalue.NewGenerated()
	case !col.HasDefault && col.Type.Class == EnumClass:
		// Its default is the first member, no error.
		// https://dev.mysql.com/doc/refman/9.7/en/data-type-defaults.html
		return col.implicitDefault()
	case !col.HasDefault && f.lenient && isTemporal(col.Type):
		return f.refuse("implicit default of a date or time")
	case !col.HasDefault && f.lenient:
		return f.lenientValue(col.implicitDefault())
	case !col.HasDefault:
		return f.fail(1364, "Field '%s' doesn't have a default value", col.Name)
	}
	return col.Default
}

// UpdateAll runs an UPDATE on all rows of a view: it returns the indexes of the
// rows that matched, what each becomes, and whether it changed. Without ORDER
// BY and LIMIT each row is tested and then computed before the next, so that of
// several errors the first in this order is the statement's. Beside an error it
// returns the rows that could be computed: where one of them meets a unique key
// and comes earlier, error 1062 is the statement's instead.
func (s *Solver) UpdateAll(stmt *ast.UpdateStmt, t *Table, rows []Row, v Views) (idx []int, news []Row, changed []bool, err error) {
	p, err := s.setter(stmt, t, v)
	if err != nil && !s.asks(err, stmt) {
		return nil, nil, nil, err
	}
	idx, news, changed, err = s.updateRows(stmt, t, rows, v)
	if p != nil && p.badLiteral && s.d.Mode&Strict != 0 {
		err = badLiteralError(err)
	}
	return idx, news, changed, err
}

func (s *Solver) updateRows(stmt *ast.UpdateStmt, t *Table, rows []Row, v Views) (idx []int, news []Row, changed []bool, err error) {
	one := func(i int) error {
		r, c, err := s.Update(stmt, t, rows[i], v)
		if err == nil {
			idx, news, changed = append(idx, i), append(news, r), append(changed, c)
		}
		return err
	}
	ordered := stmt.Order != nil || stmt.Limit != nil
	if ordered || s.d.is(whereFirst) {
		chosen, err := s.Matches(stmt, t, rows, v)
		if err != nil {
			return nil, nil, nil, err
		}
		var first error
		for _, i := range chosen {
			err := one(i)
			if err != nil && ordered && stmt.Order == nil {
				err = unsupported("error under ORDER BY or LIMIT")
			}
			if first = firstError(first, err); first != nil && !isSQL(first) {
				break
			}
		}
		if first != nil {
			return idx, news, changed, first
		}
	} else {
		var first error
		for i, r := range rows {
			truth, err := s.Test(stmt, t, r, v)
			if err == nil && truth == sqlvalue.True {
				err = one(i)
			}
			if first = firstError(first, err); first != nil && !isSQL(first) {
				break
			}
		}
		if first != nil {
			return idx, news, changed, first
		}
	}
	return idx, news, changed, nil
}

// firstError keeps the error of the first row that fails. Which row is first is
// the access path's affair, so a second error of another code is refused.
func firstError(first, err error) error {
	switch {
	case first == nil:
		return err
	case err == nil || sameError(first, err):
		return first
	}
	return &Unsupported{"rows that fail with different errors"}
}

func isSQL(err error) bool {
	_, ok := err.(*SQLError)
	return ok
}

// zeros tells whether two values are floating-point zeros, of whatever sign.
func zeros(v, w sqlvalue.Value) bool {
	k := v.Kind()
	return k == w.Kind() && (k == sqlvalue.Double || k == sqlvalue.Float) && v.Sign() == 0 && w.Sign() == 0
}

// Update computes the SET list of an UPDATE on one row that it matched. The
// row itself is left as it is; changed tells whether any stored value differs,
// bytes compared.
func (s *Solver) Update(stmt *ast.UpdateStmt, t *Table, row Row, v Views) (newRow Row, changed bool, err error) {
	if s.leaves(stmt) {
		switch row, changed, failed, ok := s.askedUpdate(stmt, t, row); {
		case ok:
			return row, changed, failed
		case s.asking.refuses():
			return nil, false, errToBeAsked
		}
	}
	p, err := s.setter(stmt, t, v)
	if err != nil {
		if s.asks(err, stmt) {
			if row, changed, failed, ok := s.askedUpdate(stmt, t, row); ok {
				return row, changed, failed
			}
		}
		return nil, false, err
	}
	f := s.writeFrame(v, stmt.IgnoreErr)
	f.castsStored, f.nullsLater = s.d.is(updateCasts), s.d.is(nullsLast)
	f.castsFirst = p.point && s.d.is(pointCasts)
	newRow, changed = p.compiler.assign(&f, t, p.sets, row, s.d.is(setSeesOld))
	return newRow, changed, f.err
}

// writeFrame is a frame for a statement that writes; ignore says IGNORE.
func (s *Solver) writeFrame(v Views, ignore bool) frame {
	return frame{views: v, strictWrite: s.d.Mode&Strict != 0 && !ignore, lenient: ignore}
}

// setter compiles an UPDATE's clauses and its SET list.
func (s *Solver) setter(stmt *ast.UpdateStmt, t *Table, v Views) (*program, error) {
	p, err := s.chooser(stmt, t, v)
	if err != nil || p.compiler != nil {
		return p, err
	}
	name, _ := singleTable(stmt.TableRefs)
	c := &compiler{s: s, d: s.d, views: v, write: true, scope: &scope{sources: []source{{name, t, 0}}}}
	if p.sets, err = c.assignments(stmt.List, t); err != nil {
		return nil, err
	}
	p.compiler, p.point = c, stmt.Order == nil && looksUp(t, stmt.Where)
	p.badLiteral = p.badLiteral || c.badLiteral
	return p, nil
}

// looksUp tells whether a condition may be nothing but equalities, or an IN, that
// give a whole unique key.
func looksUp(t *Table, where ast.ExprNode) bool {
	var cols []int
	for _, x := range conjuncts(where, nil) {
		switch x := x.(type) {
		case *ast.PatternInExpr:
			return !x.Not && x.Sel == nil && len(cols) == 0
		case *ast.BinaryOperationExpr:
			i := columnIn(t, x.L)
			if i < 0 {
				i = columnIn(t, x.R)
			}
			if x.Op != opcode.EQ || i < 0 {
				return false
			}
			cols = append(cols, i)
		default:
			return false
		}
	}
	return slices.ContainsFunc(t.Keys, func(k Key) bool {
		return k.Unique && len(k.Columns) == len(cols) &&
			!slices.ContainsFunc(k.Columns, func(i int) bool { return !slices.Contains(cols, i) })
	})
}

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
