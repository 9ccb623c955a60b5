package foresight

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// schedule makes the history of a case with the answers that the base had, its
// lines sent as the harness sends them. A statement waits where it did in the
// base, if the line that released it is still to come. nil: it cannot be told.
func (s *Seer) schedule(c *corpus.Case, levels map[int]corpus.Level) *history.History {
	p := &plan{
		seer: s, c: c, from: s.lines(c), parked: map[int][]int{}, waiting: map[int]*waiting{}, open: map[int]bool{},
		h: &history.History{Server: s.history.Server, Levels: levels},
	}
	for i := range c.Steps {
		p.submit(i)
	}
	if p.lost || len(p.waiting) > 0 {
		return nil
	}
	return p.h
}

// lines maps each step of a case to the step of the base that it was made of,
// -1 for none: the same place where sessions tell nothing else, else the same
// text.
func (s *Seer) lines(c *corpus.Case) []int {
	out := make([]int, len(c.Steps))
	if len(c.Steps) == len(s.base.Steps) && sameSessions(c, s.base) {
		for i := range out {
			out[i] = i
		}
		return out
	}
	by := map[string][]int{}
	for i, l := range s.base.Steps {
		k := strconv.Itoa(l.Session) + s.texts[i]
		by[k] = append(by[k], i)
	}
	for i, l := range c.Steps {
		k := strconv.Itoa(l.Session) + corpus.SQL(l.Stmt, corpus.Text)
		out[i] = -1
		if left := by[k]; len(left) > 0 {
			out[i], by[k] = left[0], left[1:]
		}
	}
	return out
}

func sameSessions(a, b *corpus.Case) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(x, y corpus.Line) bool { return x.Session == y.Session })
}

// plan is a schedule in the making.
type plan struct {
	seer *Seer
	c    *corpus.Case
	from []int
	h    *history.History
	tick history.Tick

	// parked holds the lines of a session that waits, waiting what it waits for.
	parked  map[int][]int
	waiting map[int]*waiting
	// open says that a session is in a transaction.
	open map[int]bool
	// lost says that the schedule cannot be told.
	lost bool
}

// waiting is a statement without an answer: it is released by one line after
// another.
type waiting struct {
	stmt     int
	releases []release
}

type release struct {
	// line is a step of the new case.
	line int
	wait history.Wait
}

func (p *plan) now() history.Tick {
	p.tick++
	return p.tick
}

func (p *plan) submit(line int) {
	session := p.c.Steps[line].Session
	if p.waiting[session] != nil {
		p.parked[session] = append(p.parked[session], line)
		return
	}
	st := history.Stmt{Line: line, Session: session, Submit: p.now(), InTxn: p.open[session], Result: history.Result{Matched: -1, Changed: -1}}
	var releases []release
	if i := p.origin(line); i >= 0 {
		old := &p.seer.history.Stmts[i]
		st.Result = old.Result
		if releases = p.releases(line, old); len(releases) > 0 && old.InTxn != st.InTxn && p.h.Server.DBMS == history.TiDB {
			// A statement that is a transaction of its own waits when it commits.
			p.lost = true
		}
	}
	p.h.Stmts = append(p.h.Stmts, st)
	w := &waiting{len(p.h.Stmts) - 1, releases}
	if len(releases) > 0 {
		p.waiting[session] = w
		p.wait(w)
		return
	}
	p.answered(w.stmt)
}

// origin is the statement of the base's history that a line was made of, -1 for
// none.
func (p *plan) origin(line int) int {
	return slices.IndexFunc(p.seer.history.Stmts, func(s history.Stmt) bool { return s.Line == p.from[line] })
}

// releases tells which lines of the new case end the waits that a statement had.
func (p *plan) releases(line int, old *history.Stmt) []release {
	var out []release
	for _, w := range old.Waits {
		at := -1
		for i := range p.seer.history.Stmts {
			x := &p.seer.history.Stmts[i]
			if x.Session != old.Session && x.Submit < w.Until && (at < 0 || x.Submit > p.seer.history.Stmts[at].Submit) {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		now := slices.Index(p.from, p.seer.history.Stmts[at].Line)
		if now > line && p.open[p.c.Steps[now].Session] && p.waiting[p.c.Steps[now].Session] == nil {
			out = append(out, release{now, w})
		}
	}
	return out
}

func (p *plan) wait(w *waiting) {
	st := &p.h.Stmts[w.stmt]
	next := w.releases[0].wait
	next.From, next.Until = p.now(), 0
	st.Waits = append(st.Waits, next)
}

// answered ends a statement, and what that releases.
func (p *plan) answered(stmt int) {
	st := &p.h.Stmts[stmt]
	st.Return = p.now()
	p.open[st.Session] = inTransaction(p.open[st.Session], p.c.Steps[st.Line].Stmt, &st.Result)
	st.Result.InTxn = p.open[st.Session]
	line := st.Line
	for _, session := range p.c.Sessions() {
		w := p.waiting[session]
		if w == nil || w.releases[0].line != line {
			continue
		}
		x := &p.h.Stmts[w.stmt]
		x.Waits[len(x.Waits)-1].Until = p.now()
		if w.releases = w.releases[1:]; len(w.releases) > 0 {
			p.wait(w)
			continue
		}
		delete(p.waiting, session)
		p.answered(w.stmt)
		later := p.parked[session]
		delete(p.parked, session)
		for _, l := range later {
			p.submit(l)
		}
	}
}

// errDeadlock is the error whose statement loses its transaction.
const errDeadlock = 1213

func inTransaction(before bool, n ast.StmtNode, r *history.Result) bool {
	if r.Err != nil {
		return before && r.Err.Code != errDeadlock
	}
	kind := stmt.KindOf(n)
	return kind.Begins() || before && !kind.Ends()
}
