package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// View is what a statement's own clauses say; those of its subqueries do not count. It
// is a small value that refers to the tree: what is asked of many statements is to
// allocate nothing.
type View struct {
	Kind Kind
	// Lock is what a SELECT locks by its own word, or a raw statement.
	Lock Lock
	// From holds the tables of which Where, Order and Limit choose rows: those that a
	// SELECT reads, an UPDATE changes or a DELETE reads.
	From *ast.TableRefsClause
	// Into is the table that an INSERT or REPLACE adds rows to.
	Into  *ast.TableRefsClause
	Where ast.ExprNode
	Order *ast.OrderByClause
	Limit *ast.Limit
	With  *ast.WithClause
	// Savepoint is the name of the savepoint that it sets, goes back to or releases.
	Savepoint string
	// Ignore says that it has IGNORE, which makes warnings of some errors.
	Ignore bool
	// Several says that an UPDATE or DELETE is of the form that changes several tables.
	Several bool
}

// Of returns the view of a statement.
func Of(n ast.Node) View {
	v := View{Kind: KindOf(n)}
	switch s := n.(type) {
	case *ast.SelectStmt:
		v.Lock, v.From, v.Where, v.Order, v.Limit, v.With = LockOf(s), s.From, s.Where, s.OrderBy, s.Limit, s.With
	case *ast.UpdateStmt:
		v.From, v.Where, v.Order, v.Limit, v.With = s.TableRefs, s.Where, s.Order, s.Limit, s.With
		v.Ignore, v.Several = s.IgnoreErr, joins(s.TableRefs)
	case *ast.DeleteStmt:
		v.From, v.Where, v.Order, v.Limit, v.With = s.TableRefs, s.Where, s.Order, s.Limit, s.With
		v.Ignore, v.Several = s.IgnoreErr, s.IsMultiTable
	case *ast.InsertStmt:
		v.Into, v.Ignore = s.Table, s.IgnoreErr
	case *RawStmt:
		v.Lock.Mode = s.Lock
	case *ast.SavepointStmt:
		v.Savepoint = s.Name
	case *ast.RollbackStmt:
		v.Savepoint = s.SavepointName
	case *ast.ReleaseSavepointStmt:
		v.Savepoint = s.Name
	}
	return v
}

func joins(from *ast.TableRefsClause) bool { return from != nil && from.TableRefs.Right != nil }

// Table returns the one table that the statement names as what it reads or writes, be
// it under another name; nil if there are several, or none.
func (v View) Table() *ast.TableName { return SoleTable(v.tables()) }

// Source is Table with the name that the statement gives it.
func (v View) Source() *ast.TableSource { return SoleSource(v.tables()) }

func (v View) tables() *ast.TableRefsClause {
	if v.Into != nil {
		return v.Into
	}
	return v.From
}
