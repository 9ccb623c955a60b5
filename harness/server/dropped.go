package server

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// Dropped implements harness.Dropper. The performance schema keeps a thread until the connection's
// transaction is rolled back and all its locks are released; INFORMATION_SCHEMA.PROCESSLIST leaves a
// connection out as soon as its socket is closed.
// https://dev.mysql.com/doc/refman/en/performance-schema-threads-table.html
func (p *lockTableProber) Dropped(ctx context.Context, conn uint64) (bool, error) {
	there := false
	q := "SELECT 1 FROM performance_schema.threads WHERE PROCESSLIST_ID = " + strconv.FormatUint(conn, 10)
	if err := p.side.each(ctx, q, func([]driver.Value) { there = true }); err != nil {
		return false, fmt.Errorf("ask for a connection: %w", err)
	}
	return !there, nil
}

// Dropped implements harness.Dropper. A connection that has touched InnoDB has a transaction in the
// monitor's list, not started as it may be, until it has given back all it held, and is missing in the
// list of connections before that.
func (p *statusProber) Dropped(ctx context.Context, conn uint64) (bool, error) {
	there := false
	note := func([]driver.Value) { there = true }
	q := "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = " + strconv.FormatUint(conn, 10)
	if err := p.side.each(ctx, q, note); err != nil {
		return false, fmt.Errorf("ask for a connection: %w", err)
	}
	if there {
		return false, nil
	}
	id := "thread id " + strconv.FormatUint(conn, 10) + ","
	err := p.side.each(ctx, "SHOW ENGINE INNODB STATUS", func(row []driver.Value) {
		text, _ := row[len(row)-1].([]byte)
		if at := strings.Index(string(text), string(listHeader)); at >= 0 {
			there = there || strings.Contains(string(text[at:]), id)
		}
	})
	if err != nil {
		return false, fmt.Errorf("ask for a connection's transaction: %w", err)
	}
	return !there, nil
}
