package load

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// session is one connection of a client, which connects when it is first used and
// again when it is lost.
type session struct {
	backend harness.Wired
	// setup runs on each new connection.
	setup []string
	// timeout is how long an answer may take before the connection counts as lost.
	timeout time.Duration

	conn driver.Conn
	dest []driver.Value
	got  answer
}

// connect makes the connection if there is none.
func (s *session) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	cfg := s.backend.Config()
	cfg.CheckConnLiveness = false // a system call for each statement; a broken connection shows anyway
	cfg.ReadTimeout, cfg.WriteTimeout = s.timeout, s.timeout
	if cfg.MaxAllowedPacket == 0 {
		cfg.MaxAllowedPacket = 64 << 20 // else it asks the server
	}
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := s.backend.Dial(ctx)
		if err != nil {
			return nil, err
		}
		// Clients wait in their reads most of the time, more of them than there are
		// processors, which a connection that waits in the kernel would hold.
		return direct.Indirect(c), nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := connector.Connect(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.conn = conn
	for _, q := range s.setup {
		if err := s.exec(q); err != nil {
			s.close()
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// untilConnected tries until there is a connection, the context ends, or the
// server itself answers with an error.
func (s *session) untilConnected(ctx context.Context, patience time.Duration) error {
	end := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := s.connect(ctx)
		if err == nil || errorCode(err) != 0 && errorCode(err) != tooManyConnections || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// tooManyConnections: those of before a lost connection may not be gone yet.
const tooManyConnections = 1040

// exec runs a statement that returns no rows.
func (s *session) exec(q string) error {
	_, err := s.change(q)
	return err
}

// change runs a statement that returns no rows and tells how many it changed. The
// context cannot end: the connection's own deadline bounds it, and a context that
// can would cost a goroutine for each connection.
func (s *session) change(q string) (*answer, error) {
	s.got.rows, s.got.changed = s.got.rows[:0], 0
	if s.conn == nil {
		return nil, errLost
	}
	r, err := s.conn.(driver.ExecerContext).ExecContext(context.Background(), q, nil)
	if err != nil {
		return nil, s.failed(err)
	}
	s.got.changed, _ = r.RowsAffected()
	return &s.got, nil
}

var errLost = errors.New("the connection is lost")

// query runs a statement that returns rows; the answer is valid until the next one.
func (s *session) query(q string) (*answer, error) {
	if s.conn == nil {
		return nil, errLost
	}
	rows, err := s.conn.(driver.QueryerContext).QueryContext(context.Background(), q, nil)
	if err != nil {
		return nil, s.failed(err)
	}
	kept := s.got.rows[:cap(s.got.rows)] // rows of before, used again
	s.got = answer{rows: kept[:0], text: s.got.text[:0]}
	if n := len(rows.Columns()); len(s.dest) != n {
		s.dest = make([]driver.Value, n)
	}
	for {
		err := rows.Next(s.dest)
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = rows.Close()
			return nil, s.failed(err)
		}
		s.got.add(s.dest)
	}
	if err := rows.Close(); err != nil {
		return nil, s.failed(err)
	}
	return &s.got, nil
}

// add copies a row: the driver uses its buffers again for the next one.
func (a *answer) add(row []driver.Value) {
	var cells []driver.Value
	if n := len(a.rows); n < cap(a.rows) {
		cells = a.rows[:n+1][n][:0]
	}
	for _, v := range row {
		if b, ok := v.([]byte); ok {
			at := len(a.text)
			a.text = append(a.text, b...)
			v = a.text[at:len(a.text):len(a.text)]
		}
		cells = append(cells, v)
	}
	a.rows = append(a.rows, cells)
}

// failed drops the connection unless the server itself answered with the error.
func (s *session) failed(err error) error {
	if errorCode(err) == 0 {
		s.close()
	}
	return err
}

func (s *session) close() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}
