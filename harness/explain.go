package harness

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
)

// Explain returns a request for a statement's plan as a table, which is no longer what
// plain EXPLAIN gives on MySQL 9.
func Explain(dbms history.DBMS, sql string) string {
	if dbms == history.MySQL {
		return "EXPLAIN FORMAT=TRADITIONAL " + sql
	}
	return "EXPLAIN " + sql
}

// ExplainPlans asks for the access paths of some statements of a run, given as
// indices into h.Stmts, and stores the server's text in h.Plans: a line of
// column names, then one for each row, fields separated by tabs. The tables are
// in their initial state. Statements that the server does not explain are left
// out.
func (p *Pool) ExplainPlans(ctx context.Context, c *corpus.Case, h *history.History, stmts []int) (err error) {
	w, err := p.borrow(ctx)
	if err != nil {
		return err
	}
	defer p.giveBack(w)
	s, err := newScript(c, p.server.DBMS)
	if err != nil {
		return err
	}
	dog, err := w.start(ctx)
	if err != nil {
		return err
	}
	defer dog.Stop()
	db, _, err := w.provision(s)
	if err != nil {
		return err
	}
	defer func() { w.retire(db, err != nil) }()
	if h.Plans == nil {
		h.Plans = map[int]string{}
	}
	for _, i := range stmts {
		if i < 0 || i >= len(h.Stmts) {
			return fmt.Errorf("explain statement %d of %d", i, len(h.Stmts))
		}
		r, err := w.control(Explain(p.server.DBMS, s.steps[h.Stmts[i].Line].sql))
		if err != nil {
			return err
		}
		if r.Err == nil {
			h.Plans[i] = plan.Text(&r.Result)
		}
	}
	return nil
}
