package reduce

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// mergeCandidates lists the pairs of columns of a table that can become one. Every
// use of the first column becomes a use of the second, whose definition stays; the
// rows hold the values of either.
func mergeCandidates(d *draft) []candidate {
	var out []candidate
	for _, t := range d.tables().order {
		for i := len(t.columns) - 1; i >= 0; i-- {
			for k := range t.columns {
				if i == k {
					continue
				}
				for _, own := range []bool{true, false} {
					m := merge{schema: d.tables(), table: t, from: t.columns[i].name, to: t.columns[k].name, own: own}
					id := armMerge.String() + " " + t.name + "." + m.from + ">" + m.to
					if !own {
						id += " values"
					}
					out = append(out, candidate{armMerge, id, func() *draft { return d.merged(&m) }})
				}
			}
		}
	}
	return out
}

// merge makes two columns of a table one.
type merge struct {
	schema   *schema
	table    *table
	from, to string
	// own keeps the values that rows have for to, instead of those for from.
	own bool
}

func (d *draft) merged(m *merge) *draft {
	return d.transform(func(st *statement) (*statement, bool) {
		if !slices.Contains(st.tables, m.table.name) {
			return st, true
		}
		if stmt.KindOf(st.tree) == stmt.Raw {
			return nil, false // its text may name the column
		}
		tree := corpus.CloneStmt(st.tree)
		if st.creates != nil && st.creates.name != m.table.name {
			return nil, false // its foreign key refers to this table
		}
		switch n := tree.(type) {
		case *ast.CreateTableStmt:
			m.createTable(n)
		case *ast.CreateIndexStmt:
			m.parts(&n.IndexPartSpecifications)
		case *ast.InsertStmt:
			if !m.insert(n) {
				return nil, false
			}
		}
		names{columns: map[origin]string{{m.table.name, m.from}: m.to}}.applyTo(tree, m.schema)
		switch n := tree.(type) {
		case *ast.UpdateStmt:
			n.List = distinctAssignments(n.List)
		case *ast.InsertStmt:
			n.OnDuplicate = distinctAssignments(n.OnDuplicate)
		}
		out := d.lib.print(tree)
		return out, out != nil
	})
}

func (m *merge) createTable(n *ast.CreateTableStmt) {
	n.Cols = slices.DeleteFunc(n.Cols, func(c *ast.ColumnDef) bool { return c.Name.Name.L == m.from })
	for _, k := range n.Constraints {
		m.parts(&k.Keys)
	}
}

// parts drops the column from a key that holds the other, too.
func (m *merge) parts(list *[]*ast.IndexPartSpecification) {
	if slices.Contains(partNames(*list), m.to) {
		*list = slices.DeleteFunc(*list, func(p *ast.IndexPartSpecification) bool {
			return p.Column != nil && p.Column.Name.L == m.from
		})
	}
}

// insert drops one of the two values of each row.
func (m *merge) insert(n *ast.InsertStmt) bool {
	if insertTarget(n) != m.table.name {
		return true
	}
	if n.Select != nil || n.Setlist {
		return false
	}
	var listed []string
	for _, c := range n.Columns {
		listed = append(listed, c.Name.L)
	}
	if len(listed) == 0 {
		for _, c := range m.table.columns {
			listed = append(listed, c.name)
		}
	}
	from, to := slices.Index(listed, m.from), slices.Index(listed, m.to)
	if from < 0 || to < 0 {
		return true
	}
	if len(n.Columns) > 0 {
		n.Columns = dropAt(n.Columns, from)
	}
	for i, row := range n.Lists {
		if len(row) != len(listed) {
			return false
		}
		if !m.own {
			row[to] = row[from]
		}
		n.Lists[i] = dropAt(row, from)
	}
	return true
}

// distinctAssignments keeps the first of several to one column.
func distinctAssignments(list []*ast.Assignment) []*ast.Assignment {
	var out []*ast.Assignment
	for _, a := range list {
		if !slices.ContainsFunc(out, func(b *ast.Assignment) bool { return a.Column.Name.L == b.Column.Name.L }) {
			out = append(out, a)
		}
	}
	return out
}
