package innodb

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// update runs an UPDATE: row by row, or, where it changes what its scan or its
// row identity goes by, first all matching rows and then their changes.
func (x *running) update(s *ast.UpdateStmt, t *versions.Table) (*mvcc.Prediction, error) {
	e, tx := x.e, x.tx
	if x.waitsBackward(s.Order) && e.Profile.Has(rules.UpdatesInOrder) {
		// It changes rows as it goes, and passes some that others have locked; a DELETE does
		// not pass them, and others sort before they change.
		return nil, &mvcc.Loss{Slug: "unsupported: UPDATE that waits while it goes backward"}
	}
	p := &mvcc.Prediction{}
	a := x.accessOf(t, s.Where)
	x.table = t
	var images []solve.Row
	apply := func(h hit) error {
		row, changed, err := e.Solver.Update(s, t.Def, h.row, x.views(nil, nil))
		if err != nil {
			return err
		}
		p.Matched++
		p.Read = append(p.Read, h.c)
		if !changed {
			if e.writesNoOp(tx, s, t) || e.renewsNull(s, t, h.row) {
				e.write(t, h.c, h.row, tx, h.c.Last().RowID)
			}
			return nil
		}
		p.Changed++
		images = append(images, h.row, row)
		x.images = append(x.images, image{h.row, row})
		return x.changeRow(t, h, row)
	}
	var err error
	cut := s.Order != nil || s.Limit != nil
	two := x.twoPhases(s, a) || cut && !x.asItGoes(a, s.Order)
	if !two && !cut && (mvcc.ErrCode(x.st) != 0 || x.shows()) && assignsTested(s, t) {
		// Of several errors, which comes first is the plan's affair, and so is what a
		// reader of uncommitted data sees of an UPDATE that waits.
		two = e.choices.Choose(2) == 1
	}
	if !two {
		err = x.scan(a, versions.Exclusive, upTo(s.Limit, s.Order, apply))
	} else {
		var hits []hit
		enough, unordered := x.enough(a, s), false
		err = x.scan(a, versions.Exclusive, func(h hit) error {
			if hits = append(hits, h); len(hits) == enough {
				return errEnough
			}
			return nil
		})
		switch err {
		case errEnough:
			err = nil
			unordered = s.Order == nil && x.leaves(a, hits)
		case nil:
			hits, err = x.chosen(s, t, hits)
		}
		if e.loose && s.Order == nil && len(hits) > 1 && assignsUnique(s, t) && e.choices.Choose(2) == 1 {
			// A union of several indexes meets the rows in another order.
			slices.Reverse(hits)
		}
		for _, h := range hits {
			if err == nil {
				err = apply(h)
			}
		}
		if err == nil && unordered {
			err = mvcc.ErrUnordered
		}
	}
	if err == errDuplicate && s.IgnoreErr {
		return nil, mvcc.ErrIgnored
	}
	if err != nil {
		return nil, err
	}
	e.touchInnoDB(x, t, s.Where, len(images) > 0, images)
	return p, nil
}

// asItGoes decides whether a write with LIMIT or an order changes each row when it meets
// it, or finds all rows before it changes one. Where there is no order to be made, it
// does the former; where the index that it goes by has the order, it may: that is the
// plan's affair. While the write waits, a reader of uncommitted data sees the difference.
// https://dev.mysql.com/doc/refman/en/order-by-optimization.html
func (x *running) asItGoes(a *access, by *ast.OrderByClause) bool {
	if by == nil {
		return true
	}
	back := by.Items[0].Desc
	if !x.shows() || !hasOrder(a, by, back) {
		return false
	}
	goes := x.e.choices.Choose(2) == 1
	a.back = goes && back
	return goes
}

// shows reports whether a transaction may see what the statement has done while it waits.
func (x *running) shows() bool {
	return len(x.st.Waits) > 0 && slices.Contains(mvcc.Levels(x.e.Case, x.e.History), corpus.ReadUncommitted)
}

// hasOrder reports whether the rows come in an order by the index that they are found by,
// or, if back is set, by that index read from its end. Columns that the condition gives
// one value do not count.
func hasOrder(a *access, by *ast.OrderByClause, back bool) bool {
	var columns []int
	if a.key != nil {
		columns = a.key.Columns
	}
	if a.t.Clustered != nil {
		columns = append(slices.Clip(columns), a.t.Clustered.Columns...)
	}
	for _, item := range by.Items {
		c, ok := item.Expr.(*ast.ColumnNameExpr)
		if !ok {
			return false
		}
		i := a.t.Def.ColumnIndex(c.Name.Name.O)
		if pins(a.where, a.t, i, false) {
			continue // one value orders nothing
		}
		if item.Desc != back {
			return false
		}
		for len(columns) > 0 && columns[0] != i && pins(a.where, a.t, columns[0], false) {
			columns = columns[1:]
		}
		if len(columns) == 0 || columns[0] != i {
			return false
		}
		columns = columns[1:]
	}
	return true
}

// upTo stops acting on rows when a LIMIT is reached. Which rows it leaves must follow
// from an order.
func upTo(limit *ast.Limit, by *ast.OrderByClause, apply func(hit) error) func(hit) error {
	left, ok := mvcc.RowsOf(limit)
	if !ok {
		return apply
	}
	return func(h hit) error {
		if left == 0 && by == nil {
			return mvcc.ErrUnordered
		}
		if left == 0 {
			return nil
		}
		left--
		return apply(h)
	}
}

// errEnough ends a scan.
var errEnough = errors.New("enough rows")

// enough returns after how many rows an UPDATE that finds its rows first stops looking,
// 0 for never: without an order it does at its LIMIT, and does not wait for the rows
// behind. With one, some go by an index that has it, others sort. A reader of
// uncommitted data sees the difference.
func (x *running) enough(a *access, s *ast.UpdateStmt) int {
	n, ok := mvcc.RowsOf(s.Limit)
	if !ok || n == 0 || n > uint64(len(a.t.Chains)) || !x.shows() {
		return 0
	}
	if s.Order == nil {
		return int(n)
	}
	back := s.Order.Items[0].Desc
	if !x.e.Profile.Has(rules.UpdatesInOrder) || !hasOrder(a, s.Order, back) {
		return 0
	}
	if x.e.choices.Choose(2) == 0 {
		return 0
	}
	a.back = back
	return int(n)
}

// leaves reports whether a row beside those found may match, too.
func (x *running) leaves(a *access, found []hit) bool {
	views := x.views(nil, nil)
	for _, c := range a.t.Chains {
		if slices.ContainsFunc(found, func(h hit) bool { return h.c == c }) {
			continue
		}
		for i := range c.Versions {
			if c.Versions[i].Row == nil {
				continue
			}
			if ok, err := x.matches(a, &c.Versions[i], views); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// assignsUnique reports whether an UPDATE assigns a column of a unique key.
func assignsUnique(s *ast.UpdateStmt, t *versions.Table) bool {
	return slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return (k.Unique || k.Primary) && assigns(s, t, &k) })
}

// assignsTested reports whether an UPDATE assigns a column of a key that it may go by,
// the first column of which its condition tests.
func assignsTested(s *ast.UpdateStmt, t *versions.Table) bool {
	tested := mvcc.ColumnsIn(t.Def, s.Where)
	return slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return tested[k.Columns[0]] && assigns(s, t, &k) })
}

// assigns reports whether an UPDATE assigns a column of a key.
func assigns(s *ast.UpdateStmt, t *versions.Table, k *solve.Key) bool {
	return slices.ContainsFunc(s.List, func(l *ast.Assignment) bool {
		return slices.Contains(k.Columns, t.Def.ColumnIndex(l.Column.Name.O))
	})
}

// chosen applies ORDER BY and LIMIT to the rows that a scan collected.
func (x *running) chosen(s ast.StmtNode, t *versions.Table, hits []hit) ([]hit, error) {
	rows := make([]solve.Row, len(hits))
	for i := range hits {
		rows[i] = hits[i].row
	}
	idx, err := x.e.Solver.Matches(s, t.Def, rows, x.views(nil, nil))
	if err != nil {
		return nil, err
	}
	out := make([]hit, len(idx))
	for i, j := range idx {
		out[i] = hits[j]
	}
	if len(out) < len(hits) && !mvcc.Ordered(s, t, rows, idx) {
		return nil, mvcc.ErrUnordered
	}
	return out, nil
}

// twoPhases reports whether an UPDATE assigns a column of the index that it
// scans, or of the clustered key.
func (x *running) twoPhases(s *ast.UpdateStmt, a *access) bool {
	for _, l := range s.List {
		c := a.t.Def.ColumnIndex(l.Column.Name.O)
		if a.key != nil && slices.Contains(a.key.Columns, c) || a.t.Clustered != nil && slices.Contains(a.t.Clustered.Columns, c) {
			return true
		}
	}
	return false
}

// writesNoOp reports whether an UPDATE that changes no value of a row makes a
// version of it.
func (e *engine) writesNoOp(tx *versions.Txn, s *ast.UpdateStmt, t *versions.Table) bool {
	switch tx.Rules.Of(rules.NoOpUpdate) {
	case rules.NoOpWrites:
		return true
	case rules.NoOpInvisibleIfRead:
		read := e.ownColumns(t, s.Where)
		for _, l := range s.List {
			maps.Copy(read, e.ownColumns(t, l.Expr))
		}
		if t.Clustered != nil {
			for _, c := range t.Clustered.Columns {
				read[c] = true
			}
		}
		return slices.ContainsFunc(s.List, func(l *ast.Assignment) bool { return !read[t.Def.ColumnIndex(l.Column.Name.O)] })
	}
	return false
}

// ownColumns is mvcc.ColumnsIn without the columns that subqueries take from their own
// tables, which come before those of the statement around them.
func (e *engine) ownColumns(t *versions.Table, n ast.ExprNode) map[int]bool {
	f := &ownCollector{e: e, t: t, cols: map[int]bool{}}
	if n != nil {
		n.Accept(f)
	}
	return f.cols
}

type ownCollector struct {
	e     *engine
	t     *versions.Table
	cols  map[int]bool
	inner [][]string // the tables of each SELECT around
}

// Enter implements ast.Visitor.
func (f *ownCollector) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SelectStmt:
		from := &mvcc.TableFinder{}
		if x.From != nil {
			x.From.Accept(from)
		}
		f.inner = append(f.inner, from.Names)
	case *ast.ColumnName:
		inside := func(name string) bool {
			t := f.e.Table(name)
			return t != nil && t.Def.ColumnIndex(x.Name.O) >= 0
		}
		if x.Table.L != "" && !strings.EqualFold(x.Table.O, f.t.Def.Name) {
			break
		}
		if x.Table.L != "" || !slices.ContainsFunc(f.inner, func(names []string) bool { return slices.ContainsFunc(names, inside) }) {
			f.cols[f.t.Def.ColumnIndex(x.Name.O)] = true
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *ownCollector) Leave(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SelectStmt); ok {
		f.inner = f.inner[:len(f.inner)-1]
	}
	return n, true
}

// renewsNull reports whether an UPDATE assigns NULL to a column that is NULL
// already and whose default is no zero. MySQL holds the bytes of the default below
// such a NULL, and zeros below the new one, takes the two for different and writes
// a version after all, while it counts no row as changed (compare_records in
// sql/sql_update.cc compares whole records).
func (e *engine) renewsNull(s *ast.UpdateStmt, t *versions.Table, row solve.Row) bool {
	return e.Profile.Has(rules.NullHoldsDefault) && slices.ContainsFunc(s.List, func(l *ast.Assignment) bool { return renewed(t, l, row) })
}

// renewed reports whether the column of an assignment is NULL in a row and has a
// default that is no zero.
func renewed(t *versions.Table, l *ast.Assignment, row solve.Row) bool {
	i := t.Def.ColumnIndex(l.Column.Name.O)
	return i >= 0 && row[i].IsNull() && !zeroDefault(&t.Def.Columns[i])
}

// zeroDefault reports whether a column's default is NULL or what the server makes
// of nothing: zero, or an empty text.
func zeroDefault(c *solve.Column) bool {
	text, null := c.Default.Text()
	switch c.Type.Class {
	case solve.StringClass, solve.EnumClass, solve.SetClass:
		return null || strings.Trim(text, "\x00") == ""
	case solve.TimeClass, solve.DateClass, solve.DatetimeClass, solve.TimestampClass:
		return null || strings.Trim(text, "0:-. ") == ""
	}
	return null || c.Default.ToDouble() == 0
}
