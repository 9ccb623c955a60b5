package promise

import (
	"maps"
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
		met, ok := j.changesTo(raw, w, k)
		if !ok {
			return nil, false, nil
		}
		before, err := j.sight(w.committed[w.newest()], o)
		if err != nil {
			return nil, false, err
		}
		if met != nil {
			if before, ok, err = j.findable(e, w, o, k, met, before); err != nil || !ok {
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

// changed is what some commits have done to the rows of a table.
type changed struct {
	table int
	// moved maps the key of a row, or the text of one in a table without a primary key, to that which it has got.
	moved map[string]string
}

// changesTo returns what transactions have done behind some commits to the one table of a statement that they have
// changed; nil if they have changed none. ok is false if it cannot be told which row has become which, or if the
// statement comes to the table otherwise than once, by a condition.
func (j *judge) changesTo(raw *stmt.RawStmt, w *world, commits int) (met *changed, ok bool) {
	for i := range j.layout {
		if !slices.ContainsFunc(slices.Concat(raw.Reads, raw.Writes), j.layout[i].is) {
			continue
		}
		one, ok := j.changedIn(i, w, commits)
		switch {
		case !ok, one != nil && met != nil:
			return nil, false
		case one != nil:
			met = one
		}
	}
	if len(raw.Writes) > 1 || len(raw.Writes) == 1 && met != nil && !j.layout[met.table].is(raw.Writes[0]) {
		return nil, false
	}
	if met == nil {
		return nil, true
	}
	name := strings.ToLower(j.layout[met.table].name)
	_, ok = findingWords(raw, name)
	return met, ok && soleTable(raw.Words(), name)
}

// changedIn is changesTo for a table.
func (j *judge) changedIn(table int, w *world, commits int) (met *changed, ok bool) {
	bag := len(j.layout[table].key) == 0
	seen := map[string]bool{}
	var all deeds
	for n, wrote := range w.wrote[commits:] {
		var did deeds
		for _, x := range w.at[commits+n].unit.events {
			did.and(j.deedsOf(x, table))
		}
		all.and(did)
		var gone, made []string
		for key := range wrote[table] {
			_, had := w.committed[commits+n][table][key]
			_, has := w.committed[commits+n+1][table][key]
			switch {
			case had && !has || bag && wrote[table][key].n < 0:
				gone = append(gone, key)
			case !had && has || bag:
				made = append(made, key)
			}
			if seen[key] {
				return nil, false
			}
			seen[key] = true
		}
		if len(wrote[table]) > 0 && met == nil {
			met = &changed{table, map[string]string{}}
		}
		switch {
		case did.unsure:
			return nil, false
		case did.moves > 0:
			if did.moves > 1 || did.makes || did.removes > 0 || len(gone) != len(made) || len(gone) > 1 {
				return nil, false
			}
			if len(gone) == 1 {
				met.moved[gone[0]] = made[0]
			}
		case did.makes && did.removes > 0 && (bag || did.removes != len(gone)): // one may be there again
			return nil, false
		}
	}
	if bag && (all.makes && all.removes > 0 || all.moves > 1 || all.moves > 0 && (all.makes || all.removes > 0)) {
		return nil, false
	}
	return met, true
}

// deeds are what writes may do to the rows of a table besides updating them in place.
type deeds struct {
	makes bool
	// removes and moves count rows: those that are deleted, and those that an UPDATE gives another primary key. In a table
	// without one each UPDATE moves rows.
	removes, moves int
	unsure         bool
}

func (d *deeds) and(o deeds) {
	d.makes, d.unsure = d.makes || o.makes, d.unsure || o.unsure
	d.removes += o.removes
	d.moves += o.moves
}

// deedsOf are those of a statement.
func (j *judge) deedsOf(e *event, table int) deeds {
	if !e.writes() || e.st.Result.Err != nil || !e.mayName(j, table) {
		return deeds{}
	}
	bag, rows := len(j.layout[table].key) == 0, int(e.st.Result.Affected)
	switch s := e.node.(type) {
	case *ast.InsertStmt:
		return deeds{makes: true, unsure: s.IsReplace || len(s.OnDuplicate) > 0}
	case *ast.DeleteStmt:
		return deeds{removes: rows}
	case *ast.UpdateStmt:
		if bag || !j.outsideKey(e) {
			return deeds{moves: rows}
		}
		return deeds{}
	case *stmt.RawStmt:
		words := s.Words()
		moves := bag || j.givesKey(words, table)
		switch {
		case strings.Contains(s.SQL, `"`):
		case words[0] == "delete":
			return deeds{removes: rows}
		case words[0] == "update" && moves:
			return deeds{moves: rows}
		case words[0] == "insert":
			return deeds{makes: true, unsure: moves && upserts(s) || slices.Contains(words, "delete")}
		case (words[0] == "update" || words[0] == "merge" || words[0] == "with") && !slices.Contains(words, "delete"):
			makes := slices.Contains(words, "insert")
			return deeds{makes: makes, unsure: moves && slices.Contains(words, "update")}
		}
	}
	return deeds{unsure: true}
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
func (j *judge) findable(e *event, w *world, o own, commits int, met *changed, newest state) (s state, ok bool, err error) {
	shown, err := j.sight(w.committed[commits], o)
	if err != nil {
		return nil, false, err
	}
	table, bag := met.table, len(j.layout[met.table].key) == 0
	// now maps the rows that were changed to what they are called on the newest rows.
	now := maps.Clone(met.moved)
	s = newest
	for _, at := range j.layout.keysOf(w.wrote[commits:], table) {
		was, had := shown[table][at]
		is, has := newest[table][at]
		switch {
		case met.moved[at] != "" || slices.Contains(slices.Collect(maps.Values(met.moved)), at):
		case bag && is.n > was.n:
			s = s.with(item{table, at}, entry{is.cells, was.n})
		case bag:
		case had && has:
			now[at] = at
		case has:
			s = s.with(item{table, at}, entry{})
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
		case e.writes():
			return int(a.Results[0].Affected), nil
		}
		return len(a.Results[0].Rows), nil
	}
	keys := slices.Sorted(maps.Keys(now))
	switch n, err := matches(keys...); {
	case err != nil || n < 0 || n > len(keys):
		return nil, false, err
	case n == len(keys):
		return s, true, nil
	}
	for _, key := range keys {
		switch n, err := matches(key); {
		case err != nil || n < 0 || n > 1:
			return nil, false, err
		case n == 0:
			is := s[table][now[key]]
			s = s.with(item{table, now[key]}, entry{is.cells, is.n - 1})
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
