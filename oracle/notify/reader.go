package notify

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/transactions"
)

// never is behind every moment of a history.
const never = history.Tick(1) << 62

// sent is a transaction that notifies.
type sent struct {
	session int
	// stmt is the statement that commits it, or was to.
	stmt int
	// It was committed between these two moments.
	from, to history.Tick
	// unsure says that nobody was told whether it was committed.
	unsure bool
	// notes holds what it notified and did not take back, in order.
	notes []note
}

// note is a notification of a transaction; again says that it may come, and need not: it is in the transaction already.
type note struct {
	channel, payload string
	again            bool
}

// hearing is a LISTEN of a session that is in force perhaps from taken to gone, and for sure from has to gives.
type hearing struct {
	session                 int
	channel                 string
	taken, has, gives, gone history.Tick
}

// action is a statement of an open transaction that takes effect when that commits.
type action struct {
	*stmt.NotifyStmt
	// depth counts the savepoints before it.
	depth int
}

// talker is what is known of a session.
type talker struct {
	transactions.Session
	// nested says that the transaction has had a savepoint.
	nested bool
	done   []action
}

// reader follows the sessions of a history.
type reader struct {
	c        *corpus.Case
	h        *history.History
	sessions map[int]*talker
	sent     []*sent
	heard    []*hearing
	// idle holds, for each session, the statements behind whose answers it was in no transaction.
	idle map[int][]*history.Stmt
	// inside says of each statement that its session was in a transaction before and behind it, without an end between.
	inside []bool
	// prepared is the first PREPARE TRANSACTION that succeeded and had to fail, -1 for none.
	prepared int
	// lost says that some session is not as the statements say.
	lost bool
	// repeats says that the server takes a notification behind a savepoint for another one.
	repeats bool
}

// firstMerging is the version that takes a notification that is repeated behind a savepoint for the same.
// https://www.postgresql.org/docs/current/sql-notify.html
const firstMerging = 13

func read(c *corpus.Case, h *history.History) *reader {
	r := &reader{
		c: c, h: h, sessions: map[int]*talker{}, idle: map[int][]*history.Stmt{},
		inside: make([]bool, len(h.Stmts)), prepared: -1,
	}
	major := history.VersionNumbers(h.Server.Version)[0]
	r.repeats = major > 0 && major < firstMerging
	for i := range h.Stmts {
		st := &h.Stmts[i]
		s := r.of(st.Session)
		was := s.InTxn
		ends := r.statement(i, st, s)
		if stmt.KindOf(c.Steps[st.Line].Stmt).OfSession() || st.Result.Err != nil && st.Result.Err.Code == history.ErrGone {
			continue // no answer of the session's server
		}
		r.lost = r.lost || (s.InTxn && !s.Failed) != st.Result.InTxn
		r.inside[i] = was && s.InTxn && !ends
		if !s.InTxn {
			r.idle[st.Session] = append(r.idle[st.Session], st)
		}
	}
	return r
}

func (r *reader) of(session int) *talker {
	if r.sessions[session] == nil {
		r.sessions[session] = &talker{}
	}
	return r.sessions[session]
}

// statement reports whether it has ended a transaction.
func (r *reader) statement(i int, st *history.Stmt, s *talker) (ends bool) {
	node := r.c.Steps[st.Line].Stmt
	was := s.Session
	switch e := s.Follow(node, st); e.What {
	case transactions.Leaves:
		r.leaves(st, e.Session)
	case transactions.Ends:
		r.end(i, st, s, was)
		s.nested, s.done = false, nil
		return true
	case transactions.Saves:
		s.nested = true
	case transactions.GoesBack:
		s.rollBack(e.Depth)
	case transactions.Merges:
		for k := range s.done {
			s.done[k].depth = min(s.done[k].depth, e.Depth)
		}
	case transactions.Nothing:
		n, ok := node.(*stmt.NotifyStmt)
		switch {
		case !ok:
		case !s.InTxn:
			s.done = []action{{n, 0}}
			r.commit(i, st, s)
			s.done = nil
		case st.Result.Err == nil && !s.Failed:
			s.done = append(s.done, action{n, s.Depth()})
		}
	}
	return false
}

// rollBack takes back what was done behind so many savepoints.
func (s *talker) rollBack(depth int) {
	s.done = slices.DeleteFunc(s.done, func(a action) bool { return a.depth >= depth })
}

// end ends a transaction; was is its session before.
func (r *reader) end(i int, st *history.Stmt, s *talker, was transactions.Session) {
	switch kind := stmt.KindOf(r.c.Steps[st.Line].Stmt); {
	case !was.InTxn || was.Failed:
	case kind == stmt.Commit:
		r.commit(i, st, s)
	case kind == stmt.Prepare && st.Result.Err == nil && r.prepared < 0:
		if slices.ContainsFunc(s.done, func(a action) bool { return a.Does != stmt.Unlisten }) {
			r.prepared = i
		}
	}
}

// queryCanceled and adminShutdown are the SQLSTATEs of a statement that a KILL has ended.
const (
	queryCanceled = "57014"
	adminShutdown = "57P01"
)

// commit has what a transaction did take effect; so far as nobody was told whether it was committed, perhaps.
func (r *reader) commit(i int, st *history.Stmt, s *talker) {
	e := st.Result.Err
	unsure := e != nil && (e.Code == history.ErrLost || e.State == queryCanceled || e.State == adminShutdown)
	if e != nil && !unsure {
		return
	}
	t := &sent{session: st.Session, stmt: i, from: st.Submit, to: st.Return, unsure: unsure}
	if unsure {
		t.to = never
	}
	for _, a := range s.done {
		switch a.Does {
		case stmt.Notify:
			t.add(a, s.nested && r.repeats)
		case stmt.Listen:
			if unsure {
				r.heard = append(r.heard, &hearing{st.Session, a.Channel, st.Submit, never, never, never})
			} else if !r.listens(st, a.Channel) {
				r.heard = append(r.heard, &hearing{st.Session, a.Channel, st.Submit, st.Return, never, never})
			}
		default:
			r.unlisten(st, a.Channel, unsure)
		}
	}
	if len(t.notes) > 0 {
		r.sent = append(r.sent, t)
	}
}

// add notes a notification. A second one of the same text is none.
func (t *sent) add(a action, again bool) {
	n := note{channel: a.Channel, payload: a.Payload}
	if slices.Contains(t.notes, n) {
		if n.again = true; !again {
			return
		}
	}
	t.notes = append(t.notes, n)
}

// listens reports whether a session has a LISTEN on a channel that nothing has ended.
func (r *reader) listens(st *history.Stmt, channel string) bool {
	return slices.ContainsFunc(r.heard, func(x *hearing) bool {
		return x.session == st.Session && x.channel == channel && x.gives == never && x.has < never
	})
}

// unlisten ends what a session hears of a channel, or of all if that is empty.
func (r *reader) unlisten(st *history.Stmt, channel string, unsure bool) {
	for _, x := range r.heard {
		if x.session == st.Session && (channel == "" || x.channel == channel) {
			x.gives = min(x.gives, st.Submit)
			if !unsure {
				x.gone = min(x.gone, st.Return)
			}
		}
	}
}

// leaves ends a session. What it was sent and has not read is lost.
func (r *reader) leaves(st *history.Stmt, session int) {
	for _, x := range r.heard {
		if x.session == session && x.gives == never {
			x.has = never
		}
	}
	r.unlisten(&history.Stmt{Session: session, Submit: st.Submit, Return: st.Return}, "", false)
	r.sessions[session] = &talker{}
}
