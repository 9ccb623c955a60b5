package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// interrupts says which families end a statement that waits for a row lock when they
// are told to. TiDB looks only when the wait is over.
var interrupts = map[history.DBMS]bool{history.MySQL: true, history.MariaDB: true, history.PostgreSQL: true}

// hopeless returns the session that has waited longest where nothing but the server's
// time-out for locks can end a wait any more: nothing is left to submit, the server
// names whoever is in the way, those are idle in open transactions or wait in turn for
// such ones, and there is no cycle, which the server would have to break. Where the
// case sets a time-out, that is what it is about: then there is none.
func (r *run) hopeless(ctx context.Context) (*lane, error) {
	who, ok := r.w.prober.(Blockers)
	if !ok || !interrupts[r.h.Server.DBMS] || r.s.timed {
		return nil, nil
	}
	var first *lane
	for _, l := range r.lanes {
		switch {
		case l.stmt < 0:
		case !r.atLock(l), r.doing(l)&ignores != 0:
			// A time-out is a warning to IGNORE on MariaDB, an interruption is an error.
			return nil, nil
		case first == nil || r.h.Stmts[l.stmt].Submit < r.h.Stmts[first.stmt].Submit:
			first = l
		}
	}
	if first == nil {
		return nil, nil
	}
	blockers, err := who.Blockers(ctx, r.pending())
	if err != nil {
		return nil, lostUnlessCancelled(ctx, fmt.Errorf("ask who is in the way of what waits: %w", err))
	}
	for _, l := range r.lanes {
		if l.stmt >= 0 && !r.leadsToIdle(l.id, blockers, nil) {
			return nil, nil
		}
	}
	return first, nil
}

// atLock reports whether a session waits for a row lock, or for what ends like one: a safe snapshot, and where names
// have such locks, one of these.
func (r *run) atLock(l *lane) bool {
	w := r.h.Stmts[l.stmt].Waits
	if !l.waits || r.answered(l) || len(w) == 0 {
		return false
	}
	kind := w[len(w)-1].Kind
	return kind == history.RowLock || kind == history.SafeSnapshot || kind == history.Metadata && r.w.pool.speech.prepares
}

// leadsToIdle reports whether a connection is that of a session of the case which is
// idle in an open transaction, or waits for nobody but such sessions.
func (r *run) leadsToIdle(conn uint64, blockers map[uint64][]uint64, behind []uint64) bool {
	if conn == Prepared && r.w.pool.speech.prepares {
		return r.own != nil && r.own.prepares // nobody is left to end it
	}
	i := slices.IndexFunc(r.lanes, func(l *lane) bool { return l.id == conn })
	if i < 0 || slices.Contains(behind, conn) {
		return false
	}
	if l := r.lanes[i]; l.stmt < 0 {
		// Where an error aborts a transaction, that may still hold what it had locked before a savepoint.
		return (l.inTxn || r.w.pool.speech.aborts) && len(l.parked) == 0
	}
	behind = append(slices.Clip(behind), conn)
	return len(blockers[conn]) > 0 && !slices.ContainsFunc(blockers[conn], func(b uint64) bool { return !r.leadsToIdle(b, blockers, behind) })
}

// interrupt ends the wait of a session. The statement is undone, its transaction stays
// open: it is with it as after a time-out.
// https://dev.mysql.com/doc/refman/en/kill.html
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/kill
func (r *run) interrupt(l *lane) error {
	r.h.Stmts[l.stmt].Interrupted = true
	if _, err := r.w.query(of(r.w.pool.speech.interrupt, l.id)); err != nil {
		return fmt.Errorf("interrupt session %d, which nothing can release: %w", l.number, err)
	}
	return nil
}

// setsTimeout reports whether a statement says how long locks are waited for.
func setsTimeout(n ast.StmtNode) bool {
	if s, ok := n.(*ast.SetStmt); ok {
		return slices.ContainsFunc(s.Variables, func(a *ast.VariableAssignment) bool {
			return strings.Contains(strings.ToLower(a.Name), "lock_wait_timeout")
		})
	}
	return stmt.Of(n).Lock.Seconds > 0
}

// timedBy reports whether any of the lines does.
func timedBy(lines ...corpus.Line) bool {
	return slices.ContainsFunc(lines, func(l corpus.Line) bool { return setsTimeout(l.Stmt) })
}
