package mutate

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// computedSeveral write one of two tables by the rows of the other, or both: what is met is
// written or only read. Besides the gaps of the others there are
//
//	{s} {r}  a column of {t} and one of {u}, outside of unique keys if there is one
//	{g} {f}  what a column of y gives {s}, and one of x gives {r}
//	{p} {q}  values of {s} and {r}
//	{on}     what joins x, which is {t}, to y, which is {u}
var computedSeveral = []weighted[string]{
	{14, "UPDATE {t} AS x JOIN {u} AS y ON {on} SET x.{s} = {g} WHERE {where}"},
	{12, "UPDATE {u} AS y JOIN {t} AS x ON {on} SET y.{r} = {f}"},
	{10, "UPDATE {t} AS x JOIN {u} AS y SET x.{s} = {p} WHERE {on} AND {where}"},
	{10, "UPDATE {u} AS y JOIN {t} AS x SET y.{r} = {q} WHERE {on} AND {where}"},
	{5, "UPDATE {t} AS x LEFT JOIN {u} AS y ON {on} SET x.{s} = {p} WHERE y.{e} IS NULL"},
	{5, "UPDATE {t} AS x JOIN {u} AS y ON {on} SET x.{s} = {p}, y.{r} = {q}"},
	{10, "DELETE x FROM {t} AS x JOIN {u} AS y ON {on} WHERE {where}"},
	{10, "DELETE y FROM {u} AS y JOIN {t} AS x ON {on} WHERE {where}"},
	{6, "DELETE FROM x USING {t} AS x LEFT JOIN {u} AS y ON {on} WHERE y.{e} IS NULL"},
	{4, "DELETE x, y FROM {t} AS x JOIN {u} AS y ON {on} WHERE {where}"},
}

// computedJoins are what {on} may be, the first two where the columns are of one family.
var computedJoins = []weighted[string]{
	{40, "x.{c} = y.{e}"},
	{6, "x.{c} > y.{e}"},
	{8, "HEX(x.{c}) = HEX(y.{e})"},
	{5, "LENGTH(HEX(x.{c})) > LENGTH(HEX(y.{e}))"},
}

// joining makes what joins x to y. A comparison of a text with a number would be an error;
// and if both are written, a row may be before it is joined to the next one.
func (f *filling) joining() string {
	for range 4 {
		i := oneOf(f.c, f.t.plainColumns())
		if j := f.like(f.t, i, f.u); j >= 0 && !(f.both && (i == f.set || j == f.by)) {
			return f.between(pick(f.c, computedJoins), i, j)
		}
	}
	return f.between(pick(f.c, computedJoins[2:]), oneOf(f.c, f.t.plainColumns()), oneOf(f.c, f.u.plainColumns()))
}

func (f *filling) between(form string, i, j int) string {
	return strings.NewReplacer("{c}", history.Quoted(f.t.cols[i].name), "{e}", history.Quoted(f.u.cols[j].name)).Replace(form)
}

// several makes a write of two tables.
func (f *filling) several(tables []*table) (ast.StmtNode, bool) {
	at := slices.IndexFunc(tables, func(u *table) bool { return u != f.t && len(u.plainColumns()) > 0 })
	if at < 0 {
		return nil, false
	}
	f.u, f.where = tables[at], qualified(f.where, "x")
	f.set, f.by = f.assigned(f.t), f.assigned(f.u)
	form := pick(f.c, computedSeveral)
	f.both = strings.Contains(form, "{s}") && strings.Contains(form, "{r}")
	return f.statement(form), true
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

// given makes the value that a column of a table takes from another table, called alias.
func (f *filling) given(t *table, i int, from *table, alias string) string {
	if k := f.like(t, i, from); k >= 0 {
		return alias + "." + history.Quoted(from.cols[k].name)
	}
	switch t.cols[i].typ.family {
	case integers, decimals, floats, texts:
		return "LENGTH(HEX(" + alias + "." + history.Quoted(from.cols[oneOf(f.c, from.plainColumns())].name) + "))"
	}
	return textOf(t.constant(f.c, i).literal())
}

// like returns a column of a table that is of the family of one of another, -1 for none.
func (f *filling) like(of *table, i int, t *table) int {
	same := slices.DeleteFunc(t.plainColumns(), func(k int) bool { return t.cols[k].typ.family != of.cols[i].typ.family })
	if len(same) == 0 {
		return -1
	}
	return oneOf(f.c, same)
}
