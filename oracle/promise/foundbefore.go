package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// foundBefore are the worlds behind a statement that has waited at PostgreSQL's READ COMMITTED. It finds its rows in the
// snapshot that it took when it began. A row that another transaction has deleted meanwhile it passes over; of one that
// was updated it takes the newest version, if that still matches; rows that were made meanwhile it does not find. So it
// does what it does alone on the newest rows without those that it cannot have found. ok is false where that is not sure.
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
		table, ok := j.changedInPlace(raw, w, k)
		if !ok {
			return nil, false, nil
		}
		before, err := j.sight(w.committed[w.newest()], o)
		if err != nil {
			return nil, false, err
		}
		if table >= 0 {
			if before, ok, err = j.findable(e, w, o, k, table, before); err != nil || !ok {
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
		out = append(out, w.with(e.unit, next))
	}
	j.held[e.index] = true
	if len(out) == 0 {
		return nil, true, j.differs(e, first, "the newest versions of the rows that it found before it waited")
	}
	return out, true, nil
}

// changedInPlace returns the table of a statement that transactions have changed behind some commits, -1 for none. They
// have updated rows, whose keys stay, and made rows, or deleted rows, and each row at most once. ok is false if that is
// not so of what they did, or the statement comes to the table otherwise than once, by a condition.
func (j *judge) changedInPlace(raw *stmt.RawStmt, w *world, commits int) (table int, ok bool) {
	table = -1
	for i := range j.layout {
		if !slices.ContainsFunc(slices.Concat(raw.Reads, raw.Writes), j.layout[i].is) {
			continue
		}
		seen := map[string]bool{}
		for n, wrote := range w.wrote[commits:] {
			var all deeds
			for _, x := range w.at[commits+n].unit.events {
				all = all.and(j.deedsOf(x, i))
			}
			if all.moves || all.makes && all.removes || len(wrote[i]) > 0 && (table >= 0 && table != i || len(j.layout[i].key) == 0) {
				return -1, false
			}
			for key := range wrote[i] {
				if _, there := w.committed[commits][i][key]; there && seen[key] {
					return -1, false
				}
				seen[key], table = true, i
			}
		}
	}
	if len(raw.Writes) > 1 || len(raw.Writes) == 1 && table >= 0 && !j.layout[table].is(raw.Writes[0]) {
		return -1, false
	}
	if table < 0 {
		return table, true
	}
	name := strings.ToLower(j.layout[table].name)
	_, ok = findingWords(raw, name)
	return table, ok && soleTable(raw.Words(), name)
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

// deeds are what writes may do to the rows of a table besides updating them in place.
type deeds struct{ makes, removes, moves bool }

func (d deeds) and(o deeds) deeds {
	return deeds{d.makes || o.makes, d.removes || o.removes, d.moves || o.moves}
}

// deedsOf are those of a statement; it moves a row whose primary key it gives a value.
func (j *judge) deedsOf(e *event, table int) deeds {
	if !e.writes() || e.st.Result.Err != nil || !e.mayName(j, table) {
		return deeds{}
	}
	switch s := e.node.(type) {
	case *ast.InsertStmt:
		return deeds{makes: true, moves: s.IsReplace || len(s.OnDuplicate) > 0}
	case *ast.DeleteStmt:
		return deeds{removes: true}
	case *ast.UpdateStmt:
		return deeds{moves: !j.outsideKey(e)}
	case *stmt.RawStmt:
		words := s.Words()
		d := deeds{
			makes: slices.Contains(words, "insert"), removes: slices.Contains(words, "delete"),
			moves: j.givesKey(words, table) || strings.Contains(s.SQL, `"`),
		}
		d.moves = d.moves || !d.makes && !d.removes && !slices.Contains(words, "update")
		return d
	}
	return deeds{moves: true}
}

// givesKey says that a statement of these words may give a column of a table's primary key a value by SET.
func (j *judge) givesKey(words []string, table int) bool {
	sh := &j.layout[table]
	for i := 1; i+1 < len(words); i++ {
		switch {
		case words[i] == "(" && words[i-1] == "set": // SET (a, b) = …
			return true
		case words[i+1] == "=" && (words[i-1] == "set" || words[i-1] == ",") &&
			slices.ContainsFunc(sh.key, func(c int) bool { return strings.EqualFold(sh.columns[c], words[i]) }):
			return true
		}
	}
	return false
}

// findable is a state without those rows of a table that a statement cannot have found on some commits: they were made
// behind these, or matched only as they have become. ok is false if it cannot be told which match.
func (j *judge) findable(e *event, w *world, o own, commits, table int, newest state) (s state, ok bool, err error) {
	shown, err := j.sight(w.committed[commits], o)
	if err != nil {
		return nil, false, err
	}
	var changed []string
	s = newest
	for _, at := range j.layout.keysOf(w.wrote[commits:], table) {
		_, had := shown[table][at]
		_, has := newest[table][at]
		switch {
		case had && has:
			changed = append(changed, at)
		case has:
			s = s.with(item{table, at}, entry{})
		}
	}
	if len(changed) == 0 {
		return s, true, nil
	}
	// matches is how many of some rows match as they were.
	matches := func(keys ...string) (int, error) {
		only := slices.Clone(shown)
		only[table] = content{}
		for _, key := range keys {
			only[table][key] = shown[table][key]
		}
		a, _, err := j.ask(only, e)
		switch {
		case err != nil:
			return 0, err
		case a.Results[0].Err != nil:
			return -1, nil
		case e.writes():
			return int(a.Results[0].Affected), nil
		}
		return len(a.Results[0].Rows), nil
	}
	switch n, err := matches(changed...); {
	case err != nil || n < 0 || n > len(changed):
		return nil, false, err
	case n == len(changed):
		return s, true, nil
	}
	for _, key := range changed {
		switch n, err := matches(key); {
		case err != nil || n < 0 || n > 1:
			return nil, false, err
		case n == 0:
			s = s.with(item{table, key}, entry{})
		}
	}
	return s, true, nil
}

// keysOf returns the keys of the rows of a table that some writes have changed, in their order.
func (l layout) keysOf(wrote []write, table int) (keys []string) {
	for _, one := range wrote {
		for key := range one[table] {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}
