package mvcc

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// access is how a statement reaches its rows.
type access struct {
	t *Table
	// key is the index scanned; nil for the clustered one.
	key *solve.Key
	// all says that every entry of the index is met; else only those that the
	// conditions on the index's columns admit.
	all bool
	// ranged says that the entry behind a range is met too.
	ranged bool
	// covering says that the index holds all that the statement reads.
	covering bool
	// unique says that one row at most is looked up by a whole unique key.
	unique bool
	cols   map[int]bool
	where  ast.ExprNode
}

// accessOf returns the access path of a statement: its plan's, or without one a
// scan of the clustered index, narrowed by conditions on its key.
func (x *running) accessOf(t *Table, where ast.ExprNode) *access {
	e, i := x.e, x.i
	a := &access{t: t, where: where}
	if p := e.plans[i]; p != nil {
		if s := p.of(t); s != nil {
			p.apply(a, s)
		}
	}
	if e.loose {
		x.anyIndex(a)
	}
	k := a.key
	if k == nil {
		k = t.Clustered
	}
	if k == nil {
		a.all = true
		return a
	}
	a.cols = make(map[int]bool, len(k.Columns))
	for _, c := range k.Columns {
		a.cols[c] = true
		// Ranges of the clustered index are made of its first columns. The
		// entries of another index are tested before their rows are looked up.
		if a.key == nil && !pins(where, t, c, true) {
			break
		}
	}
	if a.key != nil && t.Clustered != nil {
		for _, c := range t.Clustered.Columns {
			a.cols[c] = true
		}
	}
	if looksUp(where, t, k) {
		a.unique = true
		if (a.all || e.loose) && !pinsKey(where, t, k) {
			// A list of keys of a small table may be read by a scan.
			e.branched = true
			a.unique = e.choices.choose(2) == 0
		}
	}
	return a
}

// anyIndex lets a statement whose order of rows decides about its answer go by
// any index: one that waited, or an UPDATE of a unique key. The plan at the time
// may have been another one than that of an empty server.
func (x *running) anyIndex(a *access) {
	u, ok := x.node.(*ast.UpdateStmt)
	if !x.due && !(ok && x.assignsUnique(u, a.t)) {
		return
	}
	keys := []*solve.Key{a.key}
	for i := range a.t.Def.Keys {
		k := &a.t.Def.Keys[i]
		if k == a.t.Clustered {
			k = nil
		}
		if k != a.key {
			keys = append(keys, k)
		}
	}
	if k := x.e.choices.choose(len(keys)); k > 0 {
		x.e.branched = true
		*a = access{t: a.t, where: a.where, key: keys[k], ranged: true}
	}
}

// entry is one entry of an index: a record, and the row whose index columns
// place it.
type entry struct {
	c   *Chain
	row solve.Row
}

// order compares two entries of the index.
func (a *access) order(x, y *entry) int {
	if a.key != nil {
		if d := compareKey(a.key, x.row, y.row); d != 0 {
			return d
		}
	}
	if a.t.Clustered != nil {
		if d := compareKey(a.t.Clustered, x.row, y.row); d != 0 {
			return d
		}
	}
	return cmp.Compare(x.c.ID, y.c.ID)
}

// next returns the first entry behind another one, or at it; nil behind the
// last. Entries of deleted rows and of former versions count.
func (a *access) next(after *entry, at bool) *entry {
	var best *entry
	consider := func(n *entry) {
		if after != nil {
			if d := a.order(n, after); d < 0 || d == 0 && !at {
				return
			}
		}
		if best == nil || a.order(n, best) < 0 {
			best = n
		}
	}
	for _, c := range a.t.Chains {
		if a.key == nil {
			for i := len(c.Versions) - 1; i >= 0; i-- {
				if r := c.Versions[i].Row; r != nil {
					consider(&entry{c, r})
					break
				}
			}
			continue
		}
		for i := range c.Versions {
			if r := c.Versions[i].Row; r != nil {
				consider(&entry{c, r})
			}
		}
	}
	return best
}

// live reports whether the newest version of the entry's record still has it.
func (a *access) live(n *entry) bool {
	if len(n.c.Versions) == 0 {
		return false
	}
	r := n.c.last().Row
	return r != nil && (a.key == nil || equalIn(a.key, r, n.row))
}

// touches reports whether a scan meets an entry.
func (e *engine) touches(a *access, n *entry) bool {
	return a.all || a.where == nil || e.admits(a, a.where, n.row, false)
}

// admits reports whether the conditions on the index's columns admit an entry,
// whatever the others say.
func (e *engine) admits(a *access, x ast.ExprNode, row solve.Row, not bool) bool {
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return e.admits(a, n.Expr, row, not)
	case *ast.UnaryOperationExpr:
		if isNot(n.Op) {
			return e.admits(a, n.V, row, !not)
		}
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd, opcode.LogicOr:
			l, r := e.admits(a, n.L, row, not), e.admits(a, n.R, row, not)
			if (n.Op == opcode.LogicAnd) != not {
				return l && r
			}
			return l || r
		}
	}
	if !onlyColumns(x, a.t.Def, a.cols) || a.key == nil && !makesRange(x) {
		return true
	}
	truth, warnings, err := e.solver.Where(x, a.t.Def, row, &innodbViews{e: e})
	if err != nil || warnings > 0 {
		// A conversion that loses something makes no range, and may fail.
		return true
	}
	if not {
		return truth == sqlvalue.False
	}
	return truth == sqlvalue.True
}

// makesRange reports whether a condition is one that the optimiser makes a range
// of: a column, or a comparison of one with something that does not vary.
func makesRange(x ast.ExprNode) bool {
	bare := func(x ast.ExprNode) bool { _, ok := x.(*ast.ColumnNameExpr); return ok }
	switch n := x.(type) {
	case *ast.ColumnNameExpr, ast.ValueExpr:
		return true
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			return bare(n.L) != bare(n.R) && (bare(n.L) || !mentionsColumn(n.L)) && (bare(n.R) || !mentionsColumn(n.R))
		}
	case *ast.BetweenExpr:
		return bare(n.Expr)
	case *ast.PatternInExpr:
		return bare(n.Expr)
	case *ast.IsNullExpr:
		return bare(n.Expr)
	}
	return false
}

func mentionsColumn(x ast.Node) bool { return !onlyColumns(x, &solve.Table{}, nil) }

type columnFinder struct {
	t    *solve.Table
	cols map[int]bool
	ok   bool
}

func (f *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch c := n.(type) {
	case *ast.ColumnName:
		if !f.cols[f.t.ColumnIndex(c.Name.O)] {
			f.ok = false
		}
	case *ast.SubqueryExpr, *ast.AggregateFuncExpr:
		f.ok = false
	}
	return n, !f.ok
}

func (f *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// onlyColumns reports whether an expression reads no columns but the given.
func onlyColumns(x ast.Node, t *solve.Table, cols map[int]bool) bool {
	f := &columnFinder{t: t, cols: cols, ok: true}
	x.Accept(f)
	return f.ok
}

// pinsKey reports whether a condition fixes every column of a unique key to one
// value: an AND of equalities with literals.
func pinsKey(where ast.ExprNode, t *Table, k *solve.Key) bool {
	if where == nil || !k.Unique && !k.Primary {
		return false
	}
	return !slices.ContainsFunc(k.Columns, func(c int) bool { return !pins(where, t, c, false) })
}

// looksUp reports whether a condition makes the scan of a unique key a series
// of look-ups of single values: those of IN, of equalities joined by OR.
func looksUp(where ast.ExprNode, t *Table, k *solve.Key) bool {
	return pinsKey(where, t, k) || where != nil && (k.Unique || k.Primary) && len(k.Columns) == 1 && pins(where, t, k.Columns[0], true)
}

// pins reports whether a condition fixes a column to one literal, or, if some is
// set, to one of several.
func pins(x ast.ExprNode, t *Table, col int, some bool) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && t.Def.ColumnIndex(c.Name.Name.O) == col
	}
	literal := func(x ast.ExprNode) bool { _, ok := x.(ast.ValueExpr); return ok }
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return pins(n.Expr, t, col, some)
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd:
			return pins(n.L, t, col, some) || pins(n.R, t, col, some)
		case opcode.LogicOr:
			return some && pins(n.L, t, col, some) && pins(n.R, t, col, some)
		case opcode.EQ:
			return is(n.L) && literal(n.R) || is(n.R) && literal(n.L)
		}
	case *ast.PatternInExpr:
		return !n.Not && n.Sel == nil && (some || len(n.List) == 1) && is(n.Expr) && !slices.ContainsFunc(n.List, func(e ast.ExprNode) bool { return !literal(e) })
	}
	return false
}

// hit is a row that a scan found to match.
type hit struct {
	c   *Chain
	row solve.Row
}

// scan walks over a table as a locking read or a write does and calls visit
// for each row that matches, in the order of the index, while it goes.
func (x *running) scan(a *access, exclusive bool, visit func(hit) error) error {
	e, t, tx := x.e, a.t, x.tx
	if x.skips(t, a.where) {
		return nil
	}
	x.covered = x.kind == SelectForShare && x.coverable(t)
	keeps := tx.Level == corpus.RepeatableRead || tx.Level == corpus.Serializable
	judged := make(map[int]bool, len(t.Chains))
	views := x.views(nil, nil)
	only := x.onlyPath(t, a.where)
	var waitedFor *Chain
	var prev *entry
	n := a.next(nil, true)
	stopped := func(holder *Txn, doubtful bool) bool {
		var where stop
		if n != nil {
			x.at, x.exclusive = n.c, exclusive
		}
		if doubtful {
			where = x.perhaps(holder)
		} else {
			where = x.point(holder, true, x.due && holder != nil && x.needsLock(a, n, holder, exclusive, views))
		}
		x.at = nil
		switch where {
		case atEntry:
			x.resumeAmid()
			if n != nil {
				waitedFor = n.c
				n = a.next(n, true)
			}
		case beforeEntry:
			n = a.next(prev, false)
		}
		return where != nowhere
	}
	for {
		if n == nil {
			if !stopped(nil, false) {
				break
			}
			continue
		}
		if !e.touches(a, n) {
			// The scan of a range ends behind it, at an entry that it has
			// locked; which ranges there are is the optimiser's affair.
			if a.ranged {
				holder := e.holder(n.c, tx, exclusive)
				if holder == nil {
					holder = e.doubtfulHolder(n.c, tx, exclusive)
				}
				if stopped(holder, !e.loose) {
					continue
				}
				if err := x.recordChanged(n.c, false); err != nil {
					return err
				}
				e.doubt(n.c, tx, exclusive)
				prev = n
			}
			if err := x.strayError(a, n, views); err != nil {
				return err
			}
			n = a.next(n, false)
			continue
		}
		if err := x.recordChanged(n.c, only || x.lost(a, n.c, views)); err != nil {
			return err
		}
		holder := e.holder(n.c, tx, exclusive)
		if (holder != nil || x.amidVersion(n.c) != nil) && x.kind == Update && (a.key == nil || e.loose) && !a.unique && !keeps {
			pass, err := x.passes(a, n.c, judged)
			if err != nil {
				return err
			}
			// A scan of another index than the clustered one may not pass.
			if pass && (a.key == nil || e.choices.choose(2) == 1) {
				prev, n = n, a.next(n, false)
				continue
			}
		}
		if a.key != nil && holder != nil && e.writer(n.c, tx) == nil && !a.live(n) {
			holder = nil
		}
		if holder == nil && stopped(e.queued(n.c, tx, exclusive), true) {
			x.guessed = true
			continue
		}
		if holder == nil && stopped(e.doubtfulHolder(n.c, tx, exclusive), true) || stopped(holder, false) {
			continue
		}
		h, err := x.judge(a, n, holder, keeps, exclusive, waitedFor == n.c, judged, views)
		if err != nil {
			return err
		}
		if h != nil {
			if err := visit(*h); err != nil {
				return err
			}
		}
		prev, n = n, a.next(n, false)
	}
	return x.sweep(a, judged, views, visit)
}

// onlyPath reports whether there is one way to the rows, the clustered index, on
// which the statement meets each record that the conditions on the index's
// columns admit: no other index begins with a column that is tested, or holds
// all that a query reads.
func (x *running) onlyPath(t *Table, where ast.ExprNode) bool {
	return !x.e.loose && !limited(x.node) && !x.otherPath(t, where)
}

// otherPath reports whether a secondary index may lead to the rows.
func (x *running) otherPath(t *Table, where ast.ExprNode) bool {
	tested := columnsIn(t.Def, where)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if k == t.Clustered {
			continue
		}
		if tested[k.Columns[0]] {
			return true
		}
		if s, ok := x.node.(*ast.SelectStmt); ok && covers(t, k, columnsOf(t.Def, s)) {
			return true
		}
	}
	return false
}

// strayError returns the statement's own error if it comes from a row that the
// conditions on the index's columns exclude: the server may have gone by another
// index, or by none.
func (x *running) strayError(a *access, n *entry, views solve.Views) error {
	code := errCode(x.st)
	if code == 0 || x.due || code == errRecordChanged {
		return nil
	}
	ver := x.e.committed(n.c, x.tx)
	if ver == nil || ver.Row == nil {
		return nil
	}
	_, err := x.matches(a, ver, views)
	var e *solve.SQLError
	if err == nil || errors.As(err, &e) && e.Code != code {
		return nil
	}
	x.e.branched = true
	return err
}

// mustLock reports whether the row of an entry is surely needed, whatever the
// plan: another transaction wrote it, and its newest or its last committed
// version matches and is what the entry stands for.
func (x *running) mustLock(a *access, n *entry, views solve.Views) bool {
	if x.e.writer(n.c, x.tx) == nil {
		return false
	}
	for _, v := range []*Version{n.c.last(), x.e.committed(n.c, x.tx)} {
		if v == nil || v.Row == nil || a.key != nil && !equalIn(a.key, v.Row, n.row) {
			continue
		}
		if ok, err := x.matches(a, v, views); ok && err == nil {
			return true
		}
	}
	return false
}

// judge decides whether a scan acts on an entry that it has reached; nil if not.
func (x *running) judge(a *access, n *entry, holder *Txn, keeps, exclusive, waitedFor bool, judged map[int]bool, views solve.Views) (*hit, error) {
	e, tx := x.e, x.tx
	if len(n.c.Versions) == 0 {
		return nil, nil
	}
	ver := n.c.last()
	if holder != nil && e.writer(n.c, tx) != nil {
		if ver = e.committed(n.c, tx); ver == nil {
			return nil, nil
		}
	}
	if ver.Row == nil || a.key != nil && !equalIn(a.key, ver.Row, n.row) {
		return nil, nil
	}
	other := x.otherPath(a.t, a.where)
	if keeps && holder == nil && !other {
		e.lock(n.c, tx, exclusive)
	}
	ok, err := x.matches(a, ver, views)
	if err != nil {
		return nil, err
	}
	if ok && e.loose && x.waited && !waitedFor && x.came(a, ver, views) && e.choices.choose(2) == 1 {
		// It did not match when the statement began.
		return nil, nil
	}
	if !ok {
		judged[ver.rid] = true
		if waitedFor || keeps && holder == nil && other {
			e.doubt(n.c, tx, exclusive)
		}
		return nil, nil
	}
	if err := x.recordChanged(n.c, true); err != nil {
		return nil, err
	}
	if holder == nil {
		e.lock(n.c, tx, exclusive)
	}
	if judged[ver.rid] && x.written(n.c) {
		return nil, nil
	}
	judged[ver.rid] = true
	return &hit{n.c, ver.Row}, nil
}

// came reports whether a row came to match while the statement ran in a way that
// hides it from a scan that had passed: it did not exist when the statement
// began, or it did not match and has moved in an index by which a part of the
// condition may have been looked up.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (x *running) came(a *access, ver *Version, views solve.Views) bool {
	before := View{Tick: x.start, Own: x.tx}
	for _, c := range a.t.Chains {
		was := before.Seen(c)
		if was == nil || was.Row == nil || was.rid != ver.rid {
			continue
		}
		if a.where == nil {
			return false
		}
		tested := columnsIn(a.t.Def, a.where)
		for i := range a.t.Def.Keys {
			if k := &a.t.Def.Keys[i]; k != a.t.Clustered && tested[k.Columns[0]] && !equalIn(k, was.Row, ver.Row) {
				ok, err := x.matches(a, was, views)
				return err == nil && !ok
			}
		}
		return false
	}
	return true
}

// written reports whether this statement itself wrote a record's newest
// version: a scan does not meet its own change of a row again, because such an
// UPDATE first collects its rows.
func (x *running) written(c *Chain) bool {
	for _, w := range x.tx.writes[x.mark:] {
		if w == c {
			return true
		}
	}
	return false
}

// matches tests the statement's condition on a row. Where a conversion fails, a
// write fails in strict mode, a read does not; a LIMIT is counted elsewhere.
func (x *running) matches(a *access, ver *Version, views solve.Views) (bool, error) {
	if x.kind == Update || x.kind == Delete {
		if !limited(x.node) {
			idx, err := x.e.solver.Matches(x.node, a.t.Def, []solve.Row{ver.Row}, views)
			return len(idx) > 0, err
		}
	}
	truth, _, err := x.e.solver.Where(a.where, a.t.Def, ver.Row, views)
	return truth == sqlvalue.True, err
}

func limited(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *ast.SelectStmt:
		return s.Limit != nil
	case *ast.UpdateStmt:
		return s.Limit != nil
	case *ast.DeleteStmt:
		return s.Limit != nil
	}
	return false
}

// passes decides whether an UPDATE passes a row that another transaction has
// locked without waiting for it.
func (x *running) passes(a *access, c *Chain, judged map[int]bool) (bool, error) {
	e, tx := x.e, x.tx
	var ver *Version
	switch tx.Rules[rules.LockedRow] {
	case rules.PassCommitted:
		ver = e.committed(c, nil)
		if ver != nil && ver.Txn == tx {
			return false, nil
		}
	case rules.PassUncommitted:
		if ver = x.amidVersion(c); ver == nil {
			ver = c.last()
		}
	default:
		return false, nil
	}
	if ver != nil {
		judged[ver.rid] = true
	}
	if ver == nil || ver.Row == nil {
		if n := c.last(); n != nil {
			judged[n.rid] = true
		}
		return true, nil
	}
	ok, err := x.matches(a, ver, x.views(nil, nil))
	return err == nil && !ok, err
}

// sweep visits the rows that the promise does not allow to be missed although
// the scan did not meet them: they matched when the statement began and match
// now, but moved behind the place where it waited.
func (x *running) sweep(a *access, judged map[int]bool, views solve.Views, visit func(hit) error) error {
	if !x.waited || x.tx.Rules[rules.Resumption] != rules.ByRow {
		return nil
	}
	e, t := x.e, a.t
	before := View{Tick: x.start, Own: x.tx}
	matched := make(map[int]bool)
	for _, c := range t.Chains {
		ver := before.Seen(c)
		if ver == nil || judged[ver.rid] {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil {
			return err
		}
		matched[ver.rid] = ok
	}
	for _, c := range slices.Clone(t.Chains) {
		ver := c.last()
		if ver.Row == nil || !matched[ver.rid] || e.writer(c, x.tx) != nil {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil {
			return err
		}
		if ok {
			if err := visit(hit{c, ver.Row}); err != nil {
				return err
			}
		}
	}
	return nil
}

// isolatesSnapshots reports whether a transaction refuses to write rows that
// changed after its snapshot.
func (e *engine) isolatesSnapshots(tx *Txn) bool {
	return tx.Rules[rules.RecordChanged] != rules.Proceed
}

// changedError is error 1020 as a prediction; sure says that it is the only one.
type changedError struct{ sure bool }

func (changedError) Error() string { return "record has changed since last read" }

// coverable reports whether a secondary index and the clustered key in it hold
// every column that the statement mentions.
func (x *running) coverable(t *Table) bool {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok {
		return false
	}
	need := columnsOf(t.Def, s)
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if k == t.Clustered {
			continue
		}
		if covers(t, k, need) {
			return true
		}
	}
	return false
}

// covers reports whether a secondary index and the clustered key in it hold all
// of the columns; nil stands for every column of the table.
func covers(t *Table, k *solve.Key, need map[int]bool) bool {
	has := slices.Clone(k.Columns)
	if t.Clustered != nil {
		has = append(has, t.Clustered.Columns...)
	}
	for c := range t.Def.Columns {
		if (need == nil || need[c]) && !slices.Contains(has, c) {
			return false
		}
	}
	return true
}

// recordChanged decides whether touching a record fails with error 1020: its
// newest version was committed after the snapshot. Where it is not certain that
// the record is touched (sure is false), the answer decides.
func (x *running) recordChanged(c *Chain, sure bool) error {
	if !x.changedSince(c) {
		return nil
	}
	if x.covered && x.tx.Rules[rules.RecordChanged] == rules.RefuseUnlessCovered {
		sure = false
	}
	if sure || errCode(x.st) == errRecordChanged && !x.due {
		return changedError{sure}
	}
	return nil
}

// changedSince reports whether another transaction committed the newest version
// of a record after the snapshot, and the level refuses such records.
func (x *running) changedSince(c *Chain) bool {
	tx := x.tx
	if tx.Snapshot == 0 || !x.e.isolatesSnapshots(tx) || len(c.Versions) == 0 {
		return false
	}
	w := c.last().Txn
	return w != nil && w != tx && w.Commit != 0 && w.Commit >= tx.Snapshot
}

// lost reports whether a record that changed since the snapshot has to be
// refused although its newest version does not match: the row that the snapshot
// shows does, so that the statement would act on it. Which index it goes by must
// not matter; where it does, the record is met by those indexes only whose entry
// of it is as it was.
func (x *running) lost(a *access, c *Chain, views solve.Views) bool {
	if !x.changedSince(c) || limited(x.node) || hasSubquery(x.node) {
		return false
	}
	was := View{Tick: x.tx.Snapshot, Own: x.tx}.version(c)
	if was == nil || was.Row == nil {
		return false
	}
	if x.tx.Rules[rules.RecordGone] == rules.GoneUnseen && !x.keepsEntries(a.t, was.Row, c.last().Row) {
		return false
	}
	ok, err := x.matches(a, was, views)
	return ok && err == nil
}

// keepsEntries reports whether no secondary index lost its entry of a row that
// changed.
func (x *running) keepsEntries(t *Table, was, is solve.Row) bool {
	for i := range t.Def.Keys {
		if k := &t.Def.Keys[i]; k != t.Clustered && (is == nil || !equalIn(k, was, is)) {
			return false
		}
	}
	return true
}
