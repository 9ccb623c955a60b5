package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// uniqueKeys returns the unique keys, of whole columns, beside which the table
// has others: a row that is in the way of another can differ from it. It returns
// none for a table of whose rows the server makes some value.
func (t *table) uniqueKeys() []*key {
	var out []*key
	for i := range t.keys {
		if t.keys[i].unique && t.keys[i].prefix == 0 && len(t.keys[i].columns) < len(t.cols) {
			out = append(out, &t.keys[i])
		}
	}
	if slices.ContainsFunc(t.cols, func(c column) bool { return c.generated || c.typ.family == opaque }) {
		return nil
	}
	return out
}

// collisionOdds is how often, out of 256, an INSERT is in the way of the other
// statement's row.
const collisionOdds = 236

// insertion puts an INSERT into x whose row is mostly in the way of one that y
// writes or inserts, in a form that does not fail on that.
func insertion(form func(c *choices, t *table, s *ast.InsertStmt)) feature {
	return func(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
		other, ok := d.write(c, o, y, func(t *table) bool { return len(t.uniqueKeys()) > 0 })
		if !ok {
			return pair{}, false
		}
		t := d.tableOf(d.stmt(other))
		k := oneOf(c, t.uniqueKeys())
		row := t.newRow(c, 0)
		theirs, _ := d.stmt(other).(*ast.InsertStmt)
		switch old := t.insertedRow(theirs); {
		case old != nil && c.odds(collisionOdds):
			t.collide(c, row, old, k)
		case len(t.rows) > 0 && c.odds(240):
			old = oneOf(c, t.rows)
			t.collide(c, row, old, k)
			if e := t.equal(k, old); e != nil && c.odds(collisionOdds) {
				d.setFilter(other, e)
			}
		}
		lists := [][]ast.ExprNode{literals(row)}
		if c.odds(40) {
			lists = append(lists, literals(t.newRow(c, 1)))
		}
		s := insertStmt(t, nil, lists)
		form(c, t, s)
		return pair{d.put(x, c.below(5), s, o), other}, true
	}
}

func replacing(_ *choices, _ *table, s *ast.InsertStmt) { s.IsReplace = true }

func ignoring(_ *choices, _ *table, s *ast.InsertStmt) { s.IgnoreErr = true }

// updating adds ON DUPLICATE KEY UPDATE.
func updating(c *choices, t *table, s *ast.InsertStmt) {
	s.OnDuplicate = assignments(c, t)
	for i, a := range s.OnDuplicate {
		if c.odds(80) {
			e := *a
			e.Expr = &ast.ValuesExpr{Column: &ast.ColumnNameExpr{Name: a.Column}}
			s.OnDuplicate[i] = &e
		}
	}
}

// newRow makes the n-th new row of a statement.
func (t *table) newRow(c *choices, n int) []value {
	row := make([]value, len(t.cols))
	for i := range row {
		row[i] = t.inserted(c, i, n)
	}
	return row
}

// collide gives a row the values of an old one in a unique key. Beside the key
// it stays another row, if there are columns beside it.
func (t *table) collide(c *choices, row, old []value, k *key) {
	for _, i := range k.columns {
		row[i] = old[i]
	}
	if !slices.Equal(row, old) {
		return
	}
	for i := range row {
		if slices.Contains(k.columns, i) {
			continue
		}
		for n := range 4 {
			if v := t.cols[i].typ.nth(c.below(4) + n); v != old[i] && t.cols[i].typ.holds(v) {
				row[i] = v
				return
			}
		}
	}
}

// equal makes the predicate that pins the columns of a key to those of a row,
// nil where one is NULL.
func (t *table) equal(k *key, row []value) ast.ExprNode {
	var e ast.ExprNode
	for _, i := range k.columns {
		if row[i] == null {
			return nil
		}
		eq := binaryOp(opcode.EQ, columnRef(t.cols[i].name), row[i].literal())
		if e != nil {
			eq = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: e, R: eq}
		}
		e = eq
	}
	return e
}

// insertedRow returns the first row of an INSERT as far as it is of plain
// literals, nil for none.
func (t *table) insertedRow(s *ast.InsertStmt) []value {
	if s == nil || len(s.Lists) == 0 {
		return nil
	}
	columns := make([]int, 0, len(t.cols))
	for _, c := range s.Columns {
		columns = append(columns, t.column(c.Name.O))
	}
	if s.Columns == nil {
		for i := range t.cols {
			columns = append(columns, i)
		}
	}
	row, ok := t.readRow(columns, s.Lists[0])
	if !ok {
		return nil
	}
	return row
}

func literals(row []value) []ast.ExprNode {
	out := make([]ast.ExprNode, len(row))
	for i, v := range row {
		out[i] = v.literal()
	}
	return out
}

// lockingRead lets x read with a lock what y writes.
func lockingRead(form ast.SelectLockType) feature {
	return func(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
		lock := form
		if lock == ast.SelectLockForShareNoWait && !o.shareLocks() {
			lock = ast.SelectLockForUpdateNoWait
		}
		return d.meet(c, o, x, y, anyTable, func(t *table, w ast.ExprNode) ast.StmtNode {
			return selectStmt(t, nil, w, lock)
		})
	}
}

// skippingRead lets x read with a lock what of y's rows is not locked: all of it, or a few
// rows, as one of several workers that empty a queue.
func skippingRead(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	lock := ast.SelectLockForUpdateSkipLocked
	if c.odds(100) {
		lock = ast.SelectLockForShareSkipLocked
	}
	return d.meet(c, o, x, y, anyTable, func(t *table, w ast.ExprNode) ast.StmtNode {
		s := selectStmt(t, nil, w, lock)
		form := c.below(8)
		if form >= 5 && hasTotalKey(t) {
			s.OrderBy = t.totalOrder(c, true)
		}
		if form == 4 || form >= 6 {
			s.Limit = few(c)
		}
		return s
	})
}

// anyRows lets x read some of y's rows, mostly with a lock, and no order says which.
func anyRows(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	lock := ast.SelectLockForUpdate
	switch form := c.below(8); {
	case form >= 6:
		lock = ast.SelectLockNone // which locks at SERIALIZABLE
	case form >= 4 && o.shareLocks():
		lock = ast.SelectLockForShare
	}
	return d.meet(c, o, x, y, anyTable, func(t *table, w ast.ExprNode) ast.StmtNode {
		s := selectStmt(t, nil, w, lock)
		s.Limit = few(c)
		return s
	})
}

// meet puts a statement into x over rows that y writes.
func (d *draft) meet(c *choices, o *Options, x, y int, suits func(*table) bool, stmt func(*table, ast.ExprNode) ast.StmtNode) (pair, bool) {
	other, ok := d.write(c, o, y, suits)
	if !ok {
		return pair{}, false
	}
	w := d.met(c, other)
	s := stmt(d.tableOf(d.stmt(other)), w)
	return pair{d.put(x, c.below(5), s, o), other}, true
}

// totalKey returns a unique key that gives the rows a total order, nil for none.
func (t *table) totalKey() *key {
	for i := range t.keys {
		k := &t.keys[i]
		if k.unique && k.prefix == 0 && !slices.ContainsFunc(k.columns, func(i int) bool { return !t.cols[i].notNull || t.cols[i].typ.family == opaque }) {
			return k
		}
	}
	return nil
}

func hasTotalKey(t *table) bool { return t.totalKey() != nil }

// totalOrder makes an ORDER BY that ends with the columns of a total key. mayDesc
// says that it may go backward.
func (t *table) totalOrder(c *choices, mayDesc bool) *ast.OrderByClause {
	k := t.totalKey()
	columns := k.columns
	if i := t.anyColumn(c); c.odds(80) && !slices.Contains(columns, i) {
		columns = append([]int{i}, columns...)
	}
	by := &ast.OrderByClause{}
	for _, i := range columns {
		by.Items = append(by.Items, &ast.ByItem{Expr: columnRef(t.cols[i].name), NullOrder: true, Desc: mayDesc && c.odds(100)})
	}
	return by
}

// mayGoBackward says that session i may lock rows in descending order: below
// REPEATABLE READ nobody knows where on InnoDB it waited.
func (d *draft) mayGoBackward(i int, o *Options) bool {
	return o.DBMS == history.TiDB || d.level(i) >= corpus.RepeatableRead
}

// few makes LIMIT 1 to 3.
func few(c *choices) *ast.Limit {
	return &ast.Limit{Count: corpus.UintLit(uint64(1 + c.below(3)))}
}

// allRowsOdds is how often, out of 256, a read with an order that does not lock
// is one of all rows: nothing makes it wait for what it is to meet.
const allRowsOdds = 216

// orderedRead is a SELECT with ORDER BY, orderedLimit one with LIMIT, too.
func orderedRead(lock ast.SelectLockType) feature { return ordering(lock, false) }

func orderedLimit(lock ast.SelectLockType) feature { return ordering(lock, true) }

func ordering(lock ast.SelectLockType, limited bool) feature {
	return func(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
		return d.meet(c, o, x, y, hasTotalKey, func(t *table, w ast.ExprNode) ast.StmtNode {
			if lock == ast.SelectLockNone && c.odds(allRowsOdds) {
				w = nil
			}
			s := selectStmt(t, nil, w, lock)
			if lock == ast.SelectLockForUpdate && o.shareLocks() && c.odds(64) {
				s.LockInfo.LockType = ast.SelectLockForShare
			}
			s.OrderBy = t.totalOrder(c, lock == ast.SelectLockNone || d.mayGoBackward(x, o))
			if limited {
				s.Limit = few(c)
			}
			return s
		})
	}
}

func limitedUpdate(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	return d.meet(c, o, x, y, hasTotalKey, func(t *table, w ast.ExprNode) ast.StmtNode {
		s := updateStmt(t, assignments(c, t), w)
		s.Order, s.Limit = t.totalOrder(c, d.mayGoBackward(x, o)), few(c)
		return s
	})
}

func limitedDelete(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	return d.meet(c, o, x, y, hasTotalKey, func(t *table, w ast.ExprNode) ast.StmtNode {
		s := deleteStmt(t, w)
		s.Order, s.Limit = t.totalOrder(c, d.mayGoBackward(x, o)), few(c)
		return s
	})
}

// weakJoinOdds is how often, out of 256, a locking join is made below REPEATABLE
// READ, where nobody knows what it returns if it waits on InnoDB.
const weakJoinOdds = 72

// lockingJoin lets x lock the rows of a join of what y writes with another table
// or with itself.
func lockingJoin(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	if weak := o.DBMS != history.TiDB && d.level(x) < corpus.RepeatableRead; weak && !c.odds(weakJoinOdds) {
		return pair{}, false
	}
	lock := ast.SelectLockForUpdate
	if o.shareLocks() && c.odds(64) {
		lock = ast.SelectLockForShare
	}
	return d.meet(c, o, x, y, anyTable, func(t *table, w ast.ExprNode) ast.StmtNode {
		u := oneOf(c, d.tables)
		if len(d.tables) > 1 && u == t {
			u = d.tables[0]
		}
		left, right := tableRefs(t.name).TableRefs.Left.(*ast.TableSource), tableRefs(u.name).TableRefs.Left.(*ast.TableSource)
		a, b := t.name, u.name
		if u == t {
			a, b = "x", "y"
			left.AsName, right.AsName = model.NewCIStr(a), model.NewCIStr(b)
		}
		s := selectStmt(t, nil, qualified(w, a), lock)
		i, j := t.joined(c, u)
		s.From.TableRefs = &ast.Join{
			Left: left, Right: right, Tp: ast.CrossJoin,
			On: &ast.OnCondition{Expr: binaryOp(opcode.EQ, qualified(columnRef(t.cols[i].name), a), qualified(columnRef(u.cols[j].name), b))},
		}
		return s
	})
}

// joined returns a column of each of two tables, of one family if they can be.
func (t *table) joined(c *choices, u *table) (i, j int) {
	i = t.anyColumn(c)
	if j = u.columnOf(c, t.cols[i].typ.family); j < 0 {
		j = u.anyColumn(c)
	}
	return i, j
}

// qualified puts the table's name before the columns of a copy of an expression.
func qualified(e ast.ExprNode, table string) ast.ExprNode {
	if e == nil {
		return nil
	}
	e = corpus.CloneExpr(e)
	out, _ := e.Accept(qualifier{table})
	return out.(ast.ExprNode)
}

type qualifier struct{ table string }

// Enter implements ast.Visitor.
func (q qualifier) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		c.Name.Table = model.NewCIStr(q.table)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (q qualifier) Leave(n ast.Node) (ast.Node, bool) { return n, true }
