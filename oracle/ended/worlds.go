package ended

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// World is a history without the ends of sessions, and its case.
type World struct {
	Case    *corpus.Case
	History *history.History
	// Replaced holds the statements, by index, that stand for other ones.
	Replaced map[int]bool
	// names gives the sessions that stand for those connected anew their own numbers.
	names map[int]int
}

// MostWorlds bounds the ways in which statements may have ended that nobody was told of.
const MostWorlds = 16

// Worlds returns every history that one may stand for, the likeliest first; nil if there are more
// than MostWorlds, or if no such history says what happened.
func Worlds(c *corpus.Case, h *history.History) []World {
	first := newTranslation(c, h, nil)
	if first.run(); first.unreadable {
		return nil
	}
	total := 1
	for _, n := range first.ways {
		if total *= n; total > MostWorlds {
			return nil
		}
	}
	out := []World{first.world()}
	for w := 1; w < total; w++ {
		chosen, rest := make([]int, len(first.ways)), w
		for i, n := range first.ways {
			chosen[i], rest = rest%n, rest/n
		}
		t := newTranslation(c, h, chosen)
		t.run()
		out = append(out, t.world())
	}
	return out
}

// Name gives the sessions in a text about a world the numbers that they have in the case.
func (w *World) Name(text string) string {
	return sessionName.ReplaceAllStringFunc(text, func(s string) string {
		if n, err := strconv.Atoi(s[2:]); err == nil && w.names[n] != 0 {
			return "tx" + strconv.Itoa(w.names[n])
		}
		return s
	})
}

var sessionName = regexp.MustCompile(`\btx[0-9]+\b`)

// Errors by which servers say that a KILL ended a statement.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1900-to-1999
const (
	errShutdown    = 1053
	errInterrupted = 1317
	errKilled      = 1927
)

// cancelled is what TiDB says, rarely, under the number of an unknown error: a KILL cancels the context of
// the statement, too, and who waits in it may see that first.
// https://github.com/pingcap/tidb/issues/20733
const (
	errUnknown = 1105
	cancelled  = "context canceled"
)

// Errors of PostgreSQL for a statement that pg_cancel_backend has ended, or the end of its session, and for whatever an
// aborted transaction is sent.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	queryCanceled = "57014"
	adminShutdown = "57P01"
	inFailedTxn   = "25P02"
)

// endedBy reports whether an error is one that a KILL gives to what it ends.
func endedBy(e *history.Error) bool {
	if e == nil {
		return false
	}
	switch e.Code {
	case errShutdown, errInterrupted, errKilled, history.ErrLost:
		return true
	}
	return e.Code == errUnknown && e.Message == cancelled || e.State == queryCanceled || e.State == adminShutdown
}

// translation is the making of one world.
type translation struct {
	of      *corpus.Case
	from    *history.History
	steps   []corpus.Line
	stmts   []history.Stmt
	levels  map[int]corpus.Level
	chosen  []int
	ways    []int // how many ways there are to read each statement of which nobody was told
	nobody  int   // the session of statements that do nothing
	next    int   // the next number that no session has
	now     map[int]int
	gone    map[int]bool
	names   map[int]int
	changes []change
	done    map[int]bool
	// unreadable says that no statement for statement can stand for the history.
	unreadable bool
}

// change says that a session is another one from a moment on.
type change struct {
	at       history.Tick
	was, now int
}

func newTranslation(c *corpus.Case, h *history.History, chosen []int) *translation {
	t := &translation{
		of: c, from: h, steps: slices.Clone(c.Steps), stmts: slices.Clone(h.Stmts), levels: map[int]corpus.Level{}, chosen: chosen,
		now: map[int]int{}, gone: map[int]bool{}, names: map[int]int{}, done: map[int]bool{},
	}
	for n, l := range h.Levels {
		t.levels[n] = l
		t.now[n] = n
		t.next = max(t.next, n)
	}
	for _, l := range c.Steps {
		t.next = max(t.next, l.Session)
	}
	t.next += 2
	t.nobody = t.next - 1
	if sessions := c.Sessions(); len(sessions) > 0 {
		t.levels[t.nobody] = h.Levels[sessions[0]] // one of theirs: it adds none
	}
	return t
}

func (t *translation) run() {
	for i := range t.stmts {
		t.statement(i)
	}
	for i := range t.stmts {
		t.renameHolders(&t.stmts[i])
	}
	for i := range t.steps { // those that were not run
		if l := &t.steps[i]; stmt.KindOf(l.Stmt).OfSession() {
			l.Session, l.Stmt = t.nobody, &ast.RollbackStmt{}
		}
	}
}

// statement turns one statement into what it is in the world.
func (t *translation) statement(i int) {
	st := &t.stmts[i]
	session := st.Session
	about, ok := t.steps[st.Line].Stmt.(*stmt.SessionStmt)
	code := mvcc.ErrCode(st)
	switch {
	case !ok && (!t.gone[session] || code != history.ErrGone):
		t.as(i, t.number(session))
	case !ok, code == history.ErrGone && t.gone[session]:
		t.nothing(i, false)
	case about.Does == stmt.Connect:
		if t.gone[session] && code == 0 {
			t.connect(session, st.Return)
		}
		t.nothing(i, code != 0)
	case about.Does == stmt.Disconnect:
		t.end(i, session, code != 0)
	case code == history.ErrNoSession && t.gone[about.Target]:
		t.nothing(i, false)
	case t.aborts() && t.refused(i, about, session):
	case about.Target != session && t.killedFirst(st):
		t.killsThenFails(i, about, session)
	case code != 0 && !(about.Target == session && endedBy(st.Result.Err)):
		t.nothing(i, true)
	case about.Does == stmt.KillQuery && st.EndedIdle:
		t.end(i, about.Target, false)
	case about.Does == stmt.KillQuery:
		if v := t.outstanding(i, about.Target); v >= 0 && endedBy(t.stmts[v].Result.Err) {
			t.interrupted(v)
		}
		t.nothing(i, false)
	default:
		t.end(i, about.Target, false)
	}
}

// killedFirst reports whether a KILL has failed behind what it was to do, for want of a lock that its own
// transaction asked for late: only on TiDB a KILL asks for any.
func (t *translation) killedFirst(st *history.Stmt) bool {
	return t.from.Server.DBMS == history.TiDB && st.InTxn && history.FailedToLock(st.Result.Err)
}

// aborts says that an error aborts a transaction.
func (t *translation) aborts() bool { return t.from.Server.DBMS == history.PostgreSQL }

// refused makes nothing of a KILL that an aborted transaction was sent. One of its own statement, which may hit the
// next one, is not read.
func (t *translation) refused(i int, about *stmt.SessionStmt, session int) bool {
	if about.Does == stmt.KillQuery && about.Target == session {
		t.unreadable = true
	}
	st := &t.stmts[i]
	if st.Result.Err == nil || st.Result.Err.State != inFailedTxn || st.InTxn {
		return t.unreadable
	}
	t.nothing(i, false)
	return true
}

// killsThenFails makes such a KILL a statement of its own session that does nothing and fails. Where it has
// ended a session, too, it would have to be two statements.
func (t *translation) killsThenFails(i int, about *stmt.SessionStmt, session int) {
	st := &t.stmts[i]
	if about.Does == stmt.Kill || st.EndedIdle {
		t.unreadable = true
		return
	}
	if v := t.outstanding(i, about.Target); v >= 0 && endedBy(t.stmts[v].Result.Err) {
		t.interrupted(v)
	}
	t.as(i, t.number(session))
	t.steps[st.Line].Stmt, t.done[i] = &ast.UseStmt{}, true
}

// number is the session that stands for one of the case now.
func (t *translation) number(session int) int {
	if n := t.now[session]; n != 0 {
		return n
	}
	return session
}

// connect makes a session another one.
func (t *translation) connect(session int, at history.Tick) {
	n := t.next
	t.next++
	t.changes = append(t.changes, change{at, session, n})
	t.levels[n], t.names[n] = t.from.Levels[session], session
	t.now[session], t.gone[session] = n, false
}

// as gives a statement to a session.
func (t *translation) as(i, session int) {
	st := &t.stmts[i]
	st.Session = session
	t.steps[st.Line].Session = session
}

// nothing makes a statement one that does nothing, in a session that does nothing else.
func (t *translation) nothing(i int, withError bool) {
	t.replace(i, t.nobody, &ast.RollbackStmt{}, withError)
	t.stmts[i].InTxn = false
}

func (t *translation) replace(i, session int, by ast.StmtNode, withError bool) {
	st := &t.stmts[i]
	t.as(i, session)
	t.steps[st.Line].Stmt = by
	r := history.Result{Matched: -1, Changed: -1, Affected: -1}
	if withError {
		r.Err = st.Result.Err
	}
	st.Result, st.Waits = r, nil
	t.done[i] = true
}

// outstanding returns the statement of a session that had not returned when another was sent,
// -1 for none.
func (t *translation) outstanding(i, session int) int {
	for j := i - 1; j >= 0; j-- {
		if st := &t.stmts[j]; t.from.Stmts[j].Session == session {
			if st.Return == 0 || st.Return > t.stmts[i].Submit {
				return j
			}
			return -1
		}
	}
	return -1
}

// end makes statement i the ROLLBACK with which a session ends.
func (t *translation) end(i, session int, withError bool) {
	in := t.inTxn(i, session)
	if v := t.outstanding(i, session); v >= 0 {
		if st := &t.stmts[v]; st.Return != 0 {
			if endedBy(st.Result.Err) {
				t.interrupted(v)
			}
			t.stmts[i].Submit = st.Return + 1
		}
	}
	t.replace(i, t.number(session), &ast.RollbackStmt{}, withError)
	t.stmts[i].InTxn, t.stmts[i].Parked = in, false
	t.gone[session] = !withError
}

// inTxn says whether a session was in a transaction as far as it was known when statement i was sent.
func (t *translation) inTxn(i, session int) bool {
	for j := i - 1; j >= 0; j-- {
		st := &t.from.Stmts[j]
		switch {
		case st.Session != session:
		case st.Return != 0 && st.Return < t.from.Stmts[i].Submit:
			return st.Result.InTxn
		default:
			return st.InTxn
		}
	}
	return false
}

// interrupted makes a statement that a KILL has ended one whose time for waiting was over. Of a
// COMMIT, and of a statement that was to commit itself and whose answer never came, nobody knows whether
// it took effect.
func (t *translation) interrupted(v int) {
	st := &t.stmts[v]
	told := st.Result.Err.Code == errInterrupted || st.Result.Err.Code == errKilled || t.aborts() && st.Result.Err.Code != history.ErrLost
	kind := stmt.KindOf(t.steps[st.Line].Stmt)
	t.done[v] = true
	switch {
	case kind.OfPrepared():
		t.unreadable = true
		return
	case kind == stmt.Commit:
		switch way := t.choose(3); way {
		case 0:
			t.replace(v, st.Session, &ast.RollbackStmt{}, false)
		case 1:
			t.replace(v, st.Session, &ast.CommitStmt{}, false)
		default:
			t.nothing(v, false)
		}
		return
	case kind.Control() && !kind.BesideRows():
		t.nothing(v, false)
		return
	case !told && !st.InTxn && !kind.Reads() && t.choose(2) == 1:
		st.Result = history.Result{Matched: -1, Changed: -1, Affected: -1}
		return
	}
	e := *st.Result.Err
	e.Code = errInterrupted
	st.Result.Err, st.Result.InTxn, st.Interrupted = &e, st.InTxn, true
	if t.aborts() {
		e.Code, e.State, st.Result.InTxn = history.NumberOf(queryCanceled), queryCanceled, false
	}
}

// choose reads one more statement of which nobody was told in one of n ways.
func (t *translation) choose(n int) int {
	k := len(t.ways)
	t.ways = append(t.ways, n)
	if k < len(t.chosen) {
		return t.chosen[k]
	}
	return 0
}

// renameHolders gives the sessions that a statement was told to wait for their numbers of that time.
func (t *translation) renameHolders(st *history.Stmt) {
	if len(t.changes) == 0 || len(st.Waits) == 0 {
		return
	}
	st.Waits = slices.Clone(st.Waits)
	for k := range st.Waits {
		w := &st.Waits[k]
		w.Holders = slices.Clone(w.Holders)
		for n, holder := range w.Holders {
			for _, c := range t.changes {
				if c.was == holder && c.at < w.From {
					w.Holders[n] = c.now
				}
			}
		}
	}
}

func (t *translation) world() World {
	h := *t.from
	h.Stmts, h.Levels = t.stmts, t.levels
	if h.Facts != nil && len(t.changes) > 0 {
		facts := *h.Facts
		facts.Holdings = nil // they name sessions that are others now
		h.Facts = &facts
	}
	c := *t.of
	c.Steps = t.steps
	return World{Case: &c, History: &h, Replaced: t.done, names: t.names}
}
