package promise

import (
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// world is what is known at one moment of one way that a history may have gone. It is copied, not
// changed.
type world struct {
	// committed[k] holds the tables behind k commits; at[k-1] is what committed the k-th, and
	// wrote[k-1] its transaction's write, which it did in steps[k-1]: nil where these are not known.
	committed []state
	at        []*event
	wrote     []write
	steps     [][]step
	own       map[*unit]own
	// lost, if not empty, says why nothing is known of this way from here on.
	lost string
}

// hasOpen says that a transaction has changed rows and not committed.
func (w *world) hasOpen(u *unit) bool {
	o, open := w.own[u]
	return open && !o.write.empty()
}

// own is what a transaction has done.
type own struct {
	write write
	steps []step
	// snapshots holds the numbers of commits of which its snapshot may be; nil: none was taken.
	snapshots []int
	// pinned is a moment at which its snapshot was surely taken; 0: none is known.
	pinned history.Tick
	// unseen says that it has matched rows and not changed them, so that whether later reads show
	// its own or the snapshot's version cannot be told from what changed.
	unseen bool
	// beside holds the rows that it has made beside those of its snapshot, on PostgreSQL.
	beside []beside
	// untraced says that steps lacks something.
	untraced bool
	saved    []savepoint
	// renewed says that it went back to a savepoint that it had set before it read or wrote.
	renewed bool
	// touched says that it has read or written.
	touched bool
}

type savepoint struct {
	name    string
	write   write
	beside  []beside
	touched bool
	steps   int // how many there were
}

func (w *world) newest() int { return len(w.committed) - 1 }

// with is a world in which a transaction has come further.
func (w world) with(u *unit, o own) world {
	w.own = maps.Clone(w.own)
	if w.own == nil {
		w.own = map[*unit]own{}
	}
	w.own[u] = o
	return w
}

// of is what a transaction has done so far.
func (j *judge) of(w *world, u *unit) own {
	o, ok := w.own[u]
	if !ok {
		o.write = j.layout.nothing()
	}
	return o
}

// ended counts the commits that had returned before a moment.
func (w *world) ended(before history.Tick) (n int) {
	for _, e := range w.at {
		if e.to < before {
			n++
		}
	}
	return n
}

// changed counts the rows that the commits behind a given number of them changed.
func (w *world) changed(since int) (n int) {
	for _, one := range w.wrote[since:] {
		n += rowsOf(one)
	}
	return n
}

// rowsOf counts the rows of a write.
func rowsOf(w write) (n int) {
	for _, c := range w {
		n += len(c)
	}
	return n
}

// finish is the world behind the end of a transaction.
func (j *judge) finish(w world, u *unit) (world, error) {
	o := j.of(&w, u)
	w.own = maps.Clone(w.own)
	delete(w.own, u)
	if !u.committed {
		return w, nil
	}
	if u.promise.Isolated {
		var err error
		if o.write, err = j.commitIsolated(&w, u, o); err != nil {
			return w, err
		}
	}
	next, ok := j.layout.plus(w.committed[w.newest()], o.write)
	if !ok {
		return w, unjudgedError("rows of a table without a primary key that two transactions took away")
	}
	if u.promise.Isolated && j.orphan(next) != "" && j.orphan(w.committed[w.newest()]) == "" {
		return w, unjudgedError("a cascade, which may come to rows that the snapshot does not hold")
	}
	w.committed = append(slices.Clip(w.committed), next)
	w.at = append(slices.Clip(w.at), u.end)
	w.wrote = append(slices.Clip(w.wrote), o.write)
	if len(o.beside) > 0 || o.untraced { // which stand beside what the steps met
		o.steps = nil
	}
	w.steps = append(slices.Clip(w.steps), o.steps)
	return w, nil
}

// sight is what a transaction sees of some tables beside its own writes.
func (j *judge) sight(s state, o own) (state, error) {
	out, ok := j.layout.plus(s, o.write)
	if !ok {
		return nil, unjudgedError("rows of a table without a primary key that are gone from the snapshot")
	}
	return out, nil
}
