package target

import (
	"context"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ReasonSolver is why there is no verdict on a case in which a statement got an
// answer that the oracle does not expect, and gets the same on the same rows while
// nothing else is open: no isolation is in play, the oracle computes SQL in another
// way than the server. Either is wrong.
const ReasonSolver = "solver-disagreement"

// answeredAlone looks at a violation in which a statement got another answer than
// was promised. It puts the rows on which that was judged into a new database and
// sends the statement with no other transaction open: what the server answers the
// same there is a matter of SQL, and the verdict becomes unknown. Costs one run of
// one statement for each violation.
func (t *Target) answeredAlone(ctx context.Context, r *Trial) {
	v := &r.Verdict
	if t.solver == BySolver || v.Outcome != oracle.Violation || !asksForRows(v, r) {
		return
	}
	rows := oracle.RowsMet(r.Case, r.History, v)
	if rows == nil {
		return
	}
	st := &r.History.Stmts[v.Stmt]
	one := onRows(r.Case, st, rows)
	if one == nil {
		return
	}
	t.mu.RLock()
	alone, err := t.pool.RunFresh(ctx, one, harness.Levels{By: map[int]corpus.Level{st.Session: r.History.Levels[st.Session]}})
	t.mu.RUnlock()
	if err != nil || len(alone.Stmts) != len(one.Steps) || !laidOut(rows, alone.Initial) {
		return // then nothing speaks for the statement's own doing
	}
	if !history.SameAnswer(&st.Result, &alone.Stmts[len(one.Steps)-1].Result, inOrder(one.Steps[len(one.Steps)-1].Stmt)) {
		return
	}
	*v = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: v.Statements, Conflicting: v.Conflicting, Reason: ReasonSolver,
		Actual: fmt.Sprintf("%s: the server answers %s on the same rows with no other transaction open, too, where the oracle expects %s",
			StatementText(r.Case, r.History, v.Stmt), v.Actual, v.Expected),
	}
}

// asksForRows reports whether a verdict rests on what one statement answered: on an
// error, on the rows of a read, or on how many a write touched.
func asksForRows(v *oracle.Verdict, r *Trial) bool {
	if v.Stmt < 0 || r.History == nil || r.Err != nil {
		return false
	}
	st := &r.History.Stmts[v.Stmt]
	if e := st.Result.Err; e != nil && !e.OfValue() { // any other error is wrong alone, too
		return false
	}
	stmt := r.Case.Steps[st.Line].Stmt
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
	one := aloneOn(c, st.Line)
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

func inOrder(n ast.StmtNode) bool {
	v := stmt.Of(n)
	return v.Kind.Reads() && v.Order != nil
}
