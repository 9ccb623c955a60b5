package rowversions

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Check returns the first difference of a history of PostgreSQL but a cycle, nil for none. Of a case that ends sessions,
// prepares transactions or changes levels on its way it claims nothing.
func Check(c *corpus.Case, h *history.History) *history.Difference {
	f := follow(c, h)
	if f == nil {
		return nil
	}
	views := map[*transaction]*view{}
	for i := range h.Stmts {
		for _, v := range h.Stmts[i].Versions {
			if v.Found == "" {
				continue
			}
			if d := f.found(i, v.Found, views); d != nil {
				return d
			}
		}
	}
	return f.replacedTwice()
}

// found judges that statement i met a version.
func (f *follower) found(i int, version string, views map[*transaction]*view) *history.Difference {
	if d := f.uncommitted(i, version); d != nil {
		return d
	}
	if d := f.overwritten(i, version); d != nil {
		return d
	}
	a, kind := f.acts[i].of, f.kind(i)
	if !a.snapshots() && kind != stmt.Select {
		return f.old(i, version)
	}
	s := views[a]
	if s == nil || !a.snapshots() && s.stmt != i {
		s = &view{stmt: i, low: f.h.Stmts[i].Submit, high: f.h.Stmts[i].Return, lower: -1, upper: -1}
		if a.snapshots() {
			s.low, s.high = a.earliest, min(a.latest, f.h.Stmts[i].Return)
		}
		views[a] = s
	}
	return f.shows(s, i, version)
}

func (f *follower) kind(i int) stmt.Kind { return stmt.KindOf(f.c.Steps[f.h.Stmts[i].Line].Stmt) }

// uncommitted judges that a version which statement i met is committed or its transaction's own.
func (f *follower) uncommitted(i int, version string) *history.Difference {
	w, ok := f.writer(version)
	if !ok {
		return nil
	}
	by, at := &f.acts[w], &f.h.Stmts[i]
	_, exact := f.made[version]
	switch {
	case exact && f.h.Stmts[w].Submit > at.Return:
		return f.differs(i, "wrong-rows", "a version that is there", f.name(w)+" makes the version that it found, and does so only later")
	case by.of == f.acts[i].of && by.undone < i:
		return f.differs(i, "kept-rollback", "a row as it is without what was undone",
			fmt.Sprintf("%s made the version that it found, and line %d has undone it", f.name(w), f.line(by.undone)))
	case by.of == f.acts[i].of:
		return nil
	case !by.lasts(len(f.h.Stmts)):
		return f.differs(i, "dirty-read", "a committed version", f.name(w)+" made the version that it found, and that was never committed")
	case by.of.from >= at.Return:
		return f.differs(i, "dirty-read", "a committed version", f.name(w)+" made the version that it found, and commits only later")
	}
	return nil
}

// overwritten judges that the transaction of statement i has not itself replaced, before, a version that the
// statement met.
func (f *follower) overwritten(i int, version string) *history.Difference {
	for _, w := range f.replaced[version] {
		if w < i && f.acts[w].of == f.acts[i].of && f.acts[w].undone > i {
			return f.differs(i, "lost-own-write", "the row as its own transaction has left it",
				fmt.Sprintf("it found a version that line %d, of the same transaction, has replaced", f.line(w)))
		}
	}
	return nil
}

// old judges that a version which statement i locked or replaced is newest.
func (f *follower) old(i int, version string) *history.Difference {
	for _, w := range f.replaced[version] {
		if a := &f.acts[w]; w != i && a.of != f.acts[i].of && a.lasts(len(f.h.Stmts)) && a.of.until < f.h.Stmts[i].Submit {
			return f.differs(i, "stale-read", "the newest version of the row",
				fmt.Sprintf("it found a version that %s has replaced, and that was committed before", f.name(w)))
		}
	}
	return nil
}

// view is what is known of the moment of a snapshot: it lies between low and high. lower and upper are the statements
// whose versions say so, -1 where it is the statements of the snapshot's own transaction.
type view struct {
	stmt         int
	low, high    history.Tick
	lower, upper int
}

// shows judges that a snapshot can show a version to statement i, beside what it has shown before.
func (f *follower) shows(s *view, i int, version string) *history.Difference {
	own := f.acts[i].of
	if w, ok := f.writer(version); ok && f.acts[w].of != own && f.acts[w].of.from > s.low {
		s.low, s.lower = f.acts[w].of.from, w
	}
	for _, w := range f.replaced[version] {
		if a := &f.acts[w]; a.of != own && a.lasts(len(f.h.Stmts)) && a.of.until < s.high {
			s.high, s.upper = a.of.until, w
		}
	}
	if s.low <= s.high {
		return nil
	}
	const snapshot = "what was committed before one moment"
	switch {
	case s.upper < 0:
		return f.differs(i, "non-repeatable-read", snapshot, "it shows what "+f.name(s.lower)+
			" wrote, which is committed behind the snapshot")
	case s.lower < 0:
		return f.differs(i, "stale-read", snapshot, "it does not show what "+f.name(s.upper)+
			" wrote, which was committed before the snapshot")
	}
	return f.differs(i, "torn-snapshot", snapshot, fmt.Sprintf("it shows what %s wrote, and not what %s wrote, which was committed before",
		f.name(s.lower), f.name(s.upper)))
}

// replacedTwice finds a version that two transactions replaced and committed.
func (f *follower) replacedTwice() *history.Difference {
	for i := range f.h.Stmts {
		for _, v := range f.h.Stmts[i].Versions {
			for _, w := range f.replaced[v.Found] {
				if w < i && f.kind(i).Writes() && f.acts[w].of != f.acts[i].of && f.acts[w].lasts(len(f.h.Stmts)) &&
					f.acts[i].lasts(len(f.h.Stmts)) {
					return f.differs(i, "lost-update", "one transaction replaces a version",
						fmt.Sprintf("it replaces the version that %s has replaced, and both are committed", f.name(w)))
				}
			}
		}
	}
	return nil
}

func (f *follower) differs(i int, kind, expected, reason string) *history.Difference {
	return &history.Difference{Stmt: i, Kind: kind, Expected: expected, Actual: history.Describe(f.kind(i), &f.h.Stmts[i].Result),
		Reason: "the server told the versions of rows: " + reason}
}

func (f *follower) line(i int) int { return f.h.Stmts[i].Line + 1 }

// name is how a statement is told.
func (f *follower) name(i int) string {
	return fmt.Sprintf("tx%d in line %d", f.acts[i].of.session, f.line(i))
}
