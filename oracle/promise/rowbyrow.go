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
		only := slices.Clone(on)
		only[table] = content{key: {r.was.cells, 1}}
		a, after, err := j.ask(only, e)
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

// byRows are the worlds behind an UPDATE or a DELETE at REPEATABLE READ that goes by each row alone: by those that
// the snapshot shows, and by those that its transaction has made beside them. PostgreSQL checks keys on the newest
// rows, and while the statement goes on; so that the order of rows, and keys that others have freed, decide whether
// it succeeds, but not what it does then. A row that it gives a key which the snapshot gives to another one stands
// beside that. ok is false if the statement does not go by each row alone; first is what it should have answered on
// the first snapshot.
func (j *judge) byRows(
	e *event, w *world, o own, commits []int,
) (out []world, first *history.Result, ok bool, err error) {
	table := slices.IndexFunc(j.layout, func(sh shape) bool { return j.writesTo(e, sh.name) })
	if table < 0 || !e.unit.promise.SnapshotAtFirst || j.defs[strings.ToLower(j.layout[table].name)] == nil ||
		j.hidden.keys || len(j.hidden.triggers) > 0 || j.viewed(e) {
		return nil, nil, false, nil
	}
	made, others := j.layout.apart(o)
	for _, k := range commits {
		shown, err := j.beyond(w.committed[k], o)
		if err != nil {
			return nil, nil, false, err
		}
		empty := slices.Clone(shown)
		empty[table] = content{}
		none, _, err := j.ask(empty, e)
		if err != nil {
			return nil, nil, false, err
		}
		rows, ok, err := j.rowsAlone(e, shown, table)
		if err != nil || !ok || none.Results[0].Err != nil {
			return nil, nil, false, err
		}
		besides, ok, err := j.rowsAlone(e, made, table)
		if err != nil || !ok {
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
		if next.write, next.beside, ok = j.put(table, others, o.beside, rows, besides, w.newest()); !ok {
			return nil, nil, false, nil
		}
		out = append(out, w.with(e.unit, next))
	}
	return out, first, true, nil
}

// writesTo says that a statement names a table as the one that it writes.
func (j *judge) writesTo(e *event, table string) bool {
	raw := j.inWords(e)
	return raw != nil && len(raw.Writes) == 1 && strings.EqualFold(raw.Writes[0].Name.O, table)
}

// put is what a transaction has written, with the rows beside its snapshot, when those that a table shows and those
// beside them have become others. ok is false if two of them would have one place. newest is the number of the newest
// commit.
func (j *judge) put(
	table int, others write, before []beside, rows, besides []rowAlone, newest int,
) (all write, made []beside, ok bool) {
	l := j.layout
	bag := len(l[table].key) == 0
	// there holds the rows that the table shows behind the statement.
	var there [][]history.Cell
	for i := range rows {
		if !rows[i].changed() || rows[i].from == rows[i].to {
			there = append(there, rows[i].is.cells)
		}
	}
	did := l.nothing()
	add := func(key string, e entry, n int) {
		if bag {
			n += did[table][key].n
		}
		if bag && n == 0 {
			delete(did[table], key)
			return
		}
		did[table][key] = entry{e.cells, n}
	}
	for i := range rows { // first they leave their places
		if r := &rows[i]; r.changed() && r.from != r.to {
			add(r.from, r.was, map[bool]int{true: -r.was.n, false: 0}[bag])
		}
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case !r.changed(), r.to == "":
		case r.from != r.to && slices.ContainsFunc(there, func(is []history.Cell) bool {
			return j.sharesKey(table, r.is.cells, is)
		}):
			// The snapshot's is gone from among the newest.
			made = append(made, beside{table, r.to, entry{r.is.cells, r.was.n}, newest})
		default:
			add(r.to, r.is, r.was.n)
			there = append(there, r.is.cells)
		}
	}
	for _, b := range before {
		if b.table != table {
			made = append(made, b)
			continue
		}
		i := slices.IndexFunc(besides, func(r rowAlone) bool { return r.from == b.key })
		switch r := &besides[i]; {
		case !r.changed():
			made = append(made, b)
		case r.to == "":
		case r.to == b.key:
			made = append(made, beside{table, b.key, entry{r.is.cells, b.row.n}, b.commits})
		default:
			made = append(made, beside{table, r.to, entry{r.is.cells, b.row.n}, newest})
		}
	}
	all = l.then(others, did)
	seen := map[string]bool{}
	for _, b := range made {
		if place := l[b.table].name + " " + b.key; len(l[b.table].key) > 0 {
			if e, written := all[b.table][b.key]; seen[place] || written && e.n > 0 {
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
// newest: so it may fail, as the order of rows has it. It knows the keys of CREATE TABLE only.
func (j *judge) meetsKey(e *event, w *world, o own, commits []int) (bool, error) {
	table := slices.IndexFunc(j.layout, func(sh shape) bool { return j.writesTo(e, sh.name) })
	if table < 0 || !e.unit.promise.SnapshotAtFirst || j.defs[strings.ToLower(j.layout[table].name)] == nil {
		return false, nil
	}
	made, _ := j.layout.apart(o)
	for _, k := range commits {
		shown, err := j.beyond(w.committed[k], o)
		if err != nil {
			return false, err
		}
		rows, ok, err := j.rowsAlone(e, shown, table)
		if err != nil || !ok {
			return false, err
		}
		besides, ok, err := j.rowsAlone(e, made, table)
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
