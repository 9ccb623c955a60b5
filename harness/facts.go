package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// explaining is what a family of servers is asked for a plan with.
type explaining struct {
	// setup makes a connection one that sees what nobody has committed, and that waits
	// for no lock, or as short as the server can: to explain a statement by a whole
	// unique key, InnoDB's servers read the row, MariaDB with the statement's lock.
	setup  []string
	prefix string
	// trace returns a statement and the optimizer's trace of it, which may be that of an
	// earlier one where the last has none; empty: there is no such thing.
	trace  string
	untold []string
}

// Where a server does not know a variable, that is no error: it is asked all the same.
// https://dev.mysql.com/doc/refman/en/explain.html (explain_json_format_version: version 2
// says nothing of an UPDATE or DELETE of one table)
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/analyze-and-explain-statements/explain-format-json
// https://docs.pingcap.com/tidb/stable/sql-statement-explain
var explainings = map[history.DBMS]explaining{
	history.MySQL: {
		setup: []string{
			"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1",
			"SET SESSION explain_json_format_version = 1", "SET SESSION optimizer_trace = 'enabled=on'",
		},
		prefix: "EXPLAIN FORMAT=JSON ", trace: "SELECT QUERY, TRACE FROM information_schema.OPTIMIZER_TRACE",
		untold: []string{"read views: MySQL prints none of a transaction that is idle or only reads"},
	},
	history.MariaDB: {
		setup: []string{
			"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = 0",
			"SET SESSION optimizer_trace = 'enabled=on'",
		},
		prefix: "EXPLAIN FORMAT=JSON ", trace: "SELECT QUERY, TRACE FROM information_schema.OPTIMIZER_TRACE",
	},
	history.PostgreSQL: {
		prefix: "EXPLAIN (FORMAT JSON) ",
		untold: []string{"plans are those for committed rows; no locks or snapshots"},
	},
	history.TiDB: {
		prefix: "EXPLAIN FORMAT='tidb_json' ",
		untold: []string{"plans are those for committed rows; no optimizer's trace, locks or read views"},
	},
}

// inquiry asks a server for all that it knows of a run while that goes on. It has a
// connection of its own, on which no statement of the case runs.
type inquiry struct {
	how  explaining
	side *connection
	// lister is nil where nothing can list what is held.
	lister LockLister
	h      *history.History
}

// RunForFacts is Run, but that the server is asked for plans, traces, locks and
// read views on the way, which end up in the history's Facts. It takes some ten times as
// long. A server that does not tell one of these says so there; that is no error.
func (p *Pool) RunForFacts(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, p.past(), (*run).observeFacts)
}

// RunFreshForFacts is RunForFacts in a database of its own, as RunFresh.
func (p *Pool) RunFreshForFacts(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, brandNew, (*run).observeFacts)
}

// observeFacts is observe with an inquiry.
func (r *run) observeFacts(ctx context.Context) error {
	q, err := r.inquire(ctx)
	if err != nil {
		return err
	}
	defer r.w.hangUp(q.side)
	r.facts = q
	return r.observe(ctx)
}

// inquire opens the connection of an inquiry.
func (r *run) inquire(ctx context.Context) (*inquiry, error) {
	how := explainings[r.h.Server.DBMS]
	side, err := r.w.connect(ctx, 0)
	if err != nil {
		return nil, &LostError{err}
	}
	r.h.Facts = &history.Facts{Plans: map[int]string{}, Traces: map[int]string{}, Untold: slices.Clone(how.untold)}
	q := &inquiry{how: how, side: side, h: r.h}
	for _, sql := range append([]string{r.w.pool.speech.use + r.lanes[0].db}, how.setup...) {
		if _, err := q.ask(sql); err != nil {
			r.w.hangUp(side)
			return nil, err
		}
	}
	var ok bool
	if q.lister, ok = r.w.prober.(LockLister); !ok && r.h.Server.DBMS != history.TiDB && r.h.Server.DBMS != history.PostgreSQL {
		r.h.Facts.Untold = append(r.h.Facts.Untold, "locks and read views: nothing lists them, or this user may not see it")
	}
	return q, nil
}

// ask runs a statement on the connection of the inquiry; what the server refuses has no
// rows.
func (q *inquiry) ask(sql string) ([][]history.Cell, error) {
	r, err := q.side.Execute(sql)
	if err != nil {
		q.side.broken = true
		return nil, &LostError{fmt.Errorf("ask for facts: %s: %w", sql, err)}
	}
	if r.Err != nil {
		return nil, nil
	}
	return r.Rows, nil
}

// explain asks for the plan of the statement that is submitted next, which will be the
// i-th of the history.
func (q *inquiry) explain(i int, st *step) error {
	if st.traits&(plainRead|locks) == 0 {
		return nil
	}
	rows, err := q.ask(q.how.prefix + st.sql)
	if err != nil || len(rows) == 0 {
		return err
	}
	q.h.Facts.Plans[i] = rows[0][0].Text
	if q.how.trace == "" {
		return nil
	}
	if rows, err = q.ask(q.how.trace); err == nil && len(rows) > 0 && rows[0][0].Text == q.how.prefix+st.sql {
		q.h.Facts.Traces[i] = rows[0][1].Text
	}
	return err
}

// list asks for all that is held.
func (q *inquiry) list(ctx context.Context, r *run) error {
	if q.lister == nil {
		return nil
	}
	held, untold, err := q.lister.Holdings(ctx, r.ids())
	var refused *UntoldError
	switch {
	case errors.As(err, &refused):
		q.lister, untold = nil, []string{"locks and read views: " + refused.Reason}
	case err != nil:
		return lostUnlessCancelled(ctx, fmt.Errorf("ask what transactions hold: %w", err))
	}
	held.After = r.clock
	for i := range held.Locks {
		held.Locks[i].Session = r.lanes[held.Locks[i].Session].number
	}
	for i := range held.Views {
		held.Views[i].Session = r.lanes[held.Views[i].Session].number
	}
	slices.SortStableFunc(held.Locks, func(a, b history.Lock) int { return a.Session - b.Session })
	slices.SortFunc(held.Views, func(a, b history.ReadView) int { return a.Session - b.Session })
	ids := map[int]uint64{}
	for i, id := range held.Transactions {
		ids[r.lanes[i].number] = id
	}
	held.Transactions = ids
	f := q.h.Facts
	f.Holdings = append(f.Holdings, held)
	for _, s := range untold {
		if !slices.Contains(f.Untold, s) {
			f.Untold = append(f.Untold, s)
		}
	}
	return nil
}
