package oracle

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// resolved returns a case as it is judged: tables and columns without their
// database, and in plain queries the query of a view in the place of its name.
// Lines keep their places. The error is a *mvcc.Loss for a statement that was run
// and uses a view otherwise.
func resolved(c *corpus.Case, h *history.History) (*corpus.Case, error) {
	c = withoutUnread(c)
	if h.Database == "" && len(h.Views) == 0 {
		return c, nil
	}
	c = c.WithoutDatabase()
	views := map[string]*ast.CreateViewStmt{}
	for _, v := range h.Views {
		views[strings.ToLower(v.Name)] = readView(v.Create)
	}
	for i := range h.Stmts {
		n := c.Steps[h.Stmts[i].Line].Stmt
		r := &viewResolver{views: views, plain: stmt.KindOf(n) == stmt.Select}
		n.Accept(r)
		if r.lost != "" {
			return nil, &mvcc.Loss{Slug: "view", Detail: r.lost}
		}
	}
	return c, nil
}

// unread reports whether a statement is a plain read that is not a SELECT: a UNION, or one
// that the parser does not read.
func unread(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *ast.SetOprStmt:
		return !locks(s)
	case *stmt.RawStmt:
		return s.Plain()
	}
	return false
}

// withoutUnread puts a query on their rows in the place of such reads, so that there is one
// kind of plain read. The case itself stays as it is.
func withoutUnread(c *corpus.Case) *corpus.Case {
	var own *corpus.Case
	for i, l := range c.Steps {
		if !unread(l.Stmt) {
			continue
		}
		if own == nil {
			copied := *c
			copied.Steps = slices.Clone(c.Steps)
			own = &copied
		}
		own.Steps[i].Stmt = solve.QueryOn(l.Stmt.(solve.RowsStmt))
	}
	if own == nil {
		return c
	}
	return own
}

// locks reports whether some query in a statement has a locking clause or writes its
// rows to a file or variable.
func locks(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		s, ok := n.(*ast.SelectStmt)
		return ok && (stmt.LockOf(s).Mode != stmt.None || s.SelectIntoOpt != nil), false
	})
}

// readView returns a view's definition, nil for one that the parser does not read.
func readView(create string) *ast.CreateViewStmt {
	n, err := corpus.ParseStatement(create)
	v, ok := n.(*ast.CreateViewStmt)
	if err != nil || !ok {
		return nil
	}
	corpus.DropDatabase(v)
	return v
}

// viewResolver replaces views by derived tables, which servers merge into the
// query that names them alike.
// https://dev.mysql.com/doc/refman/9.7/en/view-algorithms.html
type viewResolver struct {
	views map[string]*ast.CreateViewStmt
	plain bool
	depth int
	lost  string
}

// deepest bounds views of views.
const deepest = 8

func (r *viewResolver) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableSource:
		name, ok := x.Source.(*ast.TableName)
		if !ok {
			break
		}
		view, ok := r.views[name.Name.L]
		if !ok {
			break
		}
		var query *ast.SelectStmt
		if view != nil {
			query, _ = view.Select.(*ast.SelectStmt)
		}
		if query == nil || !r.plain || r.depth == deepest || !renamed(view, query) {
			r.lost = name.Name.O
			return n, true
		}
		x.Source = corpus.CloneStmt(query).(*ast.SelectStmt)
		if x.AsName.L == "" {
			x.AsName = model.NewCIStr(name.Name.O)
		}
		r.depth++
		x.Source.Accept(r)
		r.depth--
		return n, true
	case *ast.TableName:
		if _, ok := r.views[x.Name.L]; ok {
			r.lost = x.Name.O
		}
	}
	return n, r.lost != ""
}

func (r *viewResolver) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// renamed gives the columns of a view's query the names that the view has for
// them. It reports false where they cannot be told apart: a query of all columns.
func renamed(v *ast.CreateViewStmt, q *ast.SelectStmt) bool {
	if len(v.Cols) == 0 {
		return true
	}
	if len(v.Cols) != len(q.Fields.Fields) {
		return false
	}
	for i, f := range q.Fields.Fields {
		if f.WildCard != nil {
			return false
		}
		f.AsName = v.Cols[i]
	}
	return true
}
