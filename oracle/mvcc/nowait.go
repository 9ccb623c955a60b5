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

// refusesToWait reports whether a statement is a NOWAIT, which fails where it would
// wait: with error 3572, on MariaDB with that of a wait that lasts too long.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait
func refusesToWait(node ast.StmtNode) bool {
	return stmt.Of(node).Lock.Wait == stmt.Fails
}

// refusesToWait is the same of a statement of the history, less what the rule
// RefusedWait excuses.
func (r *Replay) refusesToWait(st *history.Stmt) bool {
	node := r.c.Steps[st.Line].Stmt
	return refusesToWait(node) && !r.waitsInMerge(st, node.(*ast.SelectStmt))
}

// waitsInMerge reports whether a NOWAIT or SKIP LOCKED waited that may have merged two
// indexes, under the rule RefusedWait. Before the tables are known every condition may.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (r *Replay) waitsInMerge(st *history.Stmt, s *ast.SelectStmt) bool {
	if !waitedForRow(st) || errCode(st) == errNowait {
		return false
	}
	switch r.rulesAt(r.h.Levels[st.Session]).of(rules.RefusedWait) {
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
	t := r.table(name.Name.O)
	if t == nil {
		return true
	}
	return slices.ContainsFunc(operandsOf(opcode.LogicAnd, r.possible(s.Where), false, nil), func(o operand) bool {
		return mergesIndexes(t.Def, operandsOf(opcode.LogicOr, o.expr, o.negated, nil))
	})
}

// mergesIndexes reports whether each of several alternatives tests the first column
// of a key, and not all of them the same: then their indexes may be merged. An AND
// of two such conditions is read through one of them, and fails at once.
func mergesIndexes(t *solve.Table, alternatives []operand) bool {
	first := map[int]bool{}
	for _, a := range alternatives {
		cols, tested := columnsIn(t, a.expr), false
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
	refusal := uint16(errNowait)
	if r.h.Server.DBMS == history.MariaDB {
		refusal = errLockTimeout
	}
	for i := range r.h.Stmts {
		st := &r.h.Stmts[i]
		if len(st.Waits) == 0 || errCode(st) == refusal || !r.refusesToWait(st) {
			continue
		}
		for _, w := range st.Waits {
			meanwhile := func(o history.Stmt) bool {
				return o.Session != st.Session && o.Submit > w.From && (st.Return == 0 || o.Submit < st.Return)
			}
			if w.Kind == history.RowLock && slices.ContainsFunc(r.h.Stmts, meanwhile) {
				return &Difference{Stmt: i, Kind: NowaitWaited, Expected: fmt.Sprintf("error %d", refusal), Actual: describe(KindOf(r.c.Steps[st.Line].Stmt), &st.Result),
					Reason: "it waited for a row lock until another session had sent a statement, although a statement with NOWAIT must fail at once instead of waiting"}
			}
		}
	}
	return nil
}
