package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// explain begins a request for a plan as a table, which is no longer what plain
// EXPLAIN gives on MySQL 9.
var explain = map[history.DBMS]string{
	history.TiDB: "EXPLAIN ", history.MySQL: "EXPLAIN FORMAT=TRADITIONAL ", history.MariaDB: "EXPLAIN ",
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
		r, err := w.control(explain[p.server.DBMS] + s.steps[h.Stmts[i].Line].sql)
		if err != nil {
			return err
		}
		if r.Err == nil {
			h.Plans[i] = planText(r.Result)
		}
	}
	return nil
}

func planText(r history.Result) string {
	var b strings.Builder
	b.WriteString(strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		b.WriteByte('\n')
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(c.String())
		}
	}
	return b.String()
}
