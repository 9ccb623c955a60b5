package advisory

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// never is behind every moment of a history.
const never = history.Tick(1) << 62

// holding is a lock that a session or a prepared transaction has.
type holding struct {
	key    string
	shared bool
	// owner is a session, or a number below 0 of a prepared transaction: nobody stands in his own way.
	owner int
	// It is held perhaps from taken to gone, and for sure from has to gives.
	taken, has, gives, gone history.Tick
	ofSession               bool
	// depth counts the savepoints before it.
	depth int
}

func (h *holding) open() bool { return h.gone == never }

func (h *holding) end(st *history.Stmt) { h.gives, h.gone = st.Submit, st.Return }

// against reports whether a lock stands against another one of somebody else.
func (h *holding) against(key string, shared bool, owner int) bool {
	return h.key == key && h.owner != owner && !(h.shared && shared)
}

// holder is what is known of a session.
type holder struct {
	inTxn, failed bool
	savepoints    []string
}

// reader follows the sessions of a history.
type reader struct {
	c        *corpus.Case
	h        *history.History
	holdings []*holding
	sessions map[int]*holder
	// prepared are the owners of prepared transactions, by their names.
	prepared map[string]int
	// wrong is the first answer of an unlock that is.
	wrong *history.Difference
}

// read returns the holdings of a history, in the order in which their statements were sent.
func read(c *corpus.Case, h *history.History) *reader {
	r := &reader{c: c, h: h, sessions: map[int]*holder{}, prepared: map[string]int{}}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		s := r.sessions[st.Session]
		if s == nil {
			s = &holder{}
			r.sessions[st.Session] = s
		}
		r.statement(i, st, s)
	}
	return r
}

func (r *reader) statement(i int, st *history.Stmt, s *holder) {
	node := r.c.Steps[st.Line].Stmt
	failed := st.Result.Err != nil
	switch kind := stmt.KindOf(node); {
	case kind.OfSession():
		about := node.(*stmt.SessionStmt)
		switch {
		case about.Does == stmt.Disconnect && !failed:
			r.leaves(st, st.Session)
		case about.Does == stmt.Kill && (!failed || about.Target == st.Session):
			r.leaves(st, about.Target)
		case failed: // a KILL QUERY of its own session fails itself
			r.aborts(st, s)
		}
		return
	case kind == stmt.CommitPrepared, kind == stmt.RollbackPrepared:
		if owner, known := r.prepared[node.(*stmt.PreparedStmt).Name]; known && !failed {
			r.give(st, func(h *holding) bool { return h.owner == owner })
			delete(r.prepared, node.(*stmt.PreparedStmt).Name)
			return
		}
	case kind == stmt.Prepare && s.inTxn && !failed && !s.failed:
		r.prepare(i, st, node.(*stmt.PreparedStmt).Name)
		*s = holder{}
		return
	case kind.Ends():
		r.rollBack(st, 0)
		*s = holder{inTxn: s.inTxn && !failed && st.Result.InTxn} // AND CHAIN
		return
	case kind.Begins() && !failed:
		s.inTxn = true
		return
	case kind == stmt.RollbackTo && !failed:
		for n := len(s.savepoints) - 1; n >= 0; n-- {
			if s.savepoints[n] == nameOf(node) {
				r.rollBack(st, n+1)
				s.savepoints, s.failed = s.savepoints[:n+1], false
				break
			}
		}
		return
	case kind == stmt.Savepoint && !failed:
		s.savepoints = append(s.savepoints, nameOf(node))
		return
	case kind == stmt.ReleaseSavepoint && !failed:
		for n := len(s.savepoints) - 1; n >= 0; n-- {
			if s.savepoints[n] == nameOf(node) {
				s.savepoints = s.savepoints[:n]
				for _, h := range r.holdings {
					if h.owner == st.Session && !h.ofSession && h.open() {
						h.depth = min(h.depth, n)
					}
				}
				break
			}
		}
		return
	case kind == stmt.Advisory && !failed && !s.failed:
		r.lock(i, st, s, node.(*stmt.AdvisoryStmt))
	}
	if failed {
		r.aborts(st, s)
	}
}

// aborts has an error abort the transaction of its session, or what is behind the last savepoint.
func (r *reader) aborts(st *history.Stmt, s *holder) {
	if s.inTxn && !s.failed {
		r.rollBack(st, len(s.savepoints))
		s.failed = true
	}
}

func nameOf(n ast.StmtNode) string { return strings.ToLower(stmt.Of(n).Savepoint) }

// give ends the holdings that are chosen.
func (r *reader) give(st *history.Stmt, chosen func(*holding) bool) {
	for _, h := range r.holdings {
		if h.open() && chosen(h) {
			h.end(st)
		}
	}
}

// rollBack ends the locks of a session's transaction behind so many savepoints.
func (r *reader) rollBack(st *history.Stmt, depth int) {
	r.give(st, func(h *holding) bool { return h.owner == st.Session && !h.ofSession && h.depth >= depth })
}

// leaves ends all locks of a session.
func (r *reader) leaves(st *history.Stmt, session int) {
	r.give(st, func(h *holding) bool { return h.owner == session })
	r.sessions[session] = &holder{}
}

// prepare gives the locks of a session's transaction to a prepared one.
func (r *reader) prepare(i int, st *history.Stmt, name string) {
	owner := -1 - i
	r.prepared[name] = owner
	for _, h := range r.holdings {
		if h.owner == st.Session && !h.ofSession && h.open() {
			h.end(st)
			r.holdings = append(r.holdings, &holding{
				key: h.key, shared: h.shared, owner: owner, taken: st.Submit, has: st.Return, gives: never, gone: never,
			})
		}
	}
}

// lock notes what a statement that succeeded takes or gives back.
func (r *reader) lock(i int, st *history.Stmt, s *holder, a *stmt.AdvisoryStmt) {
	key := keyOf(a)
	mine := func(h *holding) bool { return h.owner == st.Session && h.ofSession && h.open() }
	switch {
	case len(a.Keys) == 0:
		r.give(st, mine)
	case a.Unlocks():
		var last *holding
		for _, h := range r.holdings {
			if mine(h) && h.key == key && h.shared == a.Shared() {
				last = h
			}
		}
		if last != nil {
			last.end(st)
		}
		if told := answer(st); told != (last != nil) && r.wrong == nil {
			r.wrong = &history.Difference{Stmt: i, Kind: "wrong-rows", Expected: truth[last != nil], Actual: truth[told],
				Reason: "an unlock answers whether the session itself holds the lock in this mode, for as long as the session lasts"}
		}
	case a.Tries() && !answer(st):
	default:
		h := &holding{
			key: key, shared: a.Shared(), owner: st.Session, taken: st.Submit, has: st.Return, gives: never, gone: never,
			ofSession: !a.OfTransaction(), depth: len(s.savepoints),
		}
		if a.OfTransaction() && !s.inTxn { // it is over with the statement
			h.has, h.gone = never, st.Return
		}
		r.holdings = append(r.holdings, h)
	}
}

func keyOf(a *stmt.AdvisoryStmt) string {
	_, key, _ := strings.Cut(a.String(), "(")
	return key
}

// answer is the boolean that a statement returned.
func answer(st *history.Stmt) bool {
	r := st.Result.Rows
	return len(r) == 1 && len(r[0]) == 1 && r[0][0].Text == "t"
}

var truth = map[bool]string{true: "(t)", false: "(f)"}
