package pgsession

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// Session is a connection to PostgreSQL. Its ID is the pid of the backend that serves it.
type Session struct {
	id         uint64
	parameters map[string]string
	conn       net.Conn // what is written to and read from
	raw        net.Conn // the socket beneath conn
	socket     *direct.Conn
	answer     answer
	out, in    []byte
	cut        atomic.Bool
	prepared   prepared
}

var (
	_ harness.PolledPreparing = (*Session)(nil)
	_ harness.Parametric      = (*Session)(nil)
	_ harness.Pipelined       = (*Session)(nil)
	_ harness.Yielding        = (*Session)(nil)
)

// openPatience bounds the opening of a session: a server that hangs may take a connection and never
// answer on it.
const openPatience = 20 * time.Second

// farewellPatience bounds the sending of the farewell to a server that reads nothing.
const farewellPatience = 5 * time.Second

// parameters of a session that its server is told as it begins. A NOTICE tells nobody anything.
var parameters = map[string]string{"application_name": "txnfuzz", "client_min_messages": "warning"}

// Open connects, and sends no statement. config comes from pgconn.ParseConfig and is not changed.
func Open(ctx context.Context, config *pgconn.Config) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	s := &Session{}
	var greeted *greeting
	config = config.Copy()
	for k, v := range parameters {
		config.RuntimeParams[k] = v
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s.raw, greeted = c, &greeting{Conn: c} // the last one is the one that serves
		return greeted, nil
	}
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	// The driver would ask the server to cancel what runs on a connection that was cut.
	taken, err := pg.Hijack()
	if err == nil {
		err = greeted.end(taken.Conn == greeted) // else what encrypts goes on reading here
	}
	if err == nil && taken.Frontend.ReadBufferLen() > 0 {
		err = errors.New("the server has said more than its greeting")
	}
	if err != nil {
		_ = s.raw.Close()
		return nil, fmt.Errorf("open a session: %w", err)
	}
	s.answer.pid = uint64(taken.PID)
	s.id, s.parameters, s.conn = uint64(taken.PID), taken.ParameterStatuses, taken.Conn
	if s.conn == greeted { // not encrypted
		s.conn = direct.New(s.raw)
		s.socket, _ = s.conn.(*direct.Conn)
	}
	return s, nil
}

// ID implements harness.Session.
func (s *Session) ID() uint64 { return s.id }

// Parameter returns what the server told of a parameter as the session began, such as
// server_version; "" where it told nothing.
func (s *Session) Parameter(name string) string { return s.parameters[name] }

// Execute implements harness.Session.
func (s *Session) Execute(sql string) (harness.Reply, error) {
	return s.ExecuteBy(sql, protocol.Text)
}

// ExecuteBy implements harness.Preparing.
func (s *Session) ExecuteBy(sql string, way protocol.Way) (harness.Reply, error) {
	s.answer.begin()
	s.prepared.begin(sql, way)
	return s.finish()
}

// finish sends the statement under way and reads its answer.
func (s *Session) finish() (harness.Reply, error) {
	if err := s.write(); err != nil {
		return s.answer.reply, err
	}
	for {
		n, err := s.conn.Read(s.buffer())
		if done, err := s.take(n, err); done || err != nil {
			return s.answer.reply, err
		}
	}
}

// flight bounds the bytes that are sent before an answer is read: as many fit into the buffer of a socket whose other
// end reads nothing until somebody takes its answers.
const flight = 32 << 10

// Pipeline implements harness.Pipelined. A text that is longer than flight is sent alone.
func (s *Session) Pipeline(texts []string) ([]harness.Reply, error) {
	replies := make([]harness.Reply, 0, len(texts))
	for len(replies) < len(texts) {
		s.answer.begin()
		s.prepared.begin("", protocol.Text)
		s.out = s.out[:0]
		until := len(replies)
		for until < len(texts) && (until == len(replies) || len(s.out)+len(texts[until]) < flight) {
			s.out = appendMessage(s.out, 'Q', texts[until])
			until++
		}
		if _, err := s.conn.Write(s.out); err != nil {
			return replies, err
		}
		for len(replies) < until {
			done, err := s.take(0, nil) // of what came in with the answer before
			for !done && err == nil {
				var n int
				n, err = s.conn.Read(s.buffer())
				done, err = s.take(n, err)
			}
			if err != nil {
				return replies, err
			}
			replies = append(replies, s.answer.reply)
			s.answer.begin()
		}
	}
	return replies, nil
}

// Socket implements harness.Polled.
func (s *Session) Socket() *direct.Conn { return s.socket }

// Yield implements harness.Yielding.
func (s *Session) Yield() { s.conn, s.socket = direct.Indirect(s.conn), nil }

// Send implements harness.Polled.
func (s *Session) Send(sql string) error { return s.SendBy(sql, protocol.Text) }

// SendBy implements harness.PolledPreparing.
func (s *Session) SendBy(sql string, way protocol.Way) error {
	s.answer.begin()
	s.prepared.begin(sql, way)
	return s.write()
}

// write sends the statement under way.
func (s *Session) write() error {
	if s.prepared.way == protocol.Text {
		s.out = appendMessage(s.out[:0], 'Q', s.prepared.text)
	} else {
		s.out = s.prepared.append(s.out[:0])
	}
	_, err := s.conn.Write(s.out)
	return err
}

// Receive implements harness.Polled.
func (s *Session) Receive() (harness.Reply, bool, error) {
	for {
		n, err := s.socket.TryRead(s.buffer())
		if direct.Empty(err) {
			return harness.Reply{}, false, nil
		}
		if done, err := s.take(n, err); done || err != nil {
			return s.answer.reply, done, err
		}
	}
}

func (s *Session) buffer() []byte {
	if s.in == nil {
		s.in = make([]byte, 16<<10)
	}
	return s.in
}

// take reads on in the answer with n bytes that have come in, or an error.
func (s *Session) take(n int, failed error) (done bool, err error) {
	if n > 0 || len(s.answer.partial) > 0 {
		if err := s.answer.feed(s.in[:n]); err != nil {
			return false, err
		}
	}
	if s.answer.copying { // there are no data: a case has none
		s.answer.copying = false
		s.out = appendMessage(s.out[:0], 'f', "COPY FROM STDIN has no data here")
		if _, err := s.conn.Write(s.out); err != nil {
			return false, err
		}
	}
	if s.answer.done {
		s.prepared.end(&s.answer)
		return true, nil
	}
	return false, failed
}

// Cut implements harness.Session: it closes the socket under whoever reads it.
func (s *Session) Cut() {
	if s.cut.Swap(true) {
		return
	}
	if s.socket != nil {
		s.socket.Shutdown() // its owner may wait for the descriptor
		return
	}
	_ = s.raw.Close()
}

// Close implements harness.Session.
func (s *Session) Close() error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(farewellPatience))
	_, err := s.conn.Write([]byte{'X', 0, 0, 0, 4})
	if e := s.conn.Close(); err == nil && !s.cut.Load() {
		err = e
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) { // the server may be gone
		return fmt.Errorf("close a session: %w", err)
	}
	return nil
}
