package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// speech is the SQL in which a pool speaks to the servers of a protocol on its own account.
type speech struct {
	// quote makes any name one that a statement may hold.
	quote func(name string) string
	// use makes a database that of a session, make makes one, drop is what comes before the names of
	// those to be dropped, and behind what else is in them.
	use, make, drop, behindDrop string
	// level sets the isolation level of a session.
	level string
	// unchecked keeps a session from looking at foreign keys, checked makes it do so again.
	unchecked, checked string
	// still keeps triggers, too, from what a session writes, stirred lets them be again.
	still, stirred string
	// autocommit makes each statement commit itself, whatever was set before; empty: nothing else can be.
	autocommit string
	// truncates empties tables together: each alone is refused where keys refer to it.
	truncates bool
	// terminate ends the session of a number, interrupt its statement, nothing does nothing, and
	// connected returns a row while the server knows the session.
	terminate, interrupt, nothing, connected string
	// keep lets a session that does nothing live for ownerTimeout; empty: it does anyway.
	keep string
	// patient sets how many seconds a session waits for a lock; empty: as long as it takes.
	patient string
	// lock takes a lock of a name, free asks whether nobody has it: both return 1 if so.
	lock, free string
	// tables lists the tables and views of the session's database: name, kind, and unless defines says that
	// SHOW CREATE TABLE tells, 1 for one with a counter.
	tables  string
	defines bool
	// databases lists those that the tool made.
	databases string
	// insert is the INSERT of the rows of a table, which has some.
	insert func(t *history.Table, as map[string]history.Written) string
	// aborts says that an error aborts a transaction, of which nothing can be read then.
	aborts bool
	// heaps says that the order in which a table is read depends on what was in it before: a row takes the place
	// that is free. https://www.postgresql.org/docs/current/storage-hot.html
	heaps bool
	// prepares says that a transaction can be prepared by the statements of package stmt.
	prepares bool
	// agrees says that tables can be read by each index, and asked whether they agree with them.
	agrees bool
}

var mysqlSpeech = speech{
	quote: func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" },
	use:   "USE ", make: "CREATE DATABASE ", drop: "DROP DATABASE IF EXISTS ",
	level:     "SET SESSION TRANSACTION ISOLATION LEVEL ",
	unchecked: "SET foreign_key_checks = 0", checked: "SET foreign_key_checks = 1",
	still: "SET foreign_key_checks = 0, " + loading + " = 1", stirred: "SET foreign_key_checks = 1, " + loading + " = NULL",
	autocommit: "SET autocommit = 1",
	terminate:  "KILL %d", interrupt: "KILL QUERY %d", nothing: "DO 0",
	connected: "SELECT ID FROM information_schema.PROCESSLIST WHERE ID = %d",
	patient:   "SET SESSION innodb_lock_wait_timeout = %d",
	keep:      "SET SESSION wait_timeout = " + strconv.Itoa(ownerTimeout),
	lock:      "SELECT GET_LOCK('%s', 0)", free: "SELECT IS_FREE_LOCK('%s')",
	tables: "SHOW FULL TABLES", defines: true,
	databases: `SHOW DATABASES LIKE 'txnfuzz\_%'`,
	insert:    (*history.Table).Insert,
	agrees:    true,
}

// PostgreSQL's schemas are what others call databases: one connection sees all of them.
// https://www.postgresql.org/docs/current/ddl-schemas.html
var postgresSpeech = speech{
	quote: quotePostgres,
	use:   "SET search_path = ", make: "CREATE SCHEMA ", drop: "DROP SCHEMA IF EXISTS ", behindDrop: " CASCADE",
	level:     "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ",
	unchecked: replica, checked: origin, still: replica, stirred: origin,
	truncates: true,
	terminate: "SELECT pg_terminate_backend(%d)", interrupt: "SELECT pg_cancel_backend(%d)", nothing: "SELECT 1",
	connected: "SELECT pid FROM pg_stat_activity WHERE pid = %d",
	lock:      "SELECT pg_try_advisory_lock(hashtext('%s'))::int",
	free: "SELECT CASE WHEN pg_try_advisory_lock(hashtext('%[1]s')) THEN pg_advisory_unlock(hashtext('%[1]s'))::int " +
		"ELSE 0 END",
	tables: "SELECT relname, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END, (EXISTS (SELECT FROM pg_attribute " +
		"WHERE attrelid = c.oid AND attidentity <> ''))::int FROM pg_class c " +
		"WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v') ORDER BY relname",
	databases: `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'txnfuzz\_%'`,
	insert:    insertText,
	aborts:    true,
	heaps:     true,
	prepares:  true,
}

// A session that replays what was checked elsewhere fires no triggers, of which foreign keys are some.
// https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-SESSION-REPLICATION-ROLE
const (
	replica = "SET session_replication_role = replica"
	origin  = "SET session_replication_role = origin"
)

func speechOf(dbms history.DBMS) *speech {
	if dbms == history.PostgreSQL {
		return &postgresSpeech
	}
	return &mysqlSpeech
}

// quotePostgres folds a name as the printer of statements does.
func quotePostgres(name string) string {
	return `"` + strings.ReplaceAll(strings.ToLower(name), `"`, `""`) + `"`
}

// insertText writes each value as a literal of no type, which takes that of its column.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS
func insertText(t *history.Table, as map[string]history.Written) string {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		values := make([]string, len(row))
		for j, v := range row {
			switch {
			case as[t.Columns[j]] == history.AsDefault:
				values[j] = "DEFAULT"
			case v.Null:
				values[j] = "NULL"
			default:
				values[j] = "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
			}
		}
		rows[i] = "(" + strings.Join(values, ", ") + ")"
	}
	return "INSERT INTO " + quotePostgres(t.Name) + " VALUES " + strings.Join(rows, ", ")
}

// dropping is the statements that drop databases, for one round trip.
func (s *speech) dropping(dbs []string) string {
	texts := make([]string, len(dbs))
	for i, db := range dbs {
		texts[i] = s.drop + db + s.behindDrop
	}
	return strings.Join(texts, ";")
}

// emptied is the statements that empty tables and set back their counters.
func (s *speech) emptied(tables []tableSpec) string {
	var b strings.Builder
	if s.truncates {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = s.quote(t.name)
		}
		return "TRUNCATE " + strings.Join(names, ", ") + " RESTART IDENTITY;"
	}
	for _, t := range tables {
		b.WriteString("TRUNCATE TABLE " + s.quote(t.name) + ";" + t.counter())
	}
	return b.String()
}

// setsLevel makes a level that of a session.
func (s *speech) setsLevel(l corpus.Level) string { return s.level + l.String() }

// of puts the number of a session, or the name of a lock, into a statement.
func of(statement string, what any) string { return fmt.Sprintf(statement, what) }
