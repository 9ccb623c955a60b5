package rowlocks

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
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
	wrote      map[string]bool
	failed     bool
	savepoints []string
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
	of   []*transaction
	asks []asks
	// open holds the transactions by their sessions, prepared those that are prepared by their names.
	open     map[int]*transaction
	prepared map[string]*transaction
}

// follow reads a history; nil if a statement does what is not known here.
func follow(c *corpus.Case, h *history.History, s *setUp) *follower {
	f := &follower{setUp: s, c: c, h: h, open: map[int]*transaction{}, prepared: map[string]*transaction{}}
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
	t, failed := f.open[st.Session], st.Result.Err != nil
	kind := stmt.KindOf(n)
	f.of = append(f.of, t)
	switch {
	case kind == stmt.CommitPrepared, kind == stmt.RollbackPrepared:
		name := n.(*stmt.PreparedStmt).Name
		if p := f.prepared[name]; p != nil {
			p.give(st, 0)
			if !failed {
				p.gone = st.Return
				delete(f.prepared, name)
			}
		}
	case t == nil && kind.Begins() && !failed:
		f.open[st.Session] = f.begin(st.Session)
		return
	case t == nil && !kind.Control():
		t = f.begin(st.Session)
		t.gone = st.Return
		f.of[i] = t
		t.asked = append(t.asked, asked{st.Submit, f.asks[i]})
		return
	case t == nil:
		return
	case kind == stmt.Prepare:
		f.prepare(t, st, n.(*stmt.PreparedStmt).Name)
		return
	case kind.Ends():
		t.give(st, 0)
		t.gone = st.Return
		delete(f.open, st.Session)
		return
	case !failed:
		if t.savepoint(st, kind, strings.ToLower(stmt.Of(n).Savepoint)) {
			return
		}
		t.asked = append(t.asked, asked{st.Submit, f.asks[i]})
		f.holds(t, i, st, n)
	default:
		t.asked = append(t.asked, asked{st.Submit, f.asks[i]})
	}
	if failed && t != nil && !t.failed { // it aborts the transaction, or what is behind the last savepoint
		t.give(st, len(t.savepoints))
		t.failed = true
	}
}

// prepare gives the transaction of a session to nobody. If it had failed, it is rolled back.
func (f *follower) prepare(t *transaction, st *history.Stmt, name string) {
	delete(f.open, st.Session)
	if t.failed || st.Result.Err != nil {
		t.give(st, 0)
	}
	if st.Result.Err != nil {
		t.gone = st.Return
		return
	}
	f.prepared[name] = t
}

// savepoint does what a statement on savepoints does, and reports whether it is one.
func (t *transaction) savepoint(st *history.Stmt, kind stmt.Kind, name string) bool {
	at := len(t.savepoints) - 1
	for at >= 0 && t.savepoints[at] != name {
		at--
	}
	switch {
	case kind == stmt.Savepoint:
		t.savepoints = append(t.savepoints, name)
	case kind == stmt.RollbackTo:
		t.give(st, at+1)
		t.savepoints, t.failed = t.savepoints[:at+1], false
	case kind == stmt.ReleaseSavepoint:
		at = max(at, 0)
		t.savepoints = t.savepoints[:at]
		for _, h := range t.holds {
			h.depth = min(h.depth, at)
		}
	default:
		return false
	}
	return true
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
func (f *follower) holds(t *transaction, i int, st *history.Stmt, n ast.StmtNode) {
	l := f.lockedBy(n, &st.Result)
	own := l.reads && (t.wrote[l.table] || t.wrote[anyTable])
	if len(l.keys) > 0 && st.Result.InTxn && !own {
		t.holds = append(t.holds, &holding{locked: l, has: st.Return, gives: never, depth: len(t.savepoints)})
	}
	if raw, ok := n.(*stmt.RawStmt); stmt.KindOf(n).Writes() || ok && !reads(raw) {
		for name := range f.asks[i] {
			t.wrote[name] = true
		}
	}
}
