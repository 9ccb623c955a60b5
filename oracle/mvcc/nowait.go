package mvcc

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// SKIP LOCKED leaves out the rows that the statement would have to wait for. Which
// locks there are beside those that a statement needs is the server's choice, so the
// answer is judged as a set: what is surely locked must not be in it, what is surely
// free must, and between the two it may have any row.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select-skip-locked

// The kinds of differences of SKIP LOCKED.
const (
	// LockedReturned: a row is in the answer that another transaction surely holds locked.
	LockedReturned = "locked-row-returned"
	// FreeSkipped: a row is not in the answer that nobody else can have locked.
	FreeSkipped = "free-row-skipped"
	// SkipWaited: it waited for a row.
	SkipWaited = "skip-locked-waited"
)

// heldUp reports whether a statement waited for a row until something came about that can
// have released a lock. MariaDB puts the request into the queue before it takes it out
// again and passes the row, and it may be seen there: then it goes on by itself.
func (r *Replay) heldUp(st *history.Stmt) bool {
	return slices.ContainsFunc(st.Waits, func(w history.Wait) bool {
		return w.Kind == history.RowLock && (w.Until == 0 || slices.ContainsFunc(r.History.Stmts, func(o history.Stmt) bool {
			releases := KindOf(r.Case.Steps[o.Line].Stmt).Control() || !o.InTxn || ErrCode(&o) == ErrDeadlock || ErrCode(&o) == ErrRecordChanged
			return o.Session != st.Session && o.Submit < w.Until && (o.Return == 0 || o.Return > w.From) && releases
		}))
	})
}

// waitedInSkipping looks at what a SKIP LOCKED waited for: a row is none of it.
func (r *Replay) waitedInSkipping(i int) *Difference {
	st := &r.History.Stmts[i]
	node := r.Case.Steps[st.Line].Stmt
	s, ok := node.(*ast.SelectStmt)
	if !ok || stmt.LockOf(s).Wait != stmt.Skips || !r.heldUp(st) || HasSubquery(s) || stmt.SoleTable(s.From) == nil || r.waitsInMerge(st, s) {
		return nil
	}
	return &Difference{Stmt: i, Kind: SkipWaited, Expected: "an answer at once", Actual: "waited, then " + history.Describe(KindOf(node), &st.Result),
		Reason: "it waited for a row lock, although a statement with SKIP LOCKED must leave the row out instead of waiting"}
}

// RefusesToWait reports whether a statement is a NOWAIT, which fails where it would
// wait: with error 3572, on MariaDB with that of a wait that lasts too long.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait
func RefusesToWait(node ast.StmtNode) bool {
	s, ok := node.(*ast.SelectStmt)
	return stmt.Of(node).Lock.Wait == stmt.Fails && !(ok && DerivedOnly(s)) // their own queries may wait
}

// refusesToWait is the same of a statement of the history, less what the rule
// RefusedWait excuses.
func (r *Replay) refusesToWait(st *history.Stmt) bool {
	node := r.Case.Steps[st.Line].Stmt
	return RefusesToWait(node) && !r.waitsInMerge(st, node.(*ast.SelectStmt))
}

// waitsInMerge reports whether a NOWAIT or SKIP LOCKED waited that may have merged two
// indexes, under the rule RefusedWait. Before the tables are known every condition may.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (r *Replay) waitsInMerge(st *history.Stmt, s *ast.SelectStmt) bool {
	if !waitedForRow(st) || ErrCode(st) == ErrNowait {
		return false
	}
	switch r.RulesAt(r.History.Levels[st.Session]).Of(rules.RefusedWait) {
	case rules.WaitsInMerge:
	case rules.SkipWaitsInMerge:
		if stmt.LockOf(s).Wait != stmt.Skips {
			return false
		}
	default:
		return false
	}
	name := stmt.SoleTable(s.From)
	if name == nil || s.Where == nil {
		return false
	}
	t := r.Table(name.Name.O)
	if t == nil {
		return true
	}
	return slices.ContainsFunc(operandsOf(opcode.LogicAnd, r.Possible(s.Where), false, nil), func(o operand) bool {
		return mergesIndexes(t.Def, operandsOf(opcode.LogicOr, o.expr, o.negated, nil))
	})
}

// mergesIndexes reports whether each of several alternatives tests the first column
// of a key, and not all of them the same: then their indexes may be merged. An AND
// of two such conditions is read through one of them, and fails at once.
func mergesIndexes(t *solve.Table, alternatives []operand) bool {
	first := map[int]bool{}
	for _, a := range alternatives {
		cols, tested := ColumnsIn(t, a.expr), false
		for i := range t.Keys {
			if c := t.Keys[i].Columns[0]; cols[c] {
				first[c], tested = true, true
			}
		}
		if !tested {
			return false
		}
	}
	return len(alternatives) > 1 && len(first) > 1
}

// operand is a condition, or its opposite.
type operand struct {
	expr    ast.ExprNode
	negated bool
}

// operandsOf returns what an operator connects at the top, ANDs and ORs below a NOT
// being their opposites.
func operandsOf(op opcode.Op, e ast.ExprNode, negated bool, out []operand) []operand {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return operandsOf(op, x.Expr, negated, out)
	case *ast.UnaryOperationExpr:
		if x.Op == opcode.Not || x.Op == opcode.Not2 {
			return operandsOf(op, x.V, !negated, out)
		}
	case *ast.BinaryOperationExpr:
		if x.Op == op && !negated || negated && (x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr) && x.Op != op {
			return operandsOf(op, x.R, negated, operandsOf(op, x.L, negated, out))
		}
	}
	return append(out, operand{e, negated})
}

// NowaitWaited is the kind of a difference: a statement that was not to wait for
// a row lock waited for one.
const NowaitWaited = "nowait-waited"

// waitedInSpite looks for a NOWAIT that was seen to wait for a row lock while
// another session sent a statement, and that then did not fail as it promises.
// The server need not find the lock, so none is asked for where it did not wait.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait
// https://docs.pingcap.com/tidb/stable/pessimistic-transaction
func (r *Replay) waitedInSpite() *Difference {
	refusal := r.refusal()
	for i := range r.History.Stmts {
		st := &r.History.Stmts[i]
		if len(st.Waits) == 0 || ErrCode(st) == refusal || !r.refusesToWait(st) {
			continue
		}
		for _, w := range st.Waits {
			meanwhile := func(o history.Stmt) bool {
				return o.Session != st.Session && o.Submit > w.From && (st.Return == 0 || o.Submit < st.Return)
			}
			if w.Kind == history.RowLock && slices.ContainsFunc(r.History.Stmts, meanwhile) {
				return &Difference{Stmt: i, Kind: NowaitWaited, Expected: fmt.Sprintf("error %d", refusal), Actual: history.Describe(KindOf(r.Case.Steps[st.Line].Stmt), &st.Result),
					Reason: "it waited for a row lock until another session had sent a statement, although a statement with NOWAIT must fail at once instead of waiting"}
			}
		}
	}
	return nil
}
