package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Dropper is implemented by a Prober that can tell when the server is done with a connection
// that was closed or killed: when its transaction is rolled back and nobody waits for it any
// more. A list of connections alone does not tell that: servers leave one out from the moment
// at which its socket is closed.
type Dropper interface {
	Dropped(ctx context.Context, conn uint64) (bool, error)
}

// lateInterrupt is how long a server that looks for a KILL QUERY only now and then is given to
// end the statement. TiDB's store answers a request for a lock after a second at the latest.
const lateInterrupt = 1500 * time.Millisecond

// errKill is why KILL is not sent to a server of others.
const errKill = "a KILL can take a user's server down, so on a server of others it needs --allow-kill"

// onSession carries out a line that is about a session. Behind it, as behind a statement, all
// have answered or are known to wait.
func (r *run) onSession(ctx context.Context, l *lane, i int, parked bool) error {
	does := r.s.steps[i].about
	switch {
	case does.Does == stmt.Connect:
		return r.reconnect(ctx, l, i, parked)
	case l.gone:
		r.answerUnsent(l, i, parked, history.ErrGone, "the session is gone")
		return nil
	case does.Does == stmt.Disconnect:
		return r.disconnect(ctx, l, i, parked)
	}
	victim := r.lane(does.Target)
	if victim.gone {
		r.answerUnsent(l, i, parked, history.ErrNoSession, fmt.Sprintf("the session tx%d is gone", does.Target))
		return nil
	}
	return r.killSession(ctx, l, victim, i, parked)
}

// answerUnsent records an answer that the harness gives itself, to a line that it does not send.
func (r *run) answerUnsent(l *lane, i int, parked bool, code uint16, message string) {
	st := history.Stmt{
		Line: i, Session: l.number, Submit: r.tick(), Parked: parked, InTxn: l.inTxn,
		Result: history.Result{Matched: -1, Changed: -1, Affected: -1, InTxn: l.inTxn},
	}
	if code != 0 {
		st.Result.Err = &history.Error{Code: code, State: "HY000", Message: message}
	}
	st.Return = r.tick()
	r.h.Stmts = append(r.h.Stmts, st)
}

// reconnect opens a new connection for a session that has none; else it does nothing.
func (r *run) reconnect(ctx context.Context, l *lane, i int, parked bool) error {
	if l.gone {
		db := l.db
		c, err := r.w.openSession(ctx, l.number)
		if err == nil {
			err = r.w.readySession(c, db, r.h.Levels[l.number])
		}
		if err != nil {
			return err
		}
		if r.greet != nil {
			if err := r.greet(c); err != nil {
				return err
			}
		}
		l.connection, l.gone, l.doomed = c, false, false
		r.numbers[c.id] = l.number
	}
	r.answerUnsent(l, i, parked, 0, "")
	return nil
}

// disconnect breaks the connection of a session without a farewell, as the end of a client's
// process does.
func (r *run) disconnect(ctx context.Context, l *lane, i int, parked bool) error {
	r.enter(l, i, parked)
	r.got = r.got[:0]
	l.Cut()
	r.forget(l)
	if ok, err := r.awaitDrop(ctx, l); !ok || err != nil {
		return err
	}
	r.got = append(r.got, answer{l.connection, Reply{Result: history.Result{Matched: -1, Changed: -1, Affected: -1}, InTxnTold: true, At: time.Now()}, nil})
	return r.settled(ctx, l)
}

// killSession sends KILL from the connection of one session to that of another, whose number
// the server itself told on that connection.
func (r *run) killSession(ctx context.Context, l, victim *lane, i int, parked bool) error {
	query := r.s.steps[i].about.Does == stmt.KillQuery
	sql := r.w.pool.speech.terminate
	if query {
		sql = r.w.pool.speech.interrupt
	}
	r.got = r.got[:0]
	victim.doomed = !query
	// A server may keep what KILL QUERY notes: no other case gets this connection.
	victim.tainted = true
	if victim != l && victim.stmt < 0 && closesIdle[r.h.Server.DBMS] {
		if err := r.letRead(ctx); err != nil {
			return err
		}
	}
	r.enter(l, i, parked)
	r.w.mail.send(l.connection, of(sql, victim.id), protocol.Text)
	if ok, err := r.awaitAnswer(ctx, l, time.Time{}); !ok || err != nil {
		return err
	}
	if a := r.answerOf(l); (l != victim || a.inAborted()) && (a.Err != nil || a.err != nil) && !r.killedFirst(a) {
		victim.doomed = false
		return r.settled(ctx, l)
	}
	if victim.stmt >= 0 && victim != l {
		victim.struck = true
		var limit time.Time
		if query && !interrupts[r.h.Server.DBMS] {
			limit = time.Now().Add(lateInterrupt)
		}
		if ok, err := r.awaitAnswer(ctx, victim, limit); !ok || err != nil {
			return err
		}
	}
	// TiDB may have answered what was to end, and wait for the next statement, before it ends that wait.
	if query && victim != l && (victim.stmt < 0 || r.answered(victim)) && r.endedIdle(victim) {
		r.h.Stmts[l.stmt].EndedIdle = true
		query = false
	}
	if !query {
		r.forget(victim)
		if ok, err := r.awaitDrop(ctx, victim); !ok || err != nil {
			return err
		}
	}
	return r.settled(ctx, l)
}

// closesIdle are the families of which a KILL QUERY has been seen to close the connection of a session
// that did nothing. Only there it is looked for, by a statement that does nothing either.
// https://github.com/pingcap/tidb/issues/57840
var closesIdle = map[history.DBMS]bool{history.TiDB: true}

// killedFirst reports whether a KILL that failed has been carried out before: behind whatever statement
// comes next TiDB takes the locks that a failed UPDATE of the transaction has left over, and may fail then.
func (r *run) killedFirst(a *answer) bool {
	return r.h.Server.DBMS == history.TiDB && a.err == nil && history.FailedToLock(a.Err)
}

// letRead gives the server the time to wait for the next statement of a session that has its answer. Only
// then KILL QUERY closes the connection, and only then a KILL is noted beyond the statement that was
// answered, so that a case would else show now this and now that. No server tells when it is so far.
func (r *run) letRead(ctx context.Context) error {
	a, ok, err := r.w.mail.receive(ctx, gateMax, nil)
	if ok {
		r.got = append(r.got, a)
	}
	return err
}

func (r *run) endedIdle(victim *lane) bool {
	if !closesIdle[r.h.Server.DBMS] {
		return false
	}
	_, err := r.w.idle(victim.connection, r.w.pool.speech.nothing)
	return err != nil
}

// forget gives up a connection that is closed on one side or the other.
func (r *run) forget(l *lane) {
	r.w.discard(l.connection)
	l.broken, l.gone, l.inTxn = true, true, false
}

// awaitAnswer takes answers until a lane's has come in, or until limit if there is one, and
// says whether the run goes on.
func (r *run) awaitAnswer(ctx context.Context, l *lane, limit time.Time) (bool, error) {
	for !r.answered(l) {
		d := r.untilTimeUp()
		if !limit.IsZero() {
			if d = min(d, time.Until(limit)); d <= 0 {
				l.struck = false
				return true, nil
			}
		}
		a, ok, err := r.w.mail.receive(ctx, d, nil)
		if err != nil {
			return false, err
		}
		if ok {
			r.got = append(r.got, a)
			continue
		}
		if up, err := r.timeUp(ctx); err != nil || up != goOn {
			if err == nil {
				r.giveUp(up, "a statement that KILL was to end does not end")
			}
			return false, err
		}
	}
	return true, nil
}

// awaitDrop asks the server until it is done with a connection, and says whether the run goes on.
// What answers meanwhile is taken.
func (r *run) awaitDrop(ctx context.Context, l *lane) (bool, error) {
	for pause := gateMin; ; pause = min(2*pause, gateMax) {
		dropped, err := r.w.dropped(ctx, l.id)
		if err != nil {
			return false, lostUnlessCancelled(ctx, fmt.Errorf("ask whether a session has ended: %w", err))
		}
		if dropped {
			return true, nil
		}
		a, ok, err := r.w.mail.receive(ctx, pause, nil)
		if err != nil {
			return false, err
		}
		if ok {
			r.got = append(r.got, a)
		}
		if up, err := r.timeUp(ctx); err != nil || up != goOn {
			if err == nil {
				r.giveUp(up, fmt.Sprintf("the server does not drop session %d", l.number))
			}
			return false, err
		}
	}
}

// dropped asks the prober, or else the list of connections.
func (w *worker) dropped(ctx context.Context, conn uint64) (bool, error) {
	if d, ok := w.prober.(Dropper); ok {
		return d.Dropped(ctx, conn)
	}
	r, err := w.query(of(w.pool.speech.connected, conn))
	return len(r.Rows) == 0, err
}

func (r *run) answerOf(l *lane) *answer {
	for i := range r.got {
		if r.got[i].session == l.connection {
			return &r.got[i]
		}
	}
	return nil
}

// adminShutdown is the SQLSTATE with which PostgreSQL ends a session that was told to end.
const adminShutdown = "57P01"

// inAborted says that PostgreSQL has refused a statement, whatever it is, since its transaction is aborted.
func (a *answer) inAborted() bool { return a.Err != nil && a.Err.State == "25P02" }

// asLost turns the end of a killed session's connection into an error of its statement.
func (l *lane) asLost(a *answer) {
	if a.err == nil || !l.doomed {
		return
	}
	if a.Err != nil && a.Err.State == adminShutdown { // PostgreSQL says so before it closes the connection
		a.InTxn, a.InTxnTold, a.err = false, true, nil
		return
	}
	a.Reply = Reply{
		Result:    history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: history.ErrLost, State: "HY000", Message: "Lost connection to server during query"}},
		InTxnTold: true, At: a.At,
	}
	a.err = nil
}
