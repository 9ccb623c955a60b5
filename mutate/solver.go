package mutate

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// statementSolver answers with the oracle's statement solver.
type statementSolver struct{ dialect solve.Dialect }

func dialectFor(dbms history.DBMS) solve.Dialect {
	if dbms == "" || dbms == history.PostgreSQL { // whose SQL the solver does not know
		dbms = history.MySQL
	}
	return solve.DialectOf(history.Server{DBMS: dbms})
}

// Judge implements Solver.
func (s statementSolver) Judge(create *ast.CreateTableStmt, inserts []*ast.InsertStmt, predicate ast.ExprNode) ([]sqlvalue.Truth, error) {
	if create == nil {
		return nil, fmt.Errorf("judge a predicate: the table has no CREATE TABLE")
	}
	t, err := solve.NewTable(create, s.dialect)
	if err != nil {
		return nil, fmt.Errorf("judge a predicate: read the table: %w", err)
	}
	solver := solve.New(s.dialect)
	views := oneTable{t}
	unknown := isNull(parenthesis(predicate), false)
	var out []sqlvalue.Truth
	for _, ins := range inserts {
		rows, err := solver.Insert(ins, t, views)
		if err != nil {
			return nil, fmt.Errorf("judge a predicate: rows of the INSERT: %w", err)
		}
		for _, row := range rows {
			v, _, err := solver.Where(predicate, t, row, views)
			if err != nil {
				return nil, fmt.Errorf("judge a predicate: %w", err)
			}
			if v == sqlvalue.Unknown {
				// A filter stops at NULL, although what follows may make it false.
				is, _, err := solver.Where(unknown, t, row, views)
				if err != nil {
					return nil, fmt.Errorf("judge a predicate: %w", err)
				}
				if is != sqlvalue.True {
					v = sqlvalue.False
				}
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// oneTable is a view of one empty table: the predicates judged here read no
// other rows.
type oneTable struct{ t *solve.Table }

func (v oneTable) Table(name string) (*solve.Table, []solve.Row, error) {
	if v.t.Name == name {
		return v.t, nil, nil
	}
	return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
}
