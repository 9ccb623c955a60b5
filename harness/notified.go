package harness

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// notified keeps what a session got with the answer to a statement, -1 behind the last one.
func (r *run) notified(session, at int, got []Notification) {
	for _, n := range got {
		channel := n.Channel
		if r.own != nil {
			channel = strings.TrimPrefix(channel, r.own.prefix)
		}
		r.h.Notifications = append(r.h.Notifications, history.Notification{
			Session: session, Stmt: at, Channel: channel, Payload: n.Payload, Sender: r.numbers[n.Sender],
		})
	}
}

// idle runs a statement of ours in a session of the case that has none outstanding.
func (r *run) idle(l *lane, sql string) error {
	reply, err := r.w.idle(l.connection, sql)
	if err != nil {
		return err
	}
	r.notified(l.number, -1, reply.Notifications)
	if reply.Err != nil {
		return fmt.Errorf("session %d: %s: %v", l.number, sql, reply.Err)
	}
	return nil
}

// hearings is how many statements it takes until a session outside of a transaction has all that it is due: a server
// may send it behind the answer to the first.
const hearings = 2

// hear has each session that listens get what it is due.
func (r *run) hear() error {
	if r.own == nil {
		return nil
	}
	for _, l := range r.lanes {
		for range hearings {
			if l.broken || !r.own.listens[l.number] {
				break
			}
			if err := r.idle(l, r.w.pool.speech.nothing); err != nil {
				return err
			}
		}
	}
	return nil
}
