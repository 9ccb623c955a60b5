package harness

import (
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sending is a text of a session.
type sending struct {
	session int
	sql     string
}

const errHeld = "a statement that is held is sent as text: what is counted at a place of the server's program " +
	"would count its preparation, too"

// sendBy has the statements of a script sent by a protocol.
func (s *script) sendBy(p protocol.Protocol) error {
	s.protocol = p
	if p.IsText() {
		return nil
	}
	for i := range s.steps {
		if s.steps[i].hold != nil {
			return &RefusedError{s.steps[i].sql, errHeld}
		}
	}
	return nil
}

// readyFor makes a session's connection one that has prepared nothing.
func (c *connection) readyFor(s *script) error {
	switch {
	case c.prepares():
		c.Session.(Preparing).Forget()
	case !s.protocol.IsText() && len(s.steps) > 0:
		return &RefusedError{s.steps[0].sql, "the connections of this target cannot prepare statements"}
	}
	return nil
}

// way decides how a step is sent.
func (r *run) way(l *lane, i int) protocol.Way {
	if r.s.protocol.IsText() {
		return protocol.Text
	}
	if r.sent == nil {
		r.sent = map[sending]int{}
	}
	key := sending{l.number, r.s.steps[i].sql}
	way := r.s.protocol.Of(l.number, key.sql, r.sent[key])
	r.sent[key]++
	r.altered = r.altered || r.s.steps[i].traits&altersSchema != 0
	if way == protocol.Execute && r.altered && r.h.Server.DBMS == history.PostgreSQL {
		// A kept statement fails there once what it returns has other columns, and nothing but another one helps.
		// https://github.com/postgres/postgres/blob/master/src/backend/utils/cache/plancache.c
		return protocol.Prepare
	}
	return way
}

// sentBy counts how a statement was sent, and returns what the history says of it.
func (r *run) sentBy(a *answer) string {
	c := &r.w.pool.stats
	switch {
	case a.AsText:
		c.unprepared.Add(1)
		return protocol.Text.String()
	case a.Sent == protocol.Prepare:
		c.prepared.Add(1)
	case a.Sent == protocol.Execute:
		c.executed.Add(1)
	default:
		return ""
	}
	return a.Sent.String()
}
