package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// earliestView is the earliest moment at which a transaction may have taken its snapshot before a statement;
// ok is false if nothing can have taken one.
func (j *judge) earliestView(e *event) (at history.Tick, ok bool) {
	if e.unit.promise.SnapshotAtBegin {
		return e.unit.begun, true
	}
	for _, x := range e.unit.events {
		if x.index >= e.index {
			break
		}
		if x.kind == stmt.BeginSnapshot || j.mayOpenView(x) {
			return x.st.Submit, true
		}
	}
	return e.st.Submit, j.mayOpenView(e)
}

// mayOpenView says that a statement may take the snapshot: if it, or a query within, locks nothing.
func (j *judge) mayOpenView(e *event) bool {
	return e.data() && (e.plain() || j.subquery(e) || e.kind == stmt.Raw)
}

// opensView says that a plain query has surely read a table, and so taken the snapshot: what it returns comes of
// rows, or no condition is there which the server might find to be impossible without a look at them.
func (j *judge) opensView(e *event) bool { return j.looksAtRows(e) || j.scans(e) }

// looksAtRows says that a query has surely read a table: what it returns comes of rows. Where the server finds
// the condition impossible it reads none, and takes no snapshot.
func (j *judge) looksAtRows(e *event) bool {
	s, ok := e.node.(*ast.SelectStmt)
	if !ok || s.With != nil || stmt.SoleTable(s.From) == nil || j.layout.table(stmt.SoleTable(s.From).Name.O) < 0 {
		return false
	}
	rows := e.st.Result.Rows
	aggregates := hasAggregate(s)
	if len(rows) == 0 || !aggregates || s.GroupBy != nil {
		return len(rows) > 0
	}
	// Without rows there is one row all the same: of COUNT 0, and of NULL.
	for i, f := range s.Fields.Fields {
		if _, ok := f.Expr.(*ast.AggregateFuncExpr); ok && !rows[0][i].Null && rows[0][i].Text != "0" {
			return true
		}
	}
	return false
}

func hasAggregate(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.AggregateFuncExpr)
		return found, false
	})
}

// scans says that a query, whatever it returns, has read a table, since no server can tell without that
// its condition holds for no row: the condition compares columns of whole numbers with each other and at most one
// with a number that the column may hold. Servers of which no rule tells when they take the snapshot are left out.
func (j *judge) scans(e *event) bool {
	s, ok := e.node.(*ast.SelectStmt)
	if !ok || e.st.Result.Err != nil || !j.knownLocks() || !e.plain() || j.subquery(e) || s.With != nil ||
		s.Limit != nil || s.Having != nil || hasAggregate(s) {
		return false
	}
	tables := j.named(e)
	if len(tables) == 0 {
		return false
	}
	c := conditions{numbers: 1}
	for _, i := range tables {
		def := j.defs[strings.ToLower(j.layout[i].name)]
		if def == nil || def.Partition != nil {
			return false
		}
		c.tables = append(c.tables, def)
	}
	return c.inJoins(s.From.TableRefs) && c.open(s.Where)
}

// conditions looks at what restricts a query of some tables.
type conditions struct {
	tables []*ast.CreateTableStmt
	// numbers is how many more comparisons with a number there may be.
	numbers int
}

func (c *conditions) inJoins(n ast.ResultSetNode) bool {
	j, ok := n.(*ast.Join)
	if !ok || j.Right == nil {
		return !ok || c.inJoins(j.Left)
	}
	return j.Tp == ast.CrossJoin && !j.NaturalJoin && len(j.Using) == 0 && c.inJoins(j.Left) && c.inJoins(j.Right) &&
		(j.On == nil || c.open(j.On.Expr))
}

// open says that some rows may satisfy a condition, whatever the tables hold.
func (c *conditions) open(n ast.ExprNode) bool {
	switch x := n.(type) {
	case nil:
		return true
	case *ast.ParenthesesExpr:
		return c.open(x.Expr)
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd:
			return c.open(x.L) && c.open(x.R)
		case opcode.EQ:
			return c.column(x.L) && (c.column(x.R) || c.number(x.R))
		case opcode.LT, opcode.LE, opcode.GT, opcode.GE:
			return c.column(x.L) && c.number(x.R)
		}
	}
	return false
}

// column says that an expression is a column of whole numbers.
func (c *conditions) column(n ast.ExprNode) bool {
	name, ok := n.(*ast.ColumnNameExpr)
	return ok && !slices.ContainsFunc(c.tables, func(def *ast.CreateTableStmt) bool {
		return slices.ContainsFunc(def.Cols, func(col *ast.ColumnDef) bool {
			return col.Name.Name.L == name.Name.Name.L && !pm.IsIntegerType(col.Tp.GetType())
		})
	})
}

// number says that an expression is a number that each type of whole numbers holds, and is neither its first nor
// its last.
func (c *conditions) number(n ast.ExprNode) bool {
	v, ok := n.(ast.ValueExpr)
	if !ok {
		return false
	}
	i, ok := v.GetValue().(int64)
	c.numbers--
	return ok && 0 < i && i < 127 && c.numbers >= 0
}
