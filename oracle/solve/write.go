package solve

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
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

// writeFrame is a frame for a statement that writes; ignore says IGNORE.
func (s *Solver) writeFrame(v Views, ignore bool) frame {
	return frame{views: v, strictWrite: s.d.Mode&Strict != 0 && !ignore, lenient: ignore}
}
