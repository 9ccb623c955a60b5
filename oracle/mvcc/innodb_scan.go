package mvcc

import (
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

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

// looksUpPart reports whether a part of an OR fixes every column of the clustered
// index to one value: its range is a look-up. There are ranges only if each part makes
// some; a part that computes with columns has the whole table read.
// https://dev.mysql.com/doc/refman/en/range-optimization.html
func looksUpPart(where ast.ExprNode, t *Table) bool {
	if t.Clustered == nil {
		return false
	}
	parts := disjuncts(where, nil)
	return slices.ContainsFunc(parts, func(d ast.ExprNode) bool { return pinsKey(d, t, t.Clustered) }) &&
		!slices.ContainsFunc(parts, func(d ast.ExprNode) bool { return !comparesKey(d, t) })
}

// comparesKey reports whether a condition, or one of those that it connects, compares
// the first column of a key itself, not what is computed of it.
func comparesKey(x ast.ExprNode, t *Table) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return k.Columns[0] == columnIn(t, c) })
	}
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return comparesKey(n.Expr, t)
	case *ast.UnaryOperationExpr:
		return comparesKey(n.V, t)
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr {
			return comparesKey(n.L, t) || comparesKey(n.R, t)
		}
		return is(n.L) || is(n.R)
	case *ast.BetweenExpr:
		return is(n.Expr)
	case *ast.PatternInExpr:
		return is(n.Expr)
	case *ast.PatternLikeOrIlikeExpr:
		return is(n.Expr)
	case *ast.IsNullExpr:
		return is(n.Expr)
	}
	return is(x)
}

// pins reports whether a condition fixes a column to one literal, or, if some is
// set, to one of several.
func pins(x ast.ExprNode, t *Table, col int, some bool) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && t.Def.ColumnIndex(c.Name.Name.O) == col
	}
	literal := func(x ast.ExprNode) bool {
		if u, ok := x.(*ast.UnaryOperationExpr); ok && u.Op == opcode.Minus {
			x = u.V
		}
		_, ok := x.(ast.ValueExpr)
		return ok
	}
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
		case opcode.NullEQ: // a look-up, too, but of NULL there may be several
			return is(n.L) && literal(n.R) && !isNull(n.R) || is(n.R) && literal(n.L) && !isNull(n.L)
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
	if nothing, err := x.skips(t, a.where); nothing || err != nil {
		return err
	}
	views := x.views(nil, nil)
	if _, err := e.solver.Matches(x.node, t.Def, nil, views); errors.Is(err, solve.ErrSubstituted) {
		// It may fail before a row is read.
		return err
	}
	x.covered = x.kind == stmt.SelectForShare && x.coverable(t)
	keeps := tx.Level == corpus.RepeatableRead || tx.Level == corpus.Serializable
	judged := make(map[int]bool, len(t.Chains))
	if asked, inner := x.asked, visit; asked != nil {
		visit = func(h hit) error {
			asked.met()
			return inner(h)
		}
	}
	a.other, a.pending = x.otherPath(t, a.where), e.pending
	only := !e.loose && stmt.Of(x.node).Limit == nil && !a.other
	x.scansAll = only && (t.Clustered == nil || !e.tested(t, a.where)[t.Clustered.Columns[0]])
	if a.ended && x.due {
		x.sure = false
		x.block(nil)
	}
	var waitedFor *Chain
	var prev *entry
	var failed error
	n := a.next(nil, true)
	stopped := func(holder *Txn, doubtful bool) bool {
		var where stop
		var met Version
		if n != nil {
			x.at, x.exclusive = n.c, exclusive
			if len(n.c.Versions) > 0 {
				met = *n.c.last()
			}
		}
		if doubtful {
			where = x.perhaps(x.atEntryOf(a, n, exclusive), holder)
		} else {
			where = x.point(x.atEntryOf(a, n, exclusive), holder, true, x.due && holder != nil && x.needsLock(a, n, holder, exclusive, views))
		}
		x.at = nil
		switch where {
		case atEntry:
			x.resumeAmid()
			if n != nil {
				waitedFor = n.c
				if x.readsVictim(a, &met, views) {
					failed = visit(hit{n.c, met.Row})
				}
				n = a.next(n, true)
			}
		case beforeEntry:
			n = x.behindUnseen(a, prev, n)
		}
		return where != nowhere
	}
	for {
		if failed != nil {
			return failed
		}
		if x.due && x.atUnseen && e.choices.keep(2) == 1 {
			x.sure = false
			x.block(nil)
			n = x.behindUnseen(a, prev, n)
			continue
		}
		if n == nil {
			if !stopped(nil, false) {
				break
			}
			continue
		}
		if !e.touches(a, n) {
			// The scan of a range ends behind it, at an entry that it has
			// locked; which ranges there are is the optimiser's affair.
			if a.ranged || !a.unique && x.toldHere(x.atEntryOf(a, n, exclusive)) == record.Yes {
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
		if x.skip != nil {
			passes, err := x.passesLocked(a, n, views)
			if err != nil {
				return err
			}
			if passes {
				prev, n = n, a.next(n, false)
				continue
			}
		}
		if err := x.recordChanged(n.c, only || x.lost(a, n.c, views)); err != nil {
			return err
		}
		holder := e.holder(n.c, tx, exclusive)
		if (holder != nil || x.amidVersion(n.c) != nil) && x.kind == stmt.Update && (a.key == nil || e.loose) && !a.unique && !keeps {
			pass, err := x.passes(a, n.c, judged)
			if err != nil {
				return err
			}
			// A scan of another index than the clustered one may not pass, nor may the
			// look-up of a whole key among ranges. A scan for committed versions, or one that
			// follows an order, may wait in place of it, and so does one that is told to.
			mayWait := a.key != nil || looksUpPart(a.where, t) || inOrder(x.node) || e.loose && tx.Rules.of(rules.LockedRow) == rules.PassCommitted
			if pass && x.due {
				here := x.toldHere(x.atEntryOf(a, n, exclusive))
				pass, mayWait = here != record.Yes, mayWait && here != record.No
			}
			if pass && (!mayWait || e.choices.choose(2) == 1) {
				prev, n = n, a.next(n, false)
				continue
			}
		}
		if a.key != nil && holder != nil && e.writer(n.c, tx) == nil && !a.live(n) {
			holder = nil
		}
		if holder == nil && (stopped(e.queued(n.c, tx, exclusive), true) || stopped(e.doubtfulHolder(n.c, tx, exclusive), true)) || stopped(holder, false) {
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
	for _, c := range t.Chains {
		if x.skip == nil && x.lostBelow(a, c, views) {
			return changedError{true}
		}
	}
	return x.sweep(a, judged, views, visit)
}

// behindUnseen returns the entry at which a scan goes on that waited for one which no
// statement sees, between the entries prev and n. What was inserted meanwhile in front
// of that one is passed.
func (x *running) behindUnseen(a *access, prev, n *entry) *entry {
	next := a.next(prev, false)
	for next != nil && (n == nil || a.order(next, n) < 0) && x.e.choices.choose(2) == 1 {
		next = a.next(next, false)
	}
	return next
}

// readsVictim decides, under the rule VictimReturned, whether a share locking read
// that an index alone may answer returns the row that it waited for although the
// transaction that wrote it was a deadlock's victim meanwhile.
func (x *running) readsVictim(a *access, met *Version, views solve.Views) bool {
	if x.tx.Rules.of(rules.VictimRow) != rules.VictimReturned || !x.covered || met.Row == nil {
		return false
	}
	w := met.Txn
	if w == nil || w == x.tx || w.Ended == 0 || w.Commit != 0 {
		return false
	}
	ok, err := x.matches(a, met, views)
	if err != nil || !ok || x.e.choices.choose(2) == 0 {
		return false
	}
	x.tx.missed = true
	return true
}

// strayError returns the statement's own error if it comes from a row that the
// conditions on the index's columns exclude: the server may have gone by another
// index, or by none.
func (x *running) strayError(a *access, n *entry, views solve.Views) error {
	code := errCode(x.st)
	if code == 0 && !x.e.counting || x.due || code == errRecordChanged {
		return nil
	}
	ver := x.e.committed(n.c, x.tx)
	if ver == nil || ver.Row == nil {
		return nil
	}
	_, err := x.matches(a, ver, views)
	var e *solve.SQLError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		if x.open = strayOrNot; e.Code != code {
			return nil
		}
	case code == 0:
		return nil // it would be asked for what the answer does not need
	}
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
	if keeps && holder == nil && !a.other {
		x.locks(n.c, exclusive)
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
		if waitedFor || keeps && holder == nil && a.other {
			e.doubt(n.c, tx, exclusive)
		}
		return nil, nil
	}
	// LIMIT may end the scan before it.
	if err := x.recordChanged(n.c, stmt.Of(x.node).Limit == nil); err != nil {
		return nil, err
	}
	if holder == nil {
		x.locks(n.c, exclusive)
	}
	if judged[ver.rid] && x.written(n.c) {
		return nil, nil
	}
	judged[ver.rid] = true
	return &hit{n.c, ver.Row}, nil
}

// locks notes the lock on a record that the scan has met, which is not certain where it may
// have stopped before.
func (x *running) locks(c *Chain, exclusive bool) {
	if x.mayStop {
		x.e.doubt(c, x.tx, exclusive)
	} else {
		x.e.lock(c, x.tx, exclusive)
	}
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
		tested := x.e.tested(a.t, a.where)
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
	if x.kind == stmt.Update || x.kind == stmt.Delete {
		if stmt.Of(x.node).Limit == nil {
			idx, err := x.e.solver.Matches(x.node, a.t.Def, []solve.Row{ver.Row}, views)
			return len(idx) > 0, err
		}
		idx, err := x.e.solver.Matches(x.e.solver.Unlimited(x.node), a.t.Def, []solve.Row{ver.Row}, views)
		var e *solve.SQLError
		if errors.As(err, &e) {
			// Whether the row is evaluated before the limit is reached is the plan's affair.
			return false, &Loss{Slug: "unsupported: error under ORDER BY or LIMIT"}
		}
		return len(idx) > 0, err
	}
	truth, _, err := x.e.solver.Where(a.where, a.t.Def, ver.Row, views)
	return truth == sqlvalue.True, err
}

// inOrder reports whether an UPDATE has an ORDER BY.
func inOrder(n ast.StmtNode) bool {
	v := stmt.Of(n)
	return v.Kind == stmt.Update && v.Order != nil
}

// passes decides whether an UPDATE passes a row that another transaction has
// locked without waiting for it.
func (x *running) passes(a *access, c *Chain, judged map[int]bool) (bool, error) {
	e, tx := x.e, x.tx
	var ver *Version
	switch tx.Rules.of(rules.LockedRow) {
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
// the scan did not meet them, or notes that they are missed.
func (x *running) sweep(a *access, judged map[int]bool, views solve.Views, visit func(hit) error) error {
	if !x.waited || x.skip != nil {
		return nil
	}
	byRow := x.tx.Rules.of(rules.Resumption) == rules.ByRow
	left, err := x.movedBehind(a, judged, views, !byRow)
	if !byRow {
		where := pointed(a.where)
		if err == nil && len(left) > 0 && slices.ContainsFunc(a.t.Def.Keys, func(k solve.Key) bool { return looksUp(where, a.t, &k) }) {
			x.tx.missed = true
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, h := range left {
		if err := visit(h); err != nil {
			return err
		}
	}
	return nil
}

// movedBehind returns the rows that matched when the statement began and match now,
// but moved behind the place where it waited. Below says to judge what is committed of a
// row that another transaction is changing, too.
func (x *running) movedBehind(a *access, judged map[int]bool, views solve.Views, below bool) ([]hit, error) {
	e, t := x.e, a.t
	before := View{Tick: x.start, Own: x.tx}
	matched := make(map[int]bool)
	for _, c := range t.Chains {
		ver := before.Seen(c)
		if ver == nil || judged[ver.rid] {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil && !errors.As(err, new(*solve.SQLError)) {
			return nil, err
		}
		// Nobody evaluates the condition on what is out of date: its error is none.
		matched[ver.rid] = ok && err == nil
	}
	var left []hit
	for _, c := range t.Chains {
		ver := c.last()
		if e.writer(c, x.tx) != nil {
			if ver = e.committed(c, nil); !below || ver == nil {
				continue
			}
		}
		if ver.Row == nil || !matched[ver.rid] {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil {
			return nil, err
		}
		if ok {
			left = append(left, hit{c, ver.Row})
		}
	}
	return left, nil
}
