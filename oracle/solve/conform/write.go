package conform

import (
	"context"
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Write compares one UPDATE, DELETE or INSERT: its error or the number of rows
// that it changed, and the table afterwards. The change is rolled back.
func (c *Checker) Write(ctx context.Context, name, q string) error {
	want, _, err := c.predict(name, q)
	if c.refused(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	got, err := c.observe(ctx, name, q)
	if err != nil {
		return err
	}
	c.Report.Compared++
	c.Report.Values++
	if want != got {
		w, g := firstDifference(want, got)
		c.differ(q, "", w, g)
	}
	return nil
}

// writable tells whether updated rows can be written one after another without
// meeting a unique key. If that depends on the order, it refuses.
func (c *Checker) writable(t *table, idx []int, news []solve.Row) (bool, error) {
	var free [2]bool
	for backward := range free {
		rows := append([]solve.Row(nil), t.rows...)
		free[backward] = true
		for n := range idx {
			k := n
			if backward == 1 {
				k = len(idx) - 1 - n
			}
			at, err := c.conflict(t.def, rows, news[k], idx[k])
			if err != nil {
				return false, err
			}
			if at >= 0 {
				free[backward] = false
				break
			}
			rows[idx[k]] = news[k]
		}
	}
	final := append([]solve.Row(nil), t.rows...)
	for k, i := range idx {
		final[i] = news[k]
	}
	clash := false
	for i, r := range final {
		at, err := c.conflict(t.def, final, r, i)
		if err != nil {
			return false, err
		}
		clash = clash || at >= 0
	}
	if free[0] != free[1] || !free[0] && !clash {
		// Another order, that of a secondary index for one, may find no clash.
		return false, &solve.Unsupported{What: "duplicate keys in passing"}
	}
	return free[0], nil
}

// insert adds a row to a table, or does what the statement says where a unique
// key is in the way. It returns the OK packet's count for the row.
func (c *Checker) insert(stmt *ast.InsertStmt, def *solve.Table, rows []solve.Row, r solve.Row) ([]solve.Row, int, error) {
	at, err := c.conflict(def, rows, r, -1)
	switch {
	case err != nil:
		return nil, 0, err
	case at < 0:
		return append(rows, r), 1, nil
	case stmt.IgnoreErr:
		return rows, 0, nil
	case len(stmt.OnDuplicate) == 0:
		return nil, 0, &solve.SQLError{Code: 1062, Message: "Duplicate entry"}
	}
	next, changed, err := c.solver.OnDuplicate(stmt, def, rows[at], r, c)
	if err != nil {
		return nil, 0, err
	}
	other, err := c.conflict(def, rows, next, at)
	if err != nil {
		return nil, 0, err
	}
	if other >= 0 {
		return nil, 0, &solve.SQLError{Code: 1062, Message: "Duplicate entry"}
	}
	out := append([]solve.Row(nil), rows...)
	out[at] = next
	if !changed && c.d.DBMS != history.TiDB {
		// MySQL and MariaDB count such a row as 0 or 1 by a rule of its own.
		return nil, 0, &solve.Unsupported{What: "count of an ON DUPLICATE KEY UPDATE that changes nothing"}
	}
	if !changed {
		return out, 0, nil
	}
	return out, 2, nil
}

// conflict returns the index of the first row, other than self, that shares a
// unique key with r, keys in order of definition, the primary key first; -1 if
// there is none.
func (c *Checker) conflict(def *solve.Table, rows []solve.Row, r solve.Row, self int) (int, error) {
	for _, primary := range []bool{true, false} {
		for k := range def.Keys {
			key := &def.Keys[k]
			if !key.Unique || key.Primary != primary {
				continue
			}
			id, null, err := c.solver.KeyOf(def, key, r)
			if err != nil {
				return 0, err
			}
			for i := range rows {
				if i == self || null {
					continue
				}
				other, null, err := c.solver.KeyOf(def, key, rows[i])
				if err != nil {
					return 0, err
				}
				if !null && other == id {
					return i, nil
				}
			}
		}
	}
	return -1, nil
}

func firstDifference(a, b string) (string, string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	if x[0] != y[0] {
		return x[0], y[0]
	}
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			if i < len(y) {
				return x[i], y[i]
			}
			return x[i], ""
		}
	}
	return "", y[len(x)]
}

// effect predicts the table behind a statement.
func (c *Checker) effect(stmt ast.StmtNode, t *table) ([]solve.Row, int, error) {
	after := append([]solve.Row(nil), t.rows...)
	changed := 0
	switch s := stmt.(type) {
	case *ast.UpdateStmt:
		idx, news, ch, failed := c.solver.UpdateAll(s, t.def, t.rows, c)
		if failed != nil && len(idx) == 0 {
			return nil, 0, failed
		}
		free, err := c.writable(t, idx, news)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case !free && failed != nil:
			return nil, 0, &solve.Unsupported{What: "duplicate key beside another error"}
		case failed != nil:
			return nil, 0, failed
		case !free:
			return nil, 0, &solve.SQLError{Code: 1062, Message: "Duplicate entry"}
		}
		for k, i := range idx {
			after[i] = news[k]
			if ch[k] {
				changed++
			}
		}
	case *ast.DeleteStmt:
		idx, err := c.solver.Matches(s, t.def, t.rows, c)
		if err != nil {
			return nil, 0, err
		}
		gone := map[int]bool{}
		for _, i := range idx {
			gone[i] = true
		}
		after = after[:0:0]
		for i, r := range t.rows {
			if !gone[i] {
				after = append(after, r)
			}
		}
		changed = len(idx)
	case *ast.InsertStmt:
		rows, failed := c.solver.Insert(s, t.def, c)
		for _, r := range rows {
			var n int
			var err error
			if after, n, err = c.insert(s, t.def, after, r); err != nil {
				return nil, 0, err
			}
			changed += n
		}
		if failed != nil {
			return nil, 0, failed
		}
	}
	return after, changed, nil
}
