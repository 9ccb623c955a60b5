package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/ended"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// ReasonEnded is the reason of an unknown verdict on a history in which too many statements were
// killed whose outcome nobody was told, or in which a KILL did two things at once.
const ReasonEnded = "outcome of killed statements"

// ReasonDeclared is the reason of an unknown verdict on a server of which no rule speaks, but only what its
// user says that it promises.
const ReasonDeclared = "promise not judged"

// ReasonHeld is the reason of an unknown verdict on a history in which a statement was held inside of the server:
// the rules speak of statements that come one after the other.
const ReasonHeld = "statement held inside"

// outsideRules is the verdict on a history of which no rule speaks, nil for any other. Whatever the order of its
// statements was, a table agrees with its indexes.
func outsideRules(c *corpus.Case, h *history.History) *Verdict {
	v := &Verdict{Outcome: Unknown, Stmt: -1}
	switch {
	case h.Server.Declared != nil:
		v.Reason = ReasonDeclared
	case h.Server.DBMS == history.PostgreSQL && !onlyCommitted(h):
		v.Reason = ReasonDeclared
		v.disagreement(c, h)
	case h.Held():
		v.Reason = ReasonHeld
		v.disagreement(c, h)
	default:
		return nil
	}
	return v
}

// onlyCommitted says that all sessions have READ COMMITTED, or READ UNCOMMITTED, which is the same on PostgreSQL: only
// of these do rules speak there.
func onlyCommitted(h *history.History) bool {
	for _, l := range h.Levels {
		if l > corpus.ReadCommitted {
			return false
		}
	}
	return true
}

// inWorlds judges a history in which sessions are killed, disconnected or connected in each of the
// worlds that it may stand for; the best verdict counts, since the server may have done that. Any other
// history is its own world.
func inWorlds(c *corpus.Case, h *history.History, judge func(*corpus.Case, *history.History) Verdict) Verdict {
	v := inBestWorld(c, h, judge)
	v.besideRows(c, h)
	if !onlyCommitted(h) {
		v.rowLocks(c, h)
	}
	return v
}

func inBestWorld(c *corpus.Case, h *history.History, judge func(*corpus.Case, *history.History) Verdict) Verdict {
	if v := outsideRules(c, h); v != nil {
		return *v
	}
	if !c.EndsSessions() {
		return judge(c, h)
	}
	worlds := ended.Worlds(c, h)
	if worlds == nil {
		return Verdict{Outcome: Unknown, Stmt: -1, Reason: ReasonEnded}
	}
	var best Verdict
	for i := range worlds {
		w := &worlds[i]
		v := judge(w.Case, w.History)
		v.waitedForTheDead(w.History)
		if i > 0 && slices.Index(outcomes, v.Outcome) >= slices.Index(outcomes, best.Outcome) {
			continue
		}
		v.World = i
		v.Expected, v.Actual, v.Reason = w.Name(v.Expected), w.Name(v.Actual), w.Name(v.Reason)
		if best = v; v.Outcome == OK {
			break
		}
	}
	best.endedIdle(c, h)
	return best
}

// LostSession is the kind of a violation in which a session's connection is gone that had to stay.
const LostSession Kind = "lost-session"

// endedIdle judges that a KILL QUERY has ended a session which did nothing: it "terminates the statement
// the connection is currently executing, but leaves the connection itself intact". The history is right
// but for that, or known.
// https://dev.mysql.com/doc/refman/en/kill.html
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/kill
func (v *Verdict) endedIdle(c *corpus.Case, h *history.History) {
	i := slices.IndexFunc(h.Stmts, func(st history.Stmt) bool { return st.EndedIdle })
	if i < 0 || v.Outcome != OK && v.Outcome != Known {
		return
	}
	n := c.Steps[h.Stmts[i].Line].Stmt.(*stmt.SessionStmt)
	level := h.Levels[n.Target]
	if p := rules.For(h.Server); p.At(level)[rules.IdleKill] == rules.ClosesConnection {
		return
	}
	found := rules.DeviationIn(h.Server, level, rules.IdleKill)
	if v.Outcome == OK || found == nil || v.Stmt < 0 || v.Stmt > i {
		v.Kind, v.Stmt = LostSession, i
		v.Expected = fmt.Sprintf("nothing happens to tx%d, which runs no statement", n.Target)
		v.Actual = fmt.Sprintf("the connection of tx%d is closed", n.Target)
	}
	const why = "KILL QUERY ends the statement that a session runs and leaves its connection as it is; a session that runs none has nothing to be ended"
	if found == nil {
		v.Outcome, v.Rules, v.Reason = Violation, nil, why
		v.Fingerprint = string(LostSession) + "/KILL QUERY of a session that does nothing"
		return
	}
	if v.Outcome == OK {
		v.Reason = why
	}
	v.Outcome, v.Rules = Known, append(slices.Clone(v.Rules), found.Name)
	slices.Sort(v.Rules)
	v.Reason += "; " + says([]*rules.Rule{found})
	v.Fingerprint = knownFingerprint(strings.Join(v.Rules, "+"), h.Levels[h.Stmts[v.Stmt].Session].Short())
}

// waitedForTheDead makes a violation of a history that is right but for a statement which waited for a row
// until its time was over, although no other session was in a transaction all the while: who held the lock
// had been killed or disconnected, and a session that has ended holds none.
// https://dev.mysql.com/doc/refman/en/kill.html
func (v *Verdict) waitedForTheDead(h *history.History) {
	if v.Outcome != OK && v.Outcome != Known {
		return
	}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		e := st.Result.Err
		rows := slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind == history.RowLock })
		if e == nil || e.Means() != mvcc.ErrLockTimeout || st.Interrupted || !rows || othersActive(h, st) {
			continue
		}
		v.Outcome, v.Kind, v.Rules, v.Stmt = Violation, "lost-wakeup", nil, i
		v.Expected, v.Actual = "an answer, since nobody held a lock", e.String()
		v.Reason = fmt.Sprintf("tx%d waited for a row until its time was over, although no other session was in a transaction: those that were had been killed or disconnected", st.Session)
		v.Fingerprint = "lost-wakeup/" + levelNames(h) + "/a lock of a session that has ended"
		return
	}
}

// othersActive reports whether another session was in a transaction, or had a statement under way, at any
// moment while a statement ran.
func othersActive(h *history.History, st *history.Stmt) bool {
	last := map[int]*history.Stmt{}
	for i := range h.Stmts {
		o := &h.Stmts[i]
		switch {
		case o.Session == st.Session:
		case o.Submit < st.Submit:
			last[o.Session] = o
		case st.Return == 0 || o.Submit < st.Return:
			if o.Result.InTxn || o.InTxn {
				return true
			}
		}
	}
	for _, o := range last {
		if o.Return == 0 || o.Return > st.Submit || o.Result.InTxn {
			return true
		}
	}
	return false
}

// outcomes are those of verdicts, the best first.
var outcomes = []Outcome{OK, Known, Unknown, Violation}

// worldOf returns the world that a verdict speaks of: nil where the history is its own.
func worldOf(c *corpus.Case, h *history.History, v *Verdict) *ended.World {
	if !c.EndsSessions() {
		return nil
	}
	if worlds := ended.Worlds(c, h); v.World < len(worlds) {
		return &worlds[v.World]
	}
	return nil
}

// read returns a case and a history as a verdict speaks of them.
func read(c *corpus.Case, h *history.History, v *Verdict) (*corpus.Case, *history.History) {
	if w := worldOf(c, h, v); w != nil {
		return w.Case, w.History
	}
	return c, h
}

// inAllWorlds gathers the questions of all worlds.
func inAllWorlds(c *corpus.Case, h *history.History, ask func(*corpus.Case, *history.History) map[string]history.Question) map[string]history.Question {
	if outsideRules(c, h) != nil {
		return nil
	}
	if !c.EndsSessions() {
		return ask(c, h)
	}
	out := map[string]history.Question{}
	for _, w := range ended.Worlds(c, h) {
		maps.Copy(out, ask(w.Case, w.History))
	}
	return out
}

// asRun puts what was run into an account of a world, and the numbers that sessions have in the case.
func (a *Account) asRun(c *corpus.Case, h *history.History, w *ended.World) {
	for i := range a.Steps {
		s := &a.Steps[i]
		s.Expected, s.Actual, s.Reason = w.Name(s.Expected), w.Name(s.Actual), w.Name(s.Reason)
		if !w.Replaced[i] || s.Differs {
			continue
		}
		n := c.Steps[h.Stmts[i].Line].Stmt
		s.Kind, s.Actual = mvcc.KindOf(n), history.Describe(mvcc.KindOf(n), &h.Stmts[i].Result)
		s.Expected, s.Promised = s.Actual, nil
	}
	for i := range a.Why {
		a.Why[i] = w.Name(a.Why[i])
	}
	for i := range a.Anomalies {
		a.Anomalies[i].Cycle = w.Name(a.Anomalies[i].Cycle)
	}
}
