package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// A link ties the transactions of sessions x and y together: it puts statements
// into y, or both, that answer to what the other does. It returns false where
// it changed nothing. The draft has a table, and both sessions a transaction.
type link func(c *choices, d *draft, o *Options, x, y int) bool

// links are applied to fresh cases. Independent transactions come first.
var links = []weighted[link]{
	{34, func(*choices, *draft, *Options, int, int) bool { return false }},
	{12, echoWrite},
	{8, readFirst},
	{12, readAgain},
	{16, readAroundEcho},
	{9, crossReads},
	{9, readRangeInsert},
}

// link applies a link to two sessions of the draft.
func (d *draft) link(c *choices, o *Options, l link) bool {
	x, y, ok := d.two(c)
	return ok && len(d.tables) > 0 && l(c, d, o, x, y)
}

// two chooses two different sessions with a transaction.
func (d *draft) two(c *choices) (x, y int, ok bool) {
	var with []int
	for i := range d.sessions {
		if len(d.sessions[i].spans()) > 0 {
			with = append(with, i)
		}
	}
	if len(with) < 2 {
		return 0, 0, false
	}
	at := c.below(len(with))
	x = with[at]
	y = with[(at+1+c.below(len(with)-1))%len(with)]
	return x, y, true
}

// put inserts a statement into the first transaction of session i, part/4 of
// the way through it, within the limit, and returns where it is.
func (d *draft) put(i, part int, stmt ast.StmtNode, o *Options) ref {
	s := &d.sessions[i]
	s.room(o.MaxStatements)
	lo, hi, _ := s.body()
	at := lo + (hi-lo)*part/4
	s.insert(at, stmt)
	return ref{i, at}
}

// echoWrite lets a session repeat a write of another: the same statement, or
// the same assignments under another predicate.
func echoWrite(c *choices, d *draft, o *Options, x, y int) bool {
	return echoAt(c, d, o, x, y, c.below(5))
}

// echoAt does so part/4 of the way through session y.
func echoAt(c *choices, d *draft, o *Options, x, y, part int) bool {
	writes := d.find(x, stmt.Kind.Writes)
	if len(writes) == 0 {
		return false
	}
	stmt := d.stmt(oneOf(c, writes))
	if u, is := stmt.(*ast.UpdateStmt); is && u.Order == nil && u.Limit == nil {
		e := *u
		switch c.below(4) {
		case 2:
			e.Where = nil
		case 3:
			e.Where = where(c, d.tableOf(u))
		}
		stmt = &e
	}
	d.put(y, part, stmt, o)
	return true
}

// readFirst lets a transaction begin with a plain SELECT.
func readFirst(c *choices, d *draft, o *Options, x, y int) bool {
	t := oneOf(c, d.tables)
	var w ast.ExprNode
	if c.odds(90) {
		// What the other writes is what is worth reading.
		if writes := d.find(x, func(k stmt.Kind) bool { return k.Writes() && k != stmt.Insert }); len(writes) > 0 {
			stmt := d.stmt(oneOf(c, writes))
			t, w = d.tableOf(stmt), *filter(stmt)
		}
	}
	d.put(y, 0, selectStmt(t, nil, w, ast.SelectLockNone), o)
	return true
}

// readAgain lets a transaction end with a read: of everything, or the repeat
// of a read that it made before.
func readAgain(c *choices, d *draft, o *Options, _, y int) bool {
	read := ast.StmtNode(selectStmt(oneOf(c, d.tables), nil, nil, ast.SelectLockNone))
	if reads := d.find(y, func(k stmt.Kind) bool { return k == stmt.Select }); len(reads) > 0 && c.odds(110) {
		read = d.stmt(oneOf(c, reads))
	}
	d.put(y, 4, read, o)
	return true
}

// readAroundEcho lets a transaction read, repeat a write of the other behind
// its own statements, and read again.
func readAroundEcho(c *choices, d *draft, o *Options, x, y int) bool {
	readFirst(c, d, o, x, y)
	echoAt(c, d, o, x, y, 3+c.below(2))
	return readAgain(c, d, o, x, y)
}

// crossReads lets each of two transactions read what the other then updates.
func crossReads(c *choices, d *draft, o *Options, x, y int) bool {
	t, u := oneOf(c, d.tables), oneOf(c, d.tables)
	p, q := pointPredicate(c, t), pointPredicate(c, u)
	if c.odds(60) {
		p, q = where(c, t), where(c, u)
	}
	d.put(x, 4, updateStmt(u, assignments(c, u), q), o)
	d.put(y, 4, updateStmt(t, assignments(c, t), p), o)
	d.put(x, 0, selectStmt(t, nil, p, ast.SelectLockNone), o)
	d.put(y, 0, selectStmt(u, nil, q, ast.SelectLockNone), o)
	return true
}

// readRangeInsert lets transactions read a range and then insert rows, each
// perhaps into the range that the other has read.
func readRangeInsert(c *choices, d *draft, o *Options, x, y int) bool {
	t := oneOf(c, d.tables)
	p := where(c, t)
	for _, i := range []int{x, y} {
		d.put(i, 4, insert(c, t), o)
		d.put(i, 0, selectStmt(t, nil, p, ast.SelectLockNone), o)
		if i == x && c.odds(100) {
			d.put(x, 4, selectStmt(t, nil, p, ast.SelectLockNone), o)
		}
	}
	return true
}
