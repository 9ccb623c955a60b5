package harness

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

// connection is a Session and what the worker that owns it knows of it.
type connection struct {
	Session
	number int    // as in the case; 0 for the control connection
	id     uint64 // that of the Session
	polled Polled // the Session, if its socket can be waited for; else nil
	joined bool   // the worker's mail carries its statements
	// asked says that a statement is outstanding; of a box.
	asked bool
	// queries goes to the goroutine of a courier, which closes ended.
	queries chan query
	ended   chan struct{}

	// State of the session as the worker knows it.
	db    string
	level corpus.Level // 0: not known
	inTxn bool
	// rehearsed is the key of the case that it has run to know its tables and statements; 0: none.
	rehearsed uint64
	tainted   bool // holds state of a case that no statement of ours resets
	broken    bool
}

func newConnection(s Session, number int) *connection {
	c := &connection{Session: s, number: number, id: s.ID()}
	if p, ok := s.(Polled); ok && p.Socket() != nil {
		c.polled = p
	}
	return c
}

// query is a statement for a courier.
type query struct {
	sql string
	way protocol.Way
}

// prepares says that the session knows prepared statements. Who is Polled is then PolledPreparing.
func (c *connection) prepares() bool {
	_, ok := c.Session.(Preparing)
	return ok
}

func (c *connection) executeBy(q query) (Reply, error) {
	if q.way == protocol.Text {
		return c.Execute(q.sql)
	}
	return c.Session.(Preparing).ExecuteBy(q.sql, q.way)
}

func (c *connection) sendBy(sql string, way protocol.Way) error {
	if way == protocol.Text {
		return c.polled.Send(sql)
	}
	return c.polled.(PolledPreparing).SendBy(sql, way)
}

// answer is the end of one statement of a session.
type answer struct {
	session *connection
	Reply
	err error // the connection broke; nil for an error of the server
}
