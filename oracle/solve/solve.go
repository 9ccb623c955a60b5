package solve

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Row is one row of a table, values in order of the table's columns.
type Row []sqlvalue.Value

// Cells is a row as the server's text protocol prints it.
func (r Row) Cells() []history.Cell {
	out := make([]history.Cell, len(r))
	for i, v := range r {
		text, null := v.Text()
		out[i] = history.Cell{Text: text, Null: null, Bit: v.Kind() == sqlvalue.Bit}
	}
	return out
}

// Views gives the tables that a statement reads, as it sees them: definition
// and rows in scan order. An unknown table is a *SQLError with code 1146.
type Views interface {
	Table(name string) (*Table, []Row, error)
}

// Unsupported says that the solver cannot predict something exactly. What is
// a short slug, fit for counting.
type Unsupported struct{ What string }

func (e *Unsupported) Error() string { return "unsupported: " + e.What }

// SQLError is an error that the server answers with: a result, not a failure
// of the solver.
type SQLError struct {
	Code    uint16
	Message string
}

func (e *SQLError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Result is the answer to a query.
type Result struct {
	Columns []string
	Rows    [][]sqlvalue.Value
	// TotalOrder says that the order of Rows is fixed by the statement: it
	// has at most one row, or an ORDER BY without ties between different rows.
	TotalOrder bool
	// Cut says that LIMIT may have removed rows although the order is not
	// total: which rows are left is the server's choice.
	Cut      bool
	Warnings int
}

// Solver evaluates statements as one server does. It caches compiled
// expressions by AST node and table, so ASTs and tables must not change during
// its life; make one for each case. It is not safe for several goroutines.
type Solver struct {
	d        Dialect
	queries  map[*ast.SelectStmt]compiledQuery
	compiled map[compiledKey]*program
	// unlimited holds writes without their order and limit.
	unlimited map[ast.StmtNode]ast.StmtNode
	budget    *Budget
	unkeyed   error
	// asking is how a server answers what the solver refuses; nil: not at all.
	asking *Asking
	// frames are free.
	frames []*frame
}

// Unkeyed says, where it is not nil, why the key of some row could not be told from
// those of others, so that neither a duplicate nor its absence is certain.
func (s *Solver) Unkeyed() error { return s.unkeyed }

type compiledKey struct {
	node ast.Node
	t    *Table
}
