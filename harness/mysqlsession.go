package harness

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// mysqlDatabase is a Wired as a Database: its sessions are those of go-sql-driver/mysql,
// on connections that the Wired dials.
type mysqlDatabase struct {
	Wired
	refused *Refusals
}

// mysqlSession is a Session through go-sql-driver. The driver logs in, sends statements and
// waits for the last packet; what the packets say comes from the tap beneath it.
type mysqlSession struct {
	id     uint64
	conn   driver.Conn
	exec   driver.ExecerContext
	tap    *tap
	socket *direct.Conn // beneath tap; nil where only the runtime can wait for it
	buf    []byte       // of Receive

	prepared prepared
}

var _ PolledPreparing = (*mysqlSession)(nil)

// openPatience bounds the opening of a session: a server that hangs may take a connection and never
// answer on it.
const openPatience = 20 * time.Second

// Open implements Database.
func (d mysqlDatabase) Open(ctx context.Context, control bool) (Session, error) {
	cfg := d.Config()
	cfg.DBName = ""
	cfg.CheckConnLiveness = false
	cfg.Logger = &mysql.NopLogger{} // what breaks is told by errors
	cfg.MultiStatements = control
	if cfg.MaxAllowedPacket == 0 { // 0 would cost a query for each connection
		cfg.MaxAllowedPacket = 64 << 20
	}
	encrypt := secure(cfg)
	var t *tap
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := d.Dial(ctx)
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
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.family = d.Server().DBMS
	s := &mysqlSession{
		conn: conn, exec: conn.(driver.ExecerContext), tap: t, prepared: prepared{refused: d.refused},
	}
	s.socket, _ = t.Conn.(*direct.Conn)
	defer context.AfterFunc(ctx, s.Cut)()
	r, err := s.Execute("SELECT CONNECTION_ID()")
	if err == nil && r.Err != nil {
		err = fmt.Errorf("error %d: %s", r.Err.Code, r.Err.Message)
	}
	if err == nil {
		s.id, err = strconv.ParseUint(r.Rows[0][0].Text, 10, 64)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("read connection id: %w", err)
	}
	return s, nil
}

// ID implements Session.
func (s *mysqlSession) ID() uint64 { return s.id }

// Execute implements Session.
func (s *mysqlSession) Execute(query string) (Reply, error) {
	// The context is never cancelled: a watched one costs two channel
	// operations a statement.
	_, err := s.exec.ExecContext(context.Background(), query, nil)
	var me *mysql.MySQLError
	switch {
	case s.tap.err != nil:
		return s.tap.reply, s.tap.err
	case err != nil && !errors.As(err, &me):
		return s.tap.reply, err
	case !s.tap.done:
		return s.tap.reply, errMalformed
	}
	return s.tap.reply, nil
}

// Socket implements Polled.
func (s *mysqlSession) Socket() *direct.Conn { return s.socket }

// Send implements Polled.
func (s *mysqlSession) Send(query string) error { return s.SendBy(query, protocol.Text) }

// Receive implements Polled.
func (s *mysqlSession) Receive() (Reply, bool, error) {
	for {
		n, err := s.socket.TryRead(s.buffer())
		if direct.Empty(err) {
			return Reply{}, false, nil
		}
		if err == nil {
			s.tap.feed(s.buf[:n])
			err = s.tap.err
		}
		over := s.tap.done
		if err == nil && over {
			over, err = s.goOn()
		}
		if err != nil || over {
			return s.tap.reply, over, err
		}
	}
}

func (s *mysqlSession) buffer() []byte {
	if s.buf == nil {
		s.buf = make([]byte, 16<<10)
	}
	return s.buf
}

// Cut implements Session: it closes the socket under whoever reads it.
func (s *mysqlSession) Cut() {
	if d, ok := s.tap.Conn.(*direct.Conn); ok {
		d.Shutdown() // its owner may wait for the descriptor
		return
	}
	_ = s.tap.Conn.Close()
}

// Close implements Session.
func (s *mysqlSession) Close() error { return s.conn.Close() }
