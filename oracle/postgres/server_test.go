//go:build postgres

package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/postgrestest"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// cluster is a private PostgreSQL, which ends with the test.
type cluster struct{ socket string }

// startCluster starts a server that tells deadlocks soon. Who gives the tag postgres wants
// one: without it the test fails.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	bin := postgrestest.Programs()
	if bin == "" {
		t.Fatal("Debian's package postgresql is not installed")
	}
	return &cluster{postgrestest.Start(t, bin, "autovacuum=off", "deadlock_timeout=10ms", "shared_buffers=16MB", "max_connections=20")}
}

// connection is a harness.Session of PostgreSQL.
type connection struct{ pg *pgconn.PgConn }

var _ harness.Session = (*connection)(nil)

func (c *cluster) connect() (*connection, error) {
	pg, err := pgconn.Connect(context.Background(), "host="+c.socket+" user="+postgrestest.User+" dbname=postgres sslmode=disable")
	if err != nil {
		return nil, err
	}
	return &connection{pg}, nil
}

// ID implements harness.Session: the process that pg_blocking_pids is asked about.
func (c *connection) ID() uint64 { return uint64(c.pg.PID()) }

// Execute implements harness.Session, by the simple protocol.
func (c *connection) Execute(sql string) (harness.Reply, error) {
	r := harness.Reply{Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
	results, err := c.pg.Exec(context.Background(), sql).ReadAll()
	for _, res := range results {
		r.Affected, r.Columns, r.Rows = res.CommandTag.RowsAffected(), nil, nil
		for _, f := range res.FieldDescriptions {
			r.Columns = append(r.Columns, f.Name)
		}
		for _, row := range res.Rows {
			cells := make([]history.Cell, len(row))
			for i, v := range row {
				cells[i] = history.Cell{Null: v == nil, Text: string(v)}
			}
			r.Rows = append(r.Rows, cells)
		}
	}
	r.At, r.InTxn, r.InTxnTold = time.Now(), c.pg.TxStatus() == 'T', true
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		r.Columns, r.Rows, r.Affected = nil, nil, -1
		r.Err = &history.Error{Code: history.NumberOf(refused.Code), State: refused.Code, Message: refused.Message}
		if refused.Code == "40P01" {
			r.Err.Message += ": " + refused.Detail
		}
		return r, nil
	}
	return r, err
}

// Cut implements harness.Session.
func (c *connection) Cut() { _ = c.pg.Conn().Close() }

// Close implements harness.Session.
func (c *connection) Close() error { return c.pg.Close(context.Background()) }
