package mutate

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// FuzzPartition holds the statement solver against itself: of p, NOT p and
// p IS NULL exactly one is true of each row, whatever p is (Rigger and Su,
// "Finding bugs in database systems via query partitioning", OOPSLA 2020). The
// predicates and the rows are those of generated cases.
func FuzzPartition(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(40) {
		f.Add(InputOf(seed*seedsPerSchema, InputLen))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, dbms := range []history.DBMS{history.TiDB, history.MySQL, history.MariaDB} {
			c := Generate(NewBytes(data), Options{DBMS: dbms, AllTypes: true, Tables: 2})
			dialect := solve.DialectOf(history.Server{DBMS: dbms})
			for table, rows := range rowsOf(t, c, dialect) {
				for _, p := range predicatesOn(c, table.Name) {
					if err := partitions(dialect, table, rows, p); err != nil {
						t.Errorf("%s: %v\n%s", dbms, err, print(c))
					}
				}
			}
		}
	})
}

// rowsOf sets up the tables of a case. Rows that the solver does not take, and
// those behind them, are left out.
func rowsOf(t *testing.T, c *corpus.Case, dialect solve.Dialect) map[*solve.Table][]solve.Row {
	t.Helper()
	solver := solve.New(dialect)
	tables, out := map[string]*solve.Table{}, map[*solve.Table][]solve.Row{}
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			table, err := solve.NewTable(s, dialect)
			if err != nil {
				t.Fatalf("%v\n%s", err, print(c))
			}
			tables[s.Table.Name.L], out[table] = table, nil
		case *ast.InsertStmt:
			_, name := KindOf(s)
			table := tables[name]
			if table == nil {
				continue
			}
			rows, err := solver.Insert(s, table, oneTable{table})
			if err == nil {
				out[table] = append(out[table], rows...)
			}
		}
	}
	return out
}

// predicatesOn returns the conditions of the statements on one table.
func predicatesOn(c *corpus.Case, table string) []ast.ExprNode {
	var out []ast.ExprNode
	for _, l := range c.Steps {
		if _, name := KindOf(l.Stmt); name != table {
			continue
		}
		var where ast.ExprNode
		switch s := l.Stmt.(type) {
		case *ast.SelectStmt:
			where = s.Where
		case *ast.UpdateStmt:
			where = s.Where
		case *ast.DeleteStmt:
			where = s.Where
		}
		if where != nil {
			out = append(out, where)
		}
	}
	return out
}

// partitions judges the three parts of a predicate on each row. A predicate
// that fails on a row fails in all of its parts.
func partitions(dialect solve.Dialect, table *solve.Table, rows []solve.Row, p ast.ExprNode) error {
	inner := &ast.ParenthesesExpr{Expr: p}
	parts := []ast.ExprNode{p, &ast.UnaryOperationExpr{Op: opcode.Not, V: inner}, &ast.IsNullExpr{Expr: inner}}
	solver := solve.New(dialect)
	for i, row := range rows {
		var holds, failed int
		var text string
		for _, part := range parts {
			truth, _, err := solver.Where(part, table, row, oneTable{table})
			if err != nil {
				failed++
				text += fmt.Sprintf(" %v;", err)
				continue
			}
			text += " " + truth.String() + ";"
			if truth == sqlvalue.True {
				holds++
			}
		}
		if failed == 0 && holds != 1 || failed != 0 && failed != len(parts) {
			sql, err := corpus.FormatExpr(p, corpus.Text)
			return errors.Join(fmt.Errorf("p, NOT p, p IS NULL of row %d are%s p is %s", i, text, sql), err)
		}
	}
	return nil
}

// A broken partition is noticed: `a = a` is not true of a row whose a is NULL.
func TestPartitionNoticesALostPart(t *testing.T) {
	c, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1), (NULL);\n/* tx1 */ SELECT * FROM t WHERE a = 1;\n"))
	if err != nil {
		t.Fatal(err)
	}
	dialect := solve.DialectOf(history.Server{DBMS: history.MySQL})
	checked := 0
	for table, rows := range rowsOf(t, c, dialect) {
		for _, p := range predicatesOn(c, table.Name) {
			if err := partitions(dialect, table, rows, p); err != nil {
				t.Error(err)
			}
			checked += len(rows)
		}
	}
	if checked != 2 {
		t.Errorf("%d rows checked, want 2", checked)
	}
}
