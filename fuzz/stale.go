package fuzz

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// misfits are errors of a statement that does not fit the case's own tables:
// syntax, no such table, no such or an ambiguous column, another number of
// values than of columns, or of arguments than a function takes.
//
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html
var misfits = []uint16{1064, 1146, 1054, 1052, 1136, 1582}

// stale turns the verdict ok on a case whose statements do not fit its tables
// into one that says so, and reports whether it did.
func stale(v *oracle.Verdict, c *corpus.Case, h *history.History) bool {
	text := misfit(c, h)
	if text == "" || v.Outcome != oracle.OK {
		return false
	}
	*v = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonStale, Actual: text}
	return true
}

// misfit tells the first statement of a run that the server refused because it
// does not fit the tables of its case, "" if there is none. Such an error is an
// honest answer; but a saved case in which it comes up guards nothing, unless
// its own statements change the tables.
func misfit(c *corpus.Case, h *history.History) string {
	if h == nil || slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { _, ok := l.Stmt.(ast.DDLNode); return ok }) {
		return ""
	}
	for i := range h.Stmts {
		if e := h.Stmts[i].Result.Err; e != nil && slices.Contains(misfits, e.Code) {
			l := c.Steps[h.Stmts[i].Line]
			return fmt.Sprintf("step %d, tx%d: %s: error %d (%s)", h.Stmts[i].Line+1, l.Session, corpus.SQL(l.Stmt, corpus.Text), e.Code, e.Message)
		}
	}
	return ""
}
