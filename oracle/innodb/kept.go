package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// kept is what the replays of one verdict have in common, all made of the history alone, so
// that hundreds of paths under dozens of profiles work it out once.
type kept struct {
	// loading is what the tables cost the budget.
	loading int
	// plans holds the plans that the server told, by index of the statement.
	plans map[int]plan.Plan
	// places holds where the server told that statements wait, by statement and wait; nil
	// if it told of none.
	places [][]*mvcc.Place
	// tried holds the paths that did not fit, by their choices.
	tried map[string][]*triedPath
	// unmet holds of queries and conditions whether no row is known that they find.
	unmet map[ast.Node]bool
	// bare holds locking reads without their conditions.
	bare map[*ast.SelectStmt]*ast.SelectStmt
	// tested holds the columns that conditions mention.
	tested map[conditionOn]map[int]bool
}

// conditionOn is a condition on the rows of a table.
type conditionOn struct {
	where ast.ExprNode
	t     *solve.Table
}
