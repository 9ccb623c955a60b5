package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Where a server works off texts that are sent together, one round trip takes all of a question: rows, statements,
// what the tables hold then.

// mostLaid is how many rows are laid out in tables before these are truncated. Until then the server goes on reading
// past what is left of them: nothing vacuums, and of a row whose transaction was rolled back nothing else frees the
// place. A thousand cases later a question took four times as long.
// https://www.postgresql.org/docs/current/routine-vacuuming.html#VACUUM-FOR-SPACE-RECOVERY
const mostLaid = 1000

// asLeft is provision for tables of which it does not matter what they hold: where that is known, they stay as they
// are.
func (w *worker) asLeft(s *script) (*provisioned, []history.Table, error) {
	if !s.refill || !w.pool.speech.heaps {
		return w.provision(s)
	}
	p := w.pool.shelf.take(s.schemaKey())
	switch {
	case p == nil:
		return w.provision(s)
	case p.after == nil || p.counts():
		w.pool.shelf.give(p)
		return w.provision(s)
	}
	now := p.after
	p.after = nil
	if p.laid < mostLaid {
		return p, now, nil
	}
	err := w.use(w.ctl, p.db)
	if err == nil {
		err = w.ctlExec(w.pool.speech.emptied(p.tables))
	}
	if err != nil {
		w.retire(p, true)
		return nil, nil, err
	}
	p.laid = 0
	now = slices.Clone(now)
	for i := range now {
		now[i].Rows = nil
	}
	return p, now, nil
}

// pipelined returns the connection that all of a question may go to: that which made the tables, and knows them. It is
// nil where each text waits for an answer, or where statements leave something behind in the session.
func (x *Scratch) pipelined() *connection {
	if _, ok := x.w.ctl.Session.(Pipelined); !ok || x.s.traits&taints != 0 {
		return nil
	}
	return x.w.ctl
}

// exchange sends texts together to an idle session that is Pipelined.
func (w *worker) exchange(s *connection, texts []string) ([]Reply, error) {
	replies, err := s.Session.(Pipelined).Pipeline(texts)
	if err != nil {
		s.broken = true
		return nil, &LostError{fmt.Errorf("session %d: %s: %w", s.number, texts[len(replies)], err)}
	}
	return replies, nil
}

// together is Alone in one round trip. What is sent behind rows that the server refuses fails, since their transaction
// is aborted, or does not count.
func (x *Scratch) together(s *connection, q *history.Solo, tables []history.Table) (*history.SoloAnswer, error) {
	if err := x.w.use(s, x.p.db); err != nil {
		return nil, err
	}
	var texts []string
	changed := x.differing(tables)
	if len(changed) > 0 {
		texts = append(texts, x.laying(tables, changed))
		for _, i := range changed {
			x.p.laid += len(tables[i].Rows)
		}
	}
	several := len(q.Steps) > 1 || q.InTxn
	if several {
		texts = append(texts, "START TRANSACTION")
	}
	// Where the steps stand among the texts, and the queries whether they find rows with several partners, if any.
	at, matching := make([]int, len(q.Steps)), map[int]int{}
	for i, step := range q.Steps {
		if matches := x.matches(step, several); matches != nil {
			matching[i] = len(texts) + len(matches)/2
			texts = append(texts, matches...)
		}
		at[i] = len(texts)
		texts = append(texts, x.s.steps[step].sql)
	}
	end := len(texts)
	reading := x.w.pool.speech.reading(x.p.tables)
	switch {
	case q.InTxn:
		texts = append(texts, reading, "ROLLBACK")
	case several:
		texts = append(texts, "COMMIT", reading)
	default:
		texts = append(texts, reading)
	}
	was := x.now
	x.now = nil
	replies, err := x.w.exchange(s, texts)
	if err != nil {
		return nil, err
	}
	a := &history.SoloAnswer{}
	if len(changed) > 0 {
		if err := x.laid(&replies[0], tables, changed, was, a); err != nil || a.Open != "" {
			return a, err
		}
		was = x.now
	}
	for i := range q.Steps {
		r := &replies[at[i]]
		if k, ok := matching[i]; ok && severalMatch(&replies[k]) {
			a.Several = append(a.Several, i)
		}
		if r.Err != nil {
			x.s.nameDatabase(r.Err, x.p.db)
		}
		a.Results = append(a.Results, r.Result)
	}
	now := &replies[len(replies)-1]
	if q.InTxn {
		x.now = was
		now = &replies[end]
		if a.Results[len(a.Results)-1].Err != nil && x.w.pool.speech.aborts {
			a.After = arranged(x.now, q.Tables)
			return a, nil
		}
		if now.Err != nil {
			a.Open = "tables that cannot be read in the transaction: " + now.Err.String()
			return a, nil
		}
	} else if failed := replies[end].Err; several && failed != nil {
		a.Open = "a transaction that cannot be committed alone either: " + failed.String()
	}
	if now.Err != nil {
		return nil, fmt.Errorf("read tables behind statements: %s", now.Err)
	}
	after, err := tablesOf(now, x.p.tables)
	if err != nil {
		return nil, err
	}
	if !q.InTxn {
		x.now = after
	}
	a.After = arranged(after, q.Tables)
	return a, nil
}

// denied is the SQLSTATE of what a user may not do.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const denied = "42501"

// laid takes the answer to the text of laying, before which tables held what was says. If the server has not taken the
// rows as they are, a is left open, and what the tables hold behind the statements that came with them is read.
func (x *Scratch) laid(
	r *Reply, tables []history.Table, changed []int, was []history.Table, a *history.SoloAnswer,
) error {
	mayGuard := true
	if r.Err != nil && r.Err.State == denied && x.guards {
		mayGuard = false
		a.Open = "tables with foreign keys, triggers or constraints that may be deferred, and a user who may not set session_replication_role: " +
			"GRANT SET ON PARAMETER session_replication_role TO the user (PostgreSQL 15 and later)"
	} else if r.Err != nil {
		a.Open, a.Refused = "rows that cannot be laid out: "+r.Err.String(), r.Err
	} else {
		got, err := tablesOf(r, x.specs(changed))
		if err != nil {
			return err
		}
		x.now = slices.Clone(was)
		for n, i := range changed {
			x.now[i] = got[n]
			if !history.SameRows(got[n].Rows, tables[i].Rows, false) {
				a.Open = "rows that cannot be laid out: table " + tables[i].Name + " holds others"
			}
		}
	}
	if a.Open == "" {
		return nil
	}
	undo := "ROLLBACK"
	if x.guards && mayGuard {
		undo += "; " + x.w.pool.speech.stirred
	}
	if err := x.w.ctlExec(undo); err != nil {
		return err
	}
	var err error
	x.now, err = x.w.readAll(x.p, x.p.tables)
	return err
}

// Answers answers questions about single statements on given rows, each in a transaction that is rolled back; it leaves
// no rows in the tables. Errors are those of Alone, or that questions cannot be asked so.
func (x *Scratch) Answers(ctx context.Context, questions []history.Question) ([]*history.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("ask what statements answer: %w", err)
	}
	s := x.pipelined()
	if s == nil {
		return nil, errors.New("ask what statements answer: the server takes texts one by one")
	}
	x.dog.Reset(x.w.longest())
	if err := x.w.use(s, x.p.db); err != nil {
		return nil, err
	}
	if err := x.empty(); err != nil {
		return nil, err
	}
	var texts []string
	at := make([]laidQuestion, len(questions))
	for i := range questions {
		var err error
		if at[i], err = x.question(&questions[i]); err != nil {
			return nil, err
		}
		begin := at[i].lays
		if i > 0 {
			begin = "ROLLBACK;" + begin
		}
		at[i].at = len(texts)
		texts = append(texts, begin, at[i].asks)
		if at[i].reads != "" {
			texts = append(texts, at[i].reads)
		}
	}
	replies, err := x.w.exchange(s, append(texts, "ROLLBACK"))
	if err != nil {
		return nil, err
	}
	out := make([]*history.Answer, len(questions))
	for i := range questions {
		if out[i], err = x.answer(&questions[i], &at[i], replies[at[i].at:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// laidQuestion is the texts of a question: they lay out its rows and return them, ask, and read the tables behind a
// statement that is no plain query; the first has the index at among all.
type laidQuestion struct {
	lays, asks, reads string
	at                int
}

// empty leaves no rows in the tables.
func (x *Scratch) empty() error {
	var b strings.Builder
	for i := range x.now {
		if len(x.now[i].Rows) > 0 {
			b.WriteString("DELETE FROM " + x.w.pool.speech.quote(x.now[i].Name) + ";")
		}
	}
	text := b.String()
	switch {
	case text == "":
		return nil
	case x.s.keyed:
		text = x.w.pool.speech.emptied(x.p.tables)
	}
	if err := x.w.ctlExec(text); err != nil {
		return fmt.Errorf("empty tables: %w", err)
	}
	for i := range x.now {
		x.now[i].Rows = nil
	}
	return nil
}

// question returns the texts of a question.
func (x *Scratch) question(q *history.Question) (laidQuestion, error) {
	in := x.w.pool.speech
	var l laidQuestion
	var lays, reads []string
	for i := range q.Tables {
		t := &q.Tables[i]
		if len(t.Rows) > 0 {
			lays = append(lays, in.insert(t, x.writtenFor(t.Name))+" RETURNING *")
			x.p.laid += len(t.Rows)
		}
		reads = append(reads, "SELECT * FROM "+in.quote(t.Name))
	}
	l.lays = strings.Join(append([]string{"BEGIN"}, lays...), ";")
	asked, err := x.asked(q.SQL)
	if err != nil {
		return l, err
	}
	if l.asks = asked.sql; !asked.plain {
		l.reads = strings.Join(reads, ";")
	}
	return l, nil
}

// answer reads what the server said to the texts of a question.
func (x *Scratch) answer(q *history.Question, l *laidQuestion, replies []Reply) (*history.Answer, error) {
	a := &history.Answer{}
	lays, asks := &replies[0], &replies[1]
	sets := lays.Earlier
	if lays.Err == nil && lays.Columns != nil {
		sets = append(sets, RowSet{lays.Columns, lays.Rows})
	}
	for i := range q.Tables {
		t := &q.Tables[i]
		if len(t.Rows) == 0 {
			continue
		}
		if len(sets) == 0 || !history.SameRows(sets[0].Rows, t.Rows, false) {
			a.Open = "the rows of table " + t.Name + " could not be laid out"
			return a, nil
		}
		sets = sets[1:]
	}
	if asks.Err != nil {
		x.s.nameDatabase(asks.Err, x.p.db)
	}
	r := asks.Result
	a.Result = history.Result{
		Columns: r.Columns, Rows: r.Rows, Matched: r.Matched, Changed: r.Changed, Affected: r.Affected,
		Warnings: r.Warnings, Err: r.Err,
	}
	if l.reads == "" {
		return a, nil
	}
	if r.Err != nil { // it has changed nothing, and its transaction is aborted
		a.After = q.Tables
		return a, nil
	}
	specs := make([]tableSpec, len(q.Tables))
	for i := range q.Tables {
		specs[i].name = q.Tables[i].Name
	}
	var err error
	if a.After, err = tablesOf(&replies[2], specs); err != nil {
		return nil, fmt.Errorf("read tables behind a statement: %w", errors.Join(err, replyError(&replies[2])))
	}
	for i := range a.After {
		a.After[i].Columns = q.Tables[i].Columns
	}
	return a, nil
}

func replyError(r *Reply) error {
	if r.Err == nil {
		return nil
	}
	return errors.New(r.Err.String())
}

// askedText is a statement as it is sent; plain says that it is a query that locks nothing.
type askedText struct {
	sql   string
	plain bool
}

// asked returns what is sent for the text of a question. Most questions are about lines of the case, whose texts are
// known.
func (x *Scratch) asked(sql string) (askedText, error) {
	if x.texts == nil {
		x.texts = map[string]askedText{}
		for i, l := range x.c.Steps {
			if text, err := corpus.Format(l.Stmt, corpus.Text); err == nil {
				x.texts[text] = askedText{x.s.steps[i].sql, stmt.KindOf(l.Stmt) == stmt.Select}
			}
		}
	}
	if t, ok := x.texts[sql]; ok {
		return t, nil
	}
	n, err := corpus.ParseStatement(sql)
	if err != nil {
		return askedText{}, fmt.Errorf("ask what a statement answers: %w", err)
	}
	t := askedText{plain: stmt.KindOf(n) == stmt.Select}
	if t.sql, err = said(n, dialects[x.w.pool.server.DBMS]); err != nil {
		return t, err
	}
	if _, err := inspect(n, t.sql); err != nil {
		return t, err
	}
	x.texts[sql] = t
	return t, nil
}

// writtenFor tells how the values of a table are written.
func (x *Scratch) writtenFor(table string) map[string]history.Written {
	as, ok := x.layout[table]
	if !ok {
		as = history.WrittenFor(x.c, table)
		x.layout[table] = as
	}
	return as
}
