package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/unique"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
)

// The columns that every table gets.
const (
	idColumn      = answers.ID
	versionColumn = answers.Version
)

// stamper stamps the statements of a case and says what each one is.
type stamper struct {
	p *plan
	unique.Stamper
}

// setUp adds the columns to the tables and their first rows.
func (st *stamper) setUp() error {
	for _, l := range st.p.c.Init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			t := st.p.table(s.Table.Name.O)
			if t.column(idColumn) >= 0 || t.column(versionColumn) >= 0 {
				return unusable("a table has a column %s or %s of its own", idColumn, versionColumn)
			}
		}
		if err := refused(st.SetUp(l.Stmt)); err != nil {
			return err
		}
	}
	return nil
}

// refused makes a refusal a case that is not usable.
func refused(err error) error {
	var r unique.Refusal
	if errors.As(err, &r) {
		return unusable("%s", string(r))
	}
	return err
}

// statement rewrites an own statement and says what it is.
func (st *stamper) statement(s ast.StmtNode) (step, error) {
	none := step{pred: -1}
	switch s := s.(type) {
	case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
		return none, nil
	case *ast.InsertStmt:
		return st.insert(s)
	}
	kind, name := mutate.KindOf(s)
	if kind == stmt.Other {
		return none, unusable("a statement of several tables, or of a form that is not read")
	}
	out := step{table: name}
	if st.p.table(name) == nil {
		return none, unusable("a statement of a table that the set-up does not make")
	}
	if nested(s) {
		return none, unusable("a subquery")
	}
	if err := refused(st.Statement(s)); err != nil {
		return none, err
	}
	var where ast.ExprNode
	switch s := s.(type) {
	case *ast.SelectStmt:
		if err := shows(s); err != nil {
			return none, err
		}
		where, out.limited = s.Where, s.Limit != nil
	case *ast.UpdateStmt:
		where, out.limited = s.Where, s.Limit != nil
	case *ast.DeleteStmt:
		where, out.limited = s.Where, s.Limit != nil
	}
	var err error
	out.pred, err = st.p.predicate(name, where)
	return out, err
}

// shows says why the answer to a stamped SELECT does not tell which versions it chose.
func shows(s *ast.SelectStmt) error {
	if s.Distinct || s.Fields == nil {
		return unusable("a SELECT DISTINCT")
	}
	for _, f := range s.Fields.Fields {
		if f.WildCard != nil {
			return nil
		}
		if _, ok := f.Expr.(*ast.ColumnNameExpr); !ok {
			return unusable("a SELECT of more than columns")
		}
	}
	return nil
}

// insert rewrites an INSERT or REPLACE. What it asks of the table is whether a row has
// one of the keys of its own; of several rows nobody knows which one met it.
func (st *stamper) insert(s *ast.InsertStmt) (step, error) {
	if err := refused(st.Statement(s)); err != nil {
		return step{}, err
	}
	_, name := mutate.KindOf(s)
	t := st.p.table(name)
	if nested(s) {
		return step{}, unusable("a subquery")
	}
	out := step{table: t.name, pred: -1}
	if len(s.Lists) > 1 {
		return out, nil
	}
	var err error
	if where := t.sameKey(s); where != nil {
		out.pred, err = st.p.predicate(t.name, where)
	}
	return out, err
}

// sameKey makes the condition that a row has a key of the first row of an INSERT, nil if
// that has none.
func (t *table) sameKey(s *ast.InsertStmt) ast.ExprNode {
	var any ast.ExprNode
	for _, k := range t.keys {
		var all ast.ExprNode
		for _, i := range k.columns {
			v := t.inserted(s, i)
			if v == nil || !k.whole {
				all = nil
				break
			}
			all = connect(opcode.LogicAnd, all, &ast.BinaryOperationExpr{Op: opcode.EQ, L: columnRef(t.columns[i].name), R: corpus.CloneExpr(v)})
		}
		if all != nil {
			any = connect(opcode.LogicOr, any, &ast.ParenthesesExpr{Expr: all})
		}
	}
	return any
}

// inserted returns the value of a column in the first row of an INSERT, nil where the
// server makes it.
func (t *table) inserted(s *ast.InsertStmt, i int) ast.ExprNode {
	at := i
	if len(s.Columns) > 0 {
		at = slices.IndexFunc(s.Columns, func(c *ast.ColumnName) bool { return strings.EqualFold(c.Name.O, t.columns[i].name) })
	}
	if at >= 0 {
		if _, isDefault := s.Lists[0][at].(*ast.DefaultExpr); !isDefault {
			return s.Lists[0][at]
		}
	}
	if t.columns[i].auto {
		return nil
	}
	return t.columns[i].def
}

func connect(op opcode.Op, a, b ast.ExprNode) ast.ExprNode {
	if a == nil {
		return b
	}
	return &ast.BinaryOperationExpr{Op: op, L: a, R: b}
}

func columnName(name string) *ast.ColumnName { return &ast.ColumnName{Name: ident(name)} }

func columnRef(name string) ast.ExprNode { return &ast.ColumnNameExpr{Name: columnName(name)} }

// nested says that a statement has a subquery.
func nested(n ast.Node) bool {
	f := &subqueries{}
	n.Accept(f)
	return f.found
}

type subqueries struct{ found bool }

func (f *subqueries) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SubqueryExpr); ok {
		f.found = true
	}
	return n, false
}

func (f *subqueries) Leave(n ast.Node) (ast.Node, bool) { return n, true }
