package mvcc

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

const (
	// errRecordChanged is MariaDB's ER_CHECKREAD.
	errRecordChanged = 1020
	// errKeyNotFound is ER_KEY_NOT_FOUND.
	errKeyNotFound = 1032
)

// views returns what the tables of a statement hold for the subqueries in it, or for
// the query of an INSERT; of the table only, if not nil, the given rows.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) views(only *Table, rows []solve.Row) solve.Views {
	v := &innodbViews{e: x.e, only: only, rows: rows, rule: rules.SameRow, asked: x.asked, view: View{Tick: latest, Own: x.tx}}
	switch {
	case !x.asksUnlocked():
	case x.tx.Level == corpus.ReadUncommitted:
		v.view = View{Uncommitted: true, Own: x.tx}
	case x.tx.Level == corpus.ReadCommitted:
		v.view = View{Tick: x.start, Own: x.tx}
	}
	return v
}

// execute runs the statement to its end and returns its answer.
func (x *running) execute() (*Prediction, error) {
	p, err := x.perform()
	var changed changedError
	if errors.As(err, &changed) && changed.sure {
		return &Prediction{Matched: -1, Changed: -1, Err: errRecordChanged}, nil
	}
	if errCode(x.st) == errRecordChanged && x.kind != stmt.Select && !errors.As(err, new(*Loss)) {
		// Somewhere beside the rows that surely had to be locked.
		switch {
		case x.mayBeRefused():
			return changedPerhaps(), nil
		case x.someRecordChanged():
			return nil, &Loss{Slug: "unsupported: error 1020 of a record that the statement does not come to"}
		}
	}
	if x.e.counting && x.kind != stmt.Select && x.e.isolatesSnapshots(x.tx) && x.mayBeRefused() {
		x.mayRefuse = true
	}
	if err == nil {
		return p, nil
	}
	code, err := sqlError(err)
	if err != nil {
		return nil, err
	}
	return &Prediction{Matched: -1, Changed: -1, Err: code}, nil
}

// mayBeRefused reports whether error 1020 is among the answers that are allowed. A statement
// that can but scan the whole table is refused for records only that it comes to, and an
// INSERT for those with a key of its rows. Another one may be for what stands behind the end of
// its range, one that has waited for what came meanwhile, or for the neighbours of its row, and
// one that skips locked rows for these.
func (x *running) mayBeRefused() bool {
	if x.waited || HasSubquery(x.node) {
		return x.someRecordChanged()
	}
	switch s := x.node.(type) {
	case *ast.InsertStmt:
		if s.Select == nil {
			return x.metChanged
		}
	case *ast.SelectStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		if x.scansAll && x.skip == nil && stmt.SoleTable(stmt.Of(s).From) != nil {
			return x.metChanged
		}
	}
	return x.someRecordChanged()
}

// someRecordChanged reports whether any record that the statement may have
// locked was changed and committed after the snapshot.
func (x *running) someRecordChanged() bool {
	f := &tableFinder{}
	x.node.Accept(f)
	for _, name := range f.names {
		if x.asked != nil && !x.asked.locks && x.asked.names[name] && name != x.ownTable() {
			continue
		}
		if t := x.e.table(name); t != nil {
			for _, c := range t.Chains {
				if x.recordChanged(c, true) != nil || x.changedBelow(c) {
					return true
				}
			}
		}
	}
	return false
}

type tableFinder struct{ names []string }

func (f *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		f.names = append(f.names, t.Name.O)
	}
	return n, false
}

func (f *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// openSnapshot gives the transaction its snapshot where its first statement
// takes it, whatever becomes of that.
func (x *running) openSnapshot() { x.tx.openSnapshot(x.start) }

func (t *Txn) openSnapshot(at history.Tick) {
	if t.Rules.of(rules.SnapshotPoint) == rules.AtFirstStatement && t.Snapshot == 0 {
		t.Snapshot = at
	}
}

func (x *running) perform() (*Prediction, error) {
	e := x.e
	if x.kind == stmt.Raw || namesTables(x.node) {
		x.openSnapshot()
	}
	if err := x.ask(); err != nil {
		return nil, err
	}
	if e.unknownHint(stmt.Of(x.node).From) {
		return nil, &solve.SQLError{Code: errNoKey, Message: "no such key"}
	}
	if writesSeveral(x.node) {
		return x.several()
	}
	switch s := x.node.(type) {
	case *ast.SelectStmt:
		if x.kind == stmt.Select {
			return x.consistent(s)
		}
		return x.lockingRead(s)
	case *ast.UpdateStmt:
		t, err := e.target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.update(s, t)
	case *ast.DeleteStmt:
		t, err := e.target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.delete(s, t)
	case *ast.InsertStmt:
		return x.insert(s)
	case *stmt.RawStmt:
		return x.raw(s)
	}
	return nil, &Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(x.kind)}
}

// consistent answers a plain SELECT from a view.
func (x *running) consistent(s *ast.SelectStmt) (*Prediction, error) {
	e, tx := x.e, x.tx
	v := &innodbViews{e: e, rule: tx.Rules.of(rules.KeyChange)}
	switch tx.Rules.of(rules.ConsistentRead) {
	case rules.Newest:
		v.view = View{Uncommitted: true, Own: tx}
		if name := stmt.SoleTable(s.From); name != nil && e.table(name.Name.O) != nil {
			a := x.accessOf(e.table(name.Name.O), s.Where)
			v.via, v.covering = a.key, a.covering
			x.anyPendingIndex(s, a.t, v)
		}
	case rules.Snapshot:
		if !namesTables(s) {
			v.view = View{Tick: x.start, Own: tx}
			break
		}
		if tx.Snapshot == 0 {
			if answersOfNothing(s, len(x.st.Result.Rows)) {
				nothing, err := x.readsNothing(s)
				if err != nil {
					return nil, err
				}
				if nothing {
					v.view = View{Tick: x.start, Own: tx}
					break
				}
			}
			tx.Snapshot = x.start
		}
		v.view = View{Tick: tx.Snapshot, Own: tx}
		if name := stmt.SoleTable(s.From); name != nil && e.table(name.Name.O) != nil {
			if tx.Rules.of(rules.UniqueLookup) == rules.EndsAtFirst {
				t := e.table(name.Name.O)
				if v.once = x.lookedUp(t, s.Where); v.once == nil {
					v.once, v.points = x.lookedUpAmongRanges(t, s.Where)
				}
			}
		}
	default:
		// Committed; SERIALIZABLE with autocommit reads so too.
		v.view = View{Tick: x.start, Own: tx}
	}
	e.Steps[x.i].View = v.view
	res, err := e.solver.Select(s, v)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Matched: -1, Changed: -1, Rows: res.Rows, Ordered: res.TotalOrder}
	if res.Cut {
		all, err := e.solver.Select(e.unlimited(s), v)
		if err != nil {
			return nil, x.underLimit(s, err)
		}
		if err := p.anyOf(s, all.Rows, x.st.Result.Rows); err != nil {
			return nil, err
		}
	}
	if tx.Rules.of(rules.ConsistentRead) == rules.Newest {
		if err := x.judgesUncommitted(s); err != nil {
			return nil, err
		}
	}
	if name := stmt.SoleTable(s.From); name != nil {
		if t := e.table(name.Name.O); t != nil {
			gone, err := x.goneAmid(s, t, v.view)
			if err != nil {
				return nil, err
			}
			switch {
			case gone != nil && gone.Cut:
				return nil, errUnordered
			case gone != nil:
				p.Rows, p.Ordered = gone.Rows, gone.TotalOrder
			}
			if err := x.unseenError(s, t, v.view); err != nil {
				return nil, err
			}
			e.touchInnoDB(x, t, s.Where, false, nil)
		}
	}
	return p, nil
}

// answersOfNothing reports whether so many rows can be the answer to a query that reads no
// row: none, or the one that aggregates return of none.
func answersOfNothing(s *ast.SelectStmt, rows int) bool {
	return rows == 0 || rows == 1 && aggregates(s) && s.GroupBy == nil
}

// judgesUncommitted refuses a read of uncommitted data while it is not known how far
// another statement, which waits, has changed the rows.
func (x *running) judgesUncommitted(s *ast.SelectStmt) error {
	if len(x.e.pending) > 0 && (stmt.SoleTable(s.From) == nil || HasSubquery(s)) {
		return &Loss{Slug: "unsupported: uncommitted rows of several tables amid a change"}
	}
	for _, o := range x.e.running {
		if ins, ok := o.node.(*ast.InsertStmt); ok && len(ins.OnDuplicate) > 0 {
			// It may be at the row that is in its way or behind it.
			return &Loss{Slug: "unsupported: uncommitted rows amid ON DUPLICATE KEY UPDATE"}
		}
	}
	return nil
}

// lookedUp returns a unique secondary index of which a condition fixes every
// column, nil if there is none or if it fixes the clustered key. A range of one value is
// read as a look-up, too, and so are the values beside IS NULL (ref_or_null). Where the
// plan is told, it is the index that the plan names, if any. That may look a key up of which
// the condition fixes no value as it stands: the server has folded a part of it away.
func (x *running) lookedUp(t *Table, where ast.ExprNode) *solve.Key {
	told := x.e.plans[x.i].Of(t.Def.Name)
	if told != nil {
		a := &access{t: t}
		if a.byPlan(told); a.unique {
			return a.key
		}
	}
	where = pointed(where)
	var found *solve.Key
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		switch {
		case !looksUp(valuesBesideNull(where, t, k), t, k):
		case told != nil && !strings.EqualFold(keyName(k), told.Key):
		case k == t.Clustered:
			return nil
		case found == nil:
			found = k
		}
	}
	return found
}

// valuesBesideNull returns what a condition says of a key's only column beside OR … IS
// NULL.
func valuesBesideNull(where ast.ExprNode, t *Table, k *solve.Key) ast.ExprNode {
	parts := disjuncts(where, nil)
	isNull := func(d ast.ExprNode) bool {
		n, ok := d.(*ast.IsNullExpr)
		if !ok || n.Not {
			return false
		}
		c, ok := n.Expr.(*ast.ColumnNameExpr)
		return ok && len(k.Columns) == 1 && columnIn(t, c) == k.Columns[0]
	}
	rest := slices.DeleteFunc(slices.Clone(parts), func(d ast.ExprNode) bool { return slices.ContainsFunc(conjuncts(d, nil), isNull) })
	if len(rest) == len(parts) || len(rest) == 0 {
		return where
	}
	return anyOf(rest)
}

func anyOf(parts []ast.ExprNode) ast.ExprNode {
	all := parts[0]
	for _, d := range parts[1:] {
		all = &ast.BinaryOperationExpr{Op: opcode.LogicOr, L: all, R: d}
	}
	return all
}

// lookedUpAmongRanges returns a unique secondary index of which some parts of an OR fix the
// only column, while others make ranges of it: each such value is looked up all the same,
// but one that lies within a range, which becomes a part of it. points says what is looked up.
// https://dev.mysql.com/doc/refman/en/range-optimization.html
func (x *running) lookedUpAmongRanges(t *Table, where ast.ExprNode) (once *solve.Key, points ast.ExprNode) {
	parts := disjuncts(pointed(where), nil)
	told := x.e.plans[x.i].Of(t.Def.Name)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if !k.Unique || k == t.Clustered || len(k.Columns) != 1 || told != nil && !strings.EqualFold(keyName(k), told.Key) {
			continue
		}
		var pinned, ranges []ast.ExprNode
		for _, d := range parts {
			if looksUp(d, t, k) {
				pinned = append(pinned, d)
			} else if cols := columnsIn(t.Def, d); len(cols) == 1 && cols[k.Columns[0]] {
				ranges = append(ranges, d)
			}
		}
		if len(pinned) == 0 || len(pinned) == len(parts) {
			continue
		}
		if points = anyOf(pinned); len(ranges) > 0 {
			without := &ast.UnaryOperationExpr{Op: opcode.Not, V: &ast.ParenthesesExpr{Expr: anyOf(ranges)}}
			points = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: points, R: without}
		}
		return k, points
	}
	return nil, nil
}

// pointed makes BETWEEN and IN of one value, be it there twice, an equality, and takes
// double negations away.
func pointed(e ast.ExprNode) ast.ExprNode {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return pointed(x.Expr)
	case *ast.UnaryOperationExpr:
		if parts := conjuncts(x.V, nil); isNot(x.Op) && len(parts) == 1 {
			if n, ok := parts[0].(*ast.UnaryOperationExpr); ok && isNot(n.Op) {
				return pointed(n.V)
			}
		}
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr {
			return &ast.BinaryOperationExpr{Op: x.Op, L: pointed(x.L), R: pointed(x.R)}
		}
	case *ast.BetweenExpr:
		if !x.Not && sameLiteral(x.Left, x.Right) {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: x.Expr, R: x.Left}
		}
	case *ast.PatternInExpr:
		if !x.Not && x.Sel == nil && !slices.ContainsFunc(x.List, func(v ast.ExprNode) bool { return !sameLiteral(v, x.List[0]) }) {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: x.Expr, R: x.List[0]}
		}
	}
	return e
}

func sameLiteral(a, b ast.ExprNode) bool {
	if x, ok := smallLiteral(a); ok {
		y, also := smallLiteral(b)
		return also && x == y
	}
	x, ok := textLiteral(a)
	y, also := textLiteral(b)
	return ok && also && x == y
}

func textLiteral(e ast.ExprNode) (string, bool) {
	v, ok := e.(ast.ValueExpr)
	if !ok || v.GetType().EvalType() != types.ETString {
		return "", false
	}
	return v.GetString(), true
}

// anyPendingIndex lets a read of uncommitted data go by any index of a table
// that a waiting statement is about to change: then what it sees depends on it.
func (x *running) anyPendingIndex(s *ast.SelectStmt, t *Table, v *innodbViews) {
	e := x.e
	if e.plans[x.i] != nil || !slices.ContainsFunc(t.Chains, func(c *Chain) bool { return len(e.pending[c]) > 0 }) {
		return
	}
	type path struct {
		via              *solve.Key
		covering, marked bool
	}
	paths := []path{{}}
	need := columnsOf(t.Def, s)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if k == t.Clustered {
			continue
		}
		paths = append(paths, path{k, false, false})
		if covers(t, k, need) {
			paths = append(paths, path{k, true, false}, path{k, true, true})
		}
	}
	p := paths[e.choices.choose(len(paths))]
	v.via, v.covering, v.marked = p.via, p.covering, p.marked
}

// lockingRead answers SELECT … FOR SHARE or FOR UPDATE, and at SERIALIZABLE a
// plain SELECT.
func (x *running) lockingRead(s *ast.SelectStmt) (*Prediction, error) {
	e := x.e
	p := &Prediction{Matched: -1, Changed: -1}
	var views solve.Views
	name := stmt.SoleTable(s.From)
	weak := x.tx.Level < corpus.RepeatableRead
	switch {
	case s.LockInfo != nil && len(s.LockInfo.Tables) > 0:
		return nil, &Loss{Slug: "unsupported: a locking read OF some of its tables"}
	case s.With != nil:
		return nil, &Loss{Slug: "unsupported: a common table expression (WITH)"}
	case name == nil && s.From != nil && x.tx.Level != corpus.Serializable && hasDerivedTable(s.From):
		// It takes a snapshot or not.
		return nil, &Loss{Slug: "unsupported: derived table in a locking read"}
	case name == nil && weak && HasSubquery(s):
		return nil, &Loss{Slug: "unsupported: subquery in a locking read of several tables"}
	case name == nil && weak && len(x.st.Waits) > 0:
		// What it has read of one table before the wait is not locked where it does
		// not match, and may be out of date behind it.
		return nil, &Loss{Slug: "unsupported: locking read of several tables that waits"}
	case x.waitsBackward(s.OrderBy):
		return nil, &Loss{Slug: "unsupported: locking read that waits while it goes backward"}
	case stmt.LockOf(s).Wait == stmt.Skips && name != nil && !HasSubquery(s) && e.table(name.Name.O) != nil:
		return x.skippingRead(s, e.table(name.Name.O))
	case stmt.LockOf(s).Wait == stmt.Skips && len(x.othersNow(nil)) > 0:
		return nil, &Loss{Slug: "unsupported: SKIP LOCKED of several tables or with a subquery"}
	}
	if name == nil {
		x.waitSomewhere()
		if x.waited {
			p.leaveOpen("what it had read before it waited")
		}
		e.touchJoined(x.i, x.tx, x.start, s.From)
		own := &innodbViews{e: e, rule: rules.SameRow, asked: x.asked, joined: map[*Table]bool{}, view: View{Tick: latest, Own: x.tx}}
		f := &tableFinder{}
		if s.From != nil {
			s.From.Accept(f)
		}
		for _, n := range f.names {
			own.joined[e.table(n)] = true
		}
		if x.asked != nil {
			for n := range x.asked.names {
				if own.joined[e.table(n)] {
					return nil, &Loss{Slug: "unsupported: subquery on a table of a locking join"}
				}
			}
		}
		views = own
	} else {
		t := e.table(name.Name.O)
		if t == nil {
			return nil, &solve.SQLError{Code: 1146, Message: "no such table"}
		}
		var hits []hit
		buffered := x.asked != nil && x.asked.buffered
		where := s.Where
		if buffered {
			bare := outer(s)
			x.node, where = bare, bare.Where
		}
		a, exclusive := x.accessOf(t, where), x.kind == stmt.SelectForUpdate
		x.mayStop = s.Limit != nil && s.OrderBy == nil
		err := x.scan(a, exclusive, func(h hit) error {
			if hits = append(hits, h); x.mayStop {
				x.meetsTaken(t, h)
			}
			return nil
		})
		if err != nil {
			return nil, x.underLimit(s, err)
		}
		e.touchInnoDB(x, t, where, false, nil)
		p.read, views = chainsOf(hits), x.views(t, foundIn(hits))
		if buffered {
			x.node = s
		} else if s, err = x.listed(s); err != nil {
			return nil, err
		}
		if x.mayStop {
			if res, err := e.solver.Select(s, views); err == nil && res.Cut {
				return x.cutRead(s, t, hits)
			}
			for _, c := range p.read {
				e.lock(c, x.tx, exclusive)
			}
		}
	}
	res, err := e.solver.Select(s, views)
	if err != nil {
		return nil, err
	}
	if res.Cut {
		return nil, errUnordered
	}
	p.Rows, p.Ordered = res.Rows, res.TotalOrder
	return p, nil
}

// waitsBackward says that a statement waits below REPEATABLE READ while it may go backward:
// rows that it has passed are not locked then, and others come in front of it.
func (x *running) waitsBackward(o *ast.OrderByClause) bool {
	return x.tx.Level < corpus.RepeatableRead && len(x.st.Waits) > 0 && backward(o)
}

// backward reports whether an index may be read from its end for an ORDER BY.
func backward(o *ast.OrderByClause) bool {
	return o != nil && slices.ContainsFunc(o.Items, func(it *ast.ByItem) bool { return it.Desc })
}

// columnsIn returns the columns that a node mentions, by index, and -1 for those
// of other tables; none for nil.
func columnsIn(t *solve.Table, n ast.Node) map[int]bool {
	cols := map[int]bool{}
	if n != nil {
		n.Accept(&columnCollector{t: t, cols: cols})
	}
	return cols
}

// tested is columnsIn for a condition, which is looked through once for each case,
// although the scans of all paths ask. The answer is not to be changed.
func (r *Replay) tested(t *Table, where ast.ExprNode) map[int]bool {
	if where == nil {
		return nil
	}
	key := conditionOn{where, t.Def}
	cols, ok := r.testedBy[key]
	if !ok {
		cols = columnsIn(t.Def, where)
		r.testedBy[key] = cols
	}
	return cols
}

// conditionOn is a condition on the rows of a table.
type conditionOn struct {
	where ast.ExprNode
	t     *solve.Table
}

type columnCollector struct {
	t    *solve.Table
	cols map[int]bool
}

func (f *columnCollector) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		f.cols[f.t.ColumnIndex(c.Name.O)] = true
	}
	return n, false
}

func (f *columnCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// changeRow writes the new version of one row: the clustered record first, then
// each unique index with its duplicate check.
func (x *running) changeRow(t *Table, h hit, row solve.Row) error {
	e := x.e
	x.overruns(h.c)
	moves := t.Clustered != nil && e.store.clusteredKeyOf(t, row) != e.store.clusteredKeyOf(t, h.row)
	c := h.c
	defer func() { delete(e.pending, h.c); delete(e.pending, c) }()
	delete(e.pending, h.c)
	for ki := range t.Def.Keys {
		if k := &t.Def.Keys[ki]; k != t.Clustered && (moves || !equalIn(k, h.row, row)) {
			e.pending[h.c] = append(e.pending[h.c], k)
		}
	}
	if moves {
		// The old record is marked deleted before the new key is looked up, so
		// that a reader of uncommitted data may see neither.
		rid := h.c.last().rid
		e.write(t, h.c, nil, x.tx, rid)
		dup, err := x.duplicate(t, t.Clustered, row, h.c)
		if err != nil {
			return err
		}
		if dup != nil {
			x.meetObstacle(t, row)
			return errDuplicate
		}
		if ins, ok := x.node.(*ast.InsertStmt); ok && ins.IsReplace {
			rid = 0 // the manual calls it another row, though it is changed in place
		}
		c = e.insert(t, row, x.tx, rid)
	} else {
		e.write(t, c, row, x.tx, c.last().rid)
	}
	for left := e.pending[h.c]; len(left) > 0; {
		e.pending[h.c], e.pending[c] = left, left
		k := left[0]
		x.point(spot{t: t, key: k, rows: []solve.Row{h.row}, gap: true}, nil, false, false)
		if (k.Unique || k.Primary) && !equalIn(k, h.row, row) {
			dup, err := x.duplicate(t, k, row, c)
			if err != nil {
				return err
			}
			if dup != nil {
				x.meetObstacle(t, row)
				return errDuplicate
			}
		}
		left = left[1:]
	}
	return nil
}

// overruns notes that the statement changes what a waiting one has changed.
func (x *running) overruns(c *Chain) {
	if w := x.e.writer(c, x.tx); w != nil && x.e.running[w.Session] != nil {
		x.overran = w
	}
}

// delete runs a DELETE.
func (x *running) delete(s *ast.DeleteStmt, t *Table) (*Prediction, error) {
	e := x.e
	p := &Prediction{Matched: -1}
	a := x.accessOf(t, s.Where)
	x.table = t
	var images []solve.Row
	apply := func(h hit) error {
		p.Changed++
		p.read = append(p.read, h.c)
		images = append(images, h.row)
		x.images = append(x.images, image{h.row, nil})
		x.deleteRow(t, h.c)
		return nil
	}
	var err error
	switch {
	case s.Order == nil && s.Limit == nil:
		err = x.scan(a, true, apply)
	case x.asItGoes(a, s.Order):
		err = x.scan(a, true, upTo(s.Limit, s.Order, apply))
	default:
		var hits []hit
		if err = x.scan(a, true, func(h hit) error { hits = append(hits, h); return nil }); err == nil {
			hits, err = x.chosen(s, t, hits)
		}
		for _, h := range hits {
			if err == nil {
				err = apply(h)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	e.touchInnoDB(x, t, s.Where, len(images) > 0, images)
	return p, nil
}

// deleteRow marks a clustered record deleted, then its entry in each other index.
func (x *running) deleteRow(t *Table, c *Chain) {
	e, was := x.e, c.last().Row
	x.overruns(c)
	e.write(t, c, nil, x.tx, c.last().rid)
	defer delete(e.pending, c)
	var left []*solve.Key
	for ki := range t.Def.Keys {
		if k := &t.Def.Keys[ki]; k != t.Clustered {
			left = append(left, k)
		}
	}
	for ; len(left) > 0; left = left[1:] {
		e.pending[c] = left
		x.point(spot{t: t, key: left[0], rows: []solve.Row{was}}, nil, false, false)
	}
}

func (e *engine) touchInnoDB(x *running, t *Table, where ast.ExprNode, write bool, images []solve.Row) {
	e.touched = append(e.touched, touch{stmt: x.i, session: x.st.Session, txn: x.tx, at: x.start, table: t, where: where, insert: x.kind == stmt.Insert, write: write, images: images})
}
