package promise

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/ended"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// withoutEnds returns the histories that one of PostgreSQL may stand for, the likeliest first, in which the ends of
// sessions are the rollbacks that they stand for; none where no session ends. An unjudgedError says why nobody can tell.
func withoutEnds(c *corpus.Case, h *history.History) ([]ended.World, error) {
	if h.Server.DBMS != history.PostgreSQL || !c.EndsSessions() {
		return nil, nil
	}
	if opensByKill(c, h) {
		return nil, unjudgedError("a KILL that has taken a snapshot for its transaction")
	}
	worlds := ended.Worlds(c, h)
	if len(worlds) == 0 {
		return nil, unjudgedError("statements of ended sessions of whose outcome nobody was told")
	}
	return worlds, nil
}

// opensByKill says that the first query of some transaction with a snapshot is the one by which a KILL is sent.
func opensByKill(c *corpus.Case, h *history.History) bool {
	looked := map[int]bool{} // by session
	return slices.ContainsFunc(h.Stmts, func(st history.Stmt) bool {
		node := c.Steps[st.Line].Stmt
		k := stmt.KindOf(node)
		if failed := st.Result.Err; failed != nil && failed.Code == history.ErrNoSession {
			return false // it was not sent
		}
		looked[st.Session] = st.InTxn && (looked[st.Session] || !k.Control() || stmt.TakesSnapshot(node))
		return (k == stmt.Kill || k == stmt.KillQuery) && st.InTxn && !looked[st.Session] && h.Levels[st.Session] > corpus.ReadCommitted
	})
}

// inWords gives the sessions in a ruling on a world the numbers that they have in the case.
func (r *Ruling) inWords(w *ended.World) {
	if w != nil {
		r.Expected, r.Actual, r.Reason = w.Name(r.Expected), w.Name(r.Actual), w.Name(r.Reason)
	}
}
