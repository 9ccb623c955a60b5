package reduce

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// explore returns the simplifications of one statement that belong to a layer,
// made once for each text. The editor changes its own tree, prints it, and
// changes it back. Printing costs a tenth of parsing, so variants stay texts
// until they are tried.
func (s *statement) explore(l layer) []variant {
	find := editors[l]
	if find == nil || s.explored[l] {
		return s.variants[l]
	}
	s.explored[l] = true
	e := &editor{tree: corpus.CloneStmt(s.tree), seen: map[string]bool{s.text: true}}
	find(e)
	s.variants[l] = e.out
	return e.out
}

// editors find the simplifications of one statement, by layer.
var editors = [layerCount]func(*editor){
	layerClauses:     (*editor).clauses,
	layerExpressions: (*editor).expressions,
	layerConstants:   (*editor).constants,
	layerNames:       (*editor).aliases,
}

// editor collects variants of one statement.
type editor struct {
	tree ast.StmtNode
	seen map[string]bool
	out  []variant
}

// emit adds the tree as it is now.
func (e *editor) emit(a arm) {
	if text, err := corpus.Format(e.tree, corpus.Text); err == nil {
		e.offer(a, text)
	}
}

func (e *editor) offer(a arm, text string) {
	if !e.seen[text] {
		e.seen[text] = true
		e.out = append(e.out, variant{a, text})
	}
}

// drop emits the tree with one thing set to its zero value.
func drop[T any](e *editor, a arm, field *T) {
	old := *field
	var zero T
	*field = zero
	e.emit(a)
	*field = old
}

// swap emits the tree with one thing replaced.
func swap[T any](e *editor, a arm, field *T, by T) {
	old := *field
	*field = by
	e.emit(a)
	*field = old
}

// thin emits the tree less halves, quarters … and single elements of a list
// that keeps at least min elements.
func thin[T any](e *editor, a arm, list *[]T, min int) {
	old := *list
	cut := func(from, to int) {
		if len(old)-(to-from) < min {
			return
		}
		*list = append(append(make([]T, 0, len(old)), old[:from]...), old[to:]...)
		e.emit(a)
	}
	chunks(len(old), cut)
	for i := len(old) - 1; i >= 0; i-- {
		cut(i, i+1)
	}
	*list = old
}

func (e *editor) clauses() {
	switch n := e.tree.(type) {
	case *ast.BeginStmt:
		e.offer(armSnapshot, "BEGIN")
		e.offer(armSnapshot, "START TRANSACTION")
	case *ast.UpdateStmt:
		e.joins(n.TableRefs)
		dropWhere(e, &n.Where)
		thin(e, armAssignment, &n.List, 1)
		if n.Order != nil {
			drop(e, armClause, &n.Order)
		}
		if n.Limit != nil {
			drop(e, armClause, &n.Limit)
		}
		if n.IgnoreErr {
			drop(e, armClause, &n.IgnoreErr)
		}
	case *ast.DeleteStmt:
		e.joins(n.TableRefs)
		dropWhere(e, &n.Where)
		if n.Order != nil {
			drop(e, armClause, &n.Order)
		}
		if n.Limit != nil {
			drop(e, armClause, &n.Limit)
		}
		if n.IgnoreErr {
			drop(e, armClause, &n.IgnoreErr)
		}
	case *ast.InsertStmt:
		e.insert(n)
	case *ast.CreateTableStmt:
		e.createTable(n)
	case *ast.CreateIndexStmt:
		thin(e, armConstraint, &n.IndexPartSpecifications, 1)
		if n.KeyType != ast.IndexKeyTypeNone {
			drop(e, armConstraint, &n.KeyType)
		}
	}
	for _, q := range queries(e.tree) {
		e.query(q)
	}
}

func dropWhere(e *editor, where *ast.ExprNode) {
	if *where == nil {
		return
	}
	drop(e, armPredicate, where)
	e.conjuncts(where)
}

// conjuncts emits either side of each AND and OR of a predicate.
func (e *editor) conjuncts(at *ast.ExprNode) {
	switch x := (*at).(type) {
	case *ast.ParenthesesExpr:
		e.conjuncts(&x.Expr)
	case *ast.UnaryOperationExpr:
		if x.Op == opcode.Not || x.Op == opcode.Not2 {
			e.conjuncts(&x.V)
		}
	case *ast.BinaryOperationExpr:
		if x.Op != opcode.LogicAnd && x.Op != opcode.LogicOr {
			return
		}
		swap(e, armConjunct, at, x.L)
		swap(e, armConjunct, at, x.R)
		e.conjuncts(&x.L)
		e.conjuncts(&x.R)
	}
}

// queries returns the SELECTs of a statement, outermost first.
func queries(n ast.Node) []*ast.SelectStmt {
	f := &queryFinder{}
	n.Accept(f)
	return f.found
}

type queryFinder struct{ found []*ast.SelectStmt }

func (f *queryFinder) Enter(n ast.Node) (ast.Node, bool) {
	if q, ok := n.(*ast.SelectStmt); ok {
		f.found = append(f.found, q)
	}
	return n, false
}

func (f *queryFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (e *editor) query(q *ast.SelectStmt) {
	dropWhere(e, &q.Where)
	if q.Having != nil {
		drop(e, armPredicate, &q.Having)
	}
	if q.OrderBy != nil {
		drop(e, armClause, &q.OrderBy)
	}
	if q.OrderBy != nil {
		thin(e, armClause, &q.OrderBy.Items, 1)
		for _, i := range q.OrderBy.Items {
			if i.Desc {
				drop(e, armClause, &i.Desc)
			}
		}
	}
	if q.Limit != nil {
		drop(e, armClause, &q.Limit)
	}
	if q.Limit != nil && q.Limit.Offset != nil {
		drop(e, armClause, &q.Limit.Offset)
	}
	if q.GroupBy != nil {
		drop(e, armClause, &q.GroupBy)
		thin(e, armClause, &q.GroupBy.Items, 1)
	}
	if q.Distinct {
		drop(e, armClause, &q.Distinct)
	}
	if q.LockInfo != nil && q.LockInfo.LockType != ast.SelectLockNone {
		drop(e, armClause, &q.LockInfo)
		e.plainLock(q.LockInfo)
	}
	if len(q.TableHints) > 0 {
		drop(e, armClause, &q.TableHints)
	}
	if q.Fields != nil {
		if q == e.tree && onlyColumns(q.Fields.Fields) {
			swap(e, armProjection, &q.Fields.Fields, []*ast.SelectField{{WildCard: &ast.WildCardField{}}})
		}
		thin(e, armProjection, &q.Fields.Fields, 1)
		for _, f := range q.Fields.Fields {
			if f.AsName.L != "" {
				drop(e, armProjection, &f.AsName)
			}
		}
	}
	e.joins(q.From)
}

// onlyColumns reports whether a SELECT list can be *.
func onlyColumns(list []*ast.SelectField) bool {
	return !slices.ContainsFunc(list, func(f *ast.SelectField) bool {
		_, ok := f.Expr.(*ast.ColumnNameExpr)
		return !ok
	})
}

// plainLock emits a locking read without NOWAIT and the like.
func (e *editor) plainLock(l *ast.SelectLockInfo) {
	switch l.LockType {
	case ast.SelectLockForUpdateNoWait, ast.SelectLockForUpdateWaitN, ast.SelectLockForUpdateSkipLocked:
		swap(e, armClause, &l.LockType, ast.SelectLockForUpdate)
	case ast.SelectLockForShareNoWait, ast.SelectLockForShareSkipLocked:
		swap(e, armClause, &l.LockType, ast.SelectLockForShare)
	}
	if len(l.Tables) > 0 {
		drop(e, armClause, &l.Tables)
	}
}

// joins emits either side of each join, and sources without index hints.
func (e *editor) joins(from *ast.TableRefsClause) {
	if from == nil || from.TableRefs == nil {
		return
	}
	var visit func(at *ast.ResultSetNode, j *ast.Join)
	visit = func(at *ast.ResultSetNode, j *ast.Join) {
		if j.On != nil {
			drop(e, armPredicate, &j.On)
		}
		for _, side := range []*ast.ResultSetNode{&j.Left, &j.Right} {
			switch s := (*side).(type) {
			case *ast.Join:
				if s != nil {
					visit(side, s)
				}
			case *ast.TableSource:
				if t, ok := s.Source.(*ast.TableName); ok && len(t.IndexHints) > 0 {
					drop(e, armClause, &t.IndexHints)
				}
			}
		}
		if j.Right == nil {
			return
		}
		for _, side := range []ast.ResultSetNode{j.Left, j.Right} {
			if at != nil {
				swap(e, armJoin, at, side)
			} else if inner, ok := side.(*ast.Join); ok {
				swap(e, armJoin, &from.TableRefs, inner)
			} else {
				swap(e, armJoin, &from.TableRefs, &ast.Join{Left: side})
			}
		}
	}
	visit(nil, from.TableRefs)
}

func (e *editor) insert(n *ast.InsertStmt) {
	thin(e, armRow, &n.Lists, 1)
	if len(n.OnDuplicate) > 0 {
		drop(e, armClause, &n.OnDuplicate)
		thin(e, armAssignment, &n.OnDuplicate, 1)
	}
	if n.IgnoreErr {
		drop(e, armClause, &n.IgnoreErr)
	}
	if len(n.Columns) == 0 || n.Select != nil {
		return
	}
	drop(e, armInsertColumn, &n.Columns)
	if len(n.Columns) == 1 {
		return
	}
	columns, lists := n.Columns, n.Lists
	for i := len(columns) - 1; i >= 0; i-- {
		n.Columns = dropAt(columns, i)
		n.Lists = make([][]ast.ExprNode, len(lists))
		for k, row := range lists {
			if i < len(row) {
				row = dropAt(row, i)
			}
			n.Lists[k] = row
		}
		e.emit(armInsertColumn)
	}
	n.Columns, n.Lists = columns, lists
}

// dropAt returns a copy of a list less its i-th element.
func dropAt[T any](list []T, i int) []T {
	return append(append(make([]T, 0, len(list)), list[:i]...), list[i+1:]...)
}

func (e *editor) createTable(n *ast.CreateTableStmt) {
	thin(e, armConstraint, &n.Constraints, 0)
	for _, k := range n.Constraints {
		if len(k.Keys) > 1 {
			thin(e, armConstraint, &k.Keys, 1)
		}
		if k.Name != "" && !strings.EqualFold(k.Name, "primary") {
			drop(e, armConstraint, &k.Name)
		}
		for _, p := range k.Keys {
			if p.Desc {
				drop(e, armConstraint, &p.Desc)
			}
		}
	}
	for _, c := range n.Cols {
		thin(e, armConstraint, &c.Options, 0)
	}
	e.inlineKeys(n)
	thin(e, armConstraint, &n.Options, 0)
	if n.Partition != nil {
		drop(e, armConstraint, &n.Partition)
	}
	if n.IfNotExists {
		drop(e, armConstraint, &n.IfNotExists)
	}
}

// keyOptions tells which keys can be written behind the column that they are of.
var keyOptions = map[ast.ConstraintType]ast.ColumnOptionType{
	ast.ConstraintPrimaryKey: ast.ColumnOptionPrimaryKey,
	ast.ConstraintUniq:       ast.ColumnOptionUniqKey,
	ast.ConstraintUniqKey:    ast.ColumnOptionUniqKey,
	ast.ConstraintUniqIndex:  ast.ColumnOptionUniqKey,
}

// inlineKeys emits the table with a key of one column behind that column.
func (e *editor) inlineKeys(n *ast.CreateTableStmt) {
	all := n.Constraints
	for i, k := range all {
		option, ok := keyOptions[k.Tp]
		if !ok || len(k.Keys) != 1 || k.Keys[0].Column == nil || k.Keys[0].Length > 0 || k.Keys[0].Desc {
			continue
		}
		for _, c := range n.Cols {
			if c.Name.Name.L == k.Keys[0].Column.Name.L {
				n.Constraints = dropAt(all, i)
				swap(e, armConstraint, &c.Options, append(slices.Clone(c.Options), &ast.ColumnOption{Tp: option}))
				n.Constraints = all
			}
		}
	}
}
