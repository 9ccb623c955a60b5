package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/harness"
)

// dialer is what a side connection needs to know of a backend.
type dialer interface {
	Config() *mysql.Config
	Dial(ctx context.Context) (net.Conn, error)
}

// side is a connection beside those of the cases, for one goroutine. It
// connects on first use and again after it broke.
type side struct {
	to dialer
	// setup runs on each new connection.
	setup []string
	conn  driver.Conn
	// prepared holds the statements of this connection.
	prepared map[string]driver.StmtQueryContext
}

// result is a result set in the text protocol; NULL is nil.
type result [][][]byte

func (s *side) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	cfg := s.to.Config()
	cfg.CheckConnLiveness = false // a poll for each query; a broken connection shows anyway
	if cfg.MaxAllowedPacket == 0 {
		cfg.MaxAllowedPacket = 64 << 20 // else it asks the server
	}
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return s.to.Dial(ctx) }
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.conn = conn
	for _, q := range s.setup {
		if err := s.exec(ctx, q); err != nil {
			_ = s.Close()
			return err
		}
	}
	return nil
}

// query returns all rows of a query. Its caller keeps the rows: they are copied.
func (s *side) query(ctx context.Context, q string) (result, error) {
	var rows result
	err := s.each(ctx, q, func(row []driver.Value) {
		cells := make([][]byte, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				cells[i] = append([]byte{}, v...)
			case nil:
			default:
				cells[i] = fmt.Append(nil, v)
			}
		}
		rows = append(rows, cells)
	})
	return rows, err
}

// each calls f with every row of a query; the values are valid in the call only.
func (s *side) each(ctx context.Context, q string, f func([]driver.Value)) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, q, nil)
	if err != nil {
		return s.failed(err)
	}
	return s.read(rows, f)
}

// eachPrepared is each for a query that comes often and takes long to parse.
func (s *side) eachPrepared(ctx context.Context, q string, f func([]driver.Value)) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	st := s.prepared[q]
	if st == nil {
		made, err := s.conn.(driver.ConnPrepareContext).PrepareContext(ctx, q)
		if err != nil {
			return s.failed(err)
		}
		if s.prepared == nil {
			s.prepared = map[string]driver.StmtQueryContext{}
		}
		st = made.(driver.StmtQueryContext)
		s.prepared[q] = st
	}
	rows, err := st.QueryContext(ctx, nil)
	if err != nil {
		return s.failed(err)
	}
	return s.read(rows, f)
}

func (s *side) read(rows driver.Rows, f func([]driver.Value)) error {
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(dest)
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = rows.Close()
			return s.failed(err)
		}
		f(dest)
	}
	if err := rows.Close(); err != nil {
		return s.failed(err)
	}
	return nil
}

func (s *side) exec(ctx context.Context, q string) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if _, err := s.conn.(driver.ExecerContext).ExecContext(ctx, q, nil); err != nil {
		return s.failed(err)
	}
	return nil
}

// failed drops the connection unless the server itself answered with the error.
func (s *side) failed(err error) error {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		_ = s.Close()
	}
	return err
}

// Close ends the connection; the next use makes a new one. That a server which
// is gone cannot be told so, which the driver calls a bad connection, is no
// failure: the error is always nil.
func (s *side) Close() error {
	if s.conn == nil {
		return nil
	}
	conn := s.conn
	s.conn, s.prepared = nil, nil
	_ = conn.Close()
	return nil
}

var _ dialer = harness.Wired(nil)
