package harness

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// dialects gives the SQL that each family of servers reads.
var dialects = map[history.DBMS]corpus.Dialect{
	history.TiDB:    corpus.TiDB,
	history.MySQL:   corpus.MySQL,
	history.MariaDB: corpus.MariaDB,
}

// RefusedError says that a case holds a statement that could reach beyond the
// database made for it, or beyond its own sessions.
type RefusedError struct {
	SQL    string
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused to run %q: %s", e.SQL, e.Reason)
}

// step is one line of a case, ready to be sent.
type step struct {
	session int
	sql     string
	traits  traits
}

// traits says what a statement may do to the state that outlives it.
type traits uint8

const (
	// plainRead neither takes nor gives up locks below SERIALIZABLE, so that no
	// other session's wait can change while it runs.
	plainRead traits = 1 << iota
	// locks rows: DML and locking reads.
	locks
	// ends a transaction: COMMIT, ROLLBACK.
	ends
	// setsLevel changes the isolation level of the session.
	setsLevel
	// taints leaves state in the session that only a new connection is surely
	// without, or reads such state: variables, LAST_INSERT_ID(), GET_LOCK().
	taints
	// altersSchema is DDL: the tables cannot be used again.
	altersSchema
	// varies says that the same text may have another effect next time: NOW(),
	// RAND(), UUID().
	varies
)

// script is a case made ready for one family of servers.
type script struct {
	init  []string
	steps []step
	// sessions holds the session numbers, ascending.
	sessions []int
	// tables holds the tables that init creates, in its order; only if refill.
	tables []tableSpec
	// refill says that emptying the tables and running the INSERTs again gives
	// the state that init gives: init is CREATE TABLE and INSERT … VALUES alone.
	refill bool
	// constant says that init gives the same rows each time.
	constant bool
	creates  []int  // the lines of init that are CREATE TABLEs
	fills    []int  // the lines of init that are INSERTs
	traits   traits // of all steps together
	clean    bool   // truncate before filling
	// leftovers says that a SELECT may be failed by what is left of earlier rows.
	leftovers bool
	overflows overflows
}

type tableSpec struct {
	name string
	auto bool // AUTO_INCREMENT, whose counter outlives DELETE
}

func newScript(c *corpus.Case, dbms history.DBMS) (*script, error) {
	d, ok := dialects[dbms]
	if !ok {
		return nil, fmt.Errorf("no dialect for a server of family %q", dbms)
	}
	s := &script{sessions: c.Sessions(), refill: true, constant: true, overflows: overflows{}}
	for i, l := range c.Init {
		sql, err := corpus.Format(l.Stmt, d)
		if err != nil {
			return nil, fmt.Errorf("init line %d: %w", i+1, err)
		}
		tr, err := inspect(l.Stmt, sql)
		if err != nil {
			return nil, err
		}
		if tr&varies != 0 {
			s.constant = false
		}
		s.addInit(l.Stmt, i)
		s.init = append(s.init, sql)
	}
	for i, l := range c.Steps {
		sql, err := corpus.Format(l.Stmt, d)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		tr, err := inspect(l.Stmt, sql)
		if err != nil {
			return nil, err
		}
		s.traits |= tr
		s.leftovers = s.leftovers || s.overflows.judged(l.Stmt)
		s.steps = append(s.steps, step{l.Session, sql, tr})
	}
	return s, nil
}

// addInit decides whether the set-up still is one that refilling repeats.
func (s *script) addInit(stmt ast.StmtNode, line int) {
	switch x := stmt.(type) {
	case *ast.CreateTableStmt:
		s.overflows.add(x)
		if x.ReferTable != nil || x.Select != nil || x.TemporaryKeyword != ast.TemporaryNone || x.IfNotExists || x.Partition != nil || referencesOthers(x) {
			s.refill = false
			return
		}
		s.creates = append(s.creates, line)
		s.tables = append(s.tables, tableSpec{x.Table.Name.O, autoIncrements(x)})
	case *ast.InsertStmt:
		if x.Select != nil || x.IsReplace || len(x.OnDuplicate) > 0 {
			s.refill = false
			return
		}
		s.fills = append(s.fills, line)
	default:
		s.refill = false
	}
}

// schemaKey is equal for cases whose tables are made alike.
func (s *script) schemaKey() string { return s.text(s.creates) }

func (s *script) fillKey() string { return s.text(s.fills) }

// text joins some lines of init.
func (s *script) text(lines []int) string {
	var b strings.Builder
	for _, i := range lines {
		b.WriteString(s.init[i])
		b.WriteString(";\n")
	}
	return b.String()
}

func autoIncrements(t *ast.CreateTableStmt) bool {
	for _, c := range t.Cols {
		for _, o := range c.Options {
			if o.Tp == ast.ColumnOptionAutoIncrement || o.Tp == ast.ColumnOptionAutoRandom {
				return true
			}
		}
	}
	return false
}

// referencesOthers reports foreign keys: then the order of emptying matters.
func referencesOthers(t *ast.CreateTableStmt) bool {
	for _, c := range t.Constraints {
		if c.Tp == ast.ConstraintForeignKey {
			return true
		}
	}
	for _, c := range t.Cols {
		for _, o := range c.Options {
			if o.Tp == ast.ColumnOptionReference {
				return true
			}
		}
	}
	return false
}

// inspect tells the traits of a statement and refuses what could touch more
// than the tables of the case.
func inspect(stmt ast.StmtNode, sql string) (traits, error) {
	v := &inspector{}
	switch x := stmt.(type) {
	case *ast.SelectStmt:
		if x.SelectIntoOpt != nil {
			return 0, &RefusedError{sql, "it writes a file or a variable"}
		}
		if x.LockInfo == nil || x.LockInfo.LockType == ast.SelectLockNone {
			v.traits |= plainRead
		}
	case *ast.SetOprStmt, *ast.DoStmt, *ast.ExplainStmt:
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		v.traits |= locks
	case *ast.BeginStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
	case *ast.CommitStmt:
		v.traits |= ends
	case *ast.RollbackStmt:
		if x.SavepointName == "" {
			v.traits |= ends
		}
	case *ast.SetStmt:
		v.traits |= setTraits(x)
		for _, a := range x.Variables {
			if a.IsGlobal {
				return 0, &RefusedError{sql, "it sets a global variable"}
			}
		}
	case *ast.CreateTableStmt, *ast.DropTableStmt, *ast.AlterTableStmt, *ast.TruncateTableStmt,
		*ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.RenameTableStmt, *ast.AnalyzeTableStmt, *ast.CreateViewStmt:
		v.traits |= altersSchema | taints
	default:
		return 0, &RefusedError{sql, fmt.Sprintf("%T is not a statement of a transaction test", stmt)}
	}
	stmt.Accept(v)
	if v.reason != "" {
		return 0, &RefusedError{sql, v.reason}
	}
	return v.traits, nil
}

func setTraits(s *ast.SetStmt) traits {
	for _, a := range s.Variables {
		switch {
		case a.IsSystem && (strings.EqualFold(a.Name, "tx_isolation") || strings.EqualFold(a.Name, "transaction_isolation")):
		default:
			return taints
		}
	}
	return setsLevel
}

// statefulFuncs read or change what a session keeps from statement to statement.
var statefulFuncs = map[string]bool{
	"last_insert_id": true, "get_lock": true, "release_lock": true, "release_all_locks": true,
	"is_free_lock": true, "is_used_lock": true, "found_rows": true, "row_count": true,
	"connection_id": true, "nextval": true, "setval": true, "lastval": true,
}

// varyingFuncs give another value each time.
var varyingFuncs = map[string]bool{
	"now": true, "sysdate": true, "curdate": true, "current_date": true, "curtime": true,
	"current_time": true, "current_timestamp": true, "localtime": true, "localtimestamp": true,
	"utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true,
	"rand": true, "uuid": true, "uuid_short": true, "random_bytes": true,
}

// refusedFuncs reach for files or stop the server's threads.
var refusedFuncs = map[string]bool{"load_file": true, "benchmark": true}

type inspector struct {
	traits traits
	reason string
}

func (v *inspector) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		if x.Schema.O != "" {
			v.reason = "it names a database"
		}
	case *ast.VariableExpr:
		v.traits = v.traits&^plainRead | taints
		if x.IsGlobal && x.Value != nil {
			v.reason = "it sets a global variable"
		}
	case *ast.FuncCallExpr:
		name := x.FnName.L
		if refusedFuncs[name] {
			v.reason = "it calls " + name
		}
		if statefulFuncs[name] {
			v.traits = v.traits&^plainRead | taints
		}
		if varyingFuncs[name] {
			v.traits |= varies
		}
	case *ast.SelectStmt:
		if x.LockInfo != nil && x.LockInfo.LockType != ast.SelectLockNone {
			v.traits = v.traits&^plainRead | locks
		}
	}
	return n, v.reason != ""
}

func (v *inspector) Leave(n ast.Node) (ast.Node, bool) { return n, v.reason == "" }
