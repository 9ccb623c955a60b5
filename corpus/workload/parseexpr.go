package workload

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

func (p *parser) sql(from, to int, vars bool) (ast.StmtNode, *corpus.ParseError) {
	return p.parseSQL(from, p.text[from:to], vars)
}

// parseSQL parses a statement that stands at a position of the file. Where
// variables are allowed, :name is one; the parser is given @name, which is as long.
func (p *parser) parseSQL(from int, s string, vars bool) (ast.StmtNode, *corpus.ParseError) {
	out := []byte(s)
	var err *corpus.ParseError
	outside(s, func(i, _ int) int {
		switch {
		case err != nil:
		case s[i] == '@' && vars && (i+1 >= len(s) || s[i+1] != '@'):
			err = p.errorf(from+i, "variables of a workload are written :name")
		case s[i] == '@' && i+1 < len(s) && s[i+1] == '@':
			return 2
		case s[i] == ':' && i+1 < len(s) && isLetter(s[i+1]):
			if !vars {
				err = p.errorf(from+i, "there are no variables here")
			}
			out[i] = '@'
		}
		return 1
	})
	if err != nil {
		return nil, err
	}
	stmt, e := corpus.ParseStatement(string(out))
	if e != nil {
		return nil, p.shifted(from, e)
	}
	return stmt, nil
}

// shifted moves an error of a part of the file, which begins at a position, to its
// place in the file.
func (p *parser) shifted(from int, err error) *corpus.ParseError {
	var pe *corpus.ParseError
	if !errors.As(err, &pe) {
		return p.errorf(from, "%v", err)
	}
	at := p.place(from)
	line, column := at.Line+pe.Line-1, pe.Column
	if pe.Line <= 1 {
		line, column = at.Line, at.Column+pe.Column-1
	}
	return &corpus.ParseError{File: p.name, Line: line, Column: column, Msg: pe.Msg}
}

// selectWord is put before an expression to make a statement of it.
const selectWord = "SELECT "

// expr parses text[from:to] as one expression that the client can evaluate.
func (p *parser) expr(from, to int) (ast.ExprNode, *corpus.ParseError) {
	e, err := p.anyExpr(from, to)
	if err == nil && !constantExpr(e) {
		from, _ = p.trim(from, to)
		return nil, p.errorf(from, "a condition is evaluated by the client: it knows no columns and no subqueries; SELECT … INTO :x first")
	}
	return e, err
}

// anyExpr parses text[from:to] as one expression.
func (p *parser) anyExpr(from, to int) (ast.ExprNode, *corpus.ParseError) {
	from, to = p.trim(from, to)
	s := p.text[from:to]
	if s == "" {
		return nil, p.errorf(from, "want an expression")
	}
	bare := s
	outside(s, func(i, depth int) int {
		if s[i] == ';' {
			bare = ""
		}
		return 1
	})
	if bare == "" {
		return nil, p.errorf(from, "want an expression, found a semicolon")
	}
	stmt, err := p.parseSQL(from, selectWord+s, true)
	if err != nil {
		if start := p.place(from); err.Line == start.Line {
			err.Column = max(start.Column, err.Column-len(selectWord))
		}
		return nil, err
	}
	sel, ok := stmt.(*ast.SelectStmt)
	if !ok || sel.From != nil || sel.Where != nil || sel.Limit != nil || sel.OrderBy != nil || sel.GroupBy != nil || sel.Having != nil ||
		sel.Distinct || sel.LockInfo != nil || len(sel.Fields.Fields) != 1 || sel.Fields.Fields[0].WildCard != nil || sel.Fields.Fields[0].AsName.O != "" {
		return nil, p.errorf(from, "want one expression, found %q", clip(s))
	}
	return sel.Fields.Fields[0].Expr, nil
}

type constantFinder struct{ not bool }

func (c *constantFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.DefaultExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.ValuesExpr:
		c.not = true
	case *ast.VariableExpr:
		c.not = c.not || x.IsSystem || x.Value != nil
	}
	return n, c.not
}

func (c *constantFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func constantExpr(e ast.ExprNode) bool {
	c := &constantFinder{}
	e.Accept(c)
	return !c.not
}
