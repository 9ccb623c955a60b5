package conform

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// A recording is text: `server:` lines first, then blocks. `fill NAME` with the
// statements that make a table, one a line; `> SQL` with the server's answer
// behind it, one row a line, each indented by a tab.

// Record runs a fixed choice of statements on the server and writes down what
// it answered, for Replay.
func (c *Checker) Record(ctx context.Context, w io.Writer, seed uint64) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "server: %s\nversion: %s\n", c.server.DBMS, c.server.Version)
	for _, k := range []string{"sql_mode", "collation_connection"} {
		fmt.Fprintf(b, "%s: %s\n", k, c.server.Settings[k])
	}
	g := NewGenerator(seed)
	systematic := g.Systematic()
	g.r.Shuffle(len(systematic), func(i, j int) { systematic[i], systematic[j] = systematic[j], systematic[i] })
	for block := 0; block < 6; block++ {
		g.stringy = 20 * (block % 2)
		var list []string
		for _, e := range systematic[:150] {
			list = append(list, "SELECT "+e+" FROM t ORDER BY id")
		}
		systematic = systematic[150:]
		for i := 0; i < 50; i++ {
			list = append(list, "SELECT "+g.Expr(2)+" FROM t ORDER BY id", g.Query("t"), "SELECT id FROM t WHERE "+g.Cond()+" ORDER BY id",
				g.Update("t"), g.Delete("t"), g.InsertOne("t"))
		}
		keys := []string{"", ", KEY (i)", ", KEY (v), KEY (iu, j)"}[block%3]
		if err := c.recordBlock(ctx, b, "t", g.Create("t", keys), g.Insert("t", 5), list); err != nil {
			return err
		}
	}
	for _, use := range []func(){g.UseStrings, g.UseOthers, g.UseOthers} {
		use()
		var list []string
		for i := 0; i < 50; i++ {
			list = append(list, "SELECT "+g.call(2)+" FROM t ORDER BY id", "SELECT "+g.Expr(2)+" FROM t ORDER BY id", "SELECT "+g.Expr(1)+" FROM t ORDER BY id",
				"SELECT id FROM t WHERE "+g.Cond()+" ORDER BY id", g.Update("t"), g.InsertOne("t"))
		}
		if err := c.recordBlock(ctx, b, "t", g.Create("t", ""), g.Insert("t", 5), list); err != nil {
			return err
		}
	}
	create, insert := g.Keyed("u")
	var list []string
	for i := 0; i < 250; i++ {
		list = append(list, g.KeyedWrite("u"))
	}
	if err := c.recordBlock(ctx, b, "u", create, insert, list); err != nil {
		return err
	}
	create, insert, queries := Letters("p")
	if err := c.recordBlock(ctx, b, "p", create, insert, queries); err != nil {
		return err
	}
	return b.Flush()
}

func (c *Checker) recordBlock(ctx context.Context, w io.Writer, name, create, insert string, list []string) error {
	if err := c.Fill(ctx, name, create, insert); err != nil {
		return err
	}
	fmt.Fprintf(w, "fill %s\n%s\n%s\n", name, create, insert)
	for _, q := range list {
		got, err := c.observe(ctx, name, q)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "> %s\n", q)
		for _, l := range strings.Split(got, "\n") {
			fmt.Fprintf(w, "\t%s\n", l)
		}
	}
	return nil
}

// observe runs one statement and renders the answer; writes are rolled back.
func (c *Checker) observe(ctx context.Context, name, q string) (string, error) {
	if strings.HasPrefix(q, "SELECT") {
		return observed(c.query(ctx, q))
	}
	if _, err := c.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return "", fmt.Errorf("begin: %w", err)
	}
	c.Report.Statements++
	var got string
	res, execErr := c.conn.ExecContext(ctx, q)
	if execErr == nil {
		n, err := res.RowsAffected()
		if err != nil {
			return "", err
		}
		cells, err := c.query(ctx, "SELECT * FROM "+name)
		if err != nil {
			return "", err
		}
		if got, err = observed(cells, nil); err != nil {
			return "", err
		}
		got = fmt.Sprintf("%d changed\n%s", n, sortLines(got))
	} else {
		var err error
		if got, err = observed(nil, execErr); err != nil {
			return "", fmt.Errorf("%s: %w", q, err)
		}
	}
	if _, err := c.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		return "", fmt.Errorf("rollback: %w", err)
	}
	return got, nil
}

// predict renders what the solver says of one statement; sorted says that the
// order of the lines means nothing.
func (c *Checker) predict(name, q string) (want string, sorted bool, err error) {
	stmt, err := corpus.ParseStatement(q)
	if err != nil {
		return "", false, fmt.Errorf("parse %s: %w", q, err)
	}
	if sel, ok := stmt.(*ast.SelectStmt); ok {
		r, err := c.solver.Select(sel, c)
		if r == nil {
			want, err = predicted(nil, err)
			return want, false, err
		}
		want, err = predicted(r.Rows, err)
		return want, !r.TotalOrder, err
	}
	after, changed, failed := c.effect(stmt, c.tables[name])
	var rows [][]sqlvalue.Value
	for _, r := range after {
		rows = append(rows, r)
	}
	if want, err = predicted(rows, failed); err != nil || failed != nil {
		return want, false, err
	}
	return fmt.Sprintf("%d changed\n%s", changed, sortLines(want)), false, nil
}

// Replay holds the solver against a recording, without a server.
func Replay(r io.Reader) (*Report, error) {
	c := &Checker{tables: map[string]*table{}, Limit: 100}
	c.Report.Unsupported = map[string]int{}
	c.server.Settings = map[string]string{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	var name, query string
	var answer []string
	flush := func() error {
		if query == "" {
			return nil
		}
		q := query
		query = ""
		return c.judge(name, q, strings.Join(answer, "\n"))
	}
	for line := 1; in.Scan(); line++ {
		s := in.Text()
		if strings.HasPrefix(s, "\t") {
			answer = append(answer, s[1:])
			continue
		}
		if err := flush(); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		key, value, _ := strings.Cut(s, " ")
		switch key {
		case "server:":
			c.server.DBMS = history.DBMS(value)
		case "version:":
			c.server.Version = value
		case "sql_mode:", "collation_connection:":
			c.server.Settings[strings.TrimSuffix(key, ":")] = value
		case "fill":
			name = value
			c.d = solve.DialectOf(c.server)
			c.solver = solve.New(c.d)
		case "CREATE", "INSERT":
			if err := c.fillLine(name, s); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		case ">":
			query, answer = value, nil
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return &c.Report, in.Err()
}

// fillLine makes a table, or its rows, by the solver alone.
func (c *Checker) fillLine(name, s string) error {
	stmt, err := corpus.ParseStatement(s)
	if err != nil {
		return err
	}
	if create, ok := stmt.(*ast.CreateTableStmt); ok {
		def, err := solve.NewTable(create, c.d)
		c.tables[name] = &table{def: def}
		return err
	}
	t := c.tables[name]
	t.rows, err = c.solver.Insert(stmt.(*ast.InsertStmt), t.def, c)
	return err
}

func (c *Checker) judge(name, q, got string) error {
	c.Report.Statements++
	want, sorted, err := c.predict(name, q)
	var u *solve.Unsupported
	if errors.As(err, &u) {
		c.Report.Unsupported[u.What]++
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	if sorted {
		want, got = sortLines(want), sortLines(got)
	}
	if head, rows, ok := strings.Cut(got, "\n"); ok && strings.HasSuffix(head, " changed") {
		got = head + "\n" + sortLines(rows)
	}
	c.Report.Compared++
	if want != got {
		w, g := firstDifference(want, got)
		c.differ(q, "", w, g)
	}
	return nil
}
