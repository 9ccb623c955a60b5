package promise

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/ended"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// withoutEnds returns a case and a history in which the ends of PostgreSQL's sessions are the rollbacks that they stand
// for; the world is nil where no session ends. An unjudgedError says why there is no such history, or more than one.
func withoutEnds(c *corpus.Case, h *history.History) (*corpus.Case, *history.History, *ended.World, error) {
	if h.Server.DBMS != history.PostgreSQL || !c.EndsSessions() {
		return c, h, nil, nil
	}
	if opensByKill(c, h) {
		return c, h, nil, unjudgedError("a KILL that has taken a snapshot for its transaction")
	}
	worlds := ended.Worlds(c, h)
	if len(worlds) != 1 {
		return c, h, nil, unjudgedError("statements of ended sessions of whose outcome nobody was told")
	}
	return worlds[0].Case, worlds[0].History, &worlds[0], nil
}

// opensByKill says that the first query of some transaction with a snapshot is the one by which a KILL is sent.
func opensByKill(c *corpus.Case, h *history.History) bool {
	looked := map[int]bool{} // by session
	return slices.ContainsFunc(h.Stmts, func(st history.Stmt) bool {
		node := c.Steps[st.Line].Stmt
		k := stmt.KindOf(node)
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
