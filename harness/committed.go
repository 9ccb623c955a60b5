package harness

import (
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// seeState notes in which state the primary is, if statements that have just been answered may have committed something.
// All others wait, so that nobody changes it meanwhile.
func (r *run) seeState() error {
	g := r.reading
	if g == nil {
		return nil
	}
	if commits := r.committed(); len(commits) > 0 {
		tables, err := r.w.readAll(r.tables, r.tables.tables)
		if err != nil {
			return err
		}
		g.state(commits, r.h.Stmts[len(r.h.Stmts)-1].Submit, tables)
	}
	g.settled.Store(true)
	return nil
}

// committed returns the statements that have just been answered and may have committed something, as indexes into
// History.Stmts.
func (r *run) committed() (out []int) {
	for i := range r.got {
		l := r.lane(r.got[i].session.number)
		at := r.lastOf(l)
		if at < 0 {
			continue
		}
		st := &r.h.Stmts[at]
		failed, was := st.Result.Err != nil, st.InTxn || l.tainted
		if commits(&r.s.steps[st.Line], was, l.inTxn, failed) {
			out = append(out, at)
		}
	}
	return out
}

// commits says that a statement may have committed something, of a session that was in a transaction before it or may
// have been, and is in one behind it.
func commits(s *step, was, is, failed bool) bool {
	switch stmt.KindOf(s.node) {
	case stmt.Insert, stmt.Update, stmt.Delete:
		return !is && !failed
	case stmt.Raw:
		x, ok := s.node.(*stmt.RawStmt)
		return !is && !failed && !(ok && x.Plain())
	case stmt.Begin, stmt.BeginSnapshot: // which commit what is open
		return was
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate, stmt.Rollback, stmt.RollbackTo, stmt.Savepoint,
		stmt.ReleaseSavepoint, stmt.SetLevel, stmt.SetModes, stmt.Kill, stmt.KillQuery, stmt.Connect, stmt.Disconnect,
		stmt.Prepare, stmt.RollbackPrepared, stmt.Advisory, stmt.Listen, stmt.Unlisten, stmt.Sequence:
		return false
	}
	return true
}

// lastOf is the statement that a session was sent last, -1 where there is none.
func (r *run) lastOf(l *lane) int {
	for i := len(r.h.Stmts) - 1; i >= 0; i-- {
		if r.h.Stmts[i].Session == l.number {
			return i
		}
	}
	return -1
}
