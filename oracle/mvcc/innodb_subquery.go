package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// errTableUsed is ER_UPDATE_TABLE_USED.
const errTableUsed = 1093

// asked is what the subqueries of a write or a locking read were answered from.
// Those that lock nothing open a read view, of which uncommitted data is what it held
// then; those that read the statement's own table do so before it changes anything.
type asked struct {
	x *running
	// locks says that they lock what they read, which is what is newest.
	locks bool
	// at is when the read view was opened, 0 before; behind says that they are
	// evaluated when the first row was waited for.
	at     history.Tick
	behind bool
	rows   map[*Table][]solve.Row
}

// asksUnlocked reports whether the subqueries of a statement are consistent reads:
// those of a write below REPEATABLE READ, those of a locking read below SERIALIZABLE.
// Others lock what they read, so that it does not change any more.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) asksUnlocked() bool {
	if x.tx.Level == corpus.RepeatableRead {
		return x.kind == SelectForUpdate || x.kind == SelectForShare
	}
	return x.tx.Level < corpus.RepeatableRead
}

// ask prepares the answers of subqueries. When they are evaluated is the plan's
// affair: when it is made, or with the first row, before its lock or behind it.
// MySQL refuses a write whose subquery names the table that it changes.
// https://dev.mysql.com/doc/refman/en/subquery-errors.html
func (x *running) ask() error {
	inner := &subqueryTables{}
	x.node.Accept(inner)
	if x.kind == Select || len(inner.names) == 0 {
		return nil
	}
	own := x.ownTable()
	switch {
	case inner.names[own] && x.kind == Insert:
		return &Loss{Slug: "unsupported: subquery on the table of the INSERT"}
	case inner.plain[own] && x.kind.isWrite() && x.e.h.Server.DBMS == history.MySQL:
		return &solve.SQLError{Code: errTableUsed, Message: "target table of a write in a subquery"}
	case !x.asksUnlocked() && !inner.names[own]:
		return nil
	}
	x.asked = &asked{x: x, locks: !x.asksUnlocked(), rows: map[*Table][]solve.Row{}}
	if len(x.st.Waits) == 0 {
		return nil
	}
	x.e.branched = true
	switch x.e.choices.choose(3) {
	case 0:
		for name := range inner.names {
			// A table that is missing is told where it is read.
			_, _, _ = x.views(nil, nil).Table(name)
		}
	case 1:
		x.asked.behind = true
	}
	return nil
}

// ownTable returns the name of the one table that a statement locks or changes, "" if
// there are several.
func (x *running) ownTable() string {
	_, from := condition(x.node)
	if s, ok := x.node.(*ast.InsertStmt); ok {
		from = s.Table
	}
	if name := singleTable(from); name != nil {
		return name.Name.O
	}
	return ""
}

// subqueryTables finds the tables that the subqueries of a statement name; plain are
// those named outside of derived tables.
type subqueryTables struct {
	subqueries, derived int // around
	names, plain        map[string]bool
}

// Enter implements ast.Visitor.
func (v *subqueryTables) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		v.subqueries++
	case *ast.TableSource:
		if _, ok := x.Source.(*ast.TableName); !ok {
			v.derived++
		}
	case *ast.TableName:
		if v.subqueries == 0 {
			break
		}
		if v.names == nil {
			v.names, v.plain = map[string]bool{}, map[string]bool{}
		}
		v.names[x.Name.O] = true
		v.plain[x.Name.O] = v.plain[x.Name.O] || v.derived == 0
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *subqueryTables) Leave(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		v.subqueries--
	case *ast.TableSource:
		if _, ok := x.Source.(*ast.TableName); !ok {
			v.derived--
		}
	}
	return n, true
}

// listed returns what makes the answer of a locking read out of the rows that its
// scan has locked. They match; a subquery of the condition would find in them only
// what is left of its table.
func (x *running) listed(s *ast.SelectStmt) (*ast.SelectStmt, error) {
	if !hasSubquery(s) {
		return s, nil
	}
	bare := x.e.bare[s]
	if bare == nil {
		c := *s
		c.Where = nil
		bare = &c
		x.e.bare[s] = bare
	}
	inner := &subqueryTables{}
	bare.Accept(inner)
	if inner.names[x.ownTable()] {
		return nil, &Loss{Slug: "unsupported: subquery on the table of a locking read"}
	}
	return bare, nil
}

// table returns the rows of a table as subqueries see them.
func (a *asked) table(t *Table, v *innodbViews) []solve.Row {
	if rows, ok := a.rows[t]; ok {
		return rows
	}
	tx, at, early := a.x.tx, a.at, a.behind && !a.x.waited
	if a.locks {
		rows := v.e.snapshotRows(t, v, v.rule)
		if !early {
			a.rows[t] = rows
		}
		return rows
	}
	if at == 0 {
		at = a.x.e.now()
	}
	if tx.Level == corpus.RepeatableRead && tx.Snapshot != 0 {
		at, early = tx.Snapshot, false
	}
	if tx.Level != corpus.ReadUncommitted {
		v.view.Tick = at
	}
	rows := v.e.snapshotRows(t, v, v.rule)
	if early {
		return rows
	}
	a.at, a.rows[t] = at, rows
	if tx.Level == corpus.RepeatableRead {
		tx.Snapshot = at
	}
	return rows
}
