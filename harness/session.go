package harness

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// session is one connection that runs its statements one at a time. It belongs
// to one worker.
type session struct {
	number int // as in the case; 0 for the control connection
	id     uint64
	conn   driver.Conn
	exec   driver.ExecerContext
	tap    *tap
	direct *direct.Conn // beneath tap; nil where only the runtime can wait for it
	joined bool         // the worker's mail carries its statements
	// asked says that a statement is outstanding; of a box.
	asked bool
	// queries goes to the goroutine of a courier, which closes ended.
	queries chan string
	ended   chan struct{}

	// State of the connection as the worker knows it.
	db      string
	level   corpus.Level // 0: not known
	inTxn   bool
	tainted bool // holds state of a case that no statement of ours resets
	broken  bool
}

// answer is the end of one statement of a session.
type answer struct {
	session *session
	reply
	err error // the connection broke; nil for an error of the server
}

// connect opens a session.
func connect(ctx context.Context, b Backend, number int) (*session, error) {
	cfg := b.Config()
	cfg.DBName = ""
	cfg.CheckConnLiveness = false
	cfg.Logger = &mysql.NopLogger{} // what breaks is told by errors
	cfg.MultiStatements = number == 0
	if cfg.MaxAllowedPacket == 0 { // 0 would cost a query for each connection
		cfg.MaxAllowedPacket = 64 << 20
	}
	encrypt := secure(cfg)
	var t *tap
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := b.Dial(ctx)
		if err != nil {
			return nil, err
		}
		if encrypt != nil {
			c = encrypt(direct.Indirect(c))
		}
		t = &tap{Conn: c}
		return t, nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("connect session %d: %w", number, err)
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect session %d: %w", number, err)
	}
	s := &session{
		number: number, conn: conn, exec: conn.(driver.ExecerContext), tap: t,
	}
	s.direct, _ = t.Conn.(*direct.Conn)
	r, err := s.do("SELECT CONNECTION_ID()")
	if err == nil && r.Err != nil {
		err = fmt.Errorf("error %d: %s", r.Err.Code, r.Err.Message)
	}
	if err == nil {
		s.id, err = strconv.ParseUint(r.Rows[0][0].Text, 10, 64)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect session %d: read connection id: %w", number, err)
	}
	return s, nil
}

// do runs one statement to its end. The driver only moves the bytes and waits
// for the last packet; what they say comes from the tap. An error packet is a
// reply, not an error.
func (s *session) do(query string) (reply, error) {
	// The context is never cancelled: a watched one costs two channel
	// operations a statement. A deadline closes the socket instead.
	_, err := s.exec.ExecContext(context.Background(), query, nil)
	var me *mysql.MySQLError
	switch {
	case s.tap.err != nil:
		return s.tap.reply, s.tap.err
	case err != nil && !errors.As(err, &me):
		return s.tap.reply, err
	case !s.tap.reply.done:
		return s.tap.reply, errMalformed
	}
	return s.tap.reply, nil
}

// cut closes the socket under a running statement, which then answers with an
// error. The server may notice only when the statement ends.
func (s *session) cut() { cut(s.tap.Conn) }

// close ends a session without a statement outstanding.
func (s *session) close() { _ = s.conn.Close() }
