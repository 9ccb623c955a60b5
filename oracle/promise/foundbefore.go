package promise

import (
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// foundBefore are the worlds behind a statement that has waited at PostgreSQL's READ COMMITTED. It finds its rows in
// the snapshot that it took when it began. A row that another transaction has deleted meanwhile it passes over; of one
// that was updated it takes the newest version, if that still matches; rows that were made meanwhile it does not find.
// So it does what it does alone on the newest rows without those that it cannot have found. ok is false where that is
// not sure.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
//
// It costs two questions for each snapshot, and one for each changed row if it matches only some.
func (j *judge) foundBefore(e *event, w *world, o own) (out []world, ok bool, err error) {
	raw := j.inWords(e)
	if raw == nil || !e.unit.promise.Rechecked || !e.waited() || e.stretched() || e.st.Result.Err != nil ||
		len(j.hidden.triggers) > 0 || j.hidden.keys || j.viewed(e) || j.subquery(e) || raw.Words()[0] == "merge" {
		return nil, false, nil
	}
	var first *history.Result
	var tried []string
	for _, k := range span(w.ended(e.st.Submit), w.ended(e.st.Waits[0].From)) {
		table, traces, ok, err := j.changesTo(raw, w, k)
		if err != nil || !ok {
			return nil, false, err
		}
		newest, err := j.sight(w.committed[w.newest()], o)
		if err != nil {
			return nil, false, err
		}
		before := newest
		if len(traces) > 0 {
			if before, ok, err = j.findable(e, w, o, k, table, traces, newest); err != nil || !ok {
				return nil, false, err
			}
		}
		a, after, err := j.ask(before, e)
		if err != nil {
			return nil, false, err
		}
		did := j.layout.difference(before, after)
		if a.Results[0].Err != nil || !j.keepsKeys(before, did) {
			return nil, false, nil
		}
		if first == nil {
			first = &a.Results[0]
		}
		if !history.SameAnswer(&a.Results[0], &e.st.Result, false) || slices.Contains(tried, j.layout.text(did)) {
			continue
		}
		tried = append(tried, j.layout.text(did))
		next := o
		next.touched = next.touched || j.touches(e)
		next.write = j.layout.then(o.write, did)
		out = append(out, w.with(e.unit, next.stepped(e, newest, w.newest(), did)))
	}
	j.held[e.index] = true
	if len(out) == 0 {
		return nil, true, j.differs(e, first, "the newest versions of the rows that it found before it waited")
	}
	return out, true, nil
}

// changesTo returns what became of the rows that transactions have changed behind some commits in the one table of a
// statement in which they changed any, and that table. ok is false if it cannot be told which row has become which, or
// if the statement comes to the table otherwise than once, by a condition.
func (j *judge) changesTo(raw *stmt.RawStmt, w *world, commits int) (table int, traces []rowTrace, ok bool, err error) {
	for i := range j.layout {
		if !slices.ContainsFunc(slices.Concat(raw.Reads, raw.Writes), j.layout[i].is) {
			continue
		}
		one, ok, err := j.tracesOf(i, w, commits)
		switch {
		case err != nil, !ok, len(one) > 0 && len(traces) > 0:
			return 0, nil, false, err
		case len(one) > 0:
			table, traces = i, one
		}
	}
	if len(raw.Writes) > 1 || len(raw.Writes) == 1 && len(traces) > 0 && !j.layout[table].is(raw.Writes[0]) {
		return 0, nil, false, nil
	}
	if len(traces) == 0 {
		return 0, nil, true, nil
	}
	name := strings.ToLower(j.layout[table].name)
	_, ok = findingWords(raw, name)
	return table, traces, ok && soleTable(raw.Words(), name), nil
}

// givesKey says that a statement of these words may give a column of a table's primary key a value.
func (j *judge) givesKey(words []string, table int) bool {
	sh := &j.layout[table]
	var key []string
	for _, c := range sh.key {
		key = append(key, strings.ToLower(sh.columns[c]))
	}
	return stmt.Assigns(words, key)
}

// soleTable says that a statement of these words has nothing but a table behind FROM or UPDATE: of a join PostgreSQL
// looks only at that row of the other side once more with which it found a row.
func soleTable(words []string, table string) bool {
	at := slices.IndexFunc(words, func(w string) bool { return w == "from" || w == "update" }) + 1
	if at == 0 || at == len(words) || words[at] != table {
		return false
	}
	ends := func(i int) bool {
		return i == len(words) || slices.Contains([]string{"where", "set", "order", "for", "returning"}, words[i])
	}
	switch rest := words[at+1:]; {
	case len(rest) > 1 && rest[0] == "as":
		return ends(at + 3)
	default:
		return ends(at + 1)
	}
}

// findable is a state without those rows of a table that a statement cannot have found on some commits: they were made
// behind these, or match only as they have become. ok is false if it cannot be told which match.
func (j *judge) findable(
	e *event, w *world, o own, commits, table int, traces []rowTrace, newest state,
) (s state, ok bool, err error) {
	shown, err := j.sight(w.committed[commits], o)
	if err != nil {
		return nil, false, err
	}
	s = newest
	// without takes one row away.
	without := func(at string) bool {
		is := s[table][at]
		if is.n > 0 {
			s = s.with(item{table, at}, entry{is.cells, is.n - 1})
		}
		return is.n > 0
	}
	// now holds where the rows are that were there, and are.
	now := map[string][]string{}
	for _, t := range traces {
		switch {
		case t.now == "":
		case t.origin != "":
			now[t.origin] = append(now[t.origin], t.now)
		case !without(t.now):
			return nil, false, nil
		}
	}
	if len(now) == 0 {
		return s, true, nil
	}
	// matches is how many of some rows match as they were.
	matches := func(keys ...string) (int, error) {
		only := slices.Clone(shown)
		only[table] = content{}
		for _, key := range keys {
			only[table][key] = entry{shown[table][key].cells, 1}
		}
		a, _, err := j.ask(only, e)
		switch {
		case err != nil:
			return 0, err
		case a.Results[0].Err != nil:
			return -1, nil
		}
		return hits(e, &a.Results[0]), nil
	}
	keys := slices.Sorted(maps.Keys(now))
	if slices.ContainsFunc(keys, func(key string) bool { return shown[table][key].n < len(now[key]) }) {
		return nil, false, nil
	}
	switch n, err := matches(keys...); {
	case err != nil || n < 0 || n > len(keys):
		return nil, false, err
	case n == len(keys):
		return s, true, nil
	}
	for _, key := range keys {
		n, err := matches(key)
		if err != nil || n < 0 || n > 1 {
			return nil, false, err
		}
		if n == 0 && slices.ContainsFunc(now[key], func(at string) bool { return !without(at) }) {
			return nil, false, nil
		}
	}
	return s, true, nil
}
