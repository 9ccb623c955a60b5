package harness

import (
	"encoding/binary"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

// prepared is the part of a mysqlSession that sends statements prepared.
type prepared struct {
	refused *Refusals
	kept    Kept[keptStatement]
	// Of the statement under way: how it is to be sent, its text, and what is being done with it now.
	way    protocol.Way
	sql    string
	stage  stageOf
	it     keptStatement
	asText bool
}

// keptStatement is what the server calls a statement, and how often it warned as it prepared it.
type keptStatement struct {
	id     uint32
	warned int
}

// stageOf is what is being done with a statement.
type stageOf uint8

const (
	asIs stageOf = iota // its text is sent
	preparing
	executing
)

// SendBy implements PolledPreparing.
func (s *mysqlSession) SendBy(sql string, way protocol.Way) error {
	p := &s.prepared
	p.way, p.sql, p.stage, p.asText = way, sql, asIs, false
	if way == protocol.Text {
		return s.tap.query(sql)
	}
	if p.refused.Has(sql) {
		p.asText = true
		return s.tap.query(sql)
	}
	if it, ok := p.kept.Named(sql); ok && way == protocol.Execute {
		return s.execute(it)
	}
	p.stage = preparing
	return s.tap.command(comStmtPrepare, sql)
}

// execute has the server execute a prepared statement that has no parameters, once, without a cursor.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html
func (s *mysqlSession) execute(it keptStatement) error {
	s.prepared.stage, s.prepared.it = executing, it
	const noCursor, once = 0, 1
	body := binary.LittleEndian.AppendUint32(nil, it.id)
	body = append(body, noCursor)
	return s.tap.command(comStmtExecute, string(binary.LittleEndian.AppendUint32(body, once)))
}

// closeStatement tells the server to forget a statement, which it does not answer.
func (s *mysqlSession) closeStatement(id uint32) error {
	return s.tap.unanswered(comStmtClose, binary.LittleEndian.AppendUint32(nil, id))
}

// goOn takes the next step with a statement, once the answer to the last one is there. over says that there is none.
func (s *mysqlSession) goOn() (over bool, err error) {
	p := &s.prepared
	failed := s.tap.reply.Err
	switch {
	case p.stage == preparing && failed != nil && failed.Code == ErrUnprepared:
		p.refused.Add(p.sql)
		p.stage, p.asText = asIs, true
		return false, s.tap.query(p.sql)
	case p.stage == preparing && failed == nil:
		return false, s.execute(keptStatement{s.tap.stmt, s.tap.reply.Warnings})
	case p.stage == preparing:
		s.tap.reply.Sent = p.way
	case p.stage == executing:
		r := &s.tap.reply
		r.Sent = p.way
		if r.Err == nil {
			// Of what is found as a text is read nobody is warned again when it is executed. What is found then, too, is
			// the same: a text that is sent as such is warned of once.
			r.Warnings = max(r.Warnings, p.it.warned)
		}
		_, kept := p.kept.Named(p.sql)
		// The answer is there: that the connection is gone shows at the next statement.
		switch {
		case p.way == protocol.Prepare:
			_ = s.closeStatement(p.it.id)
		case !kept:
			if old, dropped := p.kept.Add(p.sql, p.it); dropped {
				_ = s.closeStatement(old.id)
			}
		}
	}
	s.tap.reply.AsText = p.asText
	p.stage = asIs
	return true, nil
}

// ExecuteBy implements Preparing.
func (s *mysqlSession) ExecuteBy(sql string, way protocol.Way) (Reply, error) {
	if way == protocol.Text {
		return s.Execute(sql)
	}
	if err := s.SendBy(sql, way); err != nil {
		return s.tap.reply, err
	}
	for {
		n, err := s.tap.Conn.Read(s.buffer())
		s.tap.feed(s.buf[:n])
		if s.tap.err != nil {
			return s.tap.reply, s.tap.err
		}
		if s.tap.done {
			if over, err := s.goOn(); over || err != nil {
				return s.tap.reply, err
			}
			continue
		}
		if err != nil {
			return s.tap.reply, err
		}
	}
}

// Forget implements Preparing. That the connection is gone shows at its next statement.
func (s *mysqlSession) Forget() {
	for _, it := range s.prepared.kept.Empty() {
		if s.closeStatement(it.id) != nil {
			return
		}
	}
}

// prepared reads what the server says of a statement that it has prepared: its ID, how many columns and parameters it
// has, whose definitions come behind, and how many warnings there were.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html
func (t *tap) prepared(p []byte) error {
	const length = 12
	if len(p) < length || p[0] != headerOK {
		return errMalformed
	}
	t.stmt = binary.LittleEndian.Uint32(p[1:])
	t.reply.Warnings = int(binary.LittleEndian.Uint16(p[10:]))
	t.skip = 0
	for _, at := range []int{5, 7} {
		if n := int(binary.LittleEndian.Uint16(p[at:])); n > 0 {
			t.skip += n + 1 // an EOF ends them
		}
	}
	if t.skip == 0 {
		t.finish()
	} else {
		t.state = tapPrepared
	}
	return nil
}

// unanswered sends a short command that the server does not answer.
func (t *tap) unanswered(command byte, body []byte) error {
	n := len(body) + 1
	t.out = append(append(t.out[:0], byte(n), byte(n>>8), byte(n>>16), 0, command), body...)
	_, err := t.Conn.Write(t.out)
	return err
}
