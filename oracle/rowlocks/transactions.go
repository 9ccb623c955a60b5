package rowlocks

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/transactions"
)

// never is behind every moment of a history.
const never = history.Tick(1) << 62

// transaction is one of a session, or a statement outside of any.
type transaction struct {
	session int
	asked   []asked
	holds   []*holding
	// gone is when the statement that ended it had answered. Until then it may hold all that it has asked for, also what
	// it has rolled back to a savepoint.
	gone history.Tick
	// wrote holds the tables that it may have written.
	wrote map[string]bool
}

// asked is what a statement could ask for since it was sent.
type asked struct {
	at history.Tick
	asks
}

// holding is what a transaction surely holds, from one moment to another.
type holding struct {
	locked
	has, gives history.Tick
	// depth counts the savepoints before it.
	depth int
}

// follower follows the sessions of a history.
type follower struct {
	*setUp
	c   *corpus.Case
	h   *history.History
	all []*transaction
	// of and asks hold the transaction of each statement, nil where it is in none, and what it can ask for.
	of       []*transaction
	asks     []asks
	sessions map[int]*transactions.Session
	// open holds the transactions by their sessions, prepared those that are prepared by their names.
	open     map[int]*transaction
	prepared map[string]*transaction
}

// follow reads a history; nil if a statement does what is not known here.
func follow(c *corpus.Case, h *history.History, s *setUp) *follower {
	f := &follower{
		setUp: s, c: c, h: h,
		sessions: map[int]*transactions.Session{}, open: map[int]*transaction{}, prepared: map[string]*transaction{},
	}
	for i := range h.Stmts {
		a, ok := s.asksOf(c.Steps[h.Stmts[i].Line].Stmt)
		if !ok {
			return nil
		}
		f.asks = append(f.asks, a)
		f.statement(i, &h.Stmts[i], c.Steps[h.Stmts[i].Line].Stmt)
	}
	return f
}

// begin begins a transaction.
func (f *follower) begin(session int) *transaction {
	t := &transaction{session: session, gone: never, wrote: map[string]bool{}}
	f.all = append(f.all, t)
	return t
}

func (f *follower) statement(i int, st *history.Stmt, n ast.StmtNode) {
	s := f.sessions[st.Session]
	if s == nil {
		s = &transactions.Session{}
		f.sessions[st.Session] = s
	}
	was, t := *s, f.open[st.Session]
	e := s.Follow(n, st)
	f.of = append(f.of, t)
	if p, ok := n.(*stmt.PreparedStmt); ok && p.Does != stmt.Prepare {
		f.endPrepared(p.Name, st)
	}
	switch {
	case e.What == transactions.Begins && t == nil:
		f.open[st.Session] = f.begin(st.Session)
		return
	case t == nil && !stmt.KindOf(n).Control():
		t = f.begin(st.Session)
		t.gone = st.Return
		f.of[i] = t
		t.asked = append(t.asked, asked{st.Submit, f.asks[i]})
		return
	case t == nil:
		return
	case e.What == transactions.Ends:
		f.end(t, st, n, was)
		if s.InTxn { // AND CHAIN
			f.open[st.Session] = f.begin(st.Session)
		}
		return
	}
	t.asked = append(t.asked, asked{st.Submit, f.asks[i]})
	switch e.What {
	case transactions.GoesBack:
		t.give(st, e.Depth)
	case transactions.Merges:
		for _, h := range t.holds {
			h.depth = min(h.depth, e.Depth)
		}
	case transactions.Nothing:
		if st.Result.Err == nil {
			f.holds(t, i, st, n, s.Depth())
		}
	}
}

// end ends the transaction of a session, which was in some state before, or gives it to nobody if it is prepared.
func (f *follower) end(t *transaction, st *history.Stmt, n ast.StmtNode, was transactions.Session) {
	delete(f.open, st.Session)
	if p, ok := n.(*stmt.PreparedStmt); ok && st.Result.Err == nil {
		if was.Failed { // then it is rolled back
			t.give(st, 0)
		}
		f.prepared[p.Name] = t
		return
	}
	t.give(st, 0)
	t.gone = st.Return
}

// endPrepared is a COMMIT PREPARED or ROLLBACK PREPARED.
func (f *follower) endPrepared(name string, st *history.Stmt) {
	p := f.prepared[name]
	if p == nil {
		return
	}
	p.give(st, 0)
	if st.Result.Err == nil {
		p.gone = st.Return
		delete(f.prepared, name)
	}
}

// give ends what a transaction surely holds behind so many savepoints.
func (t *transaction) give(st *history.Stmt, depth int) {
	for _, h := range t.holds {
		if h.depth >= depth {
			h.gives = min(h.gives, st.Submit)
		}
	}
}

// holds notes what a statement that succeeded has locked. A SELECT behind a write of its own transaction may have found
// the transaction's own version of a row.
func (f *follower) holds(t *transaction, i int, st *history.Stmt, n ast.StmtNode, depth int) {
	l := f.lockedBy(n, &st.Result)
	own := l.reads && (t.wrote[l.table] || t.wrote[anyTable])
	if len(l.keys) > 0 && st.Result.InTxn && !own {
		t.holds = append(t.holds, &holding{locked: l, has: st.Return, gives: never, depth: depth})
	}
	if raw, ok := n.(*stmt.RawStmt); stmt.KindOf(n).Writes() || ok && !reads(raw) {
		for name := range f.asks[i] {
			t.wrote[name] = true
		}
	}
}
