package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// kindMix weighs the kinds of the statements of a transaction.
type kindMix []weighted[stmt.Kind]

var (
	balanced = kindMix{{22, stmt.Select}, {30, stmt.Update}, {12, stmt.Delete}, {14, stmt.Insert}, {12, stmt.SelectForUpdate}, {10, stmt.SelectForShare}}
	// A transaction that mostly reads waits for nothing, so that others can
	// run and commit in its midst.
	reading = kindMix{{64, stmt.Select}, {18, stmt.Update}, {5, stmt.Delete}, {7, stmt.Insert}, {3, stmt.SelectForUpdate}, {3, stmt.SelectForShare}}
	writing = kindMix{{12, stmt.Select}, {44, stmt.Update}, {18, stmt.Delete}, {22, stmt.Insert}, {2, stmt.SelectForUpdate}, {2, stmt.SelectForShare}}

	kindMixes = []weighted[kindMix]{{54, balanced}, {26, reading}, {20, writing}}
)

var (
	assignmentCounts = []weighted[int]{{72, 1}, {22, 2}, {6, 3}}
	insertedRows     = []weighted[int]{{78, 1}, {16, 2}, {6, 3}}
)

// Out of 256.
const (
	columnListOdds = 32
	keyColumnOdds  = 70
	// repeatedKeyOdds is how often an assignment that suits one row only is
	// confined to one; else it mostly is a duplicate-key error.
	repeatedKeyOdds = 160
	freshKeyOdds    = 120
	badNullOdds     = 3
	limitValueOdds  = 3
	// misfitOdds is how often a value is one that the column cannot hold: the
	// statement is an error, and must leave nothing behind.
	misfitOdds = 1
	// rareMisfitOdds is the same for a date or time: few columns are.
	rareMisfitOdds = 6
	// memberMisfitOdds is that of an ENUM or SET, whose columns are rarer.
	memberMisfitOdds = 16
	// unsupportedShareOdds is how often FOR SHARE appears where the server
	// answers it with an error.
	unsupportedShareOdds = 6
)

// statement makes a statement of some kind.
func statement(c *choices, t *table, mix kindMix, o *Options) ast.StmtNode {
	k := pick(c, mix)
	if k == stmt.SelectForShare && !o.shareLocks() && !c.odds(unsupportedShareOdds) {
		k = stmt.SelectForUpdate
	}
	return statementOf(c, t, k)
}

func statementOf(c *choices, t *table, k stmt.Kind) ast.StmtNode {
	switch k {
	case stmt.SelectForShare:
		return read(c, t, ast.SelectLockForShare)
	case stmt.SelectForUpdate:
		return read(c, t, ast.SelectLockForUpdate)
	case stmt.Update:
		w := where(c, t)
		list := assignments(c, t)
		if t.repeats(list) && c.odds(repeatedKeyOdds) {
			w = pointPredicate(c, t)
		}
		return updateStmt(t, list, w)
	case stmt.Delete:
		return deleteStmt(t, narrow(c, t))
	case stmt.Insert:
		return insert(c, t)
	default:
		return read(c, t, ast.SelectLockNone)
	}
}

// repeats says that a SET list gives every row that it changes the same value
// in a unique key.
func (t *table) repeats(list []*ast.Assignment) bool {
	for _, a := range list {
		_, literal := valueOf(a.Expr)
		if _, unique := t.inKey(t.column(a.Column.Name.O)); unique && literal {
			return true
		}
	}
	return false
}

func read(c *choices, t *table, lock ast.SelectLockType) ast.StmtNode {
	w := where(c, t)
	var columns []int
	if c.odds(columnListOdds) {
		at := c.below(len(t.cols))
		for j := range 1 + c.below(len(t.cols)) {
			columns = append(columns, (at+j)%len(t.cols))
		}
	}
	return selectStmt(t, columns, w, lock)
}

// narrow makes a WHERE clause for DELETE: an empty table makes the rest of a
// case dull, so there mostly is one.
func narrow(c *choices, t *table) ast.ExprNode {
	if w := where(c, t); w != nil || c.odds(90) {
		return w
	}
	return pointPredicate(c, t)
}

// assignments makes the SET list of an UPDATE.
func assignments(c *choices, t *table) []*ast.Assignment {
	var list []*ast.Assignment
	used := map[int]bool{}
	for range pick(c, assignmentCounts) {
		i := t.assigned(c, used)
		if i < 0 {
			break
		}
		used[i] = true
		list = append(list, &ast.Assignment{Column: columnName(t.cols[i].name), Expr: assignedValue(c, t, i)})
	}
	if list == nil {
		list = []*ast.Assignment{{Column: columnName(t.cols[0].name), Expr: columnRef(t.cols[0].name)}}
	}
	return list
}

// assigned chooses a column that is not in used: mostly one outside the unique
// keys, if there is one. It returns -1 where every column is used.
func (t *table) assigned(c *choices, used map[int]bool) int {
	at := c.below(len(t.cols))
	keyed := c.odds(keyColumnOdds)
	fallback := -1
	for j := range t.cols {
		i := (at + j) % len(t.cols)
		if used[i] || t.cols[i].generated || t.cols[i].typ.family == opaque {
			continue
		}
		if _, unique := t.inKey(i); unique == keyed {
			return i
		}
		fallback = i
	}
	return fallback
}

// assignedValue makes the right side of an assignment to column i.
func assignedValue(c *choices, t *table, i int) ast.ExprNode {
	col := &t.cols[i]
	if e := pick(c, assignedForms)(c, t, i); e != nil {
		return e
	}
	if _, unique := t.inKey(i); unique && c.odds(freshKeyOdds) {
		if v := col.typ.nth(len(t.rows) + c.below(4)); col.typ.holds(v) {
			return v.literal()
		}
	}
	return t.stored(c, col, i).literal()
}

// assignedForms are the expressions of a SET list. The first and the last
// resort is a constant.
var assignedForms = []weighted[func(c *choices, t *table, i int) ast.ExprNode]{
	{60, func(*choices, *table, int) ast.ExprNode { return nil }},
	{22, increment},
	{8, func(c *choices, t *table, i int) ast.ExprNode {
		if j := t.otherColumn(c, i); j >= 0 && t.cols[j].typ == t.cols[i].typ {
			return columnRef(t.cols[j].name)
		}
		return nil
	}},
	{4, func(c *choices, t *table, i int) ast.ExprNode { return columnRef(t.cols[i].name) }},
	{3, func(c *choices, t *table, i int) ast.ExprNode {
		if t.cols[i].typ.family != integers {
			return nil
		}
		return binaryOp(pick(c, bitForms[:3]), columnRef(t.cols[i].name), integer(int64(1+c.below(3))).literal())
	}},
	{9, functionValue},
	{18, noDay},
	{3, func(c *choices, t *table, i int) ast.ExprNode {
		if t.cols[i].typ.family != integers || t.cols[i].typ.wide {
			return nil
		}
		return binaryOp(opcode.Mul, columnRef(t.cols[i].name), integer(int64(2+c.below(2))).literal())
	}},
}

// increment makes col+k; in a unique key k mostly jumps over the values in use.
func increment(c *choices, t *table, i int) ast.ExprNode {
	if t.cols[i].typ.family != integers {
		return nil
	}
	k := int64(1 + c.below(3))
	if _, unique := t.inKey(i); unique && !c.odds(80) {
		k = 10 * k
	}
	op := opcode.Plus
	if !t.cols[i].typ.unsigned && c.odds(64) {
		op = opcode.Minus
	}
	return binaryOp(op, columnRef(t.cols[i].name), integer(k).literal())
}

// stored chooses a value to write into a column.
func (t *table) stored(c *choices, col *column, i int) value {
	b, misfit := int(c.next()), misfitOdds
	switch col.typ.family {
	case times:
		misfit = rareMisfitOdds
	case members:
		misfit = memberMisfitOdds
	}
	switch {
	case b > 255-18 && !col.notNull, b > 255-badNullOdds:
		return null
	case b > 255-18-misfit && col.typ.misfit != null:
		return col.typ.misfit
	case b > 255-18-misfitOdds-limitValueOdds && len(col.typ.limits) > 0:
		return oneOf(c, col.typ.limits)
	case b >= 140 && len(t.rows) > 0:
		if v := oneOf(c, t.rows)[i]; v != null {
			return v
		}
	}
	if len(col.typ.pool) == 0 {
		return null
	}
	return oneOf(c, col.typ.pool)
}

func insert(c *choices, t *table) ast.StmtNode {
	columns, omitted := t.insertColumns(c)
	lists := make([][]ast.ExprNode, pick(c, insertedRows))
	for n := range lists {
		list := make([]ast.ExprNode, len(columns))
		for k, i := range columns {
			list[k] = t.inserted(c, i, n).literal()
		}
		lists[n] = list
	}
	if !omitted {
		columns = nil
	}
	return insertStmt(t, columns, lists)
}

// insertColumns chooses the columns that an INSERT names: all, mostly.
func (t *table) insertColumns(c *choices) (columns []int, omitted bool) {
	partial := c.odds(columnListOdds)
	for i := range t.cols {
		col := &t.cols[i]
		if col.generated || partial && col.optional() && c.odds(128) {
			omitted = true
			continue
		}
		columns = append(columns, i)
	}
	if columns == nil {
		return []int{0}, true
	}
	return columns, omitted || partial
}

// inserted chooses the value of column i in the n-th row of an INSERT: in a
// unique key mostly one that no row holds yet.
func (t *table) inserted(c *choices, i, n int) value {
	col := &t.cols[i]
	if _, unique := t.inKey(i); unique && col.typ.nth != nil && !c.odds(90) {
		if v := col.typ.nth(len(t.rows) + n + c.below(4)); col.typ.holds(v) {
			return v
		}
	}
	return t.stored(c, col, i)
}
