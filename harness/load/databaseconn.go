package load

import (
	"context"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
)

// databaseConn is a conn of a server that opens its sessions itself, which is PostgreSQL.
type databaseConn struct {
	session harness.Session
	timeout time.Duration
	late    *time.Timer // cuts the session
}

func databaseDial(b harness.Database) dial {
	return func(ctx context.Context, timeout time.Duration) (conn, error) {
		s, err := b.Open(ctx, false)
		if err != nil {
			return nil, err
		}
		// Clients wait for answers most of the time, more of them than there are processors.
		if y, ok := s.(harness.Yielding); ok {
			y.Yield()
		}
		c := &databaseConn{session: s, timeout: timeout, late: time.AfterFunc(timeout, s.Cut)}
		c.late.Stop()
		return c, nil
	}
}

// rolledBack is the answer to a COMMIT of a transaction that had failed.
// https://www.postgresql.org/docs/current/sql-commit.html
type rolledBack struct{}

func (rolledBack) Error() string { return "COMMIT was answered with ROLLBACK" }

func (c *databaseConn) execute(q string) (*harness.Reply, error) {
	c.late.Reset(c.timeout)
	r, err := c.session.Execute(q)
	c.late.Stop()
	switch {
	case err != nil:
		return nil, err
	case r.Err != nil:
		return nil, &pgsession.Refusal{Answer: *r.Err}
	case r.Tag == "ROLLBACK" && q == "COMMIT":
		return nil, rolledBack{}
	}
	return &r, nil
}

func (c *databaseConn) change(q string) (int64, error) {
	r, err := c.execute(q)
	if err != nil {
		return 0, err
	}
	return r.Affected, nil
}

func (c *databaseConn) query(q string, into *answer) error {
	r, err := c.execute(q)
	if err != nil {
		return err
	}
	for _, row := range r.Rows {
		into.addCells(row)
	}
	return nil
}

func (c *databaseConn) close() {
	c.late.Reset(c.timeout)
	_ = c.session.Close()
	c.late.Stop()
}
