package rowversions

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/transactions"
)

const never = history.Tick(math.MaxInt)

// transaction is one of a session, or a statement that commits itself.
type transaction struct {
	session int
	level   corpus.Level
	// Its COMMIT was sent at from and answered at until; both are never if it did not commit.
	from, until history.Tick
	// A snapshot for all of it was taken after earliest and before latest, as far as its statements tell.
	earliest, latest history.Tick
}

func (t *transaction) committed() bool { return t.until != never }

// snapshots says that a transaction reads by one snapshot.
func (t *transaction) snapshots() bool { return t.level > corpus.ReadCommitted }

// act is a statement, as one of its transaction.
type act struct {
	of *transaction
	// undone is the index of the statement that undid it by going back to a savepoint or failing, len(Stmts) if none did.
	undone int
	depth  int // how many savepoints stand before it
}

// lasts says that what a statement did is there once all transactions have ended.
func (a *act) lasts(all int) bool {
	return a.undone == all && a.of.committed()
}

// follower knows the transactions of a history, and the versions that their statements made and replaced.
type follower struct {
	c    *corpus.Case
	h    *history.History
	acts []act
	// made, by a version and by the number of a transaction, is the statement that made it; replaced holds those that
	// replaced a version.
	made, by map[string]int
	replaced map[string][]int
}

// follow returns nil if it cannot tell what became of the transactions, or if nobody tells versions.
func follow(c *corpus.Case, h *history.History) *follower {
	f := &follower{c: c, h: h, acts: make([]act, len(h.Stmts)), made: map[string]int{}, by: map[string]int{},
		replaced: map[string][]int{}}
	open := map[int]*transaction{}
	sessions := map[int]*transactions.Session{}
	told := false
	for i := range h.Stmts {
		st := &h.Stmts[i]
		node := c.Steps[st.Line].Stmt
		kind := stmt.KindOf(node)
		if st.Return == 0 || !followed(node, kind) {
			return nil
		}
		s := sessions[st.Session]
		if s == nil {
			s = &transactions.Session{}
			sessions[st.Session] = s
		}
		failed := s.Failed
		effect := s.Follow(node, st)
		t := open[st.Session]
		if t == nil {
			t = &transaction{session: st.Session, level: h.Levels[st.Session], from: never, until: never,
				earliest: never, latest: never}
		}
		f.acts[i] = act{of: t, undone: len(h.Stmts), depth: s.Depth()}
		f.reads(i, kind)
		f.writes(i, kind)
		told = told || len(st.Versions) > 0
		switch effect.What {
		case transactions.GoesBack:
			f.undo(i, effect.Depth)
		case transactions.Merges:
			for k := range i {
				if a := &f.acts[k]; a.of == t {
					a.depth = min(a.depth, effect.Depth)
				}
			}
		case transactions.Ends:
			if kind == stmt.Commit && st.Result.Err == nil && !failed {
				t.from, t.until = st.Submit, st.Return
			}
			t = nil
		case transactions.Nothing:
			if !s.InTxn && st.Result.Err == nil {
				t.from, t.until = st.Submit, st.Return
			}
		}
		open[st.Session] = nil
		if s.InTxn {
			open[st.Session] = t
		}
	}
	if !told {
		return nil
	}
	return f
}

// followed says that it is known of a statement to which transaction it belongs, and at which level that is.
func followed(n ast.StmtNode, kind stmt.Kind) bool {
	_, modes := n.(*stmt.ModesStmt)
	return !modes && kind != stmt.SetLevel && !kind.OfSession() && !kind.OfPrepared()
}

// reads bounds the snapshot of the transaction of statement i.
func (f *follower) reads(i int, kind stmt.Kind) {
	switch kind {
	case stmt.Begin, stmt.Savepoint, stmt.RollbackTo, stmt.ReleaseSavepoint:
		return
	}
	t, st := f.acts[i].of, &f.h.Stmts[i]
	t.earliest = min(t.earliest, st.Submit)
	if len(st.Versions) == 0 {
		return
	}
	taken := st.Return
	if len(st.Waits) > 0 && st.Waits[0].Kind == history.RowLock {
		taken = st.Waits[0].From // it waits for a row that it has found
	}
	t.latest = min(t.latest, taken)
}

// writes notes what versions statement i made and replaced.
func (f *follower) writes(i int, kind stmt.Kind) {
	for _, v := range f.h.Stmts[i].Versions {
		if v.Made != "" {
			f.made[v.Made], f.by[history.Writer(v.Made)] = i, i
		}
		if v.Found != "" && kind.Writes() {
			f.replaced[v.Found] = append(f.replaced[v.Found], i)
		}
	}
}

// undo has statement i undo what its transaction did behind so many savepoints.
func (f *follower) undo(i, depth int) {
	for k := range i {
		a := &f.acts[k]
		if a.of == f.acts[i].of && a.depth >= depth && a.undone == len(f.h.Stmts) {
			a.undone = i
		}
	}
}

// writer is the statement that made a version, or another one of the same part of its transaction: these are undone
// together. ok is false for what was there before, or was made by a statement that does not tell.
func (f *follower) writer(version string) (i int, ok bool) {
	if i, ok = f.made[version]; !ok {
		i, ok = f.by[history.Writer(version)]
	}
	return i, ok
}
