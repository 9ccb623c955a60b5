package pglying

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// session is one session that lies.
type session struct {
	harness.Session
	b *Backend
	// open says that the client believes to be in a transaction, failed or not; active that it can go on there.
	open, active bool
	// misled says that the level is not the one that the client set.
	misled bool
	// feigned says that the client believes its transaction to have failed, which has not.
	feigned bool
	// wrote says that the client has written in its transaction.
	wrote bool
	// path is the statement that has set the session's schema.
	path string
	// first says that the next statement is the first one of its transaction.
	first bool
	// done holds what was carried out in the open transaction, its BEGIN among it.
	done []string
	// cache holds the answers to plain SELECTs of the open transaction.
	cache map[string]harness.Reply
	// got holds what the server notified the session of, and the client was not told yet.
	got []harness.Notification
}

// Execute implements harness.Session.
func (s *session) Execute(sql string) (harness.Reply, error) {
	var r harness.Reply
	var err error
	if lie := s.b.lie.answer; lie != nil {
		r, err = lie(s, sql)
	} else {
		r, err = s.ask(sql)
	}
	r.Notifications, s.got = s.got, nil
	if err == nil {
		s.follow(sql, &r)
	}
	return r, err
}

// Close implements harness.Session.
func (s *session) Close() error {
	s.setOpen(false)
	count(&s.b.wrote, &s.wrote, false)
	return s.Session.Close()
}

// Yield implements harness.Yielding.
func (s *session) Yield() { yield(s.Session) }

func yield(s harness.Session) {
	if y, ok := s.(harness.Yielding); ok {
		y.Yield()
	}
}

// follow takes note of what a client believes behind an answer.
func (s *session) follow(sql string, r *harness.Reply) {
	switch {
	case ends(sql):
		s.setOpen(false)
	case r.InTxn:
		s.setOpen(true)
	case r.Err == nil:
		s.setOpen(false)
	}
	s.active = r.InTxn
	s.first = begins(sql)
	switch {
	case !s.open:
		s.done, s.cache, s.feigned = nil, nil, false
	case r.Err == nil:
		s.done = append(s.done, sql)
	}
	if strings.HasPrefix(sql, "SET search_path") {
		s.path = sql
	}
	count(&s.b.wrote, &s.wrote, s.active && (s.wrote || writes(sql) && r.Affected > 0))
}

func (s *session) setOpen(open bool) { count(&s.b.open, &s.open, open) }

// count sets what of a session is counted in n.
func count(n *atomic.Int64, has *bool, now bool) {
	switch {
	case now && !*has:
		n.Add(1)
	case !now && *has:
		n.Add(-1)
	}
	*has = now
}

// others is how many other sessions are in a transaction.
func (s *session) others() int64 {
	n := s.b.open.Load()
	if s.open {
		n--
	}
	return n
}

// amidWrites says that another session has written in a transaction that it is in.
func (s *session) amidWrites() bool {
	n := s.b.wrote.Load()
	if s.wrote {
		n--
	}
	return n > 0
}

// tell marks that the lie changed something.
func (s *session) tell() { s.b.told.Add(1) }

// ask sends a statement to the server.
func (s *session) ask(sql string) (harness.Reply, error) {
	r, err := s.Session.Execute(sql)
	s.got = append(s.got, r.Notifications...)
	return r, err
}

// also sends statements of the lie's own, as far as the server takes them, and returns the last answer.
func (s *session) also(sql ...string) (r harness.Reply, err error) {
	for _, text := range sql {
		if r, err = s.ask(text); err != nil || r.Err != nil {
			return r, err
		}
	}
	return r, nil
}

// mark is a savepoint that the client does not know of.
const mark = "txnfuzz_lie"

// revocable runs a statement of an open transaction behind a savepoint. Where undo says so of its answer, the
// transaction goes on as if the statement had never been sent.
func (s *session) revocable(sql string, undo func(*harness.Reply) bool) (r harness.Reply, undone bool, err error) {
	if !s.active || !isData(sql) {
		r, err = s.ask(sql)
		return r, false, err
	}
	if r, err = s.ask("SAVEPOINT " + mark); err != nil || r.Err != nil {
		return r, false, err
	}
	if r, err = s.ask(sql); err != nil {
		return r, false, err
	}
	var behind harness.Reply
	switch {
	case undo(&r):
		undone = true
		behind, err = s.also("ROLLBACK TO SAVEPOINT "+mark, "RELEASE SAVEPOINT "+mark)
	case r.Err == nil:
		behind, err = s.ask("RELEASE SAVEPOINT " + mark)
	default: // the error aborts what came before the savepoint, too
		behind, err = s.also("ROLLBACK TO SAVEPOINT "+mark, "RELEASE SAVEPOINT "+mark, failing)
	}
	r.InTxn, r.At = behind.InTxn, behind.At
	return r, undone, err
}

// failing is a statement that fails, whatever the tables hold.
const failing = "SELECT 1 / 0"

// fail fails the open transaction, and makes r the error that the client is told.
func (s *session) fail(r harness.Reply, state, message string) (harness.Reply, error) {
	failed, err := s.ask(failing)
	r.Result = history.Result{Matched: -1, Changed: -1, Affected: -1, Err: refusal(state, message)}
	r.At = failed.At
	return r, err
}

func refusal(state, message string) *history.Error {
	return &history.Error{State: state, Code: history.NumberOf(state), Message: message}
}

// pretend answers a write or a locking read as if it had been carried out; false: nobody knows how.
func (s *session) pretend(sql string) (r harness.Reply, ok bool, err error) {
	query, counts := harmless(sql)
	if query == "" {
		return r, false, nil
	}
	if r, err = s.ask(query); err != nil || r.Err != nil {
		return r, true, err
	}
	if counts {
		n := int64(0)
		for _, c := range r.Rows[0][0].Text {
			n = 10*n + int64(c-'0')
		}
		r.Columns, r.Rows, r.Affected = nil, nil, n
	}
	return r, true, nil
}

// failedAs says that an answer is an error with one of some SQLSTATEs.
func failedAs(r *harness.Reply, states ...string) bool {
	return r.Err != nil && slices.Contains(states, r.Err.State)
}

// sameRows says that two answers have the same rows in the same order.
func sameRows(a, b *harness.Reply) bool {
	return slices.EqualFunc(a.Rows, b.Rows, func(x, y []history.Cell) bool { return slices.Equal(x, y) })
}

func ends(sql string) bool {
	v := verb(sql)
	return v == "COMMIT" || v == "ROLLBACK" && !strings.Contains(strings.ToUpper(sql), " TO ")
}

func begins(sql string) bool { v := verb(sql); return v == "BEGIN" || v == "START" }
