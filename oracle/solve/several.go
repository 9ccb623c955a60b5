package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Found is a table with the rows of it that a statement finds.
type Found struct {
	Table *Table
	Rows  []Row
}

// Chosen is a row that a write of several tables chose: the row At of the table In.
type Chosen struct {
	In, At int
	// Row is what the write makes of it, nil for nothing.
	Row     Row
	Changed bool
}

// mostTuples bounds what is asked about one write of several tables.
const mostTuples = 160

// errSeveral refuses a write of several tables of which the server has not told what it
// does.
var errSeveral = unsupported("a write to several tables")

// WriteSeveral has the server compute what an UPDATE or DELETE of several tables does to
// the rows that it finds. Each row that may be written is asked about alone, so it cannot
// be taken for another; and where other tables give the new values, with each choice of
// their rows: a row that several of them match is written once, with the values of
// whichever the plan meets first, so they have to agree.
// https://dev.mysql.com/doc/refman/en/update.html
func (s *Solver) WriteSeveral(stmt ast.StmtNode, on []Found) ([]Chosen, error) {
	w := severalOf(stmt, on)
	if w == nil || !s.asks(errSeveral, stmt) || hasQuery(stmt) || s.d.mayStampAny(stmt, on) {
		return nil, errSeveral
	}
	var err error
	if w.sql, err = corpus.Format(stmt, corpus.Text); err != nil {
		return nil, errSeveral
	}
	w.asking = s.asking
	w.asking.missing = false
	var out []Chosen
	settled := true
	for _, in := range w.written {
		for at, old := range on[in].Rows {
			// What is unsettled stops nothing: so one replay finds all questions.
			cells, matched, ok := w.outcome(in, at)
			if settled = settled && ok; !settled || !matched {
				continue
			}
			c := Chosen{In: in, At: at, Changed: true}
			if cells != nil {
				if c.Row, err = on[in].Table.ParseRow(cells); err != nil {
					return nil, errSeveral
				}
				c.Changed = !slices.Equal(cells, old.Cells())
			}
			out = append(out, c)
		}
	}
	if !w.whole(out) || !settled {
		return nil, errSeveral
	}
	return out, nil
}

// several is a write of several tables, in the order in which on has them.
type several struct {
	on      []Found
	sql     string
	asking  *Asking
	written []int
	deletes bool
	// alone says that one table is written, with values that depend on no other.
	alone bool
	left  int
}

// whole reports whether the write of all rows at once does what the writes of each do
// together: where it does not, a server computes it in another way than row by row.
func (w *several) whole(parts []Chosen) bool {
	q := history.Question{SQL: w.sql}
	left := make([][][]history.Cell, len(w.on))
	for i := range w.on {
		q.Tables = append(q.Tables, contents(w.on[i].Table, w.on[i].Rows))
		left[i] = slices.Clone(q.Tables[i].Rows)
	}
	a := w.asking.ask(q)
	if a == nil || a.Result.Err != nil || len(a.After) != len(w.on) || !w.deletes && a.Result.Matched != int64(len(parts)) {
		return false
	}
	for _, c := range parts {
		if left[c.In][c.At] = nil; c.Row != nil {
			left[c.In][c.At] = c.Row.Cells()
		}
	}
	for i := range left {
		want := history.RowTexts(slices.DeleteFunc(left[i], func(row []history.Cell) bool { return row == nil }))
		got := history.RowTexts(a.After[i].Rows)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			return false
		}
	}
	return true
}

// outcome tells of a row whether the write chooses it, and what becomes of it: nil, if it
// is deleted.
func (w *several) outcome(in, at int) (cells []history.Cell, matched, ok bool) {
	if w.deletes || w.alone {
		all := make([][]Row, len(w.on))
		for i := range w.on {
			all[i] = w.on[i].Rows
		}
		all[in] = all[in][at : at+1]
		return w.ask(in, all)
	}
	ok = true
	var first []history.Cell
	tuple := make([][]Row, len(w.on))
	var each func(i int)
	each = func(i int) {
		switch {
		case i == len(w.on):
			c, m, told := w.ask(in, tuple)
			switch {
			case !told:
				ok = false
			case !m:
			case first == nil:
				first = c
			default:
				ok = ok && slices.Equal(first, c)
			}
		case i == in:
			tuple[i] = w.on[in].Rows[at : at+1]
			each(i + 1)
		default:
			for k := range w.on[i].Rows {
				tuple[i] = w.on[i].Rows[k : k+1]
				each(i + 1)
			}
		}
	}
	each(0)
	return first, first != nil, ok
}

// ask asks what becomes of the only row of one table.
func (w *several) ask(in int, rows [][]Row) (cells []history.Cell, matched, ok bool) {
	if w.left--; w.left < 0 {
		return nil, false, false
	}
	q := history.Question{SQL: w.sql}
	for i := range w.on {
		q.Tables = append(q.Tables, contents(w.on[i].Table, rows[i]))
	}
	a := w.asking.ask(q)
	if a == nil || a.Result.Err != nil || len(a.After) != len(w.on) {
		return nil, false, false
	}
	after := a.After[in].Rows
	switch {
	case w.deletes:
		return nil, len(after) == 0, len(after) <= 1
	case len(after) != 1 || a.Result.Matched < 0:
		return nil, false, false
	}
	return after[0], a.Result.Matched > 0, true
}

// severalOf reads a write whose answer is the sum of those for each row; nil for others.
func severalOf(stmt ast.StmtNode, on []Found) *several {
	w := &several{on: on, left: mostTuples}
	switch s := stmt.(type) {
	case *ast.DeleteStmt:
		from := namedIn(s.TableRefs, on)
		if from == nil || s.With != nil || s.Order != nil || s.Limit != nil || s.IgnoreErr || s.Tables == nil {
			return nil
		}
		w.deletes = true
		for _, t := range s.Tables.Tables {
			i := from.named(t.Name.L)
			if i < 0 || slices.Contains(w.written, i) {
				return nil
			}
			w.written = append(w.written, i)
		}
	case *ast.UpdateStmt:
		from := namedIn(s.TableRefs, on)
		if from == nil || s.With != nil || s.Order != nil || s.Limit != nil || s.IgnoreErr || !w.assigned(s, from) {
			return nil
		}
	default:
		return nil
	}
	slices.Sort(w.written)
	return w
}

// assigned notes which tables an UPDATE writes. It reports false where the answer may
// depend on more than the rows: no order of the assignments is promised, so none may read
// what another assigns; a row of one table may be written before it is joined to the next
// one of the other, so that no condition may read what is assigned if both are written; and
// what an outer join makes of a row depends on all rows beside it.
func (w *several) assigned(s *ast.UpdateStmt, from *named) bool {
	var set []column
	for _, a := range s.List {
		c := from.column(a.Column)
		if c == nowhere || slices.Contains(set, c) {
			return false
		}
		set = append(set, c)
		if !slices.Contains(w.written, c.table) {
			w.written = append(w.written, c.table)
		}
	}
	w.alone = len(w.written) == 1
	for k, a := range s.List {
		for _, c := range from.columnsIn(a.Expr) {
			if c == nowhere || c != set[k] && slices.Contains(set, c) {
				return false
			}
			w.alone = w.alone && c.table == set[k].table
		}
	}
	if len(w.written) > 1 {
		conditions := from.columnsIn(s.TableRefs)
		if s.Where != nil {
			conditions = append(conditions, from.columnsIn(s.Where)...)
		}
		if slices.ContainsFunc(conditions, func(c column) bool { return c == nowhere || slices.Contains(set, c) }) || from.merged {
			return false
		}
	}
	return w.alone || !from.outer
}

// column is a column of one of several tables.
type column struct{ table, at int }

// nowhere is what stands for a name that does not tell its column.
var nowhere = column{-1, -1}

// named are the tables of a FROM clause by the names that a statement calls them.
type named struct {
	on    []Found
	names []string
	// outer says that a join is an outer one, merged that one makes columns of one name one.
	outer, merged bool
}

// namedIn returns nil where a FROM clause holds anything else than the given tables, each once.
func namedIn(from *ast.TableRefsClause, on []Found) *named {
	f := &named{on: on, names: make([]string, len(on))}
	if from == nil || !f.add(from.TableRefs) || slices.Contains(f.names, "") {
		return nil
	}
	return f
}

func (f *named) add(n ast.ResultSetNode) bool {
	switch x := n.(type) {
	case *ast.Join:
		f.outer = f.outer || x.Tp == ast.LeftJoin || x.Tp == ast.RightJoin
		f.merged = f.merged || x.NaturalJoin || len(x.Using) > 0
		return f.add(x.Left) && (x.Right == nil || f.add(x.Right))
	case *ast.TableSource:
		t, ok := x.Source.(*ast.TableName)
		if !ok {
			return false
		}
		i := slices.IndexFunc(f.on, func(o Found) bool { return lower(o.Table.Name) == t.Name.L })
		if i < 0 || f.names[i] != "" {
			return false
		}
		if f.names[i] = x.AsName.L; f.names[i] == "" {
			f.names[i] = t.Name.L
		}
		return true
	}
	return false
}

func (f *named) named(name string) int { return slices.Index(f.names, name) }

// column returns which column a name stands for.
func (f *named) column(c *ast.ColumnName) column {
	out := nowhere
	for i := range f.on {
		k := f.on[i].Table.ColumnIndex(c.Name.O)
		if k < 0 || c.Table.L != "" && f.names[i] != c.Table.L {
			continue
		}
		if out != nowhere {
			return nowhere
		}
		out = column{i, k}
	}
	return out
}

func (f *named) columnsIn(n ast.Node) []column {
	var out []column
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		if c, ok := n.(*ast.ColumnName); ok {
			out = append(out, f.column(c))
		}
		return false, false
	})
	return out
}
