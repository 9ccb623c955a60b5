package advisory

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/transactions"
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

// reader follows the sessions of a history.
type reader struct {
	c        *corpus.Case
	h        *history.History
	holdings []*holding
	sessions map[int]*transactions.Session
	// prepared are the owners of prepared transactions, by their names.
	prepared map[string]int
	// wrong is the first answer of an unlock that is.
	wrong *history.Difference
}

// read returns the holdings of a history, in the order in which their statements were sent.
func read(c *corpus.Case, h *history.History) *reader {
	r := &reader{c: c, h: h, sessions: map[int]*transactions.Session{}, prepared: map[string]int{}}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		s := r.sessions[st.Session]
		if s == nil {
			s = &transactions.Session{}
			r.sessions[st.Session] = s
		}
		r.statement(i, st, s)
	}
	return r
}

func (r *reader) statement(i int, st *history.Stmt, s *transactions.Session) {
	node := r.c.Steps[st.Line].Stmt
	failed := st.Result.Err != nil
	was := *s
	switch e := s.Follow(node, st); e.What {
	case transactions.Leaves:
		r.leaves(st, e.Session)
		return
	case transactions.Ends:
		if p, ok := node.(*stmt.PreparedStmt); ok && was.InTxn && !failed && !was.Failed {
			r.prepare(i, st, p.Name)
			return
		}
		r.rollBack(st, 0)
		return
	case transactions.GoesBack:
		r.rollBack(st, e.Depth)
		return
	case transactions.Merges:
		for _, h := range r.holdings {
			if h.owner == st.Session && !h.ofSession && h.open() {
				h.depth = min(h.depth, e.Depth)
			}
		}
		return
	}
	switch n := node.(type) {
	case *stmt.PreparedStmt:
		if owner, known := r.prepared[n.Name]; known && !failed {
			r.give(st, func(h *holding) bool { return h.owner == owner })
			delete(r.prepared, n.Name)
		}
	case *stmt.AdvisoryStmt:
		if !failed && !s.Failed {
			r.lock(i, st, s, n)
		}
	}
}

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
	r.sessions[session] = &transactions.Session{}
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
func (r *reader) lock(i int, st *history.Stmt, s *transactions.Session, a *stmt.AdvisoryStmt) {
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
			ofSession: !a.OfTransaction(), depth: s.Depth(),
		}
		if a.OfTransaction() && !s.InTxn { // it is over with the statement
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
