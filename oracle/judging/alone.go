package judging

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// answeredAlone looks at a violation in which a statement got another answer than was promised. It puts the rows on
// which that was judged into a new database and sends the statement with no other transaction open: what the server
// answers the same there is a matter of SQL, and the verdict becomes unknown. Costs one run of one statement for each
// violation.
func (j *Judging) answeredAlone() {
	if j.o.Solver == BySolver || j.v.Outcome != oracle.Violation || !j.asksForRows() {
		return
	}
	j.enter(Alone)
	rows := oracle.RowsMet(j.c, j.h, &j.v)
	if rows == nil {
		return
	}
	st := &j.h.Stmts[j.v.Stmt]
	one := onRows(j.c, st, rows)
	if one == nil {
		return
	}
	r := &Single{Case: one, Session: st.Session, Level: j.h.Levels[st.Session]}
	j.asks(r)
	alone := r.History
	if alone == nil || len(alone.Stmts) != len(one.Steps) || !laidOut(rows, alone.Initial) {
		return // then nothing speaks for the statement's own doing
	}
	last := len(one.Steps) - 1
	if !history.SameAnswer(&st.Result, &alone.Stmts[last].Result, inOrder(one.Steps[last].Stmt)) {
		return
	}
	j.v = unjudged(&j.v, ReasonSolver, fmt.Sprintf(
		"%s: the server answers %s on the same rows with no other transaction open, too, where the oracle expects %s",
		StatementText(j.c, j.h, j.v.Stmt), j.v.Actual, j.v.Expected))
}

// asksForRows reports whether a verdict rests on what one statement answered: on an
// error, on the rows of a read, or on how many a write touched.
func (j *Judging) asksForRows() bool {
	v := &j.v
	if v.Stmt < 0 || j.o.Broken {
		return false
	}
	st := &j.h.Stmts[v.Stmt]
	if e := st.Result.Err; e != nil && !e.OfValue() { // any other error is wrong alone, too
		return false
	}
	stmt := j.c.Steps[st.Line].Stmt
	switch v.Kind {
	case "missing-error":
		// Alone no statement meets a row that was changed since its snapshot. One that
		// groups may be answered from the first entry of each group, and not meet it either.
		if v.Expected == snapshotError && !groups(stmt) {
			return false
		}
		fallthrough
	case "unexpected-error", "wrong-error", "wrong-rows", "wrong-count":
		return oracle.KindOf(stmt).TouchesRows()
	}
	return false
}

// snapshotError is what a verdict expects where MariaDB has to say "Record has changed
// since last read".
const snapshotError = "error 1020"

// groups reports whether a query may read less than all rows that it answers from.
// https://dev.mysql.com/doc/refman/en/group-by-optimization.html
func groups(stmt ast.StmtNode) bool {
	s, ok := stmt.(*ast.SelectStmt)
	return ok && (s.Distinct || s.GroupBy != nil || corpus.Contains(s.Fields, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.AggregateFuncExpr)
		return found, false
	}))
}

// onRows is a case of one statement of another on rows that its tables hold: what
// the statement's session has set before comes first. It is nil where the rows
// cannot be written.
func onRows(c *corpus.Case, st *history.Stmt, rows []history.Table) *corpus.Case {
	one := AloneOn(c, st.Line)
	for i := range rows {
		if len(rows[i].Rows) == 0 {
			continue
		}
		stmt, err := corpus.ParseStatement(rows[i].Insert(history.WrittenFor(c, rows[i].Name)))
		if err != nil {
			return nil
		}
		one.Init = append(one.Init, corpus.Line{Session: corpus.InitSession, Stmt: stmt})
	}
	var set []corpus.Line
	for _, l := range c.Steps[:st.Line] {
		if s, ok := l.Stmt.(*ast.SetStmt); ok && l.Session == st.Session && oracle.KindOf(s) == stmt.SetVariable {
			set = append(set, l)
		}
	}
	one.Steps = append(set, one.Steps...)
	return one.Clone()
}

// laidOut reports whether tables hold the rows that were put into them.
func laidOut(want, got []history.Table) bool {
	return slices.EqualFunc(want, got, func(w, g history.Table) bool {
		return w.Name == g.Name && history.SameRows(w.Rows, g.Rows, false)
	})
}
