package solve

import (
	"math"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (q *query) names() []string {
	out := make([]string, len(q.items))
	for i, it := range q.items {
		out[i] = it.name
	}
	return out
}

func (q *query) result(f *frame) (*Result, error) {
	rows := q.scan(f)
	if f.err != nil {
		return nil, f.err
	}
	out, total := q.finish(f, rows)
	if f.err != nil {
		return nil, f.err
	}
	return &Result{q.names(), out, total, !total && q.cuts(len(out)), f.warnings}, nil
}

// errUnordered refuses what depends on which rows LIMIT leaves of an order that is
// not total.
var errUnordered = unsupported("LIMIT without a total order")

// cuts tells whether LIMIT may have removed rows, n being left.
func (q *query) cuts(n int) bool {
	return q.skip != nil && q.skip.eval(nil).Uint() > 0 || q.limit != nil && q.limit.eval(nil).Uint() == uint64(n)
}

// joined is what a row of several tables costs in steps: it is made anew.
const joined = 10

// scan returns the joined rows that pass ON and WHERE.
func (q *query) scan(f *frame) []Row {
	if len(q.inputs) == 0 {
		if q.truth != nil && q.truth(f) != sqlvalue.True {
			return nil
		}
		return []Row{nil}
	}
	tables := make([][]Row, len(q.inputs))
	for i, in := range q.inputs {
		if in.sub != nil {
			g := frame{views: f.views}
			r, err := in.sub.result(&g)
			if err != nil {
				f.err = err
				return nil
			}
			if r.Cut {
				f.err = errUnordered
				return nil
			}
			f.warnings += g.warnings
			for _, row := range r.Rows {
				tables[i] = append(tables[i], row)
			}
			continue
		}
		_, rows, err := f.views.Table(in.name)
		if err != nil {
			f.err = err
			return nil
		}
		tables[i] = rows
	}
	cost := 1
	if len(tables) > 1 {
		cost = joined
	}
	var out []Row
	keep := func(r Row) {
		if !q.budget.Spend(cost) {
			f.err = errSpent
			return
		}
		f.row = r
		if q.meets(f) && f.err == nil && (q.truth == nil || q.truth(f) == sqlvalue.True) {
			out = append(out, r)
		}
	}
	if len(tables) == 1 {
		for _, r := range tables[0] {
			keep(r)
			if f.err != nil {
				return nil
			}
		}
		return out
	}
	var join func(i int, prefix Row)
	join = func(i int, prefix Row) {
		if i == len(tables) {
			keep(prefix)
			return
		}
		for _, r := range tables[i] {
			if f.err != nil {
				return
			}
			join(i+1, append(prefix[:len(prefix):len(prefix)], r...))
		}
	}
	if pad(tables, q.inputs) {
		keep = func(r Row) {
			if !q.budget.Spend(cost) {
				f.err = errSpent
				return
			}
			f.row = r
			q.meets(f)
			q.besideJoin(f)
		}
	}
	join(0, nil)
	return out
}

type sorted struct {
	out  []sqlvalue.Value
	keys []sqlvalue.Value
}

// finish groups, projects, removes duplicates, orders and cuts the rows.
func (q *query) finish(f *frame, rows []Row) (out [][]sqlvalue.Value, total bool) {
	var list []sorted
	emit := func() {
		if q.having != nil && q.having(f) != sqlvalue.True {
			return
		}
		s := sorted{out: make([]sqlvalue.Value, len(q.items))}
		for i := range q.items {
			s.out[i] = q.output(&q.items[i].expr, f)
		}
		if len(q.order) > 0 {
			s.keys = q.keys(f)
		}
		list = append(list, s)
	}
	switch {
	case len(q.group) > 0:
		q.groups(f, rows, emit)
	case len(q.aggs) > 0 || q.having != nil:
		q.collect(f, rows)
		f.row = nil
		emit()
	default:
		list = make([]sorted, 0, len(rows))
		for _, r := range rows {
			f.row = r
			emit()
			if f.err != nil {
				return nil, false
			}
		}
	}
	if q.distinct {
		list = q.unique(f, list)
	}
	if len(q.order) > 0 {
		slices.SortStableFunc(list, func(a, b sorted) int { return q.cmpKeys(f, a.keys, b.keys) })
	}
	total = true
	for i := 1; i < len(list) && total; i++ {
		total = q.cmpKeys(f, list[i-1].keys, list[i].keys) != 0 || same(list[i-1].out, list[i].out)
	}
	from, to := q.bounds(len(list))
	out = make([][]sqlvalue.Value, 0, to-from)
	for _, s := range list[from:to] {
		out = append(out, s.out)
	}
	return out, total || len(list) <= 1
}

func same(a, b []sqlvalue.Value) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// unique keeps the first of each set of rows that are equal, NULL equal to NULL.
func (q *query) unique(f *frame, list []sorted) []sorted {
	var out []sorted
next:
	for _, s := range list {
		for _, o := range out {
			equal := true
			for i := range s.out {
				if cmpNullFirst(f, q.cmps[i], s.out[i], o.out[i]) != 0 {
					equal = false
					break
				}
			}
			if equal {
				if !same(s.out, o.out) {
					f.refuse("DISTINCT between equal values of different text")
				}
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// printed returns the value in the form that is turned into text.
func (e *expr) printed(f *frame) sqlvalue.Value {
	if e.print != nil {
		return e.print(f)
	}
	v := e.eval(f)
	if v.Kind() == sqlvalue.Decimal && (v.Scale() > e.typ.Scale || v.Scale() < e.typ.Scale && !e.keepScale) {
		return v.Rescale(e.typ.Scale)
	}
	return v
}

// output returns the value as the text protocol sends it: a decimal at the
// scale that its type declares.
func (q *query) output(e *expr, f *frame) sqlvalue.Value {
	v := e.printed(f)
	if v.Kind() == sqlvalue.Double {
		switch x := v.Double(); {
		case x == 0 && q.d.is(noNegativeZero):
			return sqlvalue.NewDouble(0)
		case q.d.is(plainDoubles) && (x >= 1e15 || x <= -1e15) && x != math.Trunc(x):
			return f.refuse("print of a large fraction")
		}
	}
	return v
}
