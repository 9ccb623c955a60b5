package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Scratch is a copy of a case's tables in a database of its own, in which statements of the case
// run with nothing else going on. The rows that they are to meet are committed there. It has a
// worker of its pool that runs nothing else until it is closed, and belongs to one goroutine.
type Scratch struct {
	w      *worker
	s      *script
	c      *corpus.Case
	p      *provisioned
	dog    *watchdog
	now    []history.Table // what the tables hold
	layout map[string]map[string]history.Written
	// guards says that rows are laid out without a look at foreign keys, triggers and the like, since there may be some:
	// not every user of PostgreSQL may lay them out so.
	guards bool
	// session runs the statements, behind the SET statements that before names.
	session *connection
	before  string
	// texts holds what is sent for the text of a question.
	texts map[string]askedText
}

// Scratch makes the tables of a case once more, which costs what the set-up of the case does, or on PostgreSQL takes
// those that are there. A question then costs two round trips beside its statements, or one with them on a connection
// that is Pipelined. levels are those of the case's sessions, for whom the case takes the process down. Errors are
// those of Run.
func (p *Pool) Scratch(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) (x *Scratch, err error) {
	w, err := p.borrowAlone(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.giveBackAlone(w)
		}
	}()
	own := *c
	own.Init = slices.Clone(c.Init)
	for i, l := range own.Init {
		own.Init[i].Stmt = guarded(l.Stmt)
	}
	s, err := newScript(&own, p.server.DBMS)
	if err != nil {
		return nil, err
	}
	if s.database != "" {
		return nil, &RefusedError{s.init[0], "it names a database"}
	}
	if w.flight != nil { // a statement may take the server down alone, too
		if err := w.flight.write(c, levels); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				w.flight.clear()
			}
		}()
	}
	x = &Scratch{w: w, s: s, c: c, layout: map[string]map[string]history.Written{}, guards: mayReact(c)}
	if x.dog, err = w.start(ctx); err != nil {
		return nil, err
	}
	if x.p, x.now, err = w.asLeft(s); err != nil {
		x.dog.Stop()
		return nil, err
	}
	x.now = slices.Clone(x.now) // which may be shared with the tables' past
	for _, t := range x.now {
		x.layout[t.Name] = history.WrittenFor(c, t.Name)
	}
	return x, nil
}

// Close gives the worker back.
func (x *Scratch) Close() {
	x.dog.Stop()
	x.hangUp()
	x.p.after = nil
	if x.w.pool.speech.heaps {
		x.p.after = x.now
	}
	if x.w.flight != nil {
		x.w.flight.clear()
	}
	x.w.retire(x.p, x.w.ctl.broken)
	x.w.pool.giveBackAlone(x.w)
}

func (x *Scratch) hangUp() {
	if x.session != nil {
		x.w.hangUp(x.session)
		x.session = nil
	}
}

// Alone answers a question. What the server refuses to lay out leaves the answer open; an error
// says that the server or the connection is of no more use.
func (x *Scratch) Alone(ctx context.Context, q *history.Solo) (*history.SoloAnswer, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("run statements alone: %w", err)
	}
	x.dog.Reset(x.w.longest())
	a := &history.SoloAnswer{}
	tables := arranged(q.Tables, x.now)
	if tables == nil {
		a.Open = "tables that are made on the way"
		return a, nil
	}
	if s := x.pipelined(); s != nil && len(q.Before)+len(q.IDs) == 0 {
		return x.together(s, q, tables)
	}
	if err := x.load(tables, a); err != nil || a.Open != "" {
		return a, err
	}
	if err := x.ready(ctx, q.Before); err != nil {
		return nil, err
	}
	several := len(q.Steps) > 1 || q.InTxn
	if several {
		if err := x.w.idleExec(x.session, "START TRANSACTION"); err != nil {
			return nil, err
		}
	}
	for i, step := range q.Steps {
		if id := q.IDs[i]; id != 0 {
			if _, err := x.w.idle(x.session, fmt.Sprintf("SET insert_id = %d", id)); err != nil {
				return nil, err
			}
		}
		matches := x.matches(step, several)
		for n, sql := range matches {
			r, err := x.w.idle(x.session, sql)
			if err != nil {
				return nil, err
			}
			if n == len(matches)/2 && severalMatch(&r) {
				a.Several = append(a.Several, i)
			}
		}
		r, err := x.w.idle(x.session, x.s.steps[step].sql)
		if err != nil {
			return nil, err
		}
		if r.Err != nil {
			x.s.nameDatabase(r.Err, x.p.db)
		}
		a.Results = append(a.Results, r.Result)
	}
	a, err := x.end(q, a, several)
	if len(q.IDs) > 0 { // a value that no statement took would be the next one's
		x.hangUp()
	}
	return a, err
}

// end reads what the tables hold behind the statements of a question, and ends their transaction.
func (x *Scratch) end(q *history.Solo, a *history.SoloAnswer, txn bool) (*history.SoloAnswer, error) {
	if q.InTxn {
		if failed := a.Results[len(a.Results)-1].Err; failed != nil && x.w.pool.speech.aborts {
			a.After = arranged(x.now, q.Tables)
			return a, x.w.idleExec(x.session, "ROLLBACK")
		}
		r, err := x.w.idle(x.session, x.w.pool.speech.reading(x.p.tables))
		if err != nil {
			return nil, err
		}
		if r.Err != nil {
			a.Open = "tables that cannot be read in the transaction: " + r.Err.String()
		} else if a.After, err = tablesOf(&r, x.p.tables); err != nil {
			return nil, err
		}
		if err := x.w.idleExec(x.session, "ROLLBACK"); err != nil {
			return nil, err
		}
		a.After = arranged(a.After, q.Tables)
		return a, nil
	}
	if txn {
		r, err := x.w.idle(x.session, "COMMIT")
		if err != nil {
			return nil, err
		}
		if r.Err != nil {
			a.Open = "a transaction that cannot be committed alone either: " + r.Err.String()
		}
	}
	var err error
	if x.now, err = x.w.readAll(x.p, x.p.tables); err != nil {
		return nil, err
	}
	a.After = arranged(x.now, q.Tables)
	return a, nil
}

// arranged puts tables into the order that others of the same names have; nil if the names differ.
func arranged(tables, like []history.Table) []history.Table {
	if len(tables) != len(like) {
		return nil
	}
	out := make([]history.Table, len(like))
	for i := range like {
		at := slices.IndexFunc(tables, func(t history.Table) bool { return t.Name == like[i].Name })
		if at < 0 {
			return nil
		}
		out[i] = tables[at]
	}
	return out
}

// ready gives the statements a session that has run some SET statements and nothing else that
// stays.
func (x *Scratch) ready(ctx context.Context, before []int) error {
	var text []string
	for _, step := range before {
		if stmt.KindOf(x.c.Steps[step].Stmt) == stmt.SetVariable {
			text = append(text, x.s.steps[step].sql)
		}
	}
	if key := strings.Join(text, ";"); x.session == nil || key != x.before || x.session.broken {
		x.hangUp()
		var err error
		if x.session, err = x.w.connect(ctx, 0); err != nil {
			return &LostError{err}
		}
		x.before = key
		for _, sql := range text {
			if _, err := x.w.idle(x.session, sql); err != nil {
				return err
			}
		}
		// Whatever they set, each statement commits itself here.
		if on := x.w.pool.speech.autocommit; on != "" {
			if err := x.w.idleExec(x.session, on); err != nil {
				return err
			}
		}
	}
	return x.w.use(x.session, x.p.db)
}

// loading is the variable that keeps triggers still while rows are laid out.
const loading = "@txnfuzz_loading"

// load lays out rows, in the tables that hold others, without a look at foreign keys. If the server has not
// taken them as they are, the answer is left open.
func (x *Scratch) load(tables []history.Table, a *history.SoloAnswer) error {
	changed := x.differing(tables)
	if len(changed) == 0 {
		return nil
	}
	if err := x.w.use(x.w.ctl, x.p.db); err != nil {
		return err
	}
	r, err := x.w.control(x.laying(tables, changed))
	if err != nil {
		return err
	}
	return x.laid(&r, tables, changed, x.now, a)
}

// differing returns the indexes of the tables that hold other rows.
func (x *Scratch) differing(tables []history.Table) (changed []int) {
	for i := range tables {
		if !history.SameRows(tables[i].Rows, x.now[i].Rows, false) {
			changed = append(changed, i)
		}
	}
	return changed
}

// laying is the statements that lay out the rows of some tables and read them back.
func (x *Scratch) laying(tables []history.Table, changed []int) string {
	var b strings.Builder
	in := x.w.pool.speech
	if x.guards {
		b.WriteString(in.still + ";")
	}
	b.WriteString("BEGIN;")
	for _, i := range changed {
		b.WriteString("DELETE FROM " + in.quote(tables[i].Name) + ";")
	}
	for _, i := range changed {
		if len(tables[i].Rows) > 0 {
			b.WriteString(in.insert(&tables[i], x.layout[tables[i].Name]) + ";")
		}
	}
	b.WriteString("COMMIT;")
	if x.guards {
		b.WriteString(in.stirred + ";")
	}
	b.WriteString(in.reading(x.specs(changed)))
	return b.String()
}

// specs returns some of the tables.
func (x *Scratch) specs(of []int) []tableSpec {
	specs := make([]tableSpec, 0, len(of))
	for _, i := range of {
		specs = append(specs, x.p.tables[i])
	}
	return specs
}
