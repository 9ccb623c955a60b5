package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

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
