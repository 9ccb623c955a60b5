package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Which AUTO_INCREMENT values a run draws depends on who comes first, and means nothing.
// So runs are compared with such a value called by who drew it: #2.1 is the first that
// tx2 drew, in every run of the same calls. Values that were there before stay what they
// are, and so do columns that no such value gets into.

// column is a column of a table, lower-case.
type column struct{ table, name string }

// carriers tells of columns the tables whose AUTO_INCREMENT values they hold: those
// columns themselves, foreign keys to them, and columns into which a transaction of the
// workload puts :last_id or what it read from such a column.
func carriersOf(w *workload.Workload) map[column][]string {
	c := &carriers{w: w, of: map[column][]string{}}
	for _, t := range w.Tables() {
		for i := range t.Columns {
			if t.Columns[i].Auto {
				c.add(t.Name, t.Columns[i].Name, strings.ToLower(t.Name))
			}
		}
	}
	for again := true; again; {
		c.grown = false
		for _, t := range w.Tables() {
			for _, f := range t.Foreign {
				for k, i := range f.Columns {
					if k < len(f.RefColumns) {
						c.add(t.Name, t.Columns[i].Name, c.of[key(f.Ref, f.RefColumns[k])]...)
					}
				}
			}
		}
		for _, t := range w.Transactions {
			c.transaction(t)
		}
		again = c.grown
	}
	return c.of
}

func key(table, name string) column { return column{strings.ToLower(table), strings.ToLower(name)} }

type carriers struct {
	w     *workload.Workload
	of    map[column][]string
	grown bool
	// vars holds the tables whose values a variable has.
	vars map[string][]string
}

func (c *carriers) add(table, name string, sources ...string) {
	k := key(table, name)
	for _, s := range sources {
		if !slices.Contains(c.of[k], s) {
			c.of[k], c.grown = append(c.of[k], s), true
		}
	}
}

// transaction follows values through the statements of a transaction.
func (c *carriers) transaction(t *workload.Transaction) {
	c.vars = map[string][]string{}
	workload.Walk(t.Body, func(n *workload.Node) {
		if n.Kind != workload.Run {
			return
		}
		tables := tablesOf(c.w, n.Stmt)
		switch x := n.Stmt.(type) {
		case *ast.InsertStmt:
			if len(tables) == 0 {
				return
			}
			into := tables[0]
			for _, list := range x.Lists {
				for i, e := range list {
					if len(x.Columns) > i {
						c.carry(into, x.Columns[i].Name.O, e)
					} else if len(x.Columns) == 0 && i < len(into.Columns) {
						c.carry(into, into.Columns[i].Name, e)
					}
				}
			}
			if slices.ContainsFunc(into.Columns, func(col workload.Column) bool { return col.Auto }) {
				c.vars[workload.VarLastID] = []string{strings.ToLower(into.Name)}
			}
		case *ast.UpdateStmt:
			for _, a := range x.List {
				for _, into := range tables {
					c.carry(into, a.Column.Name.O, a.Expr)
				}
			}
		case *ast.SelectStmt:
			for i, name := range n.Into {
				c.vars[name] = sourcesOf(c.of, tables, fieldName(x, i, ""))
			}
		}
	})
}

func (c *carriers) carry(into *workload.Table, col string, e ast.ExprNode) {
	if v, ok := e.(*ast.VariableExpr); ok && into.Column(col) >= 0 {
		c.add(into.Name, col, c.vars[v.Name]...)
	}
}

// fieldName is the column that the i-th column of an answer is of, called name in the
// answer: an alias hides that, and so do MAX and MIN.
func fieldName(stmt ast.StmtNode, i int, name string) string {
	sel, ok := stmt.(*ast.SelectStmt)
	if !ok || sel.Fields == nil || i >= len(sel.Fields.Fields) || slices.ContainsFunc(sel.Fields.Fields, func(f *ast.SelectField) bool { return f.WildCard != nil }) {
		return name
	}
	e := sel.Fields.Fields[i].Expr
	if a, ok := e.(*ast.AggregateFuncExpr); ok && len(a.Args) == 1 && (strings.EqualFold(a.F, ast.AggFuncMax) || strings.EqualFold(a.F, ast.AggFuncMin)) {
		e = a.Args[0]
	}
	if c, ok := e.(*ast.ColumnNameExpr); ok {
		return c.Name.Name.O
	}
	return name
}

func sourcesOf(of map[column][]string, tables []*workload.Table, name string) []string {
	var out []string
	for _, t := range tables {
		out = append(out, of[key(t.Name, name)]...)
	}
	return out
}

// drawn holds the AUTO_INCREMENT values that a run drew, and what they are called.
type drawn struct {
	carriers map[column][]string
	// names are by table and value.
	names map[column]string
}

// drawnIn collects what a run drew; calls tells the number of the call that each session
// runs.
func (s *Stage) drawnIn(o *Outcome, calls []int) *drawn {
	d := &drawn{s.carriers, map[column]string{}}
	if len(s.carriers) == 0 {
		return d
	}
	before := map[column]bool{} // values that were there are not drawn, whatever is said of them
	for i := range o.History.Initial {
		t := &o.History.Initial[i]
		w := s.W.Table(t.Name)
		for k, name := range t.Columns {
			if w == nil || w.Column(name) < 0 || !w.Columns[w.Column(name)].Auto {
				continue
			}
			for _, row := range t.Rows {
				before[key(t.Name, row[k].Text)] = true
			}
		}
	}
	count := map[int]int{}
	for i := range o.History.Stmts {
		st := &o.History.Stmts[i]
		switch x := o.Case.Steps[st.Line].Stmt.(type) {
		case *ast.BeginStmt:
			count[st.Session] = 0 // a retry begins anew
		case *ast.InsertStmt:
			tables := tablesOf(s.W, x)
			if st.Result.Err != nil || st.Result.LastID == 0 || len(tables) == 0 {
				continue
			}
			// The server tells the first value; those of the other rows follow it.
			for n := range max(st.Result.Affected, 1) {
				k := key(tables[0].Name, strconv.FormatInt(st.Result.LastID+n, 10))
				if !before[k] && d.names[k] == "" {
					count[st.Session]++
					d.names[k] = fmt.Sprintf("#%d.%d", calls[st.Session-1]+1, count[st.Session])
				}
			}
		}
	}
	return d
}

// name is what a value is called, if it was drawn from one of some tables.
func (d *drawn) name(sources []string, c history.Cell) (string, bool) {
	for _, s := range sources {
		if n := d.names[column{s, c.Text}]; n != "" && !c.Null {
			return n, true
		}
	}
	return "", false
}

// answer is what a statement was answered.
type answer struct {
	stmt   ast.StmtNode
	result *history.Result
}

// text is an answer as it is compared.
func (s *Stage) text(a *answer, d *drawn) string {
	if a.result.Columns == nil {
		return strconv.FormatInt(a.result.Affected, 10) + " changed"
	}
	tables := tablesOf(s.W, a.stmt)
	sources := make([][]string, len(a.result.Columns))
	for i, name := range a.result.Columns {
		sources[i] = sourcesOf(s.carriers, tables, fieldName(a.stmt, i, name))
	}
	return rowsText(d.renamed(a.result, sources), ordered(a.stmt))
}

// renamed returns rows with the drawn values called by their names.
func (d *drawn) renamed(r *history.Result, sources [][]string) *history.Result {
	if len(d.names) == 0 || !slices.ContainsFunc(sources, func(s []string) bool { return len(s) > 0 }) {
		return r
	}
	out := *r
	out.Rows = make([][]history.Cell, len(r.Rows))
	for i, row := range r.Rows {
		out.Rows[i] = slices.Clone(row)
		for k := range row {
			if k < len(sources) {
				if n, ok := d.name(sources[k], row[k]); ok {
					out.Rows[i][k].Text = n
				}
			}
		}
	}
	return &out
}
