package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// withRestartedConstants returns, under the rule ClampedValues, what a statement looks up when it
// starts again, because it waited or because what it locks was changed since its
// transaction began; whether it did is not always seen, so this is a choice. Where
// the rule changes nothing it returns the statement itself.
func (r *engine) withRestartedConstants(tx *versions.Txn, st *history.Stmt, kind stmt.Kind, node ast.StmtNode) ast.StmtNode {
	if tx.Rules.Of(rules.RestartedLookup) != rules.ClampedValues {
		return node
	}
	_, unseen := r.Moved[st] // it may have waited
	again := len(st.Waits) > 0 || unseen
	if !again && tx.Level == corpus.RepeatableRead { // at READ COMMITTED it starts with what is newest
		again, _ = r.conflicts(versions.View{Tick: tx.Begin, Own: tx}, st.Submit, tx, kind, node)
	}
	of := stmt.Of(node)
	name := stmt.SoleTable(of.From)
	if name == nil || r.Table(name.Name.O) == nil {
		return node
	}
	t := r.Table(name.Name.O)
	where := r.Possible(of.Where)
	if !again && tx.Level == corpus.RepeatableRead {
		again = r.absentKeyLocked(t, where, tx, st) || r.listedKeyCommitted(t, where, tx, st)
	}
	if !again {
		return node
	}
	in := clampedList(t.Def, where)
	if in == nil || r.views.Choose(2) == 1 {
		return node
	}
	switch s := node.(type) {
	case *ast.SelectStmt:
		c := *s
		c.Where = in
		return &c
	case *ast.UpdateStmt:
		c := *s
		c.Where = in
		return &c
	case *ast.DeleteStmt:
		c := *s
		c.Where = in
		return &c
	}
	return node
}

// absentKeyLocked reports whether a committed transaction has locked, since another began, an absent key that
// a statement of that one looks up, too. The commit leaves a record of the lock, which the statement meets as
// it meets a newer version.
// https://docs.pingcap.com/tidb/stable/pessimistic-transaction
func (r *engine) absentKeyLocked(t *versions.Table, where ast.ExprNode, tx *versions.Txn, st *history.Stmt) bool {
	col, values := listedIn(t.Def, where)
	return col >= 0 && slices.ContainsFunc(r.Touched, func(o mvcc.Touch) bool {
		kind := r.Steps[o.Stmt].Kind
		if o.Table != t || o.Txn == tx || o.Txn.Commit < tx.Begin || o.Txn.Commit >= st.Submit || kind == stmt.Select || kind == stmt.Insert {
			return false
		}
		c, locked := listedIn(t.Def, r.Possible(o.Where))
		return c == col && len(locked) == 1 && slices.Contains(values, locked[0])
	})
}

// listedKeyCommitted reports whether another transaction has committed, since one began, a row that has or had
// one of the keys which a statement looks up: the look-up locks each key, also that of a row which is not in
// its snapshot.
func (r *engine) listedKeyCommitted(t *versions.Table, where ast.ExprNode, tx *versions.Txn, st *history.Stmt) bool {
	col, values := listedIn(t.Def, where)
	return col >= 0 && slices.ContainsFunc(t.Chains, func(c *versions.Chain) bool {
		return committedWithin(c, tx, tx.Begin, st.Submit) && slices.ContainsFunc(c.Versions, func(v versions.Version) bool {
			if v.Row == nil {
				return false
			}
			text, null := v.Row[col].Text()
			return !null && slices.Contains(values, text)
		})
	})
}

// listedIn returns the column of a unique key to which a filter gives values, and these; -1 if it is another one.
func listedIn(t *solve.Table, where ast.ExprNode) (col int, values []string) {
	for c := range t.Columns {
		if v, ok := listedBy(t, where, c); ok && uniqueAlone(t, c) {
			return c, v
		}
	}
	return -1, nil
}

// clampedList returns a filter `key IN (…)` of a unique key of one integer column
// with the values that are beyond the column's type moved to its limits; nil if the
// filter is another one, or none of its values is. The optimiser makes one list of
// lists and equalities that OR connects.
func clampedList(t *solve.Table, where ast.ExprNode) ast.ExprNode {
	var key ast.ExprNode
	var values []ast.ExprNode
	col := -1
	for _, part := range mvcc.Disjuncts(where, nil) {
		c, fixed := columnOf(t, part)
		if !fixed || col >= 0 && c != col {
			return nil
		}
		col = c
		var of ast.ExprNode
		switch x := part.(type) {
		case *ast.PatternInExpr:
			of = x.Expr
			values = append(values, x.List...)
		case *ast.BinaryOperationExpr:
			value := x.R
			if of = x.L; columnRef(t, of) < 0 {
				of, value = value, of
			}
			if x.Op != opcode.EQ {
				return nil
			}
			values = append(values, value)
		}
		if _, ok := of.(*ast.ColumnNameExpr); !ok {
			return nil
		}
		if key == nil {
			key = of
		}
	}
	if key == nil || t.Columns[col].Type.Class != solve.IntClass || !uniqueAlone(t, col) {
		return nil
	}
	lo, hi := t.Columns[col].Type.Limits()
	moved := false
	for i, e := range values {
		switch negative, n, ok := mvcc.IntegerLiteral(e); {
		case !ok:
		case negative && n > uint64(-lo):
			values[i], moved = corpus.IntLit(lo), true
		case !negative && n > hi:
			values[i], moved = corpus.UintLit(hi), true
		}
	}
	if !moved {
		return nil
	}
	return &ast.PatternInExpr{Expr: key, List: values}
}

// uniqueAlone reports whether a column is a secondary unique key by itself.
func uniqueAlone(t *solve.Table, col int) bool {
	for i := range t.Keys {
		k := &t.Keys[i]
		if k.Unique && !k.Primary && len(k.Columns) == 1 && k.Columns[0] == col {
			return true
		}
	}
	return false
}

// constant reports whether an operand names no column outside of a subquery.
func constant(e ast.ExprNode) bool {
	return !corpus.Contains(e, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.ColumnNameExpr:
			return true, false
		case *ast.SubqueryExpr:
			return false, true
		}
		return false, false
	})
}

// integersOnly reports whether all literals of conditions are integers or NULL.
// How many values of a key others make depends on their conversion.
func integersOnly(conds []ast.ExprNode) bool {
	return !slices.ContainsFunc(conds, func(e ast.ExprNode) bool {
		return corpus.Contains(e, func(n ast.Node) (found, skip bool) {
			v, ok := n.(ast.ValueExpr)
			if !ok {
				return false, false
			}
			switch v.GetValue().(type) {
			case nil, int64, uint64:
				return false, false
			}
			return true, false
		})
	})
}
