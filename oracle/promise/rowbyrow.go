package promise

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// rowAlone is what an UPDATE or a DELETE makes of a row of its table, if that holds no other one.
type rowAlone struct {
	from, to string // the row's places in the table; to is "" if it is gone
	// was is the row as it was, and how often it is there; is the same as it becomes.
	was, is entry
	answer  *history.Result
}

// changed says that the row is another one, or gone.
func (r *rowAlone) changed() bool { return r.from != r.to || textOf(r.was.cells) != textOf(r.is.cells) }

// rowsAlone asks what an UPDATE or a DELETE makes of each row of a table. ok is false if it fails with one of them,
// or does not go by each row alone. It costs a question for each row.
func (j *judge) rowsAlone(e *event, on state, table int) (out []rowAlone, ok bool, err error) {
	raw := j.inWords(e)
	if raw == nil || j.subquery(e) || !slices.Contains([]string{"update", "delete"}, raw.Words()[0]) ||
		!soleTable(raw.Words(), strings.ToLower(j.layout[table].name)) {
		return nil, false, nil
	}
	for _, key := range slices.Sorted(maps.Keys(on[table])) {
		r := rowAlone{from: key, was: on[table][key]}
		a, after, err := j.ask(on.holding(table, content{key: {r.was.cells, 1}}), e)
		if err != nil {
			return nil, false, err
		}
		if r.answer = &a.Results[0]; r.answer.Err != nil || len(after[table]) > 1 {
			return nil, false, nil
		}
		for to, is := range after[table] {
			r.to, r.is = to, is
		}
		out = append(out, r)
	}
	return out, true, nil
}

// together is the answer to a statement that answers some rows so if each is there alone, and none so.
func together(e *event, none *history.Result, rows []rowAlone) history.Result {
	sum := *none
	sum.Rows = slices.Clone(none.Rows)
	for i := range rows {
		for range rows[i].was.n {
			sum.Affected += rows[i].answer.Affected
			sum.Rows = append(sum.Rows, rows[i].answer.Rows...)
		}
	}
	if counts(e) { // each row says how many it is
		n := 0
		for _, row := range sum.Rows {
			n += number(row)
		}
		sum.Rows, sum.Affected = [][]history.Cell{{{Text: strconv.Itoa(n)}}}, none.Affected
	}
	return sum
}

// number is the number that a row of COUNT(*) is; -1: it is none.
func number(row []history.Cell) int {
	if len(row) != 1 {
		return -1
	}
	n, err := strconv.Atoi(row[0].Text)
	if err != nil {
		return -1
	}
	return n
}

// hits is how many rows a statement has written by its answer, or shown.
func hits(e *event, answer *history.Result) int {
	switch {
	case counts(e) && len(answer.Rows) == 1:
		return number(answer.Rows[0])
	case counts(e):
		return -1
	case e.writes():
		return int(answer.Affected)
	}
	return len(answer.Rows)
}

// counts says that a statement only counts the rows that it writes.
func counts(e *event) bool {
	raw, ok := e.node.(*stmt.RawStmt)
	return ok && raw.Counted() != nil
}

// written is the one table that a statement writes, of which rows can be told apart by the keys of CREATE TABLE; -1: there
// is none.
func (j *judge) written(e *event) int {
	raw := j.inWords(e)
	if raw == nil || len(raw.Writes) != 1 || !e.unit.promise.SnapshotAtFirst {
		return -1
	}
	return slices.IndexFunc(j.layout, func(sh shape) bool {
		return sh.is(raw.Writes[0]) && j.defs[strings.ToLower(sh.name)] != nil
	})
}

// oneByOne asks what a statement makes of each row of its table: of those that the snapshot of its transaction shows,
// which is behind some commits, and of those that the transaction has made beside them. ok is that of rowsAlone.
func (j *judge) oneByOne(
	e *event, w *world, o own, table, commits int,
) (shown state, rows, besides []rowAlone, ok bool, err error) {
	if shown, err = j.beyond(w.committed[commits], o); err != nil {
		return nil, nil, nil, false, err
	}
	if rows, ok, err = j.rowsAlone(e, shown, table); err != nil || !ok {
		return nil, nil, nil, false, err
	}
	made, _ := j.layout.apart(o)
	besides, ok, err = j.rowsAlone(e, made, table)
	return shown, rows, besides, ok, err
}

// byRows are the worlds behind an UPDATE or a DELETE at REPEATABLE READ that goes by each row alone: by those that
// the snapshot shows, and by those that its transaction has made beside them. PostgreSQL checks keys on the newest
// rows, and while the statement goes on; so that the order of rows, and keys that others have freed, decide whether
// it succeeds, but not what it does then. A row that it gives a key which the snapshot gives to another one stands
// beside that. ok is false if the statement does not go by each row alone; first is what it should have answered on
// the first snapshot.
func (j *judge) byRows(
	e *event, w *world, o own, commits []int,
) (out []world, first *history.Result, ok bool, err error) {
	table := j.written(e)
	if table < 0 || j.hidden.keys || len(j.hidden.triggers) > 0 || j.viewed(e) {
		return nil, nil, false, nil
	}
	for _, k := range commits {
		shown, rows, besides, ok, err := j.oneByOne(e, w, o, table, k)
		if err != nil || !ok {
			return nil, nil, false, err
		}
		none, _, err := j.ask(shown.holding(table, content{}), e)
		if err != nil || none.Results[0].Err != nil {
			return nil, nil, false, err
		}
		answer := together(e, &none.Results[0], slices.Concat(rows, besides))
		if first == nil {
			first = &answer
		}
		if !history.SameAnswer(&answer, &e.st.Result, false) {
			continue
		}
		next := o
		next.touched, next.untraced, next.snapshots = true, true, []int{k}
		if next.write, next.beside, ok = j.put(table, shown, o, rows, besides, w.newest()); !ok {
			return nil, nil, false, nil
		}
		out = append(out, w.with(e.unit, next))
	}
	return out, first, true, nil
}

// holding is the state with another content of a table.
func (s state) holding(table int, c content) state {
	s = slices.Clone(s)
	s[table] = c
	return s
}

// put is what a transaction has written, and its rows beside the snapshot, when the rows that a table shows and those
// beside them have become others. ok is false if two of them would have one place. newest is the number of the newest
// commit.
func (j *judge) put(
	table int, shown state, o own, rows, besides []rowAlone, newest int,
) (all write, made []beside, ok bool) {
	l := j.layout
	behind := content{} // what the table shows then
	add := func(r *rowAlone) { behind[r.to] = entry{r.is.cells, behind[r.to].n + r.was.n} }
	for i := range rows {
		if rows[i].from == rows[i].to {
			add(&rows[i])
		}
	}
	for i := range rows {
		r := &rows[i]
		clashes := func() bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(behind)), func(is entry) bool {
				return j.sharesKey(table, r.is.cells, is.cells)
			})
		}
		switch {
		case r.from == r.to, r.to == "":
		case clashes(): // then the snapshot's row is gone from among the newest
			made = append(made, beside{table, r.to, entry{r.is.cells, r.was.n}, newest})
		default:
			add(r)
		}
	}
	_, all = l.apart(o)
	all = l.then(all, l.difference(shown, shown.holding(table, behind)))
	for _, b := range o.beside {
		if i := slices.IndexFunc(besides, func(r rowAlone) bool { return b.table == table && r.from == b.key }); i >= 0 {
			r := &besides[i]
			if r.to == "" {
				continue
			}
			if r.to != b.key {
				b.commits = newest
			}
			b.key, b.row.cells = r.to, r.is.cells
		}
		made = append(made, b)
	}
	seen := map[string]bool{}
	for _, b := range made {
		if place := l[b.table].name + " " + b.key; len(l[b.table].key) > 0 {
			if seen[place] || all[b.table][b.key].n > 0 {
				return nil, nil, false
			}
			seen[place] = true
		}
		only := l.nothing()
		only[b.table][b.key] = b.row
		all = l.then(all, only)
	}
	return all, made, true
}

// meetsKey says that an UPDATE gives a row a unique key which another row has before or behind it, or among the
// newest: so it may fail, as the order of rows has it.
func (j *judge) meetsKey(e *event, w *world, o own, commits []int) (bool, error) {
	table := j.written(e)
	if table < 0 {
		return false, nil
	}
	for _, k := range commits {
		_, rows, besides, ok, err := j.oneByOne(e, w, o, table, k)
		if err != nil || !ok {
			return false, err
		}
		all := slices.Concat(rows, besides)
		for i := range all {
			if all[i].to == "" || !all[i].changed() {
				continue
			}
			meets := func(cells []history.Cell) bool { return j.sharesKey(table, all[i].is.cells, cells) }
			for n := range all {
				other := n != i && (meets(all[n].was.cells) || all[n].to != "" && meets(all[n].is.cells))
				if other || n == i && all[i].was.n > 1 {
					return true, nil
				}
			}
			for _, row := range w.committed[w.newest()][table] {
				if meets(row.cells) && textOf(row.cells) != textOf(all[i].was.cells) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// sharesKey says that two rows of a table are equal in a unique key.
func (j *judge) sharesKey(table int, a, b []history.Cell) bool {
	sh := &j.layout[table]
	return slices.ContainsFunc(stmt.UniqueKeys(j.defs[strings.ToLower(sh.name)]), func(key []string) bool {
		return !slices.ContainsFunc(key, func(name string) bool {
			at := slices.IndexFunc(sh.columns, func(c string) bool { return strings.EqualFold(c, name) })
			return at < 0 || a[at].Null || a[at] != b[at]
		})
	})
}
