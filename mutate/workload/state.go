package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// State is what the tables hold before the transactions.
type State struct {
	w *workload.Workload
	// rows holds the rows made here, by table in the order of the schema, those of
	// the schema's own INSERTs not among them.
	rows [][][]ast.ExprNode
}

// Rows counts the rows that were made.
func (s *State) Rows() int {
	n := 0
	for _, t := range s.rows {
		n += len(t)
	}
	return n
}

// Without returns the state without n rows from the i-th on, counted through all tables.
func (s *State) Without(i, n int) *State {
	out := &State{w: s.w, rows: slices.Clone(s.rows)}
	for t, rows := range s.rows {
		from, to := min(max(i, 0), len(rows)), min(max(i+n, 0), len(rows))
		out.rows[t] = slices.Concat(rows[:from], rows[to:])
		i -= len(rows)
	}
	return out
}

// Init returns the set-up of a case: the schema and the rows.
func (s *State) Init() []corpus.Line {
	var out []corpus.Line
	var fixed []corpus.Line
	for _, x := range s.w.Schema {
		line := corpus.Line{Session: corpus.InitSession, Stmt: x.Stmt}
		if _, ok := x.Stmt.(*ast.InsertStmt); ok {
			fixed = append(fixed, line)
		} else {
			out = append(out, line)
		}
	}
	out = append(out, fixed...)
	for i, t := range s.w.Tables() {
		if len(s.rows[i]) > 0 {
			out = append(out, corpus.Line{Session: corpus.InitSession, Stmt: insert(t, s.rows[i])})
		}
	}
	return out
}

func insert(t *workload.Table, rows [][]ast.ExprNode) *ast.InsertStmt {
	ins := &ast.InsertStmt{Table: &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: &ast.TableName{Name: model.NewCIStr(t.Name)}}}}}
	named := slices.ContainsFunc(t.Columns, func(c workload.Column) bool { return c.Computed })
	for i := range t.Columns {
		if named && !t.Columns[i].Computed {
			ins.Columns = append(ins.Columns, &ast.ColumnName{Name: model.NewCIStr(t.Columns[i].Name)})
		}
	}
	for _, row := range rows {
		var list []ast.ExprNode
		for i, v := range row {
			if !t.Columns[i].Computed {
				list = append(list, corpus.CloneExpr(v))
			}
		}
		ins.Lists = append(ins.Lists, list)
	}
	return ins
}

// values returns the values that a column has in the rows, those of the schema's
// INSERTs first.
func (s *State) values(table, column string) []ast.ExprNode {
	t := s.w.Table(table)
	c := t.Column(column)
	var out []ast.ExprNode
	for _, row := range fixedRows(t) {
		if row[c] != nil {
			out = append(out, row[c])
		}
	}
	for i, x := range s.w.Tables() {
		if x == t && i < len(s.rows) {
			for _, row := range s.rows[i] {
				out = append(out, row[c])
			}
		}
	}
	return out
}

// fixedRows returns the rows of the schema's INSERTs, nil for values not given.
func fixedRows(t *workload.Table) [][]ast.ExprNode {
	var out [][]ast.ExprNode
	for _, ins := range t.Fixed {
		for _, list := range ins.Lists {
			row := make([]ast.ExprNode, len(t.Columns))
			for i, v := range list {
				at := i
				if len(ins.Columns) > 0 {
					at = -1
					if i < len(ins.Columns) {
						at = t.Column(ins.Columns[i].Name.O)
					}
				}
				if at >= 0 && at < len(row) {
					row[at] = v
				}
			}
			out = append(out, row)
		}
	}
	return out
}

// Most rows of a table where the file does not say how many: few, so that
// transactions meet.
const usualRows = 3

// attempts is how often a row is drawn that breaks a key or a CHECK.
const attempts = 24

// MakeState draws the rows of all tables.
func MakeState(w *workload.Workload, data []byte) *State { return makeState(w, &source{data: data}) }

func makeState(w *workload.Workload, src *source) *State {
	s := &State{w: w}
	for _, t := range w.Tables() {
		lo, hi := 1, usualRows
		if r := w.RowsOf(t.Name); r != nil {
			lo, hi = r.Min, r.Max
		} else if len(t.Fixed) > 0 {
			lo, hi = 0, 0
		}
		s.rows = append(s.rows, nil)
		g := rowMaker{s: s, src: src, t: t, fixed: fixedRows(t)}
		n := hi - src.below(stateLane, hi-lo+1)
		for range n {
			if row := g.row(); row != nil {
				s.rows[len(s.rows)-1] = append(s.rows[len(s.rows)-1], row)
				g.made = append(g.made, row)
			}
		}
	}
	return s
}

// rowMaker makes the rows of one table.
type rowMaker struct {
	s           *State
	src         *source
	t           *workload.Table
	fixed, made [][]ast.ExprNode
}

// row returns a row that keeps the keys and the CHECKs, as far as these can be
// evaluated here; nil if none was found. The server refuses what is wrong all the
// same.
func (g *rowMaker) row() []ast.ExprNode {
	for try := range attempts {
		row := make([]ast.ExprNode, len(g.t.Columns))
		if !g.refer(row, try) {
			return nil
		}
		for i := range g.t.Columns {
			if row[i] == nil {
				row[i] = g.value(i, try)
			}
		}
		if g.unique(row) && checked(g.t, row) {
			return row
		}
	}
	return nil
}

// refer fills in the columns of foreign keys; false: there is no row to refer to.
func (g *rowMaker) refer(row []ast.ExprNode, try int) bool {
	for _, f := range g.t.Foreign {
		ref := g.s.w.Table(f.Ref)
		if ref == nil {
			continue
		}
		names := f.RefColumns
		if len(names) == 0 && len(ref.Unique) > 0 {
			for _, i := range ref.Unique[0] {
				names = append(names, ref.Columns[i].Name)
			}
		}
		var columns [][]ast.ExprNode
		for _, n := range names {
			if ref.Column(n) < 0 {
				return true // the server will refuse the schema
			}
			columns = append(columns, g.s.values(f.Ref, n))
		}
		nullable := !slices.ContainsFunc(f.Columns, func(i int) bool { return !g.t.Columns[i].Nullable })
		if len(columns) == 0 || len(columns[0]) == 0 || nullable && g.src.oneIn(stateLane, 8) {
			if !nullable {
				return false
			}
			for _, i := range f.Columns {
				row[i] = corpus.NullLit()
			}
			continue
		}
		// Columns that two foreign keys share are settled by the first.
		pick := (g.src.below(stateLane, len(columns[0])) + try) % len(columns[0])
		for range columns[0] {
			fits := true
			for k, i := range f.Columns {
				fits = fits && k < len(columns) && pick < len(columns[k]) && (row[i] == nil || text(row[i]) == text(columns[k][pick]))
			}
			if fits {
				for k, i := range f.Columns {
					row[i] = columns[k][pick]
				}
				break
			}
			pick = (pick + 1) % len(columns[0])
		}
	}
	return true
}

func text(e ast.ExprNode) string {
	s, err := corpus.FormatExpr(e, corpus.Text)
	if err != nil {
		return ""
	}
	return s
}

// keyed says that a column belongs to a key.
func (g *rowMaker) keyed(column int) bool {
	return slices.ContainsFunc(g.t.Unique, func(k []int) bool { return slices.Contains(k, column) })
}

// value draws a value by categories: samples, NULL, one that is there already, a
// boundary of the type, a usual one.
func (g *rowMaker) value(column, try int) ast.ExprNode {
	c := &g.t.Columns[column]
	if s := g.s.w.Sample(g.t.Name, c.Name); s != nil {
		total := 0
		for _, v := range s.Values {
			total += v.Weight
		}
		n := (g.src.below(stateLane, total) + try) % total
		for _, v := range s.Values {
			if n -= v.Weight; n < 0 {
				return v.Value
			}
		}
	}
	if g.keyed(column) {
		if c.Nullable && g.src.oneIn(stateLane, 8) {
			return corpus.NullLit()
		}
		single := slices.ContainsFunc(g.t.Unique, func(k []int) bool { return len(k) == 1 && k[0] == column })
		n := len(g.fixed) + len(g.made)
		if !single {
			n = g.src.below(stateLane, n+2)
		}
		return nth(c, n+try)
	}
	switch draw := g.src.below(stateLane, 8); {
	case draw == 7 && c.Nullable:
		return corpus.NullLit()
	case draw == 6:
		b := boundaries(c)
		return b[g.src.below(stateLane, len(b))]
	case draw >= 4 && len(g.made) > 0:
		return g.made[g.src.below(stateLane, len(g.made))][column]
	}
	return usual(c, g.src.below(stateLane, 8)+try)
}

// unique reports whether a row keeps the keys of its table.
func (g *rowMaker) unique(row []ast.ExprNode) bool {
	for _, key := range g.t.Unique {
		for _, other := range slices.Concat(g.fixed, g.made) {
			same := true
			for _, i := range key {
				same = same && other[i] != nil && text(row[i]) != "NULL" && strings.EqualFold(text(other[i]), text(row[i]))
			}
			if same && len(key) > 0 {
				return false
			}
		}
	}
	return true
}

// checked reports whether a row satisfies the CHECKs of its table. What the solver
// cannot tell is left to the server.
func checked(t *workload.Table, row []ast.ExprNode) bool {
	for _, check := range t.Checks {
		n, _ := corpus.CloneExpr(check).Accept(&columnBinder{t, row})
		sel := &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true}, Fields: &ast.FieldList{Fields: []*ast.SelectField{{Expr: n.(ast.ExprNode)}}}}
		r, err := solve.New(solve.DialectOf(history.Server{DBMS: history.MySQL})).Select(sel, noTables{})
		if err != nil || len(r.Rows) != 1 {
			continue
		}
		if v, null := r.Rows[0][0].Text(); !null && v == "0" {
			return false
		}
	}
	return true
}

type noTables struct{}

func (noTables) Table(name string) (*solve.Table, []solve.Row, error) {
	return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
}

// columnBinder puts the values of a row in place of its columns.
type columnBinder struct {
	t   *workload.Table
	row []ast.ExprNode
}

func (b *columnBinder) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (b *columnBinder) Leave(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		if i := b.t.Column(c.Name.Name.O); i >= 0 && b.row[i] != nil {
			return corpus.CloneExpr(b.row[i]), true
		}
	}
	return n, true
}

// nth returns the n-th of distinct values of a type, from 0.
func nth(c *workload.Column, n int) ast.ExprNode {
	switch c.Type.GetType() {
	case mysql.TypeDate, mysql.TypeNewDate:
		return corpus.StringLit(fmt.Sprintf("2024-01-%02d", n%28+1))
	case mysql.TypeDatetime, mysql.TypeTimestamp:
		return corpus.StringLit(fmt.Sprintf("2024-01-%02d 00:00:00", n%28+1))
	case mysql.TypeDuration:
		return corpus.StringLit(fmt.Sprintf("%02d:00:00", n%24))
	case mysql.TypeYear:
		return corpus.IntLit(int64(2000 + n%100))
	case mysql.TypeEnum, mysql.TypeSet:
		if e := c.Type.GetElems(); len(e) > 0 {
			return corpus.StringLit(e[n%len(e)])
		}
	case mysql.TypeFloat, mysql.TypeDouble, mysql.TypeNewDecimal:
		return corpus.IntLit(int64(n + 1))
	}
	if c.IsText() {
		s := string(rune('a' + n%26))
		if n >= 26 {
			s += strconv.Itoa(n / 26)
		}
		if l := c.Type.GetFlen(); l > 0 && len(s) > l {
			s = s[:l]
		}
		return corpus.StringLit(s)
	}
	return corpus.IntLit(int64(n + 1))
}

// usual returns one of a few ordinary values of a type.
func usual(c *workload.Column, n int) ast.ExprNode {
	switch c.Type.GetType() {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong, mysql.TypeNewDecimal, mysql.TypeFloat, mysql.TypeDouble:
		if c.Type.GetType() == mysql.TypeTiny && c.Type.GetFlen() == 1 {
			return corpus.IntLit(int64(n & 1))
		}
		return corpus.IntLit([]int64{10, 1, 2, 5, 20, 50, 100, 3}[n%8])
	}
	return nth(c, n%3)
}

// boundaries returns the ends of what an application usually meets, and of a type
// where it is small; the very largest numbers would only overflow.
func boundaries(c *workload.Column) []ast.ExprNode {
	switch c.Type.GetType() {
	case mysql.TypeTiny:
		return []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1)}
	case mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong, mysql.TypeNewDecimal, mysql.TypeFloat, mysql.TypeDouble:
		if mysql.HasUnsignedFlag(c.Type.GetFlag()) {
			return []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1)}
		}
		return []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1), corpus.IntLit(-1)}
	}
	if c.IsText() && c.Type.GetElems() == nil {
		switch c.Type.GetType() {
		case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString:
			return []ast.ExprNode{corpus.StringLit(""), corpus.StringLit("A")}
		}
	}
	return []ast.ExprNode{nth(c, 0)}
}
