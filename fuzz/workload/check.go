package workload

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Errors of a CHECK constraint.
const (
	errCheckMySQL   = 3819
	errCheckMariaDB = 4025
)

// check lets the oracle judge what the server did.
func check(o *Outcome) oracle.Verdict { return oracle.Check(o.judged(), o.History) }

// unjudged says of a run that the oracle cannot judge that the server may be to blame
// instead; empty for others.
func unjudged(o *Outcome) string {
	v := check(o)
	if v.Outcome != oracle.Unknown {
		return ""
	}
	why := v.Reason
	if v.Expected != "" {
		why += " (" + v.Expected + ")"
	}
	return "whether the server answered right is not known: " + why
}

// judged is the case of a run as the oracle gets it. The oracle knows no CHECKs; where
// none has failed, they had no effect and are left out.
func (o *Outcome) judged() *corpus.Case {
	failed := slices.ContainsFunc(o.History.Stmts, func(s history.Stmt) bool {
		e := s.Result.Err
		return e != nil && (e.Code == errCheckMySQL || e.Code == errCheckMariaDB)
	})
	if failed {
		return o.Case
	}
	c := *o.Case
	c.Init = slices.Clone(c.Init)
	for i, l := range c.Init {
		if create, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			c.Init[i].Stmt = withoutChecks(create)
		}
	}
	return &c
}

// withoutChecks returns a table without its CHECKs, the table itself if it has none.
func withoutChecks(t *ast.CreateTableStmt) *ast.CreateTableStmt {
	inColumn := func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionCheck }
	inTable := func(c *ast.Constraint) bool { return c.Tp == ast.ConstraintCheck }
	if !slices.ContainsFunc(t.Constraints, inTable) && !slices.ContainsFunc(t.Cols, func(c *ast.ColumnDef) bool { return slices.ContainsFunc(c.Options, inColumn) }) {
		return t
	}
	out := corpus.CloneStmt(t).(*ast.CreateTableStmt)
	out.Constraints = slices.DeleteFunc(out.Constraints, inTable)
	for _, c := range out.Cols {
		c.Options = slices.DeleteFunc(c.Options, inColumn)
	}
	return out
}
