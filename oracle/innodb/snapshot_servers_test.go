package innodb

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// TestServersTakeSnapshots asks servers, for conditions of generated cases and for
// what AND, OR and NOT make of them, whether a query that runs first takes its
// transaction's snapshot, and holds against the answers what its plan says, and that no
// plan is needed where some row may match.
// TXNFUZZ_SNAPSHOTS gives the number of queries for a server, TXNFUZZ_SNAPSHOTS_SEED
// the first case.
func TestServersTakeSnapshots(t *testing.T) {
	n, seed := 400, uint64(1)
	installed := map[string]bool{}
	for _, x := range harness.Available(t.Context()) {
		installed[x.Name] = x.Available
	}
	for name, set := range map[string]func(int){
		"TXNFUZZ_SNAPSHOTS":      func(v int) { n = v },
		"TXNFUZZ_SNAPSHOTS_SEED": func(v int) { seed = uint64(v) },
	} {
		if s := os.Getenv(name); s != "" {
			v, err := strconv.Atoi(s)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			set(v)
		}
	}
	for _, target := range []string{"mariadb:10.5", "mariadb:10.11", "mariadb:11.8", "mysql:9.7"} {
		t.Run(target, func(t *testing.T) {
			if !installed[target] {
				if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
					t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set, and the server is not installed")
				}
				t.Skipf("not installed: scripts/servers %s does it", target)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n)*20*time.Millisecond)
			defer cancel()
			b, err := harness.Open(ctx, target, harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			p := &snapshotProbe{t: t, ctx: ctx, server: b.Server(), seen: map[string]int{}}
			p.connect(b)
			for ; p.asked < n; seed++ {
				p.askAbout(seed)
			}
			if p.seen["opens no table"] < n/20 || p.seen["some row may match"] < n/20 {
				t.Errorf("too few of one kind: %v", p.seen)
			}
			t.Log(p.seen)
		})
	}
}

// snapshotProbe asks one server.
type snapshotProbe struct {
	t      *testing.T
	ctx    context.Context
	server history.Server
	// reader runs the queries, writer commits behind them.
	reader, writer *sql.Conn
	asked          int
	mark           int
	seen           map[string]int
}

func (p *snapshotProbe) connect(b harness.Backend) {
	connector, err := mysql.NewConnector(b.(harness.Wired).Config())
	if err != nil {
		p.t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	p.t.Cleanup(func() { db.Close() })
	for _, c := range []**sql.Conn{&p.writer, &p.reader} {
		if *c, err = db.Conn(p.ctx); err != nil {
			p.t.Fatal(err)
		}
		p.must(*c, "CREATE DATABASE IF NOT EXISTS txnfuzz_snapshots", "USE txnfuzz_snapshots")
	}
	p.must(p.writer, "CREATE TABLE mark (n INT)", "INSERT INTO mark VALUES (0)")
}

func (p *snapshotProbe) must(c *sql.Conn, statements ...string) {
	p.t.Helper()
	for _, q := range statements {
		if _, err := c.ExecContext(p.ctx, q); err != nil {
			p.t.Fatalf("%s: %v", q, err)
		}
	}
}

// askAbout makes the tables of one generated case and asks for twelve queries.
func (p *snapshotProbe) askAbout(seed uint64) {
	c := mutate.Generate(mutate.NewSeeded(seed), mutate.Options{DBMS: p.server.DBMS, AllTypes: seed%3 == 0})
	d := map[history.DBMS]corpus.Dialect{history.MySQL: corpus.MySQL, history.MariaDB: corpus.MariaDB}[p.server.DBMS]
	h := &history.History{Server: p.server}
	var drop []string
	for _, l := range c.Init {
		if _, err := p.writer.ExecContext(p.ctx, corpus.SQL(l.Stmt, d)); err != nil {
			p.t.Fatalf("case %d: %s: %v", seed, corpus.SQL(l.Stmt, d), err)
		}
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		if !ok {
			continue
		}
		drop = append(drop, "DROP TABLE "+s.Table.Name.O)
		of := history.Table{Name: s.Table.Name.O}
		for _, col := range s.Cols {
			of.Columns = append(of.Columns, col.Name.Name.O)
		}
		h.Initial = append(h.Initial, of)
	}
	defer func() { p.must(p.writer, drop...) }()
	r := mvcc.New(Engine{}, c, h, rules.For(h.Server), false)
	if err := r.Load(); err != nil {
		return // a schema that the oracle leaves open
	}
	conditions := conditionsOf(c)
	if len(conditions) == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 12 {
		q := p.parse("SELECT * FROM " + h.Initial[0].Name)
		q.Where = combine(rng, conditions, 2)
		text := corpus.SQL(q, d)
		q = p.parse(text)
		unmet := ready(r).engine(&mvcc.Choices{}).unmet(q, r.Table(h.Initial[0].Name), q.Where)
		if !unmet && rng.IntN(8) > 0 {
			continue // most are
		}
		taken, answered := p.takesSnapshot(text)
		if !answered {
			continue
		}
		p.asked++
		class, wrong := "some row may match", !taken
		if unmet {
			switch openingOf(p.plan(text)) {
			case opensNone:
				class, wrong = "opens no table", taken
			case opensSome:
				class, wrong = "opens one", !taken
			default:
				class, wrong = "either", false
			}
		}
		if p.seen[class]++; wrong {
			p.t.Errorf("case %d: %s\n  %s, snapshot taken: %v\n  %s", seed, text, class, taken, corpus.SQL(c.Init[0].Stmt, d))
		}
	}
}

func (p *snapshotProbe) parse(query string) *ast.SelectStmt {
	c, err := corpus.Parse("query", []byte("/* tx1 */ "+query+";\n"))
	if err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	return c.Steps[0].Stmt.(*ast.SelectStmt)
}

// takesSnapshot reports whether a query takes a snapshot, if it can be answered at
// all.
func (p *snapshotProbe) takesSnapshot(query string) (taken, answered bool) {
	p.must(p.reader, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN")
	defer p.must(p.reader, "ROLLBACK")
	rows, err := p.reader.QueryContext(p.ctx, query)
	if err != nil {
		return false, false
	}
	for rows.Next() {
	}
	if rows.Close(); rows.Err() != nil {
		return false, false
	}
	p.mark++
	p.must(p.writer, fmt.Sprint("UPDATE mark SET n = ", p.mark))
	var n int
	if err := p.reader.QueryRowContext(p.ctx, "SELECT n FROM mark").Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n != p.mark, true
}

// plan asks for a query's plan.
func (p *snapshotProbe) plan(query string) plan.Plan {
	rows, err := p.reader.QueryContext(p.ctx, harness.Explain(p.server.DBMS, query))
	if err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var r history.Result
	if r.Columns, err = rows.Columns(); err != nil {
		p.t.Fatal(err)
	}
	for rows.Next() {
		cells, into := make([]sql.NullString, len(r.Columns)), make([]any, len(r.Columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			p.t.Fatal(err)
		}
		row := make([]history.Cell, len(cells))
		for i, c := range cells {
			row[i] = history.Cell{Text: c.String, Null: !c.Valid}
		}
		r.Rows = append(r.Rows, row)
	}
	if err := rows.Err(); err != nil {
		p.t.Fatal(err)
	}
	return plan.Parse(plan.Text(&r))
}

// conditionsOf returns the conditions of a case's statements, and their parts.
func conditionsOf(c *corpus.Case) []ast.ExprNode {
	var out []ast.ExprNode
	for _, l := range c.Steps {
		of := stmt.Of(l.Stmt)
		if name := stmt.SoleTable(of.From); of.Where != nil && name != nil && name.Name.O == singleTableName(c) {
			out = append(mvcc.Leaves(of.Where, out), of.Where)
		}
	}
	return out
}

func singleTableName(c *corpus.Case) string {
	return c.Init[0].Stmt.(*ast.CreateTableStmt).Table.Name.O
}

// combine connects conditions with AND, OR and NOT.
func combine(r *rand.Rand, of []ast.ExprNode, depth int) ast.ExprNode {
	one := func() ast.ExprNode { return &ast.ParenthesesExpr{Expr: combine(r, of, depth-1)} }
	switch k := r.IntN(6); {
	case depth == 0 || k == 0:
		return of[r.IntN(len(of))]
	case k == 1:
		return &ast.UnaryOperationExpr{Op: opcode.Not, V: one()}
	case k == 2:
		return &ast.BinaryOperationExpr{Op: opcode.LogicOr, L: one(), R: one()}
	}
	return &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: one(), R: one()}
}
