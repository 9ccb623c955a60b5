package tidb

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// overwritten evaluates a filter on committed versions that the own transaction
// has overwritten, where the rule FilterScope says so, and returns the error
// that this raises. Which part of the filter is reached is the plan's affair,
// so an error that some part raises is returned if the answer has it.
func (r *engine) overwritten(t *versions.Table, node ast.StmtNode, view versions.View, i int) error {
	if !r.mayJudgeOverwritten(view, i) {
		return nil
	}
	return r.judgeOverwritten(t, stmt.Of(node).Where, view, i)
}

// overwrittenWithin is overwritten for the queries of a statement that read several tables
// or stand within another one. What the storage layer evaluates of their filters are the
// conditions on one table.
func (r *engine) overwrittenWithin(node ast.StmtNode, view versions.View, i int) error {
	if !r.mayJudgeOverwritten(view, i) {
		return nil
	}
	var err error
	corpus.Contains(node, func(n ast.Node) (found, skip bool) {
		q, ok := n.(*ast.SelectStmt)
		if !ok || n == node && stmt.SoleTable(q.From) != nil {
			return false, false
		}
		sources, conds := readBy(q)
		for _, s := range sources {
			table := r.Table(s.table.Name.O)
			if table == nil {
				continue
			}
			for _, e := range conds {
				if err == nil && r.ofTable(s.name, sources, e) {
					err = r.judgeOverwritten(table, e, view, i)
				}
			}
		}
		return err != nil, false
	})
	return err
}

// named is a table of a query, with the name that the query gives it.
type named struct {
	name  string
	table *ast.TableName
}

// readBy returns the tables of a query and the conditions that all have to hold.
func readBy(q *ast.SelectStmt) (sources []named, conds []ast.ExprNode) {
	conds = mvcc.Conjuncts(q.Where, nil)
	if q.From == nil {
		return sources, conds
	}
	corpus.Contains(q.From, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.SubqueryExpr, *ast.SelectStmt:
			return false, true
		case *ast.OnCondition:
			conds = mvcc.Conjuncts(x.Expr, conds)
		case *ast.TableSource:
			if t, ok := x.Source.(*ast.TableName); ok {
				name := x.AsName.L
				if name == "" {
					name = t.Name.L
				}
				sources = append(sources, named{name, t})
			}
		}
		return false, false
	})
	return sources, conds
}

// ofTable reports whether a condition reads columns of one of the tables of a query, and nothing else.
func (r *engine) ofTable(name string, sources []named, e ast.ExprNode) bool {
	reads := false
	return !corpus.Contains(e, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.SubqueryExpr:
			return true, true
		case *ast.ColumnNameExpr:
			reads = true
			if x.Name.Table.L != "" {
				return x.Name.Table.L != name, true
			}
			for _, s := range sources {
				o := r.Table(s.table.Name.O)
				if o == nil || (o.Def.ColumnIndex(x.Name.Name.O) >= 0) != (s.name == name) {
					return true, true
				}
			}
		}
		return false, false
	}) && reads
}

// mayJudgeOverwritten reports whether a statement's answer is an error that the evaluation of an
// overwritten version may raise.
func (r *engine) mayJudgeOverwritten(view versions.View, i int) bool {
	if view.Own == nil || view.Own.Rules.Of(rules.FilterScope) != rules.OverwrittenRows {
		return false
	}
	code := mvcc.ErrCode(&r.History.Stmts[i])
	return code == mvcc.ErrTruncated || code == mvcc.ErrOutOfRange || code == mvcc.ErrDateOverflow
}

// judgeOverwritten returns the statement's error if a part of a condition raises it on an overwritten row.
func (r *engine) judgeOverwritten(t *versions.Table, where ast.ExprNode, view versions.View, i int) error {
	code := mvcc.ErrCode(&r.History.Stmts[i])
	committed := versions.View{Tick: view.Tick}
	rows, chains := t.Rows(committed)
	for k, c := range chains {
		if ver := view.Version(c); ver == nil || ver.Txn != view.Own {
			continue
		}
		for _, part := range mvcc.Leaves(where, nil) {
			_, warnings, err := r.Solver.Where(part, t.Def, rows[k], &mvcc.Stored{Store: &r.Store, View: committed})
			var e *solve.SQLError
			if warnings > 0 && code != mvcc.ErrOutOfRange || errors.As(err, &e) && e.Code == code {
				return &solve.SQLError{Code: code}
			}
			var refused *solve.Unsupported
			if errors.As(err, &refused) {
				return refused
			}
		}
	}
	return nil
}
