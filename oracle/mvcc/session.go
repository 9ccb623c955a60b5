package mvcc

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// LeftOpen is the kind of a difference: a session whose transaction was ended
// for it is in a transaction all the same, as the status of an answer says.
const LeftOpen = "transaction-left-open"

// TakeNext lets a level take effect that was set inside a transaction. The end
// of a statement that is a transaction of its own does that in any case: the
// level that the rule of takeLevel left waiting is that of the next transaction
// only, not of the rest of the session.
func (s *Session) TakeNext() {
	if s.next != 0 {
		s.Level, s.next = s.next, 0
	}
}

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
	// Manual says autocommit = 0: statements outside of BEGIN and COMMIT begin a
	// transaction that goes on.
	Manual bool
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

// SetVariables replays SET on the session. commit ends the open transaction.
func (r *Replay) SetVariables(s *Session, st *history.Stmt, node *ast.SetStmt, commit func(*versions.Txn)) *Loss {
	c, _ := changesOf(node)
	if r.Profile.Has(rules.ReadOnlyIgnored) && (c.access != 0 || c.onceAccess != 0) {
		return &Loss{Slug: "unsupported: READ ONLY"}
	}
	if c.level != 0 {
		if s.Txn != nil {
			s.next = c.level
		} else {
			s.Level, s.next, s.once = c.level, 0, 0
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
		if *c.autocommit && s.Manual && s.Txn != nil {
			s.EndsOddly(s.Txn)
			commit(s.Txn)
			s.Txn = nil
		}
		s.Manual = !*c.autocommit
	}
	return nil
}

// setRefused judges an error of SET that its session's state explains.
func (s *Session) setRefused(node *ast.SetStmt, code uint16) bool {
	c, ok := changesOf(node)
	return ok && code == errInProgress && (c.once != 0 || c.onceAccess != 0) && s.Txn != nil
}

// Characterize gives a transaction that begins what was said of it.
func (s *Session) Characterize(t *versions.Txn, begin ast.StmtNode) {
	t.OwnLevel = s.once != 0 || s.onceAccess != 0
	t.ReadOnly = s.access == readOnly
	if s.onceAccess != 0 {
		t.ReadOnly = s.onceAccess == readOnly
	}
	if b, ok := begin.(*ast.BeginStmt); ok {
		if a := accessOf(b); a != 0 {
			t.ReadOnly, t.OwnLevel = a == readOnly, true
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

// NextLevel is the level of the transaction that begins now.
func (s *Session) NextLevel() corpus.Level {
	if s.once != 0 {
		return s.once
	}
	return s.Level
}

// EndsOddly notes that a transaction ends without COMMIT and ROLLBACK, which
// forget what was said of it alone.
func (s *Session) EndsOddly(t *versions.Txn) {
	s.unsure = s.unsure || t != nil && t.OwnLevel
}

// Settled notes COMMIT, ROLLBACK, and what commits by itself, whether a transaction is open or not.
func (s *Session) Settled() { s.once, s.onceAccess, s.unsure = 0, 0, false }

// Beforehand says why a statement cannot be judged in its session's state.
func (r *Replay) Beforehand(s *Session, kind stmt.Kind, node ast.StmtNode) *Loss {
	begins := kind == stmt.Begin || kind == stmt.BeginSnapshot || s.Txn == nil && !kind.Control()
	switch b, _ := node.(*ast.BeginStmt); {
	case begins && (s.unsure || s.Txn != nil && s.Txn.OwnLevel):
		return &Loss{Slug: "level of one transaction, carried over or not"}
	case b != nil && b.ReadOnly && r.Profile.Has(rules.ReadOnlyIgnored):
		return &Loss{Slug: "unsupported: READ ONLY"}
	case kind == stmt.Savepoint && s.Manual && s.Txn == nil:
		return &Loss{Slug: "unsupported: SAVEPOINT before a transaction has begun"}
	}
	return nil
}

// NamesTables reports whether a statement reads or writes a table: else it begins
// no transaction.
func NamesTables(node ast.StmtNode) bool {
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

// Begun notes the end of a statement in a transaction that no BEGIN began. It
// returns a difference if the server says that there is none although the
// statement wrote.
func (s *Session) Begun(t *versions.Txn, i int, st *history.Stmt) *Difference {
	if !t.Implicit || st.Result.Err != nil || s.Txn != t {
		return nil
	}
	if st.Result.InTxn {
		t.Shown = true
		return nil
	}
	if len(t.Writes) == 0 {
		s.Txn = nil
		return nil
	}
	return &Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
		Reason: "autocommit is off, yet the server says that the statement left no transaction open"}
}

// Missed reports whether the server says that the session's transaction is gone.
// An error packet does not show one that its statement began.
func (s *Session) Missed(st *history.Stmt) bool {
	return s.Txn != nil && !st.InTxn && !(s.Txn.Implicit && !s.Txn.Shown)
}
