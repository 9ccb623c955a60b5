package solve

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// column resolves a column name, innermost scope first.
func (c *compiler) column(n *ast.ColumnName) (expr, error) {
	depth := 0
	for sc := c.scope; sc != nil; sc, depth = sc.outer, depth+1 {
		found, at, keyed := false, 0, false
		var col *Column
		for _, src := range sc.sources {
			if !src.called(n.Table.L) {
				continue
			}
			i := src.table.ColumnIndex(n.Name.O)
			if i < 0 {
				continue
			}
			if found {
				return expr{}, &SQLError{1052, fmt.Sprintf("Column '%s' in field list is ambiguous", n.Name.O)}
			}
			found, at, col, keyed = true, src.offset+i, &src.table.Columns[i], src.table.inKey(i)
		}
		if it, err := sc.alias(n, found); it != nil || err != nil {
			if err == nil && depth > 0 {
				err = unsupported("alias of a select list in a subquery of its HAVING")
			}
			if err != nil {
				return expr{}, err
			}
			return it.expr, nil
		}
		if !found {
			continue
		}
		if col.Type.Class == JSONClass {
			return expr{}, unsupported("a JSON column in an expression")
		}
		e := columnAt(col.Type, at, depth)
		e.keyed = keyed
		if col.Type.Blob && c.d.is(blobsAreSilent) {
			e.reading = silent
		}
		return e, nil
	}
	return expr{}, &SQLError{1054, fmt.Sprintf("Unknown column '%s' in 'where clause'", n.String())}
}

// alias returns the item of the select list that a name in HAVING means, nil for
// none. Where it is a column's name, too, the servers choose by rules of their own.
// https://dev.mysql.com/doc/refman/9.7/en/select.html
func (sc *scope) alias(n *ast.ColumnName, column bool) (*item, error) {
	if sc.having == nil || n.Table.L != "" {
		return nil, nil
	}
	var out *item
	for i := range sc.items {
		it := &sc.items[i]
		if !it.alias || !strings.EqualFold(it.name, n.Name.O) {
			continue
		}
		if out != nil {
			return nil, unsupported("alias in HAVING that two columns have")
		}
		out = it
	}
	switch {
	case out == nil || !out.as:
		return nil, nil
	case column:
		return nil, unsupported("name in HAVING that is an alias and a column")
	case sc.aggs == nil:
		return nil, unsupported("alias inside an aggregate")
	}
	return out, nil
}

// ownColumn returns the column of the innermost query that a name means, nil if
// it has none.
func (c *compiler) ownColumn(n *ast.ColumnName) *Column {
	if c.scope == nil {
		return nil
	}
	for _, s := range c.scope.sources {
		if i := s.table.ColumnIndex(n.Name.O); i >= 0 && s.called(n.Table.L) {
			return &s.table.Columns[i]
		}
	}
	return nil
}

// ownColumns read the first columns of a row. They are made once, since every
// expression reads some.
var ownColumns = func() (out [16]func(*frame) sqlvalue.Value) {
	for i := range out {
		out[i] = func(f *frame) sqlvalue.Value { return f.row[i] }
	}
	return out
}()

func columnAt(t Type, at, depth int) expr {
	e := expr{typ: t, column: true}
	switch {
	case depth == 0 && at < len(ownColumns):
		e.eval = ownColumns[at]
	case depth == 0:
		e.eval = func(f *frame) sqlvalue.Value { return f.row[at] }
	case depth == 1:
		e.eval = func(f *frame) sqlvalue.Value { return f.outer.row[at] }
	default:
		e.eval = func(f *frame) sqlvalue.Value {
			for i := 0; i < depth; i++ {
				f = f.outer
			}
			return f.row[at]
		}
	}
	return e
}
