package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// draft is a case taken apart: sessions side by side, not yet in an order. Its
// statements may be shared with other cases, so they are replaced, never
// changed.
type draft struct {
	init     []corpus.Line
	tables   []*table
	sessions []session
	levels   map[int]corpus.Level
	// own is the order that the case came with; nil for a fresh one.
	own []int
	// woven is the pattern whose order own is, which the first order keeps; nil: none.
	woven *pattern.Pattern
	// operations are the statements that stand for those of the pattern.
	operations []ref
	// bent says that some of them do not do what the pattern has them do.
	bent bool
}

// session holds the statements that one session runs, in order.
type session struct {
	number int
	stmts  []ast.StmtNode
}

// span is one transaction of a session: the indexes of its begin and its end.
type span struct{ begin, end int }

// ref names one statement of a draft by indexes.
type ref struct{ session, stmt int }

// draftOf takes a case apart. Comments stay behind: they tell of a run that
// the new case will not repeat.
func draftOf(c *corpus.Case) *draft {
	d := &draft{init: slices.Clone(c.Init), tables: readTables(c), levels: map[int]corpus.Level{}}
	at := map[int]int{}
	for i, n := range c.Sessions() {
		at[n] = i
		d.sessions = append(d.sessions, session{number: n})
		if l, ok := c.LevelOf(n); ok {
			d.levels[n] = l
		}
	}
	for _, l := range c.Steps {
		if stmt.KindOf(l.Stmt).OfSession() { // see EndSessions
			continue
		}
		d.own = append(d.own, at[l.Session])
		s := &d.sessions[at[l.Session]]
		s.stmts = append(s.stmts, l.Stmt)
	}
	return d
}

// build makes the case whose lines follow an order: the index of the session
// whose turn it is, one for each statement.
func (d *draft) build(order []int) *corpus.Case {
	c := &corpus.Case{Init: d.init, Steps: make([]corpus.Line, 0, len(order))}
	next := make([]int, len(d.sessions))
	for _, i := range order {
		s := &d.sessions[i]
		c.Steps = append(c.Steps, corpus.Line{Session: s.number, Stmt: s.stmts[next[i]]})
		next[i]++
	}
	if len(d.levels) > 0 {
		c.SetLevels(d.levels)
	}
	return c
}

// spans returns the transactions of a session. One that is never ended ends
// behind the last statement, one that a BEGIN cuts off ends there.
func (s *session) spans() []span {
	var out []span
	open := -1
	for i, n := range s.stmts {
		switch kind := stmt.KindOf(n); {
		case kind.Begins():
			if open >= 0 {
				out = append(out, span{open, i})
			}
			open = i
		case kind.Ends() && open >= 0:
			out = append(out, span{open, i})
			open = -1
		}
	}
	if open >= 0 {
		out = append(out, span{open, len(s.stmts)})
	}
	return out
}

// closed says that a transaction is ended by a statement of its own.
func (s *session) closed(sp span) bool {
	return sp.end < len(s.stmts) && stmt.KindOf(s.stmts[sp.end]).Ends()
}

// body returns the range [lo, hi) of the statements inside the first
// transaction of a session; ok is false if it has none.
func (s *session) body() (lo, hi int, ok bool) {
	for _, sp := range s.spans() {
		return sp.begin + 1, sp.end, true
	}
	return 0, 0, false
}

// insert puts a statement at index i of a session.
func (s *session) insert(i int, stmt ast.StmtNode) { s.stmts = slices.Insert(s.stmts, i, stmt) }

// room removes a statement in the middle of a transaction that has reached the
// limit, so that one can be put in.
func (s *session) room(limit int) {
	if lo, hi, ok := s.body(); ok && hi-lo >= limit {
		i := (lo + hi) / 2
		s.stmts = slices.Delete(s.stmts, i, i+1)
	}
}

// find returns the statements inside transactions of session i that satisfy a
// condition on their kind, on tables that the draft knows.
func (d *draft) find(i int, want func(stmt.Kind) bool) []ref {
	var out []ref
	for _, sp := range d.sessions[i].spans() {
		for j := sp.begin + 1; j < sp.end; j++ {
			if k, name := KindOf(d.sessions[i].stmts[j]); k != stmt.Other && want(k) && tableNamed(d.tables, name) != nil {
				out = append(out, ref{i, j})
			}
		}
	}
	return out
}

func (d *draft) stmt(r ref) ast.StmtNode { return d.sessions[r.session].stmts[r.stmt] }

func (d *draft) replace(r ref, s ast.StmtNode) { d.sessions[r.session].stmts[r.stmt] = s }

// tableOf returns the table of a statement that KindOf knows.
func (d *draft) tableOf(s ast.StmtNode) *table {
	_, name := KindOf(s)
	return tableNamed(d.tables, name)
}

// creation returns the statement that makes a table.
func (d *draft) creation(name string) *ast.CreateTableStmt {
	for _, l := range d.init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok && s.Table.Name.O == name {
			return s
		}
	}
	return nil
}
