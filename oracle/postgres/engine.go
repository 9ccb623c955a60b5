package postgres

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Engine replays histories of servers whose current reads check again the rows that changed
// since the statement's snapshot (rules.Recheck).
type Engine struct{}

// Run implements mvcc.Engine.
func (Engine) Run(r *mvcc.Replay) (*mvcc.Difference, error) {
	if err := r.Load(); err != nil {
		return nil, err
	}
	for _, t := range r.Store.Tables {
		// A row is its chain, whatever becomes of its key, and a row inserted with the key of
		// one that is gone is another row.
		t.Clustered = nil
	}
	return run(r)
}

// Relevant implements mvcc.Engine: no deviation is known.
func (Engine) Relevant(*corpus.Case, *history.History, []*rules.Rule) []*rules.Rule { return nil }

// LeavesPlaces implements mvcc.Engine.
func (Engine) LeavesPlaces() bool { return false }

// world replays a history along one path of choices.
type world struct {
	*mvcc.Replay
	asking *solve.Asking
	// ends holds the choices between the orders in which statements ended that one event
	// let go.
	ends     *mvcc.Choices
	sessions map[int]*session
	// prepared holds the sessions that stand for prepared transactions, by their names.
	prepared map[string]int
	// running holds, by session, the statements that have begun and not ended.
	running map[int]*running
	first   *mvcc.Difference
}

// run tries paths until one fits the whole history. It returns the difference of the path
// that went furthest, of the first among equals.
func run(r *mvcc.Replay) (*mvcc.Difference, error) {
	var best *mvcc.Difference
	bestAt, path, ch := -1, []int(nil), &mvcc.Choices{}
	for range mvcc.MaxWorlds {
		w := newWorld(r, ch)
		at, err := w.replay()
		if err != nil {
			return nil, err
		}
		switch d := w.first; {
		case at > bestAt || d == nil:
			best, bestAt, path = d, at, slices.Clone(ch.Taken)
			take(r, w)
		case at == bestAt:
			best.AddWay(d)
		}
		if best == nil || !ch.Next() {
			break
		}
	}
	if best == nil && r.EveryAnswer {
		r.TryOtherWays(ch, func(ch *mvcc.Choices) ([]mvcc.Step, *mvcc.Difference, error) {
			w := newWorld(r, ch)
			_, err := w.replay()
			return w.Steps, w.first, err
		})
	}
	if r.KeepGoing && best != nil {
		w := newWorld(r, &mvcc.Choices{Taken: path, Arity: make([]int, len(path))})
		w.KeepGoing = true
		if _, err := w.replay(); err != nil {
			return nil, err
		}
		take(r, w)
	}
	return best, nil
}

// newWorld makes a fresh copy of the state behind the set-up.
func newWorld(r *mvcc.Replay, ch *mvcc.Choices) *world {
	ch.Pos = 0
	return &world{
		Replay: r.FilledWorld(), asking: r.Asking(), ends: ch, sessions: map[int]*session{}, prepared: map[string]int{}, running: map[int]*running{},
	}
}

// take takes over what a world found.
func take(r *mvcc.Replay, w *world) {
	r.Steps, r.Touched, r.Sessions, r.Replayed = w.Steps, w.Touched, w.Sessions, &w.Store
}

// replay replays the history and tells how far it got before the first difference, in ends of
// statements.
//
// A statement begins when it is submitted, which happens while all others are idle or wait.
// It ends, and its effect counts, before the next one is submitted or behind a wait. What
// ended between two submissions ran at the same time, and an answer can arrive behind that to
// a statement which it let go: so each order of these ends is a path.
func (w *world) replay() (int, error) {
	done := 0
	for k, i := range bySubmission(w.History) {
		if w.History.Stmts[i].Return == 0 {
			return done, &mvcc.Loss{Slug: "a statement that never returned"}
		}
		d, err := w.begin(i)
		if err != nil {
			return done, err
		}
		if w.note(d) {
			return done, nil
		}
		for ended := w.endedBehind(k); len(ended) > 0; done++ {
			n := w.ends.Choose(len(ended))
			at := ended[n]
			ended = slices.Delete(ended, n, n+1)
			d, err := w.end(at)
			if err != nil {
				return done, err
			}
			if w.note(d) {
				return done, nil
			}
		}
	}
	d, err := w.finish()
	if err == nil {
		w.note(d)
	}
	return done, err
}

// note keeps the first difference; it reports whether the replay is to stop.
func (w *world) note(d *mvcc.Difference) bool {
	if d == nil {
		return false
	}
	if d.Stmt >= 0 {
		w.Steps[d.Stmt].Diff = d
	}
	if w.first == nil {
		w.first = d
	}
	return !w.KeepGoing
}

func bySubmission(h *history.History) []int {
	order := make([]int, len(h.Stmts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(h.Stmts[a].Submit, h.Stmts[b].Submit) })
	return order
}

// endedBehind returns the statements that ended between the k-th submission and the next one:
// first one that did not wait, as it is what let the others go, then as the answers came.
func (w *world) endedBehind(k int) []int {
	order := bySubmission(w.History)
	from, until := w.History.Stmts[order[k]].Submit, versions.Latest
	if k+1 < len(order) {
		until = w.History.Stmts[order[k+1]].Submit
	}
	var out []int
	for i := range w.History.Stmts {
		if end := w.History.Stmts[i].Return; end >= from && end < until {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(w.effect(a), w.effect(b)) })
	return out
}

// effect is when a statement took effect: at once if it did not wait, else by its return.
func (w *world) effect(i int) history.Tick {
	if st := &w.History.Stmts[i]; len(st.Waits) > 0 {
		return st.Return
	}
	return w.History.Stmts[i].Submit
}

// finish rolls back what is still open and compares the final state.
func (w *world) finish() (*mvcc.Difference, error) {
	for _, s := range w.sessions {
		if s.txn != nil {
			w.Rollback(s.txn, versions.Latest)
		}
	}
	return w.Final(mvcc.Newest)
}
