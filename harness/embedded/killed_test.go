//go:build !notidb

package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A killed session whose transaction has written something ends, and the process goes on.
// https://github.com/pingcap/tidb/issues/63956
func TestKilledWriter(t *testing.T) {
	ctx := t.Context()
	in, err := start(ctx, t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := in.stop(); err != nil {
			t.Error(err)
		}
	}()
	connector, err := mysql.NewConnector(in.driverConfig())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, q := range []string{"CREATE DATABASE killed", "CREATE TABLE killed.t (a INT PRIMARY KEY)"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if err := killWriter(ctx, db); err != nil {
			t.Fatal(err)
		}
	}
	rows := -1
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM killed.t").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func killWriter(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var id uint64
	if err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return err
	}
	for _, q := range []string{"BEGIN", "INSERT INTO killed.t VALUES (1), (2)"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("KILL %d", id)); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "COMMIT"); err == nil {
		return fmt.Errorf("session %d goes on after KILL", id)
	}
	return nil
}
