package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// dialects gives the SQL that each family of servers reads.
var dialects = map[history.DBMS]corpus.Dialect{
	history.TiDB:    corpus.TiDB,
	history.MySQL:   corpus.MySQL,
	history.MariaDB: corpus.MariaDB,

	history.PostgreSQL: corpus.PostgreSQL,
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
	node    ast.StmtNode
	traits  traits
	// about is what the line does to a session; nil: it is a statement for the server.
	about *stmt.SessionStmt
	// hold is where the statement is held, frees says that whoever is held is let go behind it.
	hold  *corpus.Hold
	frees bool
	// versions says what versions of rows the last columns of the answer tell; nil: none.
	versions *pgsql.Told
}

// traits says what a statement may do to the state that outlives it.
type traits uint16

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
	// uses is USE: the name of the database is put in when it is known.
	uses
	// closes the session: COMMIT RELEASE, ROLLBACK RELEASE.
	closes
	// ignores errors: IGNORE turns some into warnings.
	ignores
	// namesDatabase says that a table or column is written with its database.
	namesDatabase
	// aboutSession is a line that is not sent as it is: KILL, disconnect, connect.
	aboutSession
	// ownNamed says that a name or key in it is sent as another one.
	ownNamed
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
	// the state that init gives: init makes tables first, and then runs
	// INSERT … VALUES alone.
	refill bool
	// keyed says that the tables refer to each other by foreign keys.
	keyed bool
	// readBack says that what init made is to be asked of the server: it is more
	// than tables without options, and rows.
	readBack bool
	// tainting says that init leaves its connection in another state.
	tainting bool
	// database is what the case calls its database, empty where it names none.
	database string
	// constant says that init gives the same rows each time.
	constant bool
	creates  []int  // the lines of init that make tables, views and keys
	fills    []int  // the lines of init that are INSERTs
	traits   traits // of all steps together
	// fillsTable is the table that each line of fills is for; nil: not told.
	fillsTable map[int]string
	clean      bool // truncate before filling
	shown      bool // have each session come across the tables before its first statement
	// past says that the set-up deletes rows, so that it matters to the case what
	// of them is left in the tables.
	past bool
	// leftovers says that a SELECT may be failed by what is left of earlier rows.
	leftovers bool
	overflows overflows
	// timed says that the case sets how long locks are waited for.
	timed bool
	// protocol is how the statements of the sessions are sent.
	protocol protocol.Protocol
	// readable says that its tables can be read on a replica while it runs.
	readable bool
	// kill is the first KILL of the case, "" if it has none.
	kill string
}

type tableSpec struct {
	name string
	auto bool // AUTO_INCREMENT, whose counter outlives DELETE
	// create is the server's definition, where the set-up is read back.
	create string
	// next is the AUTO_INCREMENT value that the table began with, "" for the first.
	next string
}

// counter returns what sets the AUTO_INCREMENT value of an emptied table: TRUNCATE
// forgets the option of the table's definition.
// https://dev.mysql.com/doc/refman/9.7/en/truncate-table.html
func (t *tableSpec) counter() string {
	if t.next == "" {
		return ""
	}
	return "ALTER TABLE " + mysqlSpeech.quote(t.name) + " AUTO_INCREMENT = " + t.next + ";"
}

func newScript(c *corpus.Case, dbms history.DBMS) (*script, error) {
	s, err := makeScript(c, dbms, false)
	if err == nil && s.database == "" {
		s.refillKeyed(c)
	}
	return s, err
}

// makeScript is newScript; own says that the names of databases are gone.
func makeScript(c *corpus.Case, dbms history.DBMS, own bool) (*script, error) {
	d, ok := dialects[dbms]
	if !ok {
		return nil, fmt.Errorf("no dialect for a server of family %q", dbms)
	}
	s := &script{sessions: c.Sessions(), refill: true, constant: true, overflows: overflows{}, timed: timedBy(c.Init...) || timedBy(c.Steps...)}
	for i, l := range c.Init {
		sql, err := said(l.Stmt, d)
		if err != nil {
			return nil, fmt.Errorf("init line %d: %w", i+1, err)
		}
		tr, err := inspectInit(l.Stmt, sql)
		switch {
		case err != nil:
			return nil, err
		case tr&namesDatabase != 0 && !own:
			return newOwnScript(c, dbms, sql)
		case tr&varies != 0:
			s.constant = false
		}
		s.init = append(s.init, s.addInit(l.Stmt, i, sql))
		s.past = s.past || deletes(l.Stmt)
	}
	held := ""
	for i, l := range c.Steps {
		sql, err := said(l.Stmt, d)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		tr, err := inspect(l.Stmt, sql)
		switch {
		case err != nil:
			return nil, err
		case tr&(namesDatabase|uses) != 0 && !own:
			return newOwnScript(c, dbms, sql)
		}
		s.traits |= tr
		s.leftovers = s.leftovers || s.overflows.judged(l.Stmt)
		about, err := s.aboutSession(c, l, sql)
		if err != nil {
			return nil, err
		}
		s.steps = append(s.steps, step{l.Session, sql, l.Stmt, tr, about, l.Hold, l.Frees, nil})
		if l.Hold != nil {
			held = sql
		}
	}
	if held != "" && s.traits&(aboutSession|altersSchema) != 0 {
		return nil, &RefusedError{held, "a statement is held in a case that kills or disconnects a session, or changes a table"}
	}
	return s, nil
}

// said is a statement in a dialect. What a dialect has no words for is refused.
func said(n ast.StmtNode, d corpus.Dialect) (string, error) {
	if d != corpus.PostgreSQL && onlyPostgres(n) {
		return "", &RefusedError{corpus.SQL(n, corpus.Text), "only PostgreSQL has this statement"}
	}
	sql, err := corpus.Format(n, d)
	var unsayable *pgsql.UnsayableError
	if errors.As(err, &unsayable) {
		return "", &RefusedError{corpus.SQL(n, corpus.Text), unsayable.Error()}
	}
	return sql, err
}

// aboutSession returns what a line does to a session, nil if it is a statement for the server.
func (s *script) aboutSession(c *corpus.Case, l corpus.Line, sql string) (*stmt.SessionStmt, error) {
	about, ok := l.Stmt.(*stmt.SessionStmt)
	if !ok || about.Target == 0 {
		return about, nil
	}
	if !slices.Contains(s.sessions, about.Target) {
		return nil, &RefusedError{sql, "the case has no such session"}
	}
	if s.kill == "" {
		s.kill = sql
	}
	return about, nil
}

func deletes(n ast.StmtNode) bool {
	kind := stmt.KindOf(n)
	return kind == stmt.Delete || kind == stmt.Update
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

// inspect tells the traits of a statement and refuses what could touch more
// than the tables of the case.
func inspect(n ast.StmtNode, sql string) (traits, error) {
	v := &inspector{}
	of := stmt.Of(n)
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.SelectIntoOpt != nil {
			return 0, &RefusedError{sql, "it writes a file or a variable"}
		}
		if of.Kind == stmt.Select {
			v.traits |= plainRead
		}
	case *stmt.RawStmt:
		t, refused := rawTraits(x)
		if refused != "" {
			return 0, &RefusedError{sql, refused}
		}
		v.traits |= t
	case *stmt.SessionStmt:
		return aboutSession, nil
	case *stmt.PreparedStmt:
		return ends | ownNamed, nil
	case *stmt.NotifyStmt:
		return ownNamed | taints, nil
	case *stmt.SequenceStmt:
		return taints, nil
	case *stmt.AdvisoryStmt:
		t, _ := advisoryTraits([]string{x.Function}, sql)
		return t | locks | taints, nil
	case *stmt.ModesStmt: // what reads freely at its session's level need not in this transaction
		return setsLevel, nil
	case *stmt.ConstraintsStmt: // it may have to wait for who has a key
		return locks, nil
	case *ast.SetOprStmt, *ast.DoStmt, *ast.ExplainStmt:
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		v.traits |= locks | ignoring(of.Ignore)
	case *ast.BeginStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
	case *ast.CommitStmt:
		v.traits |= ends | closing(x.CompletionType)
	case *ast.RollbackStmt:
		if of.Kind.Ends() {
			v.traits |= ends | closing(x.CompletionType)
		}
	case *ast.SetStmt:
		v.traits |= setTraits(x)
		for _, a := range x.Variables {
			if a.IsGlobal {
				return 0, &RefusedError{sql, "it sets a global variable"}
			}
		}
	case *ast.UseStmt:
		v.traits |= uses
	case *ast.AnalyzeTableStmt: // leaves tables and session as they were, but for the transaction
	case *ast.CreateTableStmt, *ast.DropTableStmt, *ast.AlterTableStmt, *ast.TruncateTableStmt,
		*ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.RenameTableStmt, *ast.CreateViewStmt:
		v.traits |= altersSchema | taints
	default:
		return 0, &RefusedError{sql, fmt.Sprintf("%T is not a statement of a transaction test", n)}
	}
	n.Accept(v)
	if v.reason != "" {
		return 0, &RefusedError{sql, v.reason}
	}
	return v.traits, nil
}

func ignoring(on bool) traits {
	if on {
		return ignores
	}
	return 0
}

func closing(t ast.CompletionType) traits {
	if t == ast.CompletionTypeRelease {
		return closes
	}
	return 0
}

// setTraits: a level is set anew for each case; what else a case sets needs
// another connection behind it.
func setTraits(s *ast.SetStmt) traits {
	t := setsLevel
	for _, a := range s.Variables {
		if !a.IsSystem || !strings.EqualFold(a.Name, "tx_isolation") {
			t = taints
		}
	}
	for _, a := range s.Variables {
		switch on, ok := corpus.SwitchOf(a.Value); {
		case !a.IsSystem:
		case a.Name == "autocommit" && (on || !ok):
			t |= ends // it commits what is open
		case strings.HasPrefix(a.Name, "tx_isolation"):
			t |= setsLevel
		}
	}
	return t
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
			v.traits |= namesDatabase
		}
	case *ast.ColumnName:
		if x.Schema.O != "" {
			v.traits |= namesDatabase
		}
	case *ast.SelectField:
		if x.WildCard != nil && x.WildCard.Schema.O != "" {
			v.traits |= namesDatabase
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
		if stmt.LockOf(x).Mode != stmt.None {
			v.traits = v.traits&^plainRead | locks
		}
	}
	return n, v.reason != ""
}

func (v *inspector) Leave(n ast.Node) (ast.Node, bool) { return n, v.reason == "" }
