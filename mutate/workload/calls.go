package workload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// Call is a transaction with its parameters, run in a session of its own.
type Call struct {
	Transaction *workload.Transaction
	Args        map[string]ast.ExprNode
	// Known holds variables of statements that were left out of the transaction, with
	// what those gave.
	Known map[string]ast.ExprNode
}

// String is the call as people write it.
func (c *Call) String() string {
	parts := make([]string, len(c.Transaction.Params))
	for i, q := range c.Transaction.Params {
		parts[i] = text(c.Args[q.Name])
	}
	return c.Transaction.Name + "(" + strings.Join(parts, ", ") + ")"
}

// Input is a run of a workload: its state, calls and order.
type Input struct {
	State *State
	Calls []Call
	// Order gives the session numbers, from 1, in which statements are sent.
	Order []int
}

// Make makes an input from bytes, for a set of transactions, or for one that the bytes
// choose among sets.
func Make(w *workload.Workload, sets [][]*workload.Transaction, data []byte) *Input {
	src := &source{data: data}
	set := sets[src.below(callLane, len(sets))]
	in := &Input{State: makeState(w, src)}
	in.Calls = makeCalls(w, in.State, set, src)
	in.Order = makeOrder(in.Calls, src)
	return in
}

// Reorder returns the input with an order that other bytes choose.
func (in *Input) Reorder(data []byte) *Input {
	out := *in
	out.Order = makeOrder(in.Calls, &source{data: data})
	return &out
}

// domain is what a parameter's values are of.
type domain struct {
	table, column string
	// fresh says that they are inserted, or set, so that new ones matter.
	fresh bool
}

// domainOf returns the column that a parameter stands for: the declared one, else one
// that it is compared with, inserted into or set to.
func domainOf(w *workload.Workload, t *workload.Transaction, q *workload.Param) (domain, bool) {
	f := &domainFinder{w: w, name: q.Name, compared: domain{q.Table, q.Column, false}}
	workload.Walk(t.Body, func(n *workload.Node) {
		if n.Kind == workload.Run {
			f.statement(n.Stmt)
		}
	})
	switch {
	case q.OneOf != nil || q.HasRange:
		return domain{}, false
	case f.compared.table != "":
		d := f.compared
		d.fresh = f.inserted.table != "" && strings.EqualFold(f.inserted.table, d.table) && strings.EqualFold(f.inserted.column, d.column)
		return d, true
	case f.inserted.table != "":
		return f.inserted, true
	}
	return domain{}, false
}

type domainFinder struct {
	w                  *workload.Workload
	name               string
	tables             []string
	compared, inserted domain
}

func (f *domainFinder) statement(s ast.StmtNode) {
	f.tables = tablesOf(s).all()
	if ins, ok := s.(*ast.InsertStmt); ok && len(f.tables) > 0 {
		t := f.w.Table(f.tables[0])
		for _, list := range ins.Lists {
			for i, e := range list {
				v, ok := e.(*ast.VariableExpr)
				if !ok || v.Name != f.name || t == nil {
					continue
				}
				column := ""
				if len(ins.Columns) > i {
					column = ins.Columns[i].Name.O
				} else if len(ins.Columns) == 0 && i < len(t.Columns) {
					column = t.Columns[i].Name
				}
				if column != "" && f.inserted.table == "" {
					f.inserted = domain{t.Name, column, true}
				}
			}
		}
	}
	if u, ok := s.(*ast.UpdateStmt); ok && len(f.tables) > 0 {
		for _, a := range u.List {
			v, ok := a.Expr.(*ast.VariableExpr)
			t := f.w.Table(f.tables[0])
			if ok && v.Name == f.name && t != nil && t.Column(a.Column.Name.O) >= 0 && f.inserted.table == "" {
				f.inserted = domain{t.Name, t.Columns[t.Column(a.Column.Name.O)].Name, true}
			}
		}
	}
	s.Accept(f)
}

func (f *domainFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.EQ || x.Op == opcode.NullEQ {
			f.pair(x.L, x.R)
			f.pair(x.R, x.L)
		}
	case *ast.PatternInExpr:
		for _, e := range x.List {
			f.pair(x.Expr, e)
		}
	}
	return n, false
}

func (f *domainFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (f *domainFinder) pair(column, variable ast.ExprNode) {
	c, ok := column.(*ast.ColumnNameExpr)
	v, ok2 := variable.(*ast.VariableExpr)
	if !ok || !ok2 || v.Name != f.name || f.compared.table != "" {
		return
	}
	for _, name := range f.tables {
		if t := f.w.Table(name); t != nil && t.Column(c.Name.Name.O) >= 0 {
			f.compared = domain{t.Name, t.Columns[t.Column(c.Name.Name.O)].Name, false}
			return
		}
	}
}

// makeCalls draws the parameters. Values are drawn again that an earlier call has, so
// that the calls meet.
func makeCalls(w *workload.Workload, s *State, set []*workload.Transaction, src *source) []Call {
	used := map[string][]ast.ExprNode{} // by domain
	var out []Call
	for _, t := range set {
		c := Call{Transaction: t, Args: map[string]ast.ExprNode{}}
		own := map[string][]ast.ExprNode{}
		for i := range t.Params {
			q := &t.Params[i]
			d, ok := domainOf(w, t, q)
			key := d.table + "." + d.column
			if !ok {
				key = ":" + q.Name
			}
			var v ast.ExprNode
			earlier := slices.DeleteFunc(slices.Clone(used[key]), func(e ast.ExprNode) bool { return !admits(q, e) })
			switch {
			case len(earlier) > 0 && src.below(inputLane, 16) < 9:
				v = earlier[src.below(inputLane, len(earlier))]
			case ok:
				v = ofColumn(w, s, d, src)
			default:
				v = ofType(q, src)
			}
			// A transfer from an account to itself moves nothing.
			if same := func(e ast.ExprNode) bool { return text(e) == text(v) }; ok && slices.ContainsFunc(own[key], same) && src.below(inputLane, 8) != 7 {
				if i := slices.IndexFunc(s.values(d.table, d.column), func(e ast.ExprNode) bool { return !same(e) }); i >= 0 {
					v = s.values(d.table, d.column)[i]
				}
			}
			c.Args[q.Name] = v
			own[key] = append(own[key], v)
		}
		for k, v := range own {
			used[k] = append(used[k], v...)
		}
		out = append(out, c)
	}
	return out
}

// ofColumn draws a value of a column: one that a row has, one that none has, or a
// boundary.
func ofColumn(w *workload.Workload, s *State, d domain, src *source) ast.ExprNode {
	t := w.Table(d.table)
	c := &t.Columns[t.Column(d.column)]
	there := s.values(d.table, d.column)
	draw := src.below(inputLane, 16)
	switch {
	case draw < 8 && d.fresh, draw == 14, len(there) == 0:
		return missing(c, there, src)
	case draw == 15:
		b := boundaries(c)
		return b[src.below(inputLane, len(b))]
	}
	return there[src.below(inputLane, len(there))]
}

// missing returns a value that no row has.
func missing(c *workload.Column, there []ast.ExprNode, src *source) ast.ExprNode {
	n := len(there) + src.below(inputLane, 2)
	for range there {
		v := nth(c, n)
		if !slices.ContainsFunc(there, func(e ast.ExprNode) bool { return strings.EqualFold(text(e), text(v)) }) {
			return v
		}
		n++
	}
	return nth(c, n)
}

// ofType draws a value by what is said of a parameter.
func ofType(q *workload.Param, src *source) ast.ExprNode {
	switch {
	case q.OneOf != nil:
		return q.OneOf[src.below(inputLane, len(q.OneOf))]
	case q.HasRange:
		width := uint64(q.Max - q.Min)
		switch src.below(inputLane, 4) {
		case 0:
			return corpus.IntLit(q.Max)
		case 1:
			return corpus.IntLit(q.Min)
		case 2:
			return corpus.IntLit(q.Min + int64(width/2))
		}
		if width < 1<<16 {
			return corpus.IntLit(q.Min + int64(src.below(inputLane, int(width)+1)))
		}
		return corpus.IntLit(q.Min + int64(src.below(inputLane, 1<<16)))
	}
	c := column(q.Type)
	if src.below(inputLane, 8) == 7 {
		b := boundaries(c)
		return b[src.below(inputLane, len(b))]
	}
	return usual(c, src.below(inputLane, 8))
}

// admits reports whether a parameter may have a value that another one of its name has.
func admits(q *workload.Param, v ast.ExprNode) bool {
	switch {
	case q.OneOf != nil:
		return slices.ContainsFunc(q.OneOf, func(e ast.ExprNode) bool { return text(e) == text(v) })
	case q.HasRange:
		n, err := strconv.ParseInt(text(v), 10, 64)
		return err == nil && q.Min <= n && n <= q.Max
	}
	return true
}

// column returns a column of a declared type.
func column(name string) *workload.Column {
	stmt, err := corpus.ParseStatement("CREATE TABLE t (c " + name + ")")
	if create, ok := stmt.(*ast.CreateTableStmt); err == nil && ok {
		return &workload.Column{Type: create.Cols[0].Tp}
	}
	c := &workload.Column{}
	stmt, _ = corpus.ParseStatement("CREATE TABLE t (c INT)")
	c.Type = stmt.(*ast.CreateTableStmt).Cols[0].Tp
	c.Type.SetType(mysql.TypeLong)
	return c
}

// Names returns the names of a set, such as "withdraw × transfer".
func Names(set []*workload.Transaction) string {
	parts := make([]string, len(set))
	for i, t := range set {
		parts[i] = t.Name
	}
	return strings.Join(parts, " × ")
}

// Numbered names the sessions of a call list, for people: tx1 withdraw(1, 100).
func Numbered(calls []Call) string {
	parts := make([]string, len(calls))
	for i := range calls {
		parts[i] = "tx" + strconv.Itoa(i+1) + " " + calls[i].String()
	}
	return strings.Join(parts, ", ")
}
