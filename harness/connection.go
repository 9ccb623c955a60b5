package harness

import "github.com/txnfuzz/txnfuzz/corpus"

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
	queries chan string
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

// answer is the end of one statement of a session.
type answer struct {
	session *connection
	Reply
	err error // the connection broke; nil for an error of the server
}
