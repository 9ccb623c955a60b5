package fuzz

import (
	"context"
	"errors"
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// stale turns the verdict ok on a case of which the server refuses a statement by
// its text into one that says so, and reports whether it did. Such an error is an
// honest answer; but a saved case in which it comes up guards nothing.
func stale(v *oracle.Verdict, c *corpus.Case, h *history.History) bool {
	if v.Outcome != oracle.OK || len(v.Refused) == 0 {
		return false
	}
	i := v.Refused[0]
	e := h.Stmts[i].Result.Err
	*v = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonStale,
		Actual: fmt.Sprintf("%s: error %d (%s)", statementText(c, h, i), e.Code, e.Message)}
	return true
}

// askAlone marks the statements of a history whose errors are those of their text:
// it sends each that failed so once more, alone and to empty copies of the tables.
// An error that it does not get there too is one of the case. Costs a run of one
// statement for each, none for a case without such errors.
func askAlone(ctx context.Context, c *corpus.Case, h *history.History, levels map[int]corpus.Level, run runFunc) error {
	for i := range h.Stmts {
		st := &h.Stmts[i]
		if st.Result.Err == nil || !mvcc.TextError(st.Result.Err.Code) {
			continue
		}
		alone, err := run(ctx, aloneOn(c, st.Line), harness.Levels{By: map[int]corpus.Level{st.Session: levels[st.Session]}})
		if ctx.Err() != nil {
			return fmt.Errorf("ask for a statement alone: %w", ctx.Err())
		}
		var lost *harness.LostError
		if errors.As(err, &lost) {
			return err
		}
		if err != nil || len(alone.Stmts) != 1 {
			continue // then nothing speaks for the text
		}
		if e := alone.Stmts[0].Result.Err; e != nil && e.Code == st.Result.Err.Code {
			st.RefusedAlone = true
		}
	}
	return nil
}

type runFunc func(context.Context, *corpus.Case, harness.Levels) (*history.History, error)

// aloneOn is a case of one step of another, on its tables without their rows.
func aloneOn(c *corpus.Case, line int) *corpus.Case {
	one := &corpus.Case{Steps: []corpus.Line{c.Steps[line]}}
	for _, l := range c.Init {
		switch l.Stmt.(type) {
		case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.LoadDataStmt:
		default:
			one.Init = append(one.Init, l)
		}
	}
	return one
}
