package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// commitsAmidOthers says that a BEGIN commits what was open while a statement of another session is under way,
// whose effect may come between that commit and the snapshot: one event cannot stand at two moments.
func (j *judge) commitsAmidOthers(e *event) bool {
	if !slices.ContainsFunc(j.t.units, func(u *unit) bool { return u.end == e && u.committed }) {
		return false
	}
	return slices.ContainsFunc(j.t.events, func(o *event) bool {
		return o.st.Session != e.st.Session && o.st.Submit < e.to && o.to > e.st.Submit
	})
}

// namesTwice says that a statement comes to the rows of a table more than once, or that it is not known.
func (j *judge) namesTwice(e *event) bool {
	if _, inserts := e.node.(*ast.InsertStmt); inserts {
		return false
	}
	named := j.named(e)
	return named == nil || len(slices.Compact(slices.Sorted(slices.Values(named)))) < len(named)
}

// moved says that a commit behind the first so many has given a row another place in some index: a scan may have
// been behind the one and before the other, and so have missed the row or met it twice.
func (j *judge) moved(w *world, since int) bool {
	for n := since; n < len(w.wrote); n++ {
		for i, changes := range w.wrote[n] {
			indexed := j.indexed(i)
			gone, came := false, false
			for key, now := range changes {
				was, had := w.committed[n][i][key]
				gone, came = gone || had && now.n == 0, came || !had && now.n > 0
				if had && now.n > 0 && slices.ContainsFunc(indexed, func(c int) bool { return differ(was.cells[c], now.cells[c]) }) {
					return true
				}
			}
			if gone && came { // a primary key that changed, or rows that nobody tells apart
				return true
			}
		}
	}
	return false
}

func differ(a, b history.Cell) bool { return a.Null != b.Null || a.Text != b.Text }

// indexed are the columns of a table in its indexes but the primary key.
func (j *judge) indexed(table int) (columns []int) {
	def := j.defs[strings.ToLower(j.layout[table].name)]
	if def == nil {
		return nil
	}
	add := func(name string) {
		if i := slices.IndexFunc(j.layout[table].columns, func(c string) bool { return strings.EqualFold(c, name) }); i >= 0 {
			columns = append(columns, i)
		}
	}
	for _, c := range def.Constraints {
		if c.Tp == ast.ConstraintPrimaryKey {
			continue
		}
		for _, k := range c.Keys {
			if k.Column != nil {
				add(k.Column.Name.O)
			}
		}
	}
	for _, c := range def.Cols {
		if has(def, c.Name.Name.L, ast.ColumnOptionUniqKey) {
			add(c.Name.Name.L)
		}
	}
	return columns
}
