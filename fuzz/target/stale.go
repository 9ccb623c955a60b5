package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// askAlone marks the statements of a history whose errors come from their text. It
// sends each statement that failed so once more, alone, to empty copies of the
// tables. If it succeeds there, its error came from the case. This costs a run of
// one statement for each such error, and nothing for a case without. Whatever the protocol of the case, the statement
// alone goes as text: an error that preparing it brings is then one of the protocol, which is what is tested.
func askAlone(ctx context.Context, c *corpus.Case, h *history.History, levels map[int]corpus.Level, run runFunc) error {
	if h.Server.DBMS == history.PostgreSQL { // judged by what a statement answers alone, its text included
		return nil
	}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		if st.Result.Err == nil || !oracle.MayBeTextError(st.Result.Err.Code) {
			continue
		}
		alone, err := run(ctx, judging.AloneOn(c, st.Line), harness.Levels{By: map[int]corpus.Level{st.Session: levels[st.Session]}})
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
