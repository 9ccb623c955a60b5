package tidb

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// A TiDB transaction caches the values of the keys that its locking look-ups met,
// since nobody else can change a key that it has locked. At READ COMMITTED a
// look-up of one key that is absent locks nothing, but the absence is cached all
// the same, and then answers
//   - look-ups of several keys, which ask the cache first (batch_point_get.go);
//   - look-ups of one key that the transaction has locked by other means since,
//     because a lock that is held already returns no value (point_get.go).
// The first ROLLBACK TO of a savepoint takes back what the cache learnt since it,
// but the savepoint and the transaction share the cache from then on, so that
// later ones take back nothing; the locks stay. What the transaction itself wrote
// is found before the cache is asked.

// absentKey is a key that a transaction takes to be absent: that of the rows for
// which the conditions hold.
type absentKey struct {
	key    *solve.Key
	pinned []ast.ExprNode
}

// absentCache is what a transaction takes to be absent. A nil cache is empty.
type absentCache struct{ keys []absentKey }

func (c *absentCache) clone() *absentCache {
	out := &absentCache{}
	if c != nil {
		out.keys = slices.Clone(c.keys)
	}
	return out
}

// keyLock is the lock that a transaction has on a row's entry of a key.
func keyLock(tx *versions.Txn, row *versions.Chain, key *solve.Key) versions.Lock {
	return versions.Lock{Txn: tx, Row: row, Key: key, Mode: versions.Exclusive}
}

// keyLookup is how a locking statement finds its rows: by the values of a unique
// key.
type keyLookup struct {
	table  *versions.Table
	filter *pointFilter
	// several says that TiDB asks for the keys in one batch, else for one key.
	several bool
}

// lockingLookup recognises, under the rule AbsentRemembered, a locking look-up;
// nil if the statement is none. Where the plan may be another one, that is a choice.
func (r *engine) lockingLookup(tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) *keyLookup {
	if tx.Rules.Of(rules.AbsentKey) != rules.AbsentRemembered || tx.Auto || kind != stmt.SelectForUpdate && kind != stmt.Update && kind != stmt.Delete {
		return nil
	}
	of := stmt.Of(node)
	where, from := of.Where, of.From
	name := stmt.SoleTable(from)
	if name == nil || r.Table(name.Name.O) == nil {
		return nil
	}
	t := r.Table(name.Name.O)
	f, points := cheapestFilter(t.Def, r.Possible(where))
	if f == nil {
		return nil
	}
	l := &keyLookup{table: t, filter: f, several: points != 1 || listAlone(node, f.key)}
	plans := []*keyLookup{l}
	if points == unsurePoints || !integersOnly(f.pinned) {
		one := *l
		one.several = false
		plans = append(plans, &one)
	}
	if len(name.IndexHints) > 0 || len(f.key.Columns) > 1 && len(f.rest)+len(f.pinned) == 1 || mvcc.HasSubquery(node) || !integerKey(t.Def, f.key) {
		plans = append(plans, nil)
	}
	return plans[r.views.Choose(len(plans))]
}

// reached returns what a view sees of a table, less the rows that the statement's
// look-up takes to be absent. An index entry whose row is taken to be absent is
// error 8133.
func (r *engine) reached(t *versions.Table, view versions.View) ([]solve.Row, []*versions.Chain, error) {
	rows, chains := t.Rows(view)
	l := r.lookup
	if l == nil || l.table != t || r.of(view.Own).absent == nil {
		return rows, chains, nil
	}
	var kept []solve.Row
	var keptChains []*versions.Chain
	for i, c := range chains {
		if r.takesForAbsent(l, l.filter.key, c, rows[i], view) {
			continue
		}
		if t.Clustered != nil && t.Clustered != l.filter.key && r.allTrue(l.filter.pinned, t, rows[i], view) && r.takesForAbsent(l, t.Clustered, c, rows[i], view) {
			return nil, nil, &solve.SQLError{Code: mvcc.ErrInconsistent}
		}
		kept, keptChains = append(kept, rows[i]), append(keptChains, c)
	}
	return kept, keptChains, nil
}

// takesForAbsent reports whether a look-up misses a row's key.
func (r *engine) takesForAbsent(l *keyLookup, key *solve.Key, c *versions.Chain, row solve.Row, view versions.View) bool {
	tx, absent := view.Own, r.of(view.Own).absent
	if absent == nil || changedBy(c, tx) || !l.several && !r.keyLocks.Held(keyLock(tx, c, key)) {
		return false
	}
	return slices.ContainsFunc(absent.keys, func(a absentKey) bool {
		return a.key == key && r.allTrue(a.pinned, l.table, row, view)
	})
}

// changedBy reports whether a transaction wrote a version of the row that differs
// from the one before it: only then is it among the transaction's own writes.
func changedBy(c *versions.Chain, tx *versions.Txn) bool {
	for i := range c.Versions {
		v := &c.Versions[i]
		if v.Txn == tx && (i == 0 || v.Row == nil || c.Versions[i-1].Row == nil || !versions.EqualRows(v.Row, c.Versions[i-1].Row)) {
			return true
		}
	}
	return false
}

// afterLookup returns what a transaction has cached and locked behind the
// statement's look-up, if the statement succeeds.
func (r *engine) afterLookup(tx *versions.Txn, st *history.Stmt, view versions.View) (absent []absentKey, held []versions.Lock) {
	absent = r.of(tx).absent.clone().keys
	l := r.lookup
	if l == nil {
		return absent, nil
	}
	f, t := l.filter, l.table
	if !l.several {
		// The lock request itself reads the key, behind all that it waited for; but of
		// what one commit released, others may have come behind it.
		ticks := []history.Tick{r.Effect(st)}
		if len(st.Waits) > 0 {
			ticks = r.releasedWithin(ticks, st.Waits[0].From, st.Return)
		}
		view.Tick = ticks[r.views.Choose(len(ticks))]
	}
	rows, chains := t.Rows(view)
	found := false
	for i, c := range chains {
		if !r.allTrue(f.pinned, t, rows[i], view) {
			continue
		}
		found = true
		if r.takesForAbsent(l, f.key, c, rows[i], view) {
			continue
		}
		for _, k := range []*solve.Key{f.key, t.Clustered} {
			h := keyLock(tx, c, k)
			if k == nil || slices.Contains(held, h) {
				continue
			}
			held = append(held, h)
			if l.several || r.keyLocks.Held(h) {
				continue
			}
			absent = slices.DeleteFunc(absent, func(a absentKey) bool {
				return a.key == k && r.allTrue(a.pinned, t, rows[i], view)
			})
		}
	}
	if !found && !l.several && !r.holds(tx, t, f, view) {
		absent = append(absent, absentKey{key: f.key, pinned: f.pinned})
	}
	return absent, held
}

// holds reports whether a transaction has locked the key that a filter pins,
// although no row has it now.
func (r *engine) holds(tx *versions.Txn, t *versions.Table, f *pointFilter, view versions.View) bool {
	return slices.ContainsFunc(t.Chains, func(c *versions.Chain) bool {
		return r.keyLocks.Held(keyLock(tx, c, f.key)) && slices.ContainsFunc(c.Versions, func(v versions.Version) bool {
			return v.Row != nil && r.allTrue(f.pinned, t, v.Row, view)
		})
	})
}

// keep enters what a successful statement has cached and locked: what its look-up
// did, the rows that it returned or wrote, and of rows that it wrote or left
// unchanged their unique keys.
func (r *engine) keep(tx *versions.Txn, kind stmt.Kind, node ast.StmtNode, p *mvcc.Prediction, absent []absentKey, held []versions.Lock) {
	kept := r.of(tx)
	if kept.absent == nil {
		kept.absent = &absentCache{}
	}
	kept.absent.keys = absent
	from := stmt.Of(node).From
	if name := stmt.SoleTable(from); name != nil && r.Table(name.Name.O) != nil {
		t := r.Table(name.Name.O)
		for i := range t.Def.Keys {
			k := &t.Def.Keys[i]
			if k != t.Clustered && (!k.Unique || kind == stmt.SelectForUpdate) {
				continue
			}
			for _, c := range p.Read {
				held = append(held, keyLock(tx, c, k))
			}
		}
	}
	for _, h := range held {
		r.keyLocks.Take(h)
	}
}

// neighbours reports whether two of the values are adjacent integers. Where an OR
// of them is a secondary key's whole filter, TiDB makes one range of the two.
func neighbours(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		return err == nil && slices.Contains(values, strconv.FormatInt(n+1, 10))
	})
}

// unsurePoints says that a filter pins a key to an unknown number of values.
const unsurePoints = -1

// cheapestFilter recognises a filter that pins a unique key to constants, and how
// many values of the key that makes. Of several keys TiDB takes one that is
// pinned to one value, then the primary key, then the first.
func cheapestFilter(t *solve.Table, where ast.ExprNode) (best *pointFilter, points int) {
	conds := mvcc.Conjuncts(where, nil)
	meet := boundsMeet(t, conds)
	rank := func(k *solve.Key, n int) int {
		return 2*mvcc.BoolRank(n == 1) + mvcc.BoolRank(k.Primary)
	}
	for i := range t.Keys {
		k := &t.Keys[i]
		if !k.Unique && !k.Primary {
			continue
		}
		f := &pointFilter{key: k}
		for _, e := range conds {
			col, _ := columnOf(t, e)
			if values, listed := listedBy(t, e, k.Columns[0]); slices.Contains(k.Columns, col) || listed && (k.Primary || len(conds) > 1 || !neighbours(values)) {
				f.pinned = append(f.pinned, e)
				continue
			}
			f.rest = append(f.rest, e)
		}
		n := 1
		for _, col := range k.Columns {
			n = product(n, pointsOf(t, f.pinned, col, meet[col]))
		}
		if n != 0 && (best == nil || rank(k, n) > rank(best.key, points)) {
			best, points = f, n
		}
	}
	return best, points
}

func product(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	if a == unsurePoints || b == unsurePoints {
		return unsurePoints
	}
	return a * b
}

// pointsOf returns to how many values conditions pin a column, 0 if to none in
// particular.
func pointsOf(t *solve.Table, conds []ast.ExprNode, col int, meet bool) int {
	if meet {
		return 1
	}
	n, others := 0, 0
	for _, e := range conds {
		values, ok := listedBy(t, e, col)
		if !ok {
			if c, _ := columnOf(t, e); c == col {
				others++
			}
			continue
		}
		switch {
		case n == 0:
			n = len(values)
		case n > 1 && len(values) > 1:
			others++
		default:
			n = min(n, len(values))
		}
	}
	if n > 1 && others > 0 {
		return unsurePoints
	}
	return n
}

// listedBy returns the different values, NULL aside, to which a condition pins a
// column: an equality, a list, or such conditions connected by OR.
func listedBy(t *solve.Table, e ast.ExprNode, col int) (values []string, ok bool) {
	var items []ast.ExprNode
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return listedBy(t, x.Expr, col)
	case *ast.BinaryOperationExpr:
		if branches := mvcc.Disjuncts(x, nil); len(branches) > 1 {
			for _, b := range branches {
				var of []string
				for _, c := range mvcc.Conjuncts(b, nil) {
					if v, listed := listedBy(t, c, col); listed && of == nil {
						of = v
					}
				}
				if of == nil {
					return nil, false
				}
				values = append(values, of...)
			}
			slices.Sort(values)
			return slices.Compact(values), true
		}
		items = []ast.ExprNode{x.R}
		if columnRef(t, x.L) < 0 {
			items[0] = x.L
		}
	case *ast.BetweenExpr:
		items = []ast.ExprNode{x.Left}
	case *ast.PatternInExpr:
		items = x.List
	}
	if c, fixed := columnOf(t, e); c != col || !fixed {
		return nil, false
	}
	for _, it := range items {
		if v, ok := it.(ast.ValueExpr); ok && v.GetValue() == nil {
			continue
		}
		if n, ok := mvcc.SmallLiteral(it); ok {
			values = append(values, strconv.FormatInt(n, 10))
			continue
		}
		values = append(values, corpus.SQL(&ast.DoStmt{Exprs: []ast.ExprNode{it}}, corpus.Text))
	}
	slices.Sort(values)
	return slices.Compact(values), len(values) > 0
}

// listAlone reports whether a statement's whole filter is a list and nothing else
// is asked for: TiDB then asks for its keys in a batch even if it is one key. In a
// list of primary keys a NULL makes it plan otherwise.
func listAlone(node ast.StmtNode, key *solve.Key) bool {
	v := stmt.Of(node)
	in, ok := v.Where.(*ast.PatternInExpr)
	if !ok || slices.ContainsFunc(in.List, func(e ast.ExprNode) bool {
		v, ok := e.(ast.ValueExpr)
		return !ok || v.GetValue() == nil && key.Primary
	}) {
		return false
	}
	if _, ok := in.Expr.(*ast.ColumnNameExpr); !ok {
		return false
	}
	if v.Order != nil || v.Limit != nil {
		return false
	}
	s, ok := node.(*ast.SelectStmt)
	return !ok || s.GroupBy == nil && s.Having == nil && !s.Distinct &&
		!slices.ContainsFunc(s.Fields.Fields, func(f *ast.SelectField) bool {
			_, column := f.Expr.(*ast.ColumnNameExpr)
			return f.WildCard == nil && !column
		})
}

// integerKey reports whether all columns of a key are integers. Of others it
// depends on the constants' types whether they are looked up.
func integerKey(t *solve.Table, k *solve.Key) bool {
	return !slices.ContainsFunc(k.Columns, func(c int) bool { return t.Columns[c].Type.Class != solve.IntClass })
}

// readReached predicts a locking query whose look-up misses rows.
func (r *engine) readReached(s *ast.SelectStmt, t *versions.Table, rows []solve.Row, views solve.Views) ([][]sqlvalue.Value, error) {
	idx, err := r.Solver.Matches(s, t.Def, rows, views)
	if err != nil {
		return nil, err
	}
	found := make([]solve.Row, len(idx))
	for k, j := range idx {
		found[k] = rows[j]
	}
	res, err := r.Solver.Project(s, t.Def, found, views)
	if err != nil {
		return nil, err
	}
	return res.Rows, nil
}
