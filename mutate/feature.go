package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// A feature puts into session x a statement of a rarer form (a savepoint, REPLACE,
// NOWAIT, SKIP LOCKED and the like) that meets a statement of session y, and returns both. It
// returns false if it changed nothing.
type feature func(c *choices, d *draft, o *Options, x, y int) (pair, bool)

// features are made of fresh and of stored cases alike. What applies to fewer
// tables, or meets the other statement less often, weighs more.
var features = []weighted[feature]{
	{12, savepoint(undone)},
	{9, savepoint(released)},
	{11, insertion(replacing)},
	{13, insertion(ignoring)},
	{11, insertion(updating)},
	{8, lockingRead(ast.SelectLockForUpdateNoWait)},
	{7, lockingRead(ast.SelectLockForShareNoWait)},
	{8, orderedRead(ast.SelectLockNone)},
	{9, orderedRead(ast.SelectLockForUpdate)},
	{9, orderedLimit(ast.SelectLockNone)},
	{8, orderedLimit(ast.SelectLockForUpdate)},
	{8, limitedUpdate},
	{10, limitedDelete},
	{13, lockingJoin},
}

// Out of 256.
const (
	// featureOdds is how often an input that has the lane shows a feature.
	featureOdds = 96
	// skipOdds is how often one that shows none has a SKIP LOCKED, where the server knows
	// it. It is drawn apart, so that inputs mean the same on servers that do not.
	skipOdds = 32
	// anyRowsOdds is how often one that shows none of these has a LIMIT without an order.
	anyRowsOdds = 24
	// movedKeysOdds is how often one that shows none of these moves primary keys between rows.
	movedKeysOdds = 12
	// meetingOdds is how often the two statements must be open together.
	meetingOdds = 236
	// sharedRowsOdds is how often the one selects the rows that the other does.
	sharedRowsOdds = 172
)

// feature applies at most one feature, mostly none, and says whether it did. It
// returns the pair of statements that the submitted order is to bring together, if
// there is one. Pairs that were chosen before it are no longer valid: statements
// have moved.
func (d *draft) feature(src Source, o *Options) (made bool, meeting []pair) {
	c := on(src, FeatureLane)
	var f feature
	switch {
	case o.Replicated && c.odds(shiftedKeysOdds):
		f = shiftedKeys
	case c.odds(featureOdds):
		f = pick(c, features)
	case o.SkipLocked && c.odds(skipOdds):
		f = skippingRead
	case c.odds(anyRowsOdds):
		f = anyRows
	case c.odds(movedKeysOdds):
		f = movedKeys
	default:
		return false, nil
	}
	x, y, ok := d.two(c)
	meets := c.odds(meetingOdds)
	if !ok || len(d.tables) == 0 {
		return false, nil
	}
	if o.Computed > 0 && c.odds(o.Computed) {
		f = computed
	}
	p, ok := f(c, d, o, x, y)
	if !ok || !meets {
		return true, nil
	}
	if c.odds(128) {
		p.a, p.b = p.b, p.a
	}
	return true, []pair{p}
}

// inFirst returns the statements of the first transaction of session i that
// satisfy a condition on their kind and table.
func (d *draft) inFirst(i int, want func(stmt.Kind, *table) bool) []ref {
	lo, hi, _ := d.sessions[i].body()
	var out []ref
	for _, r := range d.find(i, func(stmt.Kind) bool { return true }) {
		k, name := KindOf(d.stmt(r))
		if lo <= r.stmt && r.stmt < hi && want(k, tableNamed(d.tables, name)) {
			out = append(out, r)
		}
	}
	return out
}

// write returns a write in session i on a table that suits: one that is there,
// or an UPDATE of one row that it puts there.
func (d *draft) write(c *choices, o *Options, i int, suits func(*table) bool) (ref, bool) {
	if there := d.inFirst(i, func(k stmt.Kind, t *table) bool { return k.Writes() && suits(t) }); len(there) > 0 {
		return oneOf(c, there), true
	}
	var tables []*table
	for _, t := range d.tables {
		if suits(t) {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return ref{}, false
	}
	t := oneOf(c, tables)
	return d.put(i, c.below(5), updateStmt(t, assignments(c, t), pointPredicate(c, t)), o), true
}

func anyTable(*table) bool { return true }

// What becomes of a savepoint.
const (
	undone = iota
	released
)

// savepoint sets a savepoint before a write of x and undoes what stands behind
// it, or releases it.
func savepoint(what int) feature {
	return func(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
		other, ok := d.write(c, o, y, anyTable)
		if !ok {
			return pair{}, false
		}
		t := d.tableOf(d.stmt(other))
		own, _ := d.write(c, o, x, func(u *table) bool { return u == t })
		d.shareRows(c, own, other)
		s := &d.sessions[x]
		lo, hi, _ := s.body()
		name, end := "s", min(own.stmt+1+c.below(3), hi)
		begin := own.stmt - c.below(own.stmt-lo+1)
		type insertion struct {
			at   int
			stmt ast.StmtNode
		}
		var more []insertion // from the back to the front
		switch form := c.below(8); {
		case what == released && form < 6:
			more = []insertion{{end, &ast.ReleaseSavepointStmt{Name: name}}}
		case what == released:
			more = []insertion{{end, &ast.RollbackStmt{SavepointName: name}}, {end, &ast.ReleaseSavepointStmt{Name: "p"}}, {own.stmt, &ast.SavepointStmt{Name: "p"}}}
		case form < 5:
			more = []insertion{{end, &ast.RollbackStmt{SavepointName: name}}}
		case form < 6: // back to it twice
			more = []insertion{{hi, &ast.RollbackStmt{SavepointName: name}}, {end, &ast.RollbackStmt{SavepointName: name}}}
		case form < 7: // back over another
			more = []insertion{{end, &ast.RollbackStmt{SavepointName: name}}, {own.stmt + 1, &ast.SavepointStmt{Name: "p"}}}
		default: // set anew under its name
			more = []insertion{{end, &ast.RollbackStmt{SavepointName: name}}, {own.stmt, &ast.SavepointStmt{Name: name}}}
		}
		more = append(more, insertion{begin, &ast.SavepointStmt{Name: name}})
		if hi-lo+len(more) > o.MaxStatements {
			return pair{}, false
		}
		for _, m := range more {
			s.insert(m.at, m.stmt)
			if m.at <= own.stmt {
				own.stmt++
			}
		}
		return pair{own, other}, true
	}
}

// shareRows mostly lets one statement select the rows that the other does, where
// both select.
func (d *draft) shareRows(c *choices, own, other ref) {
	to, from := filter(d.stmt(own)), filter(d.stmt(other))
	if c.odds(sharedRowsOdds) && to != nil && from != nil && *from != nil {
		d.setFilter(own, *from)
	}
}

// met makes a WHERE clause for a statement that meets another one: the other's,
// none, or any.
func (d *draft) met(c *choices, other ref) ast.ExprNode {
	if from := filter(d.stmt(other)); from != nil && c.odds(sharedRowsOdds) {
		return *from
	}
	if c.odds(140) {
		return nil
	}
	return where(c, d.tableOf(d.stmt(other)))
}

// level returns the level that session i runs at.
func (d *draft) level(i int) corpus.Level { return d.levels[d.sessions[i].number] }
