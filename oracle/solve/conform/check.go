package conform

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Difference is one statement on which the server and the solver disagree.
type Difference struct {
	Setup     []string
	SQL       string
	Want, Got string
	Row       string
}

// Report counts what was compared.
type Report struct {
	// Statements counts statements sent, Compared those with one prediction,
	// Values single values or rows compared.
	Statements, Compared, Values int
	// Unsupported counts refused predictions by reason.
	Unsupported map[string]int
	Differences []Difference
	// Pairs counts the values compared for each operator on two types,
	// PairsRefused those expressions that were refused; see Pairs.
	Pairs, PairsRefused map[string]int
}

// Checker runs statements on one connection.
type Checker struct {
	conn   *sql.Conn
	server history.Server
	d      solve.Dialect
	solver *solve.Solver
	tables map[string]*table
	setup  map[string][]string
	// label names what an expression counts for in Report.Pairs.
	label  map[string]string
	Report Report
	// Limit is the number of differences that are kept.
	Limit int
}

type table struct {
	def  *solve.Table
	rows []solve.Row
}

// NewChecker identifies the server behind a connection and makes it use a
// database of the checker's own, which it creates.
func NewChecker(ctx context.Context, conn *sql.Conn, database string) (*Checker, error) {
	if !strings.HasPrefix(database, "txnfuzz_") {
		return nil, fmt.Errorf("database %q: the name must begin with txnfuzz_", database)
	}
	c := &Checker{conn: conn, tables: map[string]*table{}, Limit: 200}
	c.Report.Unsupported = map[string]int{}
	var version, mode, coll string
	err := conn.QueryRowContext(ctx, "SELECT VERSION(), @@sql_mode, @@collation_connection").Scan(&version, &mode, &coll)
	if err != nil {
		return nil, fmt.Errorf("identify the server: %w", err)
	}
	c.server = history.Server{DBMS: history.MySQL, Version: version, Settings: map[string]string{"sql_mode": mode, "collation_connection": coll}}
	switch {
	case strings.Contains(version, "TiDB"):
		c.server.DBMS = history.TiDB
	case strings.Contains(version, "MariaDB"):
		c.server.DBMS = history.MariaDB
	}
	c.d = solve.DialectOf(c.server)
	for _, q := range []string{"CREATE DATABASE IF NOT EXISTS " + database, "USE " + database} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	return c, nil
}

// Server returns what the checker talks to.
func (c *Checker) Server() history.Server { return c.server }

// Table implements solve.Views.
func (c *Checker) Table(name string) (*solve.Table, []solve.Row, error) {
	t, ok := c.tables[strings.ToLower(name)]
	if !ok {
		return nil, nil, &solve.SQLError{Code: 1146, Message: "no table " + name}
	}
	return t.def, t.rows, nil
}

// Fill makes a table anew and reads its rows back.
func (c *Checker) Fill(ctx context.Context, name, create string, inserts ...string) error {
	c.solver = solve.New(c.d)
	if c.setup == nil {
		c.setup = map[string][]string{}
	}
	c.setup[name] = append([]string{create}, inserts...)
	stmt, err := corpus.ParseStatement(create)
	if err != nil {
		return fmt.Errorf("parse %s: %w", create, err)
	}
	def, err := solve.NewTable(stmt.(*ast.CreateTableStmt), c.d)
	if err != nil {
		return fmt.Errorf("read %s: %w", create, err)
	}
	given := make([]ast.StmtNode, 0, len(inserts))
	for _, q := range inserts {
		stmt, err := corpus.ParseStatement(q)
		if err != nil {
			return fmt.Errorf("parse %s: %w", q, err)
		}
		given = append(given, stmt)
	}
	def.Given = solve.GivenFloats(given)
	c.tables[name] = &table{def: def}
	for _, q := range append([]string{"DROP TABLE IF EXISTS " + name, create}, inserts...) {
		if _, err := c.conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	rows, err := c.read(ctx, name)
	c.tables[name].rows = rows
	return err
}

func (c *Checker) read(ctx context.Context, name string) ([]solve.Row, error) {
	got, err := c.query(ctx, "SELECT * FROM "+name)
	if err != nil {
		return nil, fmt.Errorf("read %s back: %w", name, err)
	}
	var out []solve.Row
	for _, cells := range got {
		r, err := c.tables[name].def.ParseRow(cells)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// query returns the rows of a query as text; doubles pass the driver as
// numbers and are printed as the servers print them.
func (c *Checker) query(ctx context.Context, q string) ([][]history.Cell, error) {
	c.Report.Statements++
	rows, err := c.conn.QueryContext(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	var out [][]history.Cell
	for rows.Next() {
		vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		cells := make([]history.Cell, len(cols))
		for i, v := range vals {
			cells[i] = cellOf(v)
			if !cells[i].Null && types[i].DatabaseTypeName() == "YEAR" {
				// The driver reads a year as a number.
				cells[i].Text = fmt.Sprintf("%04s", cells[i].Text)
			}
		}
		out = append(out, cells)
	}
	return out, rows.Err()
}

func cellOf(v any) history.Cell {
	switch v := v.(type) {
	case nil:
		return history.Cell{Null: true}
	case []byte:
		return history.Cell{Text: string(v)}
	case int64:
		return history.Cell{Text: strconv.FormatInt(v, 10)}
	case uint64:
		return history.Cell{Text: strconv.FormatUint(v, 10)}
	case float64:
		return history.Cell{Text: sqlvalue.FormatDouble(v, 64)}
	case float32:
		return history.Cell{Text: sqlvalue.FormatDouble(float64(v), 32)}
	}
	return history.Cell{Text: fmt.Sprint(v)}
}

func (c *Checker) differ(sql, row, want, got string) {
	if len(c.Report.Differences) < c.Limit {
		var setup []string
		for _, name := range slices.Sorted(maps.Keys(c.setup)) {
			if mentions(sql, name) {
				setup = append(setup, c.setup[name]...)
			}
		}
		c.Report.Differences = append(c.Report.Differences, Difference{setup, sql, want, got, row})
	}
}

// predicted renders a prediction or an error in the form of observed.
func predicted(rows [][]sqlvalue.Value, err error) (string, error) {
	var u *solve.Unsupported
	var e *solve.SQLError
	switch {
	case errors.As(err, &u):
		return "", err
	case errors.As(err, &e):
		return fmt.Sprintf("error %d", e.Code), nil
	case err != nil:
		return "", err
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		cells := make([]string, len(r))
		for j, v := range r {
			cells[j] = show(v)
		}
		lines[i] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "\n"), nil
}

func show(v sqlvalue.Value) string {
	s, null := v.Text()
	if null {
		return "NULL"
	}
	return strconv.Quote(s)
}

func observed(rows [][]history.Cell, err error) (string, error) {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d", e.Number), nil
	}
	if err != nil {
		return "", err
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		cells := make([]string, len(r))
		for j, v := range r {
			if v.Null {
				cells[j] = "NULL"
			} else {
				cells[j] = strconv.Quote(v.Text)
			}
		}
		lines[i] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "\n"), nil
}

func (c *Checker) refused(err error) bool {
	var u *solve.Unsupported
	if errors.As(err, &u) {
		c.Report.Unsupported[u.What]++
		return true
	}
	return false
}

// Query compares one query.
func (c *Checker) Query(ctx context.Context, q string) error {
	stmt, err := corpus.ParseStatement(q)
	if err != nil {
		return fmt.Errorf("parse %s: %w", q, err)
	}
	r, err := c.solver.Select(stmt.(*ast.SelectStmt), c)
	if c.refused(err) {
		return nil
	}
	var rows [][]sqlvalue.Value
	total := true
	if r != nil {
		rows, total = r.Rows, r.TotalOrder
	}
	want, err := predicted(rows, err)
	if err != nil {
		return err
	}
	got, err := observed(c.query(ctx, q))
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	c.Report.Compared++
	c.Report.Values += len(rows)
	if !total {
		want, got = sortLines(want), sortLines(got)
	}
	if want != got {
		c.differ(q, "", want, got)
	}
	return nil
}

func sortLines(s string) string {
	l := strings.Split(s, "\n")
	sort.Strings(l)
	return strings.Join(l, "\n")
}

// Exprs compares expressions on each row of a table, many in one query. Where
// a query fails, its expressions run one row at a time.
func (c *Checker) Exprs(ctx context.Context, name string, list []string) error {
	const batch = 40
	t := c.tables[name]
	type pending struct {
		sql  string
		want []string
	}
	var todo []pending
	flush := func() error {
		if len(todo) == 0 {
			return nil
		}
		texts := make([]string, len(todo))
		for i, p := range todo {
			texts[i] = p.sql
		}
		q := "SELECT " + strings.Join(texts, ", ") + " FROM " + name + " ORDER BY id"
		rows, err := c.query(ctx, q)
		if err != nil {
			for _, p := range todo {
				if err := c.byRow(ctx, name, p.sql, p.want); err != nil {
					return err
				}
			}
			todo = todo[:0]
			return nil
		}
		for i, p := range todo {
			c.Report.Compared++
			c.covers(p.sql, len(rows))
			for k := range rows {
				c.Report.Values++
				got, _ := observed([][]history.Cell{{rows[k][i]}}, nil)
				if got != p.want[k] {
					c.differ(p.sql, c.rowText(t, k, p.sql), p.want[k], got)
					break
				}
			}
		}
		todo = todo[:0]
		return nil
	}
	for _, e := range list {
		stmt, err := corpus.ParseStatement("SELECT " + e + " FROM " + name)
		if err != nil {
			return fmt.Errorf("parse %s: %w", e, err)
		}
		want := make([]string, len(t.rows))
		failed, refused := false, false
		for k, row := range t.rows {
			r, err := c.solver.Project(stmt.(*ast.SelectStmt), t.def, []solve.Row{row}, c)
			var rows [][]sqlvalue.Value
			if r != nil {
				rows = r.Rows
			}
			if want[k], err = predicted(rows, err); err != nil {
				refused = c.refused(err)
				if !refused {
					return fmt.Errorf("%s: %w", e, err)
				}
				break
			}
			failed = failed || strings.HasPrefix(want[k], "error")
		}
		switch {
		case refused:
			if l := c.label[e]; l != "" {
				c.Report.PairsRefused[l]++
			}
		case failed:
			if err := c.byRow(ctx, name, e, want); err != nil {
				return err
			}
		default:
			if todo = append(todo, pending{e, want}); len(todo) == batch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

func (c *Checker) byRow(ctx context.Context, name, e string, want []string) error {
	t := c.tables[name]
	c.Report.Compared++
	c.covers(e, len(t.rows))
	for k := range t.rows {
		id, _ := t.rows[k][0].Text()
		got, err := observed(c.query(ctx, "SELECT "+e+" FROM "+name+" WHERE id = "+id))
		if err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		c.Report.Values++
		if got != want[k] {
			c.differ(e, c.rowText(t, k, e), want[k], got)
			return nil
		}
	}
	return nil
}

// covers counts the values of an expression that are compared.
func (c *Checker) covers(e string, n int) {
	if l := c.label[e]; l != "" {
		c.Report.Pairs[l] += n
	}
}

// rowText prints the columns of a row that an expression mentions.
func (c *Checker) rowText(t *table, k int, e string) string {
	var out []string
	for i, col := range t.def.Columns {
		if mentions(e, col.Name) {
			out = append(out, col.Name+"="+show(t.rows[k][i]))
		}
	}
	return strings.Join(out, " ")
}

func mentions(e, name string) bool {
	for i := 0; i+len(name) <= len(e); i++ {
		if e[i:i+len(name)] == name && (i == 0 || !letter(e[i-1])) && (i+len(name) == len(e) || !letter(e[i+len(name)])) {
			return true
		}
	}
	return false
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '\'' || b == '_' || b >= '0' && b <= '9'
}

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
