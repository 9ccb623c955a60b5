package innodb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// hasDerivedTable reports whether a FROM clause holds a query.
func hasDerivedTable(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.SelectStmt)
		return found, false
	})
}

func columnIn(t *versions.Table, n *ast.ColumnNameExpr) int {
	if n == nil {
		return -1
	}
	return t.Def.ColumnIndex(n.Name.Name.O)
}

func columnSet(cols []int) map[int]bool {
	set := make(map[int]bool, len(cols))
	for _, c := range cols {
		set[c] = true
	}
	return set
}

// asksUnlocked reports whether the subqueries of a statement are consistent reads:
// those of an UPDATE or INSERT … SELECT below REPEATABLE READ, those of a locking read
// below SERIALIZABLE. Others lock what they read, so that it does not change any more,
// but for a deviation.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) asksUnlocked() bool {
	weak := x.tx.Level < corpus.RepeatableRead
	switch x.kind {
	case stmt.SelectForUpdate, stmt.SelectForShare:
		return weak || x.tx.Level == corpus.RepeatableRead || x.auto && x.tx.Rules.Of(rules.SubqueryView) == rules.SnapshotSubquery
	case stmt.Update:
		return weak
	case stmt.Insert:
		return weak && x.node.(*ast.InsertStmt).Select != nil
	}
	return false
}

// ask prepares the answers of subqueries. When they are evaluated is the plan's
// affair: when it is made, or with the first row, before its lock or behind it.
func (x *running) ask() error {
	if x.kind == stmt.Select {
		return nil
	}
	inner := &mvcc.SubqueryTables{}
	x.node.Accept(inner)
	if len(inner.Names) == 0 {
		return nil
	}
	own := x.ownTable()
	switch {
	case inner.Names[own] && x.kind == stmt.Insert:
		return &mvcc.Loss{Slug: "unsupported: subquery on the table of the INSERT"}
	case x.e.RefusesOwnTable(x.node):
		return &solve.SQLError{Code: mvcc.ErrTableUsed, Message: "target table of a write in a subquery"}
	case !x.asksUnlocked() && !inner.Names[own] && x.tx.Level >= corpus.RepeatableRead:
		return nil
	}
	if ins, ok := x.node.(*ast.InsertStmt); ok && len(ins.Lists) > 1 && len(x.st.Waits) > 0 {
		// Each is evaluated when its row's turn comes.
		return &mvcc.Loss{Slug: "unsupported: subqueries of several rows that an INSERT waits for"}
	}
	if x.tx.Level < corpus.RepeatableRead && !x.asksUnlocked() && len(x.st.Waits) > 0 {
		return &mvcc.Loss{Slug: "unsupported: locking subquery of a statement that waits"}
	}
	if x.tx.Level == corpus.ReadUncommitted && inner.Count > 1 && len(x.st.Waits) > 0 {
		// Some may be answered once and some for each row.
		return &mvcc.Loss{Slug: "unsupported: subqueries on uncommitted data of a statement that waits"}
	}
	a := &asked{x: x, locks: !x.asksUnlocked(), names: inner.Names, rows: map[*versions.Table][]solve.Row{}}
	x.asked = a
	if !a.locks && x.tx.Level == corpus.Serializable {
		x.e.of(x.tx).missed = true
	}
	if x.tx.Level == corpus.RepeatableRead && !a.locks && x.tx.Snapshot == 0 {
		// A subquery that no row needs may be evaluated with the plan, or not at all,
		// and then takes no snapshot.
		switch x.e.choices.Choose(3) {
		case 1:
			a.passing = true
		case 2:
			a.read()
		}
	}
	if len(x.st.Waits) == 0 {
		return nil
	}
	ways := []func(){a.read, func() { a.behind = true }, func() {}}
	if x.buffers(own, inner.Names) {
		ways = append(ways, func() { a.buffered = true })
	}
	if len(x.st.Waits) > 1 {
		ways = append(ways, func() { a.behind, a.toLast = true, true })
	}
	ways[x.e.choices.Choose(len(ways))]()
	if x.tx.Level == corpus.ReadUncommitted || a.locks && x.tx.Level == corpus.ReadCommitted {
		a.anew = x.e.choices.Choose(2) == 1
	}
	return nil
}

// buffers reports whether a locking read may be a semi-join whose rows of the table own go
// to a join buffer before its subqueries are read.
func (x *running) buffers(own string, names map[string]bool) bool {
	s, ok := x.node.(*ast.SelectStmt)
	return ok && x.e.Profile.Has(rules.SemiJoinBuffers) && own != "" && !names[own] && slices.ContainsFunc(mvcc.Conjuncts(s.Where, nil), semiJoins)
}

// semiJoins reports whether a conjunct of a condition is a subquery that the server may
// make a semi-join of.
func semiJoins(e ast.ExprNode) bool {
	in, ok := e.(*ast.PatternInExpr)
	return ok && in.Sel != nil && !in.Not
}

// outer is a locking read without the conjuncts that are semi-joins.
func outer(s *ast.SelectStmt) *ast.SelectStmt {
	bare := *s
	bare.Where = nil
	for _, c := range mvcc.Conjuncts(s.Where, nil) {
		switch {
		case semiJoins(c):
		case bare.Where == nil:
			bare.Where = c
		default:
			bare.Where = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: bare.Where, R: c}
		}
	}
	return &bare
}

// read evaluates the subqueries, if they were not evaluated before.
func (a *asked) read() {
	for name := range a.names {
		// A table that is missing is told where it is read.
		_, _, _ = a.x.views(nil, nil).Table(name)
	}
}

// met notes that the scan has a row that the statement acts on: the subqueries were
// evaluated for it, those of the list, too.
func (a *asked) met() {
	if a.buffered {
		return
	}
	a.behind = false
	a.read()
}

// ownTable returns the name of the one table that a statement locks or changes, "" if
// there are several.
func (x *running) ownTable() string { return mvcc.OwnTable(x.node) }

// listed returns what makes the answer of a locking read out of the rows that its
// scan has locked. They match; a subquery of the condition would find in them only
// what is left of its table.
func (x *running) listed(s *ast.SelectStmt) (*ast.SelectStmt, error) {
	if !mvcc.HasSubquery(s) {
		return s, nil
	}
	bare := x.e.bare[s]
	if bare == nil {
		c := *s
		c.Where = nil
		bare = &c
		x.e.bare[s] = bare
	}
	inner := &mvcc.SubqueryTables{}
	bare.Accept(inner)
	if inner.Names[x.ownTable()] {
		return nil, &mvcc.Loss{Slug: "unsupported: subquery on the table of a locking read"}
	}
	return bare, nil
}

// table returns the rows of a table as subqueries see them.
func (a *asked) table(t *versions.Table, v *innodbViews) []solve.Row {
	if rows, ok := a.rows[t]; ok {
		return rows
	}
	tx, early := a.x.tx, a.behind && (!a.x.waited || a.toLast && a.x.due)
	at := a.at
	switch {
	case tx.Level == corpus.RepeatableRead && tx.Snapshot != 0:
		at, early = tx.Snapshot, false
	case at == 0:
		at = a.x.e.now()
	}
	switch {
	case a.locks:
		v.view = versions.View{Tick: versions.Latest, Own: tx}
	case tx.Level == corpus.ReadUncommitted:
		v.view = versions.View{Uncommitted: true, Own: tx}
	default:
		v.view = versions.View{Tick: at, Own: tx}
	}
	rows := v.e.snapshotRows(t, v)
	if early {
		return rows
	}
	if !a.anew {
		a.rows[t] = rows
	}
	if a.locks {
		return rows
	}
	a.at = at
	if tx.Level == corpus.RepeatableRead && !a.passing {
		tx.Snapshot = at
	}
	return rows
}
