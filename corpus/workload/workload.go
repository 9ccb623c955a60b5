package workload

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Workload is an application: treat it as immutable once it is shared.
type Workload struct {
	// File is the name that was given to Parse.
	File string
	// Comments stand above everything else.
	Comments []string
	Schema   []Statement
	Rows     []Rows
	Samples  []Sample
	// Transactions are never empty.
	Transactions []*Transaction
	Invariants   []*Invariant
	Tail         []string

	text   string
	tables map[string]*Table
	names  []string
}

// Place is a position in a file, from 1; columns count characters.
type Place struct{ Line, Column int }

// Statement is one statement and the comments above it.
type Statement struct {
	Above []string
	Place Place
	Stmt  ast.StmtNode
}

// Rows says how many rows a table has in the beginning.
type Rows struct {
	Above    []string
	Place    Place
	Table    string
	Min, Max int
}

// Sample gives the values of a column.
type Sample struct {
	Above         []string
	Place         Place
	Table, Column string
	Values        []Weighted
}

// Weighted is a value and how often it is drawn, compared with the others.
type Weighted struct {
	Value  ast.ExprNode
	Weight int
}

// Transaction is what the application runs between BEGIN and COMMIT.
type Transaction struct {
	Above  []string
	Place  Place
	Name   string
	Params []Param
	// Retry is how often it is tried again after an abort.
	Retry int
	Body  []Node
	// Code is what runs instead of Body, where it is set.
	Code ConnCode
}

// Param is a parameter of a transaction.
type Param struct {
	Name string
	// Table and Column name what its values are of; empty: nothing was said.
	Table, Column string
	// Type is a column type such as DECIMAL(10, 2), upper-case; empty where Table
	// or OneOf is set.
	Type string
	// HasRange says that Min and Max bound it.
	HasRange bool
	Min, Max int64
	OneOf    []ast.ExprNode
}

// NodeKind tells the parts of a transaction's body apart.
type NodeKind uint8

const (
	// Run is a statement.
	Run NodeKind = iota
	// Unless is an Action, unless a condition is true.
	Unless
	// Repeat runs its Body several times.
	Repeat
)

// Action is what Unless does.
type Action string

// The actions.
const (
	// Rollback ends the transaction without effect.
	Rollback Action = "rollback"
	// Commit ends it here.
	Commit Action = "commit"
	// Skip leaves out the next statement or repeat.
	Skip Action = "skip"
)

// Node is a part of a transaction's body.
type Node struct {
	Above []string
	Place Place
	Kind  NodeKind
	// Stmt is what Run runs; Into takes the columns of its first row, "" for none.
	Stmt ast.StmtNode
	Into []string
	// Cond and Do are those of Unless.
	Cond ast.ExprNode
	Do   Action
	// Times is how often Repeat runs Body; nil: once for each row of the SELECT …
	// INTO before it.
	Times ast.ExprNode
	Body  []Node
}

// Judgement is how the answer of an invariant is judged.
type Judgement uint8

const (
	// Empty: no row may be there.
	Empty Judgement = iota
	// Constant: the answer is the same before and after.
	Constant
	// OneOf: the single value is one of those given.
	OneOf
)

// Invariant is what holds before and after each transaction.
type Invariant struct {
	Above  []string
	Place  Place
	Name   string
	Judge  Judgement
	Values []ast.ExprNode
	Query  ast.StmtNode
	// Derived says that it is a key, CHECK or foreign key of the schema.
	Derived bool
}

// Variables that every transaction has beside its own.
const (
	// VarAffected is how many rows the last statement changed.
	VarAffected = "affected"
	// VarFound is how many rows the last SELECT gave.
	VarFound = "found"
	// VarLastID is the AUTO_INCREMENT value of the last INSERT.
	VarLastID = "last_id"
)

var builtin = []string{VarAffected, VarFound, VarLastID}

// Transaction returns the one with a name, nil if there is none.
func (w *Workload) Transaction(name string) *Transaction {
	for _, t := range w.Transactions {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Sample returns the sample of a column, nil if there is none.
func (w *Workload) Sample(table, column string) *Sample {
	for i := range w.Samples {
		if s := &w.Samples[i]; strings.EqualFold(s.Table, table) && strings.EqualFold(s.Column, column) {
			return s
		}
	}
	return nil
}

// RowsOf returns how many rows a table is to have, nil if the file does not say.
func (w *Workload) RowsOf(table string) *Rows {
	for i := range w.Rows {
		if strings.EqualFold(w.Rows[i].Table, table) {
			return &w.Rows[i]
		}
	}
	return nil
}

// Bind returns a copy of a statement with values in place of its variables. What
// value does not know becomes NULL.
func Bind(stmt ast.StmtNode, value func(name string) ast.ExprNode) ast.StmtNode {
	out := corpus.CloneStmt(stmt)
	n, _ := out.Accept(&binder{value})
	return n.(ast.StmtNode)
}

// BindExpr is Bind for an expression.
func BindExpr(e ast.ExprNode, value func(name string) ast.ExprNode) ast.ExprNode {
	n, _ := corpus.CloneExpr(e).Accept(&binder{value})
	return n.(ast.ExprNode)
}

type binder struct {
	value func(string) ast.ExprNode
}

func (b *binder) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (b *binder) Leave(n ast.Node) (ast.Node, bool) {
	v, ok := n.(*ast.VariableExpr)
	if !ok || v.IsSystem {
		return n, true
	}
	if e := b.value(v.Name); e != nil {
		return e, true
	}
	return corpus.NullLit(), true
}

// Variables returns the names that a tree reads, each once, in order.
func Variables(n ast.Node) []string {
	v := &variables{}
	n.Accept(v)
	return v.names
}

type variables struct{ names []string }

func (v *variables) Enter(n ast.Node) (ast.Node, bool) {
	if x, ok := n.(*ast.VariableExpr); ok && !x.IsSystem && !slices.Contains(v.names, x.Name) {
		v.names = append(v.names, x.Name)
	}
	return n, false
}

func (v *variables) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// Walk calls f for each node of a body, outer ones first.
func Walk(body []Node, f func(*Node)) {
	for i := range body {
		f(&body[i])
		Walk(body[i].Body, f)
	}
}
