package workload

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// Dangerous reports whether the transactions of a set can form, each in its place, the
// structure that every anomaly of snapshot isolation contains: two rw dependencies in a
// row between concurrent transactions, on a cycle. Fekete, Liarokapis, O'Neil, O'Neil and
// Shasha, "Making Snapshot Isolation Serializable", TODS 30 (2), 2005. It goes by the
// text of the statements: of transactions in Go code it knows nothing. firstWins says that
// a server refuses the second of two writers of a row that did not see each other, as
// snapshot isolation demands and REPEATABLE READ of MySQL does not.
func Dangerous(w *workload.Workload, set []*workload.Transaction, firstWins bool) bool {
	uses := make([]use, len(set))
	for i, t := range set {
		uses[i] = usesOf(w, t)
		if !firstWins {
			uses[i].owned = nil
		}
	}
	var cycle func(path, rest []use) bool
	cycle = func(path, rest []use) bool {
		n := len(path)
		if 1 < n && n <= 3 && !path[n-2].overtakenBy(&path[n-1]) || n > 3 && !path[n-2].meets(&path[n-1]) {
			return false
		}
		if len(rest) == 0 {
			if n == 2 {
				return path[1].overtakenBy(&path[0])
			}
			return n > 2 && path[n-1].meets(&path[0])
		}
		for i := range rest {
			if cycle(append(slices.Clip(path), rest[i]), slices.Concat(rest[:i], rest[i+1:])) {
				return true
			}
		}
		return false
	}
	return cycle(nil, uses)
}

// field is a column of a table, lower-case; without a column, which rows there are.
type field struct{ table, column string }

// use is what a transaction reads and writes.
type use struct {
	reads  []read // by SELECT without a lock
	all    []field
	writes []field
	// owned are the tables and conditions of its UPDATEs and DELETEs.
	owned []choice
}

// choice is a condition on the rows of a table.
type choice struct{ table, where string }

type read struct {
	field
	where string
}

// overtakenBy reports whether u may read what o writes, and commit, under snapshot
// isolation: it does not if it changes the row itself, as the first of two writers wins.
func (u *use) overtakenBy(o *use) bool {
	return slices.ContainsFunc(u.reads, func(r read) bool {
		return slices.Contains(o.writes, r.field) && !slices.Contains(u.owned, choice{r.table, r.where})
	})
}

// meets reports whether one of the two writes what the other one reads or writes.
func (u *use) meets(o *use) bool {
	in := func(list []field) func(field) bool {
		return func(f field) bool { return slices.Contains(list, f) }
	}
	return slices.ContainsFunc(u.writes, in(o.all)) || slices.ContainsFunc(o.writes, in(u.all))
}

func usesOf(w *workload.Workload, t *workload.Transaction) use {
	var u use
	workload.Walk(t.Body, func(n *workload.Node) {
		if n.Kind == workload.Run {
			u.add(w, n.Stmt)
		}
	})
	return u
}

func (u *use) add(w *workload.Workload, s ast.StmtNode) {
	touched := tablesOf(s)
	f := &fieldFinder{w: w, tables: touched.all()}
	s.Accept(f)
	u.all = append(u.all, f.fields...)
	where := ""
	writesRows, plain := false, false
	switch x := s.(type) {
	case *ast.SelectStmt:
		where, plain = conditionText(x.Where), x.LockInfo == nil
	case *ast.SetOprStmt:
		plain = true
	case *ast.UpdateStmt:
		where = conditionText(x.Where)
		for _, a := range x.List {
			u.writes = append(u.writes, f.named(a.Column.Name.L, a.Column.Table.L)...)
		}
	case *ast.DeleteStmt:
		where, writesRows = conditionText(x.Where), true
	case *ast.InsertStmt:
		writesRows = true
	}
	for _, name := range touched.writes {
		if writesRows {
			u.writes = append(u.writes, f.whole(name)...)
		}
		if _, ok := s.(*ast.InsertStmt); !ok {
			u.owned = append(u.owned, choice{name, where})
		}
	}
	u.all = append(u.all, u.writes...)
	if !plain {
		return
	}
	for _, x := range f.fields {
		u.reads = append(u.reads, read{x, where})
	}
	for _, name := range touched.reads {
		u.reads = append(u.reads, read{field{name, ""}, where})
		u.all = append(u.all, field{name, ""})
	}
}

func conditionText(e ast.ExprNode) string {
	if e == nil {
		return ""
	}
	return strings.ToLower(text(e))
}

// fieldFinder collects the columns that a statement names.
type fieldFinder struct {
	w      *workload.Workload
	tables []string
	fields []field
}

func (f *fieldFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr:
		f.fields = append(f.fields, f.named(x.Name.Name.L, x.Name.Table.L)...)
	case *ast.SelectField:
		if x.WildCard != nil {
			for _, name := range f.tables {
				f.fields = append(f.fields, f.whole(name)...)
			}
		}
	}
	return n, false
}

func (f *fieldFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// named returns the columns that a name may stand for. An alias is no table's name, so
// then it is looked for in all.
func (f *fieldFinder) named(column, table string) []field {
	var out []field
	for _, name := range f.tables {
		if t := f.w.Table(name); t != nil && t.Column(column) >= 0 && (table == "" || table == name || !slices.Contains(f.tables, table)) {
			out = append(out, field{name, column})
		}
	}
	return out
}

// whole returns all columns of a table, and which rows it has.
func (f *fieldFinder) whole(name string) []field {
	out := []field{{name, ""}}
	if t := f.w.Table(name); t != nil {
		for i := range t.Columns {
			out = append(out, field{name, strings.ToLower(t.Columns[i].Name)})
		}
	}
	return out
}
