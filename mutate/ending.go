package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

var (
	sessionEnds = []weighted[stmt.Kind]{{40, stmt.KillQuery}, {30, stmt.Kill}, {30, stmt.Disconnect}}
	// killers say who sends a KILL: another session of the case, one that does nothing else, as
	// an operator's, or the session itself.
	killers = []weighted[killer]{{55, byOther}, {35, byOperator}, {10, bySelf}}
)

type killer uint8

const (
	byOther killer = iota
	byOperator
	bySelf
)

// Out of 256.
const (
	// secondEndOdds is how often a second session ends, or the same one again.
	secondEndOdds = 64
	// busyOdds is how often a session ends behind a statement that locks or writes: it may be
	// waiting then, and holds locks.
	busyOdds = 180
	// lateOdds is how often that is not right behind the statement.
	lateOdds = 96
	// backOdds is how often a session whose connection is gone gets another one, anewOdds how
	// often it begins a transaction then, and atOnceOdds how often that is at once and not when its
	// next statement is due.
	backOdds, anewOdds, atOnceOdds = 200, 128, 150
	// witnessOdds is how often somebody does at once what the session did that has ended: what of it is
	// left shows there.
	witnessOdds = 110
)

// EndSessions returns a copy of a case in which sessions are killed, or disconnected, and
// connected anew; nil if the case has no place for that. It shares statements with its origin. The
// choices are those of a generator with the seed, since inputs have no room for them.
func EndSessions(c *corpus.Case, seed uint64) *corpus.Case {
	if len(c.Sessions()) < 2 {
		return nil
	}
	g := splitMix(seed)
	e := &ender{c: random(&g), of: &corpus.Case{Header: slices.Clone(c.Header), Init: c.Init, Steps: slices.Clone(c.Steps)}}
	e.end()
	if e.c.odds(secondEndOdds) {
		e.end()
	}
	return e.of
}

type ender struct {
	c  *choices
	of *corpus.Case
	// operator is the session that only kills; 0: there is none yet.
	operator int
}

func (e *ender) end() {
	at := e.place()
	victim, before := e.of.Steps[at].Session, e.of.Steps[at].Stmt
	form := pick(e.c, sessionEnds)
	by := victim
	if form != stmt.Disconnect {
		by = e.killer(victim)
	}
	at++
	if e.c.odds(lateOdds) {
		at = min(at+1+e.c.below(3), len(e.of.Steps))
	}
	line := &stmt.SessionStmt{Does: form}
	if form != stmt.Disconnect {
		line.Target = victim
	}
	e.insert(at, by, line)
	at++
	if e.c.odds(witnessOdds) && (stmt.KindOf(before).Writes() || stmt.KindOf(before).LocksRead()) {
		witness := by
		if by == victim {
			witness = e.killer(victim)
		}
		if witness != victim {
			e.insert(at, witness, before)
			at++
		}
	}
	if form != stmt.KillQuery && e.c.odds(backOdds) {
		e.back(at, victim)
	}
}

// place chooses the statement behind which its session is to end.
func (e *ender) place() int {
	var busy, all []int
	for i, l := range e.of.Steps {
		k := stmt.KindOf(l.Stmt)
		if k.OfSession() {
			continue
		}
		if all = append(all, i); k.Writes() || k.LocksRead() {
			busy = append(busy, i)
		}
	}
	if len(busy) > 0 && e.c.odds(busyOdds) {
		return oneOf(e.c, busy)
	}
	return oneOf(e.c, all)
}

func (e *ender) killer(victim int) int {
	switch pick(e.c, killers) {
	case byOther:
		others := slices.DeleteFunc(e.of.Sessions(), func(n int) bool { return n == victim })
		return oneOf(e.c, others)
	case byOperator:
		if e.operator == 0 {
			e.operator = slices.Max(e.of.Sessions()) + 1
		}
		return e.operator
	}
	return victim
}

// back connects a session anew.
func (e *ender) back(at, session int) {
	if !e.c.odds(atOnceOdds) {
		for at < len(e.of.Steps) && e.of.Steps[at].Session != session {
			at++
		}
	}
	e.insert(at, session, &stmt.SessionStmt{Does: stmt.Connect})
	rest := slices.ContainsFunc(e.of.Steps[at+1:], func(l corpus.Line) bool {
		return l.Session == session && stmt.KindOf(l.Stmt).TouchesRows()
	})
	if rest && e.c.odds(anewOdds) {
		e.insert(at+1, session, corpus.Begin())
	}
}

func (e *ender) insert(at, session int, n ast.StmtNode) {
	e.of.Steps = slices.Insert(e.of.Steps, at, corpus.Line{Session: session, Stmt: n})
}
