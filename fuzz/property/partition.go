package property

import (
	"errors"
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Partition holds the statement solver against itself: of p, NOT p and
// p IS NULL exactly one is true of each row, whatever p is (Rigger and Su,
// "Finding bugs in database systems via query partitioning", OOPSLA 2020). The
// predicates and the rows are those of the case that the bytes generate.
func Partition(data []byte) error {
	for _, dbms := range []history.DBMS{history.TiDB, history.MySQL, history.MariaDB} {
		c := mutate.Generate(mutate.NewBytes(data), mutate.Options{DBMS: dbms, AllTypes: true, Tables: 2})
		if _, err := PartitionOf(c, dbms); err != nil {
			return fmt.Errorf("%s: %w\n%s", dbms, err, corpus.Print(c, corpus.Text))
		}
	}
	return nil
}

// PartitionOf checks Partition's property of the predicates and rows of one case.
// It returns how many pairs of a predicate and a row were judged.
func PartitionOf(c *corpus.Case, dbms history.DBMS) (judged int, err error) {
	dialect := solve.DialectOf(history.Server{DBMS: dbms})
	tables, err := filled(c, dialect)
	if err != nil {
		return 0, err
	}
	for _, t := range tables {
		for _, p := range predicatesOn(c, t.def.Name) {
			for i, row := range t.rows {
				ok, err := partitions(dialect, t.def, row, p)
				if err != nil {
					return judged, fmt.Errorf("row %d of %s: %w", i, t.def.Name, err)
				}
				if ok {
					judged++
				}
			}
		}
	}
	return judged, nil
}

type table struct {
	def  *solve.Table
	rows []solve.Row
}

// Table makes a table the only one that a predicate can read.
func (t *table) Table(name string) (*solve.Table, []solve.Row, error) {
	if t.def.Name == name {
		return t.def, nil, nil
	}
	return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
}

// filled sets up the tables of a case. Rows that the solver does not take are
// left out.
func filled(c *corpus.Case, dialect solve.Dialect) ([]*table, error) {
	solver := solve.New(dialect)
	named := map[string]*table{}
	var out []*table
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			def, err := solve.NewTable(s, dialect)
			if err != nil {
				return nil, fmt.Errorf("define a table: %w", err)
			}
			t := &table{def: def}
			named[s.Table.Name.L] = t
			out = append(out, t)
		case *ast.InsertStmt:
			_, name := mutate.KindOf(s)
			t := named[name]
			if t == nil {
				continue
			}
			if rows, err := solver.Insert(s, t.def, t); err == nil {
				t.rows = append(t.rows, rows...)
			}
		}
	}
	return out, nil
}

// predicatesOn returns the conditions of the statements on one table.
func predicatesOn(c *corpus.Case, table string) []ast.ExprNode {
	var out []ast.ExprNode
	for _, l := range c.Steps {
		if _, name := mutate.KindOf(l.Stmt); name != table {
			continue
		}
		if where := stmt.Of(l.Stmt).Where; where != nil {
			out = append(out, where)
		}
	}
	return out
}

// partitions judges the three parts of a predicate on a row. A predicate that
// fails on a row fails in all of its parts. Of a part that the solver does not
// support nothing is promised (servers put 'x' for a beside a = 'x', but not in
// NOT p, where that changes what fails): the row is not judged.
func partitions(dialect solve.Dialect, def *solve.Table, row solve.Row, p ast.ExprNode) (judged bool, err error) {
	inner := &ast.ParenthesesExpr{Expr: p}
	parts := []ast.ExprNode{p, &ast.UnaryOperationExpr{Op: opcode.Not, V: inner}, &ast.IsNullExpr{Expr: inner}}
	solver, views := solve.New(dialect), &table{def: def}
	var holds, failed int
	var text string
	for _, part := range parts {
		truth, _, err := solver.Where(part, def, row, views)
		var unsupported *solve.Unsupported
		switch {
		case errors.As(err, &unsupported):
			return false, nil
		case err != nil:
			failed++
			text += fmt.Sprintf(" %v;", err)
		default:
			text += " " + truth.String() + ";"
			if truth == sqlvalue.True {
				holds++
			}
		}
	}
	if failed == 0 && holds != 1 || failed != 0 && failed != len(parts) {
		sql, err := corpus.FormatExpr(p, corpus.Text)
		return true, errors.Join(fmt.Errorf("p, NOT p, p IS NULL are%s p is %s", text, sql), err)
	}
	return true, nil
}
