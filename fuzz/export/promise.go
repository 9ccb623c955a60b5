package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// quote is what a vendor's manual says, word for word, and the page that it stands on.
type quote struct{ sentence, link string }

const (
	mysqlLevels    = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
	mysqlReads     = "https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html"
	mysqlLocking   = "https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html"
	mariadbLevels  = "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/set-commands/set-transaction"
	mariadbSerial  = "https://mariadb.com/docs/server/reference/sql-statements/transactions/transactions-serializable"
	mariadbShare   = "https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/lock-in-share-mode"
	mariadbUpdate  = "https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/for-update"
	mariadbVars    = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation"
	postgresLevels = "https://www.postgresql.org/docs/current/transaction-iso.html"
	tidbLevels     = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
	tidbLocking    = "https://docs.pingcap.com/tidb/stable/pessimistic-transaction"
	tidbCurrent    = "Current read: it is a locked read that reads the latest committed version. The read in the UPDATE, DELETE, INSERT, or SELECT FOR UPDATE statement is a current read."
	mysqlNotOnSnap = "The snapshot of the database state applies to SELECT statements within a transaction, not necessarily to DML statements."
)

// What the manuals say of plain SELECTs by level, of locking reads and writes, and of
// errors that need a cause.
var (
	readPromises = map[history.DBMS]map[corpus.Level]quote{
		history.MySQL: {
			corpus.ReadUncommitted: {"SELECT statements are performed in a nonlocking fashion, but a possible earlier version of a row might be used. Thus, using this isolation level, such reads are not consistent. This is also called a dirty read. Otherwise, this isolation level works like READ COMMITTED.", mysqlLevels},
			corpus.ReadCommitted:   {"Each consistent read, even within the same transaction, sets and reads its own fresh snapshot.", mysqlLevels},
			corpus.RepeatableRead:  {"A consistent read means that InnoDB uses multi-versioning to present to a query a snapshot of the database at a point in time. The query sees the changes made by transactions that committed before that point in time, and no changes made by later or uncommitted transactions. The exception to this rule is that the query sees the changes made by earlier statements within the same transaction.", mysqlReads},
			corpus.Serializable:    {"This level is like REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... FOR SHARE if autocommit is disabled.", mysqlLevels},
		},
		history.MariaDB: {
			corpus.ReadUncommitted: {"Thus, using this isolation level, such reads are not consistent. This is also called a \"dirty read.\" Otherwise, this isolation level works like READ COMMITTED.", mariadbLevels},
			corpus.ReadCommitted:   {"Each consistent read, even within the same transaction, sets and reads its own fresh snapshot.", mariadbLevels},
			corpus.RepeatableRead:  {"All consistent reads within the same transaction read the snapshot established by the first read.", mariadbLevels},
			corpus.Serializable:    {"Similar to REPEATABLE READ, but InnoDB implicitly converts all plain SELECT statements to SELECT ... LOCK IN SHARE MODE if autocommit is disabled.", mariadbSerial},
		},
		history.TiDB: {
			corpus.ReadCommitted:  {"In order to adapt to this situation, the Read Committed isolation level in TiDB pessimistic transactions is also a consistent read behavior in essence.", tidbLevels},
			corpus.RepeatableRead: {"The Repeatable Read isolation level only sees data committed before the transaction begins, and it never sees either uncommitted data or changes committed during transaction execution by concurrent transactions. However, the transaction statement does see the effects of previous updates executed within its own transaction, even though they are not yet committed.", tidbLevels},
		},
	}
	postgresPromises = map[corpus.Level]quote{
		corpus.ReadUncommitted: postgresCommitted,
		corpus.ReadCommitted:   postgresCommitted,
		corpus.RepeatableRead: {"The Repeatable Read isolation level only sees data committed before the transaction began; it never sees either uncommitted data or changes committed by concurrent transactions during the transaction's execution.",
			postgresLevels + "#XACT-REPEATABLE-READ"},
		corpus.Serializable: {"This level emulates serial transaction execution for all committed transactions; as if transactions had been executed one after another, serially, rather than concurrently.",
			postgresLevels + "#XACT-SERIALIZABLE"},
	}
	postgresCommitted = quote{"When a transaction uses this isolation level, a SELECT query (without a FOR UPDATE/SHARE clause) sees only data committed before the query began; it never sees either uncommitted data or changes committed by concurrent transactions during the query's execution.",
		postgresLevels + "#XACT-READ-COMMITTED"}
	// chainedPromise is told where a transaction does not have the level of the one that has ended AND CHAIN.
	chainedPromise = quote{"If AND CHAIN is specified, a new (not aborted) transaction is immediately started with the same transaction characteristics (see SET TRANSACTION) as the just finished one.",
		"https://www.postgresql.org/docs/current/sql-rollback.html"}
	// MariaDB's manual has no sentence on what an UPDATE or a DELETE reads, and none
	// of the InnoDB manuals has one on INSERT.
	currentPromises = map[history.DBMS]map[stmt.Kind]quote{
		history.MySQL: {
			stmt.SelectForShare:  {"If any of these rows were changed by another transaction that has not yet committed, your query waits until that transaction ends and then uses the latest values.", mysqlLocking},
			stmt.SelectForUpdate: {"If you want to see the “freshest” state of the database, use either the READ COMMITTED isolation level or a locking read", mysqlReads},
			stmt.Update:          {mysqlNotOnSnap, mysqlReads},
			stmt.Delete:          {mysqlNotOnSnap, mysqlReads},
		},
		history.MariaDB: {
			stmt.SelectForShare:  {"When LOCK IN SHARE MODE is specified in a SELECT statement, MariaDB will wait until all transactions that have modified the rows are committed.", mariadbShare},
			stmt.SelectForUpdate: {"In both cases, a lock is acquired on the rows read by the query, and it will be released when the current transaction is committed.", mariadbUpdate},
		},
		history.TiDB: {
			stmt.SelectForUpdate: {tidbCurrent, tidbLocking},
			stmt.Update:          {tidbCurrent, tidbLocking},
			stmt.Delete:          {tidbCurrent, tidbLocking},
			stmt.Insert:          {tidbCurrent, tidbLocking},
		},
	}
	changedPromise = quote{"If enabled (set to ON), an error DB_RECORD_CHANGED (HA_ERR_RECORD_CHANGED, ER_CHECKREAD) is raised if an attempt is made to acquire a lock on a record that does not exist in the current read view.", mariadbVars}
)

// errChanged is MariaDB's "Record has changed since last read".
const errChanged = 1020

// quotes returns what the manual says of the statement that differs; none where it
// has no sentence for it. A SELECT that SERIALIZABLE makes a locking read gets the
// sentence that says so, too.
func (s *script) quotes() []quote {
	w := s.Account.Wrong
	if s.Verdict.Kind.OfReplica() {
		return s.replicaQuotes()
	}
	if w < 0 {
		return nil
	}
	dbms, step := s.History.Server.DBMS, &s.Account.Steps[w]
	if s.History.Cluster != nil && step.Kind != stmt.Select {
		return nil // what the sentences say of locks is not so between members
	}
	level := s.Account.Level
	if q, ok := postgresPromises[level]; ok && s.onPostgres() {
		if level < corpus.RepeatableRead && step.Kind != stmt.Select {
			return nil
		}
		if _, rolledBack := s.Account.Chained.(*ast.RollbackStmt); rolledBack && level != s.History.Levels[s.History.Stmts[w].Session] {
			return []quote{chainedPromise, q}
		}
		return []quote{q}
	}
	switch step.Kind {
	case stmt.Select:
		if q, ok := readPromises[dbms][level]; ok {
			return []quote{q}
		}
	case stmt.SelectForShare, stmt.SelectForUpdate, stmt.Update, stmt.Delete, stmt.Insert:
		if stmt.Of(s.Case.Steps[s.History.Stmts[w].Line].Stmt).Lock.Wait == stmt.Skips {
			return nil // the sentences below are about reads that wait
		}
		if p := step.Promised; p != nil && p.Err == errChanged {
			return []quote{changedPromise}
		}
		var found []quote
		if q, ok := readPromises[dbms][level]; ok && level == corpus.Serializable && step.Kind == stmt.SelectForShare && stmt.KindOf(s.Case.Steps[s.History.Stmts[w].Line].Stmt) == stmt.Select {
			found = append(found, q)
		}
		if q, ok := currentPromises[dbms][step.Kind]; ok {
			found = append(found, q)
		}
		return found
	}
	return nil
}

// serverNames are the families as their vendors spell them.
var serverNames = map[history.DBMS]string{history.MySQL: "MySQL", history.MariaDB: "MariaDB", history.TiDB: "TiDB", history.PostgreSQL: "PostgreSQL"}

// serverText names a server as exactly as it is known.
func serverText(server history.Server) string {
	name := serverNames[server.DBMS]
	if name == "" {
		name = string(server.DBMS)
	}
	text := name + " " + server.Version
	if b := buildText(server.Build); b != "" {
		text += " (" + b + ")"
	}
	return text
}

// buildText is what a server says of its build, on one line. Debian's MySQL puts it in
// brackets, and MariaDB 11.8's says only how to support the project.
func buildText(build string) string {
	build, _, _ = strings.Cut(build, "\n") // TiDB has a page of it
	text := strings.Join(strings.Fields(build), " ")
	if strings.HasPrefix(text, "--") {
		return ""
	}
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.Count(text, "(") == 1 {
		text = strings.TrimSuffix(inner, ")")
	}
	return text
}

// wrong names the place of the first difference, what had to be there and what
// was. code marks SQL in the place's name.
func (s *script) wrong(code func(string) string) (where, expected, actual string) {
	step, expected, actual := s.Wrong()
	if s.crashed() {
		return s.lastSent(code), expected, s.lastWords()
	}
	if step == 0 && s.Verdict.Kind.OfReplica() {
		switch r := s.History.Replica; {
		case s.History.Cluster == nil:
		case r != nil:
			return "On " + r.Node, expected, actual
		default:
			return "In the cluster", expected, actual
		}
		return "On the replica", expected, actual
	}
	if step == 0 {
		return "In the end", expected, actual
	}
	for i := range s.actions {
		if a := &s.actions[i]; a.Step == step {
			return fmt.Sprintf("tx%d, step %d: %s", a.Session, step, code(a.sql)), expected, actual
		}
	}
	return "Step " + itoa(step), expected, actual
}

// should says what a statement had to do.
func (s *script) should(expected string, code func(string) string) string {
	switch {
	case !s.crashed():
	case s.fate() == dies:
		return expected
	default:
		return "should end without an internal error"
	}
	if rest, ok := strings.CutPrefix(expected, "waits"); ok {
		return "should wait" + rest
	}
	return "should give " + code(expected)
}

// does says what a statement did.
func (s *script) does(actual string, code func(string) string) string {
	switch {
	case s.crashed():
		return s.fate() + ": " + code(actual)
	case strings.HasPrefix(actual, "waits"):
		return actual
	case actual == "no answer":
		return "gives no answer"
	}
	return "gives " + code(actual)
}

// shareText is how a family spells the lock.
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/lock-in-share-mode
var shareText = map[history.DBMS]string{history.MySQL: "SELECT … FOR SHARE", history.MariaDB: "SELECT … LOCK IN SHARE MODE", history.TiDB: "SELECT … FOR SHARE", history.PostgreSQL: "SELECT … FOR SHARE"}

// sharing names a statement that locks as SELECT … FOR SHARE does: a plain SELECT does
// so at SERIALIZABLE.
func sharing(t *timeline.Timeline, at int) string {
	if at >= 0 && stmt.KindOf(t.Case.Steps[t.History.Stmts[at].Line].Stmt) == stmt.Select {
		return "SELECT"
	}
	return shareText[t.History.Server.DBMS]
}

// foreignManuals are those that a vendor does not answer for. MySQL's describes much
// of MariaDB's InnoDB that MariaDB's own does not.
var foreignManuals = map[history.DBMS][]string{
	history.MySQL: {"https://mariadb.com/"},
	history.TiDB:  {"https://mariadb.com/"},
}

// hiddenRow names a row by what InnoDB keeps in front of its columns where there is no
// primary key: other numbers in each run.
var hiddenRow = regexp.MustCompile(`\brow \(0x[0-9a-f]+(,0x[0-9a-f]+)*\) of`)

// knownAs begins the sentence on a deviation of the rules, whose names no maintainer
// of a server knows.
var knownAs = regexp.MustCompile(`^Known as [a-z-]+: `)

// forStrangers returns a copy of a timeline whose texts name none of this project's rules, and whose links are of use to the server's
// maintainers.
func forStrangers(t *timeline.Timeline) *timeline.Timeline {
	c := *t
	shares := strings.NewReplacer(string(stmt.SelectForShare), sharing(t, t.Account.Wrong), "SELECT … FOR SHARE", shareText[t.History.Server.DBMS])
	told := func(text string) string { return shares.Replace(text) }
	c.Moments = append(c.Moments[:0:0], t.Moments...)
	for i := range c.Moments {
		m := &c.Moments[i]
		m.At = hiddenRow.ReplaceAllString(m.At, "a row of")
	}
	c.Account.Steps = append([]oracle.Step(nil), t.Account.Steps...)
	for i := range c.Account.Steps {
		x := &c.Account.Steps[i]
		x.Reason = told(x.Reason)
	}
	c.Account.Why = append([]string(nil), t.Account.Why...)
	for i := range c.Account.Why {
		c.Account.Why[i] = knownAs.ReplaceAllString(told(c.Account.Why[i]), "Likely cause: ")
	}
	c.Account.Links = slices.DeleteFunc(slices.Clone(t.Account.Links), func(link string) bool {
		return slices.ContainsFunc(foreignManuals[t.History.Server.DBMS], func(prefix string) bool { return strings.HasPrefix(link, prefix) })
	})
	showOpen(&c)
	v := &c.Verdict
	// The verdict may have been recorded by a version whose texts held such names.
	v.Expected, v.Actual, v.Reason = history.Unscratched(v.Expected), history.Unscratched(v.Actual), told(history.Unscratched(v.Reason))
	return &c
}
