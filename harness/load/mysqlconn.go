package load

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// mysqlConn is a conn of MySQL's protocol. Its contexts cannot end: the connection's
// own deadline bounds a statement, and a context that can end would cost a goroutine for
// each connection.
type mysqlConn struct {
	driver.Conn
	dest []driver.Value
	// kept are what it has prepared; refused is common to the connections of one node.
	kept    keptStatements
	refused *harness.Refusals
}

// mysqlDial connects to a backend, and hands each connection to opened, which may be nil.
func mysqlDial(b harness.Wired, opened func(net.Conn)) dial {
	refused := &harness.Refusals{}
	return func(ctx context.Context, timeout time.Duration) (conn, error) {
		cfg := b.Config()
		cfg.CheckConnLiveness = false // a system call for each statement; a broken connection shows anyway
		cfg.ReadTimeout, cfg.WriteTimeout = timeout, timeout
		if cfg.MaxAllowedPacket == 0 {
			cfg.MaxAllowedPacket = 64 << 20 // else it asks the server
		}
		cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := b.Dial(ctx)
			if err != nil {
				return nil, err
			}
			if opened != nil {
				opened(c)
			}
			// Clients wait in their reads most of the time, more of them than there are
			// processors, which a connection that waits in the kernel would hold.
			return direct.Indirect(c), nil
		}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, fmt.Errorf("configure the driver: %w", err)
		}
		c, err := connector.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return &mysqlConn{Conn: c, refused: refused}, nil
	}
}

func (c *mysqlConn) change(q string) (int64, error) {
	r, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), q, nil)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (c *mysqlConn) query(q string, into *answer) error {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(context.Background(), q, nil)
	if err != nil {
		return err
	}
	return c.read(rows, into)
}

// read adds the rows of an answer.
func (c *mysqlConn) read(rows driver.Rows, into *answer) error {
	if n := len(rows.Columns()); len(c.dest) != n {
		c.dest = make([]driver.Value, n)
	}
	for {
		err := rows.Next(c.dest)
		if err == io.EOF {
			return rows.Close()
		}
		if err != nil {
			_ = rows.Close()
			return err
		}
		into.add(c.dest)
	}
}

func (c *mysqlConn) close() { _ = c.Conn.Close() }
