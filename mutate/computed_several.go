package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// computedSeveral write one of two tables by the rows of the other, or both: what is met is
// written or only read. Besides the gaps of the others there are
//
//	{s} {r}  a column of {t} and one of {u}, outside of unique keys if there is one
//	{g} {f}  a column of {u} that goes with {s}, and one of {t} that goes with {r}
//	{p} {q}  values of {s} and {r}
//	{on}     what joins x, which is {t}, to y, which is {u}
var computedSeveral = []weighted[string]{
	{14, "UPDATE {t} AS x JOIN {u} AS y ON {on} SET x.{s} = y.{g} WHERE {where}"},
	{12, "UPDATE {u} AS y JOIN {t} AS x ON {on} SET y.{r} = x.{f}"},
	{10, "UPDATE {t} AS x, {u} AS y SET x.{s} = {p} WHERE {on} AND {where}"},
	{10, "UPDATE {u} AS y, {t} AS x SET y.{r} = {q} WHERE {on} AND {where}"},
	{5, "UPDATE {t} AS x LEFT JOIN {u} AS y ON {on} SET x.{s} = {p} WHERE y.{e} IS NULL"},
	{5, "UPDATE {t} AS x JOIN {u} AS y ON {on} SET x.{s} = {p}, y.{r} = {q} WHERE {where}"},
	{10, "DELETE x FROM {t} AS x JOIN {u} AS y ON {on} WHERE {where}"},
	{10, "DELETE y FROM {u} AS y JOIN {t} AS x ON {on} WHERE {where}"},
	{6, "DELETE FROM x USING {t} AS x LEFT JOIN {u} AS y ON {on} WHERE y.{e} IS NULL"},
	{4, "DELETE x, y FROM {t} AS x JOIN {u} AS y ON {on} WHERE {where}"},
}

// computedJoins are what {on} may be.
var computedJoins = []weighted[string]{
	{40, "x.{c} = y.{e}"},
	{8, "x.{c} <=> y.{e}"},
	{6, "HEX(x.{c}) = HEX(y.{e})"},
	{6, "x.{c} > y.{e}"},
}

// several makes a write of two tables.
func (f *filling) several(tables []*table) (ast.StmtNode, bool) {
	at := slices.IndexFunc(tables, func(u *table) bool { return u != f.t && len(u.plainColumns()) > 0 })
	if at < 0 {
		return nil, false
	}
	f.u, f.where = tables[at], qualified(f.where, "x")
	f.set, f.by = f.assigned(f.t), f.assigned(f.u)
	return f.statement(pick(f.c, computedSeveral)), true
}

// assigned chooses a column, outside of unique keys if there is one.
func (f *filling) assigned(t *table) int {
	columns := slices.DeleteFunc(t.plainColumns(), func(i int) bool { return t.cols[i].generated && len(t.plainColumns()) > 1 })
	at := f.c.below(len(columns))
	columns = slices.Concat(columns[at:], columns[:at])
	if i := slices.IndexFunc(columns, func(i int) bool { _, unique := t.inKey(i); return !unique }); i >= 0 {
		return columns[i]
	}
	return columns[0]
}

// like returns a column of a table that goes with one of another.
func (f *filling) like(of *table, i int, t *table) string {
	plain := t.plainColumns()
	same := slices.DeleteFunc(slices.Clone(plain), func(k int) bool { return t.cols[k].typ.family != of.cols[i].typ.family })
	if len(same) > 0 {
		plain = same
	}
	return t.cols[oneOf(f.c, plain)].name
}
