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
	// Options are what each table is created with, such as CHARSET=latin1.
	Options string
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
	create += " " + c.Options
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
