package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// serially looks for a serial order of the committed transactions: the order of their ends first,
// then every other one that real time allows. It costs a question for each transaction and each
// state that it is tried on.
func (j *judge) serially(initial, final state) error {
	s := &serial{judge: j, initial: initial, final: final, notes: map[*unit][]write{}}
	for _, e := range j.t.commits() {
		for _, u := range j.t.units {
			if u.committed && u.end == e {
				s.units = append(s.units, u)
			}
		}
	}
	ok, err := s.search(nil, initial)
	switch {
	case err != nil:
		return err
	case ok:
		for _, u := range s.units {
			for _, e := range u.events {
				if !e.data() {
					continue
				}
				if why := j.undetermined(e); why != "" {
					j.skipped[e.index] = why
				} else {
					j.held[e.index] = true
				}
			}
		}
		return nil
	}
	return s.none()
}

type serial struct {
	*judge
	units []*unit
	// initial and final are the tables at the start and in the end.
	initial, final state
	// first is what stood in the way of the first order that was tried.
	first *mismatch
	// notes holds what each transaction wrote on the states that it was tried on.
	notes map[*unit][]write
	tried int
}

// mostPrefixes bounds the beginnings of orders that are tried.
const mostPrefixes = 2000

// search reports whether the transactions that are left can follow, on a state.
func (s *serial) search(order []*unit, on state) (bool, error) {
	if s.tried++; s.tried > mostPrefixes {
		return false, unjudgedError("more orders than can be told apart")
	}
	if len(order) == len(s.units) {
		d := s.layout.difference(on, s.final)
		if d.empty() {
			return true, nil
		}
		if s.first == nil {
			s.first = &mismatch{kind: "wrong-final-state",
				expected: "what the transactions leave one after the other: " + s.layout.text(s.layout.difference(s.final, on)),
				actual:   "in the end: " + s.layout.text(d)}
		}
		return false, nil
	}
	for _, u := range s.units {
		if slices.Contains(order, u) || s.mustWait(u, order) {
			continue
		}
		next, m, err := s.run(u, on)
		switch {
		case err != nil:
			return false, err
		case m != nil:
			if s.first == nil {
				s.first = m
			}
			continue
		}
		if ok, err := s.search(append(slices.Clip(order), u), next); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// mustWait says that a transaction which is still to come was over before another one began.
func (s *serial) mustWait(u *unit, order []*unit) bool {
	return slices.ContainsFunc(s.units, func(o *unit) bool {
		return o != u && !slices.Contains(order, o) && o.over() < u.begun
	})
}

// run runs a transaction on a state and returns the state behind it, or where it differs.
func (s *serial) run(u *unit, on state) (state, *mismatch, error) {
	var events []*event
	for _, e := range u.events {
		switch failed := e.st.Result.Err; {
		case s.retryable(failed), e.refused: // it has left nothing, and alone it would not fail
		case s.t.aborts && failed != nil && (failed.Code == errUnique || failed.Code == errReadOnly):
			// "it is possible to see unique constraint violations caused by conflicts with overlapping Serializable
			// transactions": https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE
		case e.kind == stmt.Begin, e.kind == stmt.BeginSnapshot, e.kind == stmt.Commit, e.kind.OfPrepared(), e.kind.BesideRows(),
			e.kind == stmt.SetModes:
		default:
			if why := s.undetermined(e); why != "" && e.writes() && failed == nil {
				return nil, nil, unjudgedError(why)
			}
			events = append(events, e)
		}
	}
	a, after, err := s.ask(on, events...)
	if err != nil {
		return nil, nil, err
	}
	s.notes[u] = append(s.notes[u], s.layout.difference(on, after))
	for i, e := range events {
		if e.kind == stmt.SetConstraints && e.st.Result.Err == nil && a.Results[i].Err != nil {
			return nil, nil, unjudgedError(newestConstraint)
		}
		if !e.data() || s.undetermined(e) != "" {
			continue
		}
		if got := &a.Results[i]; !history.SameAnswer(got, &e.st.Result, false) {
			if got.Err.OfValue() || e.st.Result.Err.OfValue() {
				return nil, nil, unjudgedError(ofAnotherRow)
			}
			if s.inTheMiddle(e, got) {
				return nil, nil, unjudgedError("a unique key that need not hold in the middle of a statement")
			}
			if e.alone && !e.plain() && !e.writes() && s.subquery(e) {
				return nil, nil, unjudgedError("a query within a locking read outside of a transaction")
			}
			if s.t.aborts && duplicate(got) && e.undoneLater() {
				return nil, nil, unjudgedError("a key that was free among the newest rows, in an INSERT that was undone")
			}
			if why := s.uncertainAlone(e); why != "" {
				return nil, nil, unjudgedError(why)
			}
			if constraint(got) && constraint(&e.st.Result) {
				return nil, nil, unjudgedError(twoConstraints)
			}
			return nil, s.differs(e, got, "what the transactions before it left"), nil
		}
	}
	return after, nil, nil
}

// uncertainAlone says why the order in which a server goes about a statement decides what it does.
func (s *serial) uncertainAlone(e *event) string {
	if s.hidden.keys && stmt.Of(e.node).Several {
		return severalWithKeys
	}
	return ""
}

// none is the ruling where there is no serial order.
func (s *serial) none() error {
	if u, row := s.lost(); u != nil {
		s.ruling.Broken, s.ruling.Kind, s.ruling.Stmt, s.ruling.Promise = true, "lost-commit", -1, u.promise
		s.ruling.Expected, s.ruling.Actual = "what tx"+fmt.Sprint(u.session)+" committed: "+row, "in the end it is not there"
		s.ruling.Reason = "the transaction wrote this row in whatever order it is run, no other transaction touched it, " +
			"and its COMMIT was told to have succeeded"
		return nil
	}
	if slices.ContainsFunc(s.t.events, (*event).waited) && s.keysChange() {
		return unjudgedError("a statement that waited while another transaction changed keys, and may have missed a row that moved")
	}
	m := s.first
	var order []string
	for _, u := range s.units {
		order = append(order, fmt.Sprintf("tx%d", u.session))
	}
	reason := "no serial order of the committed transactions gives these answers, run by the server itself one after the other; in the order of their ends (" +
		strings.Join(order, ", ") + ") this is the first difference"
	if m.e == nil {
		s.ruling.Broken, s.ruling.Kind, s.ruling.Stmt = true, NotSerializable, -1
		s.ruling.Expected, s.ruling.Actual, s.ruling.Reason = m.expected, m.actual, reason
		s.ruling.Promise = s.t.units[0].promise
		return nil
	}
	s.broken(m.e, NotSerializable, m.expected, m.actual, reason)
	s.ruling.Promise = m.e.unit.promise
	return nil
}

// lost returns a committed transaction and a row that it wrote in the same way on every state
// that it was tried on, that no other committed transaction ever touched, and that is in the end as it was at
// the start.
func (s *serial) lost() (*unit, string) {
	for _, u := range s.units {
		notes := s.notes[u]
		if len(notes) == 0 {
			continue
		}
		for i := range s.layout {
			if len(s.layout[i].key) == 0 {
				continue
			}
			for _, k := range slices.Sorted(maps.Keys(notes[0][i])) {
				e := notes[0][i][k]
				same := !slices.ContainsFunc(notes, func(w write) bool {
					x, there := w[i][k]
					return !there || x.n != e.n || textOf(x.cells) != textOf(e.cells)
				})
				if !same || s.touchedByOthers(u, i, k) {
					continue
				}
				now, there := s.final[i][k]
				was, had := s.initial[i][k]
				// As it was at the start; else somebody has written it whom no order lets do so.
				same = there == had && textOf(now.cells) == textOf(was.cells)
				if same && (there != (e.n > 0) || there && textOf(now.cells) != textOf(e.cells)) {
					sign := map[bool]string{true: "+", false: "-"}[e.n > 0]
					return u, sign + s.layout[i].name + history.RowText(e.cells, history.Cell.String)
				}
			}
		}
	}
	return nil, ""
}

func (s *serial) touchedByOthers(u *unit, table int, key string) bool {
	for _, o := range s.units {
		if o == u {
			continue
		}
		if len(s.notes[o]) == 0 && slices.ContainsFunc(o.events, (*event).writes) {
			return true // never run to its end, so that what it touches is not known
		}
		for _, w := range s.notes[o] {
			if _, there := w[table][key]; there {
				return true
			}
		}
	}
	return false
}

// keysChange says that some transaction made, removed or moved a row.
func (s *serial) keysChange() bool {
	for _, notes := range s.notes {
		for _, w := range notes {
			for i := range w {
				if len(w[i]) > 0 && len(s.layout[i].key) == 0 {
					return true
				}
				gone, came := false, false
				for _, e := range w[i] {
					gone, came = gone || e.n == 0, came || e.n > 0
				}
				if gone && came {
					return true
				}
			}
		}
	}
	return false
}
