package mvcc

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// errReadOnly: a statement that writes, or locks for writing, in a transaction that
// is READ ONLY. The server looks before it looks for columns.
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_cant_execute_in_read_only_transaction
const errReadOnly = 1792

// errInProgress: SET TRANSACTION inside of a transaction.
// https://dev.mysql.com/doc/refman/9.7/en/set-transaction.html
const errInProgress = 1568

// accessMode is that of a transaction, 0: not said.
type accessMode uint8

const (
	readWrite accessMode = iota + 1
	readOnly
)

// characteristics is what a session's statements say of its transactions beside
// the level.
type characteristics struct {
	// manual says autocommit = 0: statements outside of BEGIN and COMMIT begin a
	// transaction that goes on.
	manual bool
	// once and onceAccess are for the next transaction only, access for those
	// after it.
	once       corpus.Level
	onceAccess accessMode
	access     accessMode
	// unsure says that a transaction which had a level or access of its own ended
	// without COMMIT and ROLLBACK. Servers differ in whether the next has it, too.
	unsure bool
}

// change is what SET does to a session; fields that are not set leave it alone.
type change struct {
	level, once        corpus.Level
	access, onceAccess accessMode
	autocommit         *bool
}

// changesOf reads SET of variables that the rules know. ok is false for others.
func changesOf(s *ast.SetStmt) (c change, ok bool) {
	for _, v := range s.Variables {
		if !v.IsSystem || v.IsGlobal {
			return c, false
		}
		switch v.Name {
		case "autocommit":
			on, ok := corpus.SwitchOf(v.Value)
			if !ok {
				return c, false
			}
			c.autocommit = &on
		case "tx_isolation", "transaction_isolation", "tx_isolation_one_shot":
			l, ok := corpus.LevelOfValue(v.Value)
			switch {
			case !ok:
				return c, false
			case v.Name == "tx_isolation_one_shot":
				c.once = l
			default:
				c.level = l
			}
		case "tx_read_only", "tx_read_only_one_shot":
			on, ok := corpus.SwitchOf(v.Value)
			a := readWrite
			if on {
				a = readOnly
			}
			switch {
			case !ok:
				return c, false
			case v.Name == "tx_read_only":
				c.access = a
			default:
				c.onceAccess = a
			}
		case "innodb_lock_wait_timeout", "lock_wait_timeout":
			// 0 is NOWAIT on MariaDB.
			if n, ok := v.Value.(ast.ValueExpr); ok && corpus.LiteralOf(n).Kind == corpus.KindInt {
				if seconds, err := strconv.Atoi(corpus.LiteralOf(n).Text); err == nil && seconds > 0 {
					continue
				}
			}
			if _, ok := v.Value.(*ast.DefaultExpr); !ok {
				return c, false
			}
		default:
			if rules.ClassOf(v.Name) != rules.CannotMatter {
				return c, false
			}
			switch v.Value.(type) {
			case ast.ValueExpr, *ast.DefaultExpr, *ast.ColumnNameExpr:
			default:
				return c, false
			}
		}
	}
	return c, true
}

// setVariables replays SET on the session. commit ends the open transaction.
func (r *Replay) setVariables(s *session, st *history.Stmt, node *ast.SetStmt, commit func(*Txn)) *Loss {
	c, _ := changesOf(node)
	if r.h.Server.DBMS == history.TiDB && (c.access != 0 || c.onceAccess != 0) {
		return &Loss{Slug: "unsupported: READ ONLY"}
	}
	if c.level != 0 {
		if s.txn != nil {
			s.next = c.level
		} else {
			s.level, s.next, s.once = c.level, 0, 0
		}
	}
	if c.access != 0 {
		s.access, s.onceAccess = c.access, 0
	}
	if c.once != 0 {
		s.once = c.once
	}
	if c.onceAccess != 0 {
		s.onceAccess = c.onceAccess
	}
	if c.autocommit != nil {
		if *c.autocommit && s.manual && s.txn != nil {
			s.endsOddly(s.txn)
			commit(s.txn)
			s.txn = nil
		}
		s.manual = !*c.autocommit
	}
	return nil
}

// setRefused judges an error of SET that its session's state explains.
func (s *session) setRefused(node *ast.SetStmt, code uint16) bool {
	c, ok := changesOf(node)
	return ok && code == errInProgress && (c.once != 0 || c.onceAccess != 0) && s.txn != nil
}

// characterize gives a transaction that begins what was said of it.
func (s *session) characterize(t *Txn, begin ast.StmtNode) {
	t.own = s.once != 0 || s.onceAccess != 0
	t.readOnly = s.access == readOnly
	if s.onceAccess != 0 {
		t.readOnly = s.onceAccess == readOnly
	}
	if b, ok := begin.(*ast.BeginStmt); ok {
		if a := accessOf(b); a != 0 {
			t.readOnly, t.own = a == readOnly, true
		}
	}
	s.once, s.onceAccess = 0, 0
}

func accessOf(b *ast.BeginStmt) accessMode {
	switch {
	case b.ReadOnly:
		return readOnly
	case corpus.BeginsReadWrite(b):
		return readWrite
	}
	return 0
}

// nextLevel is the level of the transaction that begins now.
func (s *session) nextLevel() corpus.Level {
	if s.once != 0 {
		return s.once
	}
	return s.level
}

// endsOddly notes that a transaction ends without COMMIT and ROLLBACK, which
// forget what was said of it alone.
func (s *session) endsOddly(t *Txn) {
	s.unsure = s.unsure || t != nil && t.own
}

// settled notes COMMIT or ROLLBACK.
func (s *session) settled() { s.once, s.onceAccess, s.unsure = 0, 0, false }

// beforehand says why a statement cannot be judged in its session's state.
func (r *Replay) beforehand(s *session, kind stmt.Kind, node ast.StmtNode) *Loss {
	begins := kind == stmt.Begin || kind == stmt.BeginSnapshot || s.txn == nil && !kind.Control()
	switch b, _ := node.(*ast.BeginStmt); {
	case begins && (s.unsure || s.txn != nil && s.txn.own):
		return &Loss{Slug: "level of one transaction, carried over or not"}
	case b != nil && b.ReadOnly && r.h.Server.DBMS == history.TiDB:
		return &Loss{Slug: "unsupported: READ ONLY"}
	case kind == stmt.Savepoint && s.manual && s.txn == nil:
		return &Loss{Slug: "unsupported: SAVEPOINT before a transaction has begun"}
	}
	return nil
}

// namesTables reports whether a statement reads or writes a table: else it begins
// no transaction.
func namesTables(node ast.StmtNode) bool {
	f := &anyTable{}
	node.Accept(f)
	return f.found
}

type anyTable struct{ found bool }

func (f *anyTable) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.TableName); ok {
		f.found = true
	}
	return n, f.found
}

func (f *anyTable) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// begun notes the end of a statement in a transaction that no BEGIN began. It
// returns a difference if the server says that there is none although the
// statement wrote.
func (s *session) begun(t *Txn, i int, st *history.Stmt) *Difference {
	if !t.implicit || st.Result.Err != nil || s.txn != t {
		return nil
	}
	if st.Result.InTxn {
		t.shown = true
		return nil
	}
	if len(t.writes) == 0 {
		s.txn = nil
		return nil
	}
	return &Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
		Reason: "autocommit is off, yet the server says that the statement left no transaction open"}
}

// missed reports whether the server says that the session's transaction is gone.
// An error packet does not show one that its statement began.
func (s *session) missed(st *history.Stmt) bool {
	return s.txn != nil && !st.InTxn && !(s.txn.implicit && !s.txn.shown)
}

// refusal is the answer to a statement that a READ ONLY transaction does not take,
// nil if it takes it.
func refusal(t *Txn, kind stmt.Kind) *Prediction {
	if !t.readOnly || !kind.Writes() && kind != stmt.SelectForUpdate {
		return nil
	}
	return &Prediction{Matched: -1, Changed: -1, Err: errReadOnly}
}

// manualSessions returns the sessions that set autocommit.
func (r *Replay) manualSessions() map[int]bool {
	out := map[int]bool{}
	for i := range r.h.Stmts {
		if s, ok := r.c.Steps[r.h.Stmts[i].Line].Stmt.(*ast.SetStmt); ok && slices.ContainsFunc(s.Variables, func(v *ast.VariableAssignment) bool { return v.Name == "autocommit" }) {
			out[r.h.Stmts[i].Session] = true
		}
	}
	return out
}
