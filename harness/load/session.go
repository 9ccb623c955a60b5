package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// session is one connection of a client, which connects when it is first used and
// again when it is lost.
type session struct {
	dial dial
	// setup runs on each new connection.
	setup []string
	// timeout is how long an answer may take before the connection counts as lost.
	timeout time.Duration
	// opening is how long a new connection may take, if that is longer.
	opening time.Duration
	// away: the server is a node that is broken now and then, which then answers that it takes no part in its cluster.
	away bool

	conn conn
	got  answer
}

// conn is a connection as its protocol has it. An error that errorCode knows is the
// server's answer; behind any other the connection is of no more use.
type conn interface {
	// change runs a statement that returns no rows and tells how many it changed.
	change(q string) (int64, error)
	// query adds the rows that a statement returns to an answer.
	query(q string, into *answer) error
	close()
}

// dial makes a connection on which nothing takes longer than timeout.
type dial func(ctx context.Context, timeout time.Duration) (conn, error)

// dialOf returns how sessions connect to a backend.
func dialOf(b harness.Backend) (dial, error) {
	switch b := b.(type) {
	case harness.Wired:
		return mysqlDial(b, nil), nil
	case harness.Database:
		return databaseDial(b), nil
	case *Adapter:
		return adapterDial(b), nil
	}
	return nil, fmt.Errorf("load: %s opens no sessions", b.Server().DBMS)
}

// connect makes the connection if there is none.
func (s *session) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(s.timeout, s.opening))
	defer cancel()
	c, err := s.dial(ctx, s.timeout)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.conn = c
	for _, q := range s.setup {
		if err := s.exec(q); err != nil {
			s.close()
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// untilConnected tries until there is a connection, the context ends, or the
// server itself answers with an error that does not pass.
func (s *session) untilConnected(ctx context.Context, patience time.Duration) error {
	end := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := s.connect(ctx)
		if err == nil || !s.passing(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// passing says that after an error of a new connection another one may be welcome.
func (s *session) passing(err error) bool {
	code := errorCode(err)
	return code == noCode || notYet[code] || s.away && outside(code)
}

// exec runs a statement that returns no rows.
func (s *session) exec(q string) error {
	_, err := s.change(q)
	return err
}

var errLost = errors.New("the connection is lost")

// change runs a statement that returns no rows and tells how many it changed.
func (s *session) change(q string) (*answer, error) {
	s.got.rows, s.got.changed = s.got.rows[:0], 0
	if s.conn == nil {
		return nil, errLost
	}
	var err error
	if s.got.changed, err = s.conn.change(q); err != nil {
		return nil, s.failed(err)
	}
	return &s.got, nil
}

// query runs a statement that returns rows; the answer is valid until the next one.
func (s *session) query(q string) (*answer, error) {
	s.got = answer{rows: s.got.rows[:0], text: s.got.text[:0]}
	if s.conn == nil {
		return nil, errLost
	}
	if err := s.conn.query(q, &s.got); err != nil {
		return nil, s.failed(err)
	}
	return &s.got, nil
}

// failed drops the connection unless the server itself answered with the error.
func (s *session) failed(err error) error {
	if errorCode(err) == noCode {
		s.close()
	}
	return err
}

func (s *session) close() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}
