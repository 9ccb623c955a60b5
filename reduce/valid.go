package reduce

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// faults lists what makes a draft a case that no server runs as meant: unknown
// or ambiguous names, rows of the wrong width, definitions that are refused,
// savepoints that are not set, waits for a transaction that does not end. A
// candidate may not have a fault that the original has not, so that no attempt
// is spent on garbage. Faults of things that renaming changes do not name them.
func (d *draft) faults() map[string]bool {
	out := map[string]bool{}
	if len(d.steps) == 0 {
		out["no step"] = true
	}
	s := d.tables()
	for _, f := range s.faults {
		out[f] = true
	}
	d.statements(func(st *statement) {
		for _, f := range st.faults(s) {
			out[f] = true
		}
	})
	d.savepointFaults(out)
	d.killFaults(out)
	if d.waitsForGood() {
		out[faultWait] = true
	}
	return out
}

const faultWait = "a wait that nothing ends"

// within reports whether d has no fault outside allowed.
func (d *draft) within(allowed map[string]bool) bool {
	for f := range d.faults() {
		if !allowed[f] {
			return false
		}
	}
	return true
}

// faults lists what is wrong with a statement under a schema.
func (s *statement) faults(sc *schema) []string {
	if out, ok := s.checked[sc]; ok {
		return out
	}
	var out []string
	bind(s.tree, &binder{
		schema: sc,
		table: func(n *ast.TableName) {
			if sc.byName[n.Name.L] == nil {
				out = append(out, "unknown table "+n.Name.L)
			}
		},
		clash: func(name string) { out = append(out, "two tables called "+name) },
		column: func(_ *ast.ColumnName, _ origin, fault string) {
			if fault != "" {
				out = append(out, fault)
			}
		},
	})
	switch n := s.tree.(type) {
	case *ast.InsertStmt:
		out = append(out, rowFaults(n, sc)...)
	case *ast.CreateTableStmt:
		out = append(out, definitionFaults(n)...)
	}
	s.checked[sc] = out
	return out
}

// rowFaults checks the width of rows, and literals against columns that take
// numbers or no NULL.
func rowFaults(n *ast.InsertStmt, sc *schema) []string {
	t := sc.byName[insertTarget(n)]
	if t == nil || n.Setlist {
		return nil
	}
	var out []string
	names := make([]string, 0, len(t.columns))
	for _, c := range n.Columns {
		names = append(names, c.Name.L)
	}
	if len(n.Columns) == 0 {
		for _, c := range t.columns {
			names = append(names, c.name)
		}
	}
	for _, row := range n.Lists {
		if len(row) == 0 && len(n.Columns) == 0 {
			continue
		}
		if len(row) != len(names) {
			return append(out, "row width")
		}
		for i, e := range row {
			v, ok := e.(ast.ValueExpr)
			c, known := t.column(names[i])
			switch {
			case !ok || !known:
			case c.number && !isNumber(v):
				out = append(out, "text for a number")
			case c.required && !c.autoIncrement && corpus.LiteralOf(v).Kind == corpus.KindNull:
				out = append(out, "NULL for a column that takes none")
			}
		}
	}
	if w := width(n.Select, sc); w >= 0 && w != len(names) {
		out = append(out, "row width")
	}
	return out
}

// width counts the columns of a query, -1 if it cannot be told.
func width(n ast.ResultSetNode, sc *schema) int {
	q, ok := n.(*ast.SelectStmt)
	if !ok || q.Fields == nil {
		return -1
	}
	w := 0
	for _, f := range q.Fields.Fields {
		if f.WildCard == nil {
			w++
			continue
		}
		b := &binder{schema: sc, ctes: map[string]bool{}}
		for _, s := range b.sourcesOf(q.From) {
			if s.open {
				return -1
			}
			if f.WildCard.Table.L == "" || f.WildCard.Table.L == s.name {
				w += len(s.columns)
			}
		}
	}
	return w
}

// isNumber reports whether a literal can be stored as a number.
func isNumber(v ast.ValueExpr) bool {
	l := corpus.LiteralOf(v)
	if l.Kind != corpus.KindString {
		return true
	}
	_, err := strconv.ParseFloat(l.Text, 64)
	return err == nil
}

// definitionFaults checks defaults and key lengths against column types.
func definitionFaults(n *ast.CreateTableStmt) []string {
	var out []string
	number := map[string]bool{}
	for _, c := range tableOf(n).columns {
		number[c.name] = c.number
	}
	for _, c := range n.Cols {
		for _, o := range c.Options {
			v, ok := o.Expr.(ast.ValueExpr)
			if ok && o.Tp == ast.ColumnOptionDefaultValue && number[c.Name.Name.L] && !isNumber(v) {
				out = append(out, "text as default of a number")
			}
		}
	}
	for _, k := range n.Constraints {
		for _, p := range k.Keys {
			if p.Column != nil && p.Length > 0 && number[p.Column.Name.L] {
				out = append(out, "key length on a number")
			}
		}
	}
	return out
}

func insertTarget(n *ast.InsertStmt) string {
	if n.Table == nil || n.Table.TableRefs == nil {
		return ""
	}
	if s, ok := n.Table.TableRefs.Left.(*ast.TableSource); ok {
		if t, ok := s.Source.(*ast.TableName); ok {
			return t.Name.L
		}
	}
	return ""
}

// savepointFaults notes uses of savepoints that the transaction has not set.
func (d *draft) savepointFaults(out map[string]bool) {
	set := map[int]*savepoints{}
	for _, e := range d.steps {
		if set[e.session] == nil {
			set[e.session] = &savepoints{}
		}
		p := set[e.session]
		if e.st.role == roleToSavepoint && !slices.Contains(p.set, e.st.savepoint) {
			out["savepoint not set: "+e.st.savepoint] = true
		}
		p.see(e.st)
	}
}
