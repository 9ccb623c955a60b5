package load

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
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

func (c *databaseConn) execute(way protocol.Way, q string) (*harness.Reply, error) {
	c.late.Reset(c.timeout)
	r, err := c.send(way, q)
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

// send sends a statement; one that is kept prepared has parameters, $1 and so on.
func (c *databaseConn) send(way protocol.Way, q string) (harness.Reply, error) {
	if way == protocol.Text {
		return c.session.Execute(q)
	}
	p, ok := c.session.(harness.Parametric)
	if !ok {
		return harness.Reply{}, errUnpreparing
	}
	if way == protocol.Prepare {
		return p.ExecuteBy(q, way)
	}
	return p.ExecuteWith(lift(q, func(b *strings.Builder, n int) { fmt.Fprintf(b, "$%d", n) }))
}

func (c *databaseConn) change(q string) (int64, error) {
	n, _, err := c.changeBy(protocol.Text, q)
	return n, err
}

func (c *databaseConn) query(q string, into *answer) error {
	_, err := c.queryBy(protocol.Text, q, into)
	return err
}

func (c *databaseConn) changeBy(way protocol.Way, q string) (n int64, asText bool, err error) {
	r, err := c.execute(way, q)
	if err != nil {
		return 0, false, err
	}
	return r.Affected, r.AsText, nil
}

func (c *databaseConn) queryBy(way protocol.Way, q string, into *answer) (asText bool, err error) {
	r, err := c.execute(way, q)
	if err != nil {
		return false, err
	}
	for _, row := range r.Rows {
		into.addCells(row)
	}
	return r.AsText, nil
}

func (c *databaseConn) close() {
	c.late.Reset(c.timeout)
	_ = c.session.Close()
	c.late.Stop()
}
