package answers

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// units is which transaction each statement ran in, as statements and the server's status
// tell it.
type units struct {
	list []mvcc.Unit
	of   []int  // by statement, -1: none
	gone []bool // by statement: what it wrote was taken back
	open map[int]*course
	c    *corpus.Case
	h    *history.History
}

// course is how far a session's transaction has come.
type course struct {
	unit int
	// former are those that it had begun as, before a savepoint took all of it back.
	former []int
	// stmts are its statements so far.
	stmts []int
	// touched says that one of them named a table.
	touched bool
	saved   map[string]savepoint
}

type savepoint struct {
	stmts int
	// idle says that no table had been named.
	idle bool
}

// unitsOf returns nil where nobody knows how a transaction ended, as after a COMMIT that
// failed.
func unitsOf(c *corpus.Case, h *history.History) *units {
	u := &units{of: make([]int, len(h.Stmts)), gone: make([]bool, len(h.Stmts)), open: map[int]*course{}, c: c, h: h}
	for i := range h.Stmts {
		u.of[i] = -1
	}
	for i := range h.Stmts {
		if !u.take(i) {
			return nil
		}
	}
	for s := range u.open { // its connection was closed
		u.end(s, -1, false)
	}
	return u
}

func (u *units) begin(session int) *course {
	u.list = append(u.list, mvcc.Unit{Session: session, Level: u.h.Levels[session], End: -1})
	return &course{unit: len(u.list) - 1, saved: map[string]savepoint{}}
}

func (u *units) end(session, stmt int, committed bool) {
	c := u.open[session]
	if c == nil {
		return
	}
	u.list[c.unit].End, u.list[c.unit].Committed = stmt, committed
	for _, f := range c.former {
		u.list[f].End = stmt
	}
	if !committed {
		u.takeBack(c, 0)
	}
	delete(u.open, session)
}

// takeBack notes that what a transaction wrote since is gone.
func (u *units) takeBack(c *course, since int) {
	for _, i := range c.stmts[since:] {
		u.gone[i] = true
	}
}

// take adds a statement; false: what it did is not known.
func (u *units) take(i int) bool {
	s := &u.h.Stmts[i]
	r := &s.Result
	if s.Return == 0 {
		return false
	}
	if u.open[s.Session] != nil && !s.InTxn {
		u.end(s.Session, i, false) // it had died, and some error told so
	}
	n := u.c.Steps[s.Line].Stmt
	switch kind := mvcc.KindOf(n); kind {
	case stmt.Begin, stmt.BeginSnapshot:
		if r.Err != nil {
			return false
		}
		u.end(s.Session, i, true)
		c := u.begin(s.Session)
		c.touched = kind == stmt.BeginSnapshot
		u.open[s.Session], u.of[i] = c, c.unit
		return true
	case stmt.Commit, stmt.Rollback, stmt.Analyze:
		if r.Err != nil || kind == stmt.Analyze && r.InTxn { // TiDB goes on in a transaction behind ANALYZE TABLE
			return false
		}
		if c := u.open[s.Session]; c != nil {
			u.of[i] = c.unit
		}
		u.end(s.Session, i, kind != stmt.Rollback)
		return true
	case stmt.Savepoint, stmt.ReleaseSavepoint, stmt.RollbackTo:
		if c := u.open[s.Session]; c != nil {
			u.of[i] = c.unit
			if r.Err == nil {
				u.savepoint(c, i, n)
			}
		}
		return u.died(i)
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate, stmt.Update, stmt.Delete, stmt.Insert:
	default:
		return false
	}
	c := u.open[s.Session]
	if c == nil {
		c = u.begin(s.Session)
		u.of[i], u.gone[i] = c.unit, r.Err != nil
		u.list[c.unit].End, u.list[c.unit].Committed = i, r.Err == nil
		return true
	}
	c.touched = true
	c.stmts = append(c.stmts, i)
	u.of[i], u.gone[i] = c.unit, r.Err != nil
	return u.died(i)
}

// died ends a transaction that an error has ended.
func (u *units) died(i int) bool {
	s := &u.h.Stmts[i]
	if u.open[s.Session] == nil || s.Result.InTxn {
		return true
	}
	if s.Result.Err == nil {
		return false // nothing here ends one
	}
	u.end(s.Session, i, false)
	return true
}

// savepoint sets one, or goes back to it. On InnoDB, to go back to one that was set before
// the transaction had named a table takes all of it back, its snapshot, too: what follows
// is as if it had just begun.
func (u *units) savepoint(c *course, i int, n ast.StmtNode) {
	switch of := stmt.Of(n); of.Kind {
	case stmt.Savepoint:
		c.saved[strings.ToLower(of.Savepoint)] = savepoint{len(c.stmts), !c.touched}
	case stmt.RollbackTo:
		at, ok := c.saved[strings.ToLower(of.Savepoint)]
		if !ok {
			return
		}
		u.takeBack(c, at.stmts)
		c.stmts = c.stmts[:at.stmts]
		if at.idle && u.h.Server.DBMS != history.TiDB {
			saved, former := c.saved, append(c.former, c.unit)
			*c = *u.begin(u.h.Stmts[i].Session)
			c.saved, c.former = saved, former
		}
	}
}

// before says that one transaction had committed when the end of the other was submitted.
func (u *units) before(a, b int) bool {
	if a < 0 {
		return true
	}
	if b < 0 {
		return false
	}
	x, y := u.list[a].End, u.list[b].End
	return x >= 0 && y >= 0 && u.h.Stmts[x].Return < u.h.Stmts[y].Submit
}
