package lying

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Honest passes everything on.
var Honest = Lie{Name: "honest"}

// The sorts of statements in which lies show.
var (
	plainRead = []string{"SELECT"}
	reads     = []string{"SELECT", "SELECT FOR UPDATE", "SELECT FOR SHARE"}
	writes    = []string{"UPDATE", "DELETE", "INSERT"}
	anything  = slices.Concat(reads, writes) // at SERIALIZABLE a plain SELECT locks, too
	later     = append([]string{"final state"}, anything...)
)

// Lies are the planted bugs. Each says by which kinds of violation and in which
// statements it must be found.
var Lies = []Lie{
	{Name: "read-uncommitted-served-as-read-committed", Kinds: []string{"stale-read"}, Steps: plainRead, Levels: []corpus.Level{corpus.ReadUncommitted}, answer: levelAs("READ UNCOMMITTED", "READ COMMITTED")},
	{Name: "read-committed-served-as-read-uncommitted", Kinds: []string{"dirty-read"}, Steps: plainRead, Levels: []corpus.Level{corpus.ReadUncommitted}, answer: levelAs("READ COMMITTED", "READ UNCOMMITTED")},
	{Name: "read-committed-served-as-repeatable-read", Stronger: true, Kinds: []string{"stale-read"}, Steps: plainRead, answer: levelAs("READ COMMITTED", "REPEATABLE READ")},
	{Name: "repeatable-read-served-as-read-committed", Kinds: []string{"non-repeatable-read", "missing-wait"}, Steps: anything, answer: levelAs("REPEATABLE READ", "READ COMMITTED")},
	{Name: "repeatable-read-served-as-serializable", Stronger: true, Kinds: []string{"non-repeatable-read"}, Steps: plainRead, Levels: []corpus.Level{corpus.Serializable}, answer: levelAs("REPEATABLE READ", "SERIALIZABLE")},
	{Name: "serializable-served-as-repeatable-read", Kinds: []string{"missing-wait"}, Steps: anything, Levels: []corpus.Level{corpus.Serializable}, answer: levelAs("SERIALIZABLE", "REPEATABLE READ")},
	{Name: "locking-read-takes-no-lock", Kinds: []string{"missing-wait"}, Steps: anything, answer: unlocked},
	{Name: "locking-read-takes-a-shared-lock", Kinds: []string{"missing-wait"}, Steps: anything, Not: history.TiDB, answer: forUpdateAs("LOCK IN SHARE MODE")},
	{Name: "locking-read-skips-locked-rows", Kinds: []string{"missing-wait", "wrong-rows"}, Steps: anything, Not: history.TiDB, answer: forUpdateAs("FOR UPDATE SKIP LOCKED")},
	{Name: "commit-is-lost", Kinds: []string{"lost-commit", "stale-read"}, Steps: later, answer: replaceVerb("COMMIT", "ROLLBACK")},
	{Name: "rollback-is-kept", Kinds: []string{"kept-rollback", "dirty-read"}, Steps: later, answer: replaceVerb("ROLLBACK", "COMMIT")},
	{Name: "write-lost-after-a-wait", Kinds: []string{"lost-own-write", "lost-commit", "lost-write"}, Steps: later, answer: lostAfterWait},
	{Name: "snapshot-taken-too-late", Kinds: []string{"non-repeatable-read"}, Steps: plainRead, answer: lateSnapshot},
	{Name: "snapshot-taken-too-early", Kinds: []string{"stale-read", "wrong-rows"}, Steps: plainRead, answer: earlySnapshot},
	{Name: "select-answered-from-a-cache", Kinds: []string{"stale-read", "lost-own-write"}, Steps: plainRead, answer: cached},
	{Name: "row-missing-from-an-answer", Kinds: []string{"wrong-rows", "lost-own-write", "stale-read"}, Steps: reads, answer: dropRow},
	{Name: "writes-committed-at-once", Kinds: []string{"missing-wait", "dirty-read", "kept-rollback"}, Steps: anything, answer: commitAtOnce},
	{Name: "affected-rows-miscounted", Kinds: []string{"wrong-count"}, Steps: writes, answer: miscount},
	{Name: "rollback-to-savepoint-ignored", Form: "ROLLBACK TO", Kinds: []string{"kept-rollback", "wrong-count", "wrong-rows", "wrong-final-state", "missing-error", "stale-read"}, Steps: later, answer: amidOthers(keepBehindSavepoint)},
	{Name: "replace-served-as-insert-ignore", Form: "REPLACE", Kinds: []string{"wrong-count"}, Steps: []string{"INSERT"}, answer: amidOthers(replaceAsIgnore)},
	{Name: "order-by-dropped", Form: "ORDER BY", Kinds: []string{"wrong-rows"}, Steps: anything, answer: amidOthers(without(orderBy, "$1"))},
	{Name: "nowait-waits", Form: "NOWAIT", Kinds: []string{"nowait-waited"}, Steps: reads, answer: amidOthers(patient)},
	{Name: "skip-locked-returns-locked", Form: "SKIP LOCKED", Kinds: []string{"locked-row-returned", "wrong-rows", "skip-locked-waited", "missing-wait"}, Steps: anything, Not: history.TiDB, answer: amidOthers(without(skipLocked, ""))},
	{Name: "skip-locked-skips-more", Form: "SKIP LOCKED", Kinds: []string{"free-row-skipped", "wrong-rows"}, Steps: reads, Not: history.TiDB, answer: amidOthers(skipMore)},
	{Name: "third-locking-read-takes-no-lock", Transactions: 3, Kinds: []string{"missing-wait"}, Steps: anything, answer: amidTwoOthers(unlocked)},
	{Name: "row-missing-while-three-are-open", Transactions: 3, Kinds: []string{"wrong-rows", "lost-own-write", "stale-read"}, Steps: reads, answer: amidTwoOthers(dropRow)},
}

// For returns the lies that can be told of a server with these levels.
func For(dbms history.DBMS, levels []corpus.Level) []Lie {
	var out []Lie
	for _, l := range Lies {
		if l.Not != dbms && !slices.ContainsFunc(l.Levels, func(x corpus.Level) bool { return !slices.Contains(levels, x) }) {
			out = append(out, l)
		}
	}
	return out
}

// LossyIndex loses a row of what is read through an index by force, as the check
// that tables and indexes agree does. No transaction sees it, so it is not among
// the Lies.
var LossyIndex = Lie{Name: "index-loses-a-row", Kinds: []string{"index-disagreement"}, answer: func(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if err != nil || !strings.Contains(sql, "FORCE INDEX") || len(a) < 3 {
		return a, err
	}
	if columns, _ := lengthEncoded(a[0].body); len(a)-int(columns)-3 > 0 {
		c.tell()
		return a.dropLastRow(), nil
	}
	return a, nil
}}

// OwnSQL computes SQL in a way of its own: a plain read with a WHERE never gets its
// last row, alone or in company. That breaks no isolation, so it is not among the
// Lies.
var OwnSQL = Lie{Name: "where-loses-a-row", answer: func(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if err != nil || verb(sql) != "SELECT" || !strings.Contains(sql, " WHERE ") || strings.Contains(sql, "schema") || len(a) < 3 {
		return a, err
	}
	if columns, _ := lengthEncoded(a[0].body); len(a)-int(columns)-3 > 0 {
		c.tell()
		return a.dropLastRow(), nil
	}
	return a, nil
}}

// OwnWrites is OwnSQL of writes: no UPDATE reaches the row whose id is 4.
var OwnWrites = Lie{Name: "update-never-reaches-a-row", answer: func(c *conn, sql string) (answer, error) {
	if verb(sql) == "UPDATE" && strings.Contains(sql, " WHERE ") {
		c.tell()
		sql = strings.Replace(sql, " WHERE ", " WHERE id <> 4 AND ", 1)
	}
	return c.ask(sql)
}}

// OwnEffects is OwnWrites without a trace in the answer: what adds 10 adds 11.
var OwnEffects = Lie{Name: "update-adds-wrongly", answer: func(c *conn, sql string) (answer, error) {
	if verb(sql) == "UPDATE" && strings.Contains(sql, " + 10") {
		c.tell()
		sql = strings.Replace(sql, " + 10", " + 11", 1)
	}
	return c.ask(sql)
}}

// levelAs asks the server for another level than the client did.
func levelAs(from, to string) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if verb(sql) == "SET" && levelIn(sql) != "" {
			if c.misled = levelIn(sql) == from; c.misled {
				sql = strings.Replace(strings.ToUpper(sql), from, to, 1)
			}
		} else if c.misled {
			c.tell() // the level is set once for many cases
		}
		return c.ask(sql)
	}
}

func replaceVerb(from, to string) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if c.inTrans && strings.EqualFold(strings.TrimSuffix(strings.TrimSpace(sql), ";"), from) {
			c.tell()
			sql = to
		}
		return c.ask(sql)
	}
}

// unlocked strips FOR UPDATE, so that the read sees the snapshot and locks
// nothing; at READ COMMITTED only the lock is missing.
func unlocked(c *conn, sql string) (answer, error) {
	if read, ok := forUpdate(sql); ok && c.level == "READ COMMITTED" {
		c.tell()
		sql = read
	}
	return c.ask(sql)
}

// forUpdateAs locks in another way than FOR UPDATE.
func forUpdateAs(clause string) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if read, ok := forUpdate(sql); ok {
			c.tell()
			sql = read + clause
		}
		return c.ask(sql)
	}
}

// forUpdate cuts FOR UPDATE off a statement that ends with it.
func forUpdate(sql string) (rest string, ok bool) {
	sql = strings.TrimSuffix(strings.TrimSpace(sql), ";")
	if !strings.HasSuffix(strings.ToUpper(sql), "FOR UPDATE") {
		return "", false
	}
	return sql[:len(sql)-len("FOR UPDATE")], true
}

// waited is longer than a statement of a case runs without a lock wait and
// shorter than what a released waiter needs.
const waited = 2 * time.Millisecond

// lostAfterWait undoes a write that had to wait.
func lostAfterWait(c *conn, sql string) (answer, error) {
	v := verb(sql)
	if !c.inTrans || v != "UPDATE" && v != "DELETE" {
		return c.ask(sql)
	}
	if a, err := c.ask("SAVEPOINT txnfuzz_lie"); err != nil || !a.isOK() {
		return c.ask(sql)
	}
	start := time.Now()
	a, err := c.ask(sql)
	if err != nil || !a.isOK() || a.affected() == 0 || time.Since(start) < waited {
		return a, err
	}
	c.tell()
	if _, err := c.ask("ROLLBACK TO SAVEPOINT txnfuzz_lie"); err != nil {
		return nil, err
	}
	return a, nil
}

// lateSnapshot takes a transaction's snapshot for its second statement. TiDB
// takes it at BEGIN, InnoDB for the first consistent read.
// https://dev.mysql.com/doc/refman/8.4/en/innodb-consistent-read.html
func lateSnapshot(c *conn, sql string) (answer, error) {
	if c.b.Server().DBMS == history.TiDB {
		return lateBegin(c, sql)
	}
	switch v := verb(sql); {
	case v == "BEGIN" || v == "START":
		c.late = c.level == "REPEATABLE READ"
	case c.late:
		c.late = false
		_, locks := forUpdate(sql)
		if v != "SELECT" || locks || strings.Contains(strings.ToUpper(sql), " SHARE") || !c.inTrans {
			break
		}
		a, err := c.ask(sql)
		if err != nil || a.isErr() {
			return a, err
		}
		c.tell()
		for _, s := range []string{"COMMIT", "BEGIN"} {
			if _, err := c.ask(s); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	return c.ask(sql)
}

// earlySnapshot takes it before BEGIN, on InnoDB at BEGIN.
func earlySnapshot(c *conn, sql string) (answer, error) {
	if c.b.Server().DBMS == history.TiDB {
		return earlyBegin(c, sql)
	}
	if verb(sql) == "BEGIN" && c.level == "REPEATABLE READ" {
		c.tell()
		sql = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	}
	return c.ask(sql)
}

// lateBegin holds BEGIN back until the transaction's first statement.
func lateBegin(c *conn, sql string) (answer, error) {
	switch v := verb(sql); {
	case v == "BEGIN" || v == "START":
		c.late = true
		return okPacket(true), nil
	case c.late:
		c.late = false
		c.tell()
		if a, err := c.ask("BEGIN"); err != nil || a.isErr() {
			return a, err
		}
	}
	return c.ask(sql)
}

// earlyBegin begins the session's next transaction as soon as one has ended.
func earlyBegin(c *conn, sql string) (answer, error) {
	v := verb(sql)
	if c.early {
		c.early = false
		if v == "BEGIN" || v == "START" {
			c.tell()
			return okPacket(true), nil
		}
		if _, err := c.ask("COMMIT"); err != nil {
			return nil, err
		}
	}
	a, err := c.ask(sql)
	ends := v == "COMMIT" || v == "ROLLBACK" && !strings.Contains(strings.ToUpper(sql), " TO ")
	if err != nil || !a.isOK() || !ends {
		return a, err
	}
	early, err := c.ask("BEGIN")
	c.early = err == nil && early.isOK()
	return a, err
}

// cached answers a plain SELECT that this transaction has asked before with
// the old answer.
func cached(c *conn, sql string) (answer, error) {
	up := strings.ToUpper(sql)
	if verb(sql) != "SELECT" || !c.inTrans || strings.Contains(up, "FOR UPDATE") || strings.Contains(up, "SHARE") {
		return c.ask(sql)
	}
	if a, ok := c.cache[sql]; ok {
		c.tell()
		return a, nil
	}
	a, err := c.ask(sql)
	if err == nil && !a.isErr() {
		if c.cache == nil {
			c.cache = make(map[string]answer)
		}
		c.cache[sql] = a
	}
	return a, err
}

// dropRow leaves out the last row of answers with more than two rows.
func dropRow(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if err != nil || verb(sql) != "SELECT" || !c.inTrans || len(a) < 3 {
		return a, err
	}
	columns, _ := lengthEncoded(a[0].body)
	if rows := len(a) - int(columns) - 3; rows > 2 {
		c.tell()
		return a.dropLastRow(), nil
	}
	return a, nil
}

// commitAtOnce commits each write as soon as it is done and opens a new
// transaction.
func commitAtOnce(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if v := verb(sql); err != nil || !c.inTrans || !a.isOK() || v != "UPDATE" && v != "DELETE" && v != "INSERT" {
		return a, err
	}
	c.tell()
	for _, s := range []string{"COMMIT", "BEGIN"} {
		if _, err := c.ask(s); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// miscount adds one to the count of a write in a transaction.
func miscount(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if v := verb(sql); err != nil || !c.inTrans || !a.isOK() || v != "UPDATE" && v != "DELETE" {
		return a, err
	}
	if n := a.affected(); n > 1 && n < 100 {
		c.tell()
		return a.okWith(n + 1), nil
	}
	return a, nil
}

// amidOthers tells a lie of one statement only while another session's transaction
// is open: told always it would be a bug that has nothing to do with transactions.
func amidOthers(lie func(c *conn, sql string) (answer, error)) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if !c.inTrans || c.others() < 1 {
			return c.ask(sql)
		}
		return lie(c, sql)
	}
}

// amidTwoOthers tells it only while the transactions of two other sessions are open.
func amidTwoOthers(lie func(c *conn, sql string) (answer, error)) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if !c.inTrans || c.others() < 2 {
			return c.ask(sql)
		}
		return lie(c, sql)
	}
}

// keepBehindSavepoint goes back to a savepoint without undoing anything: those
// behind it are gone, and it is there.
func keepBehindSavepoint(c *conn, sql string) (answer, error) {
	words := strings.Fields(strings.TrimSuffix(sql, ";"))
	if verb(sql) != "ROLLBACK" || len(words) < 3 || !strings.EqualFold(words[1], "TO") {
		return c.ask(sql)
	}
	name := words[len(words)-1]
	if a, err := c.ask("RELEASE SAVEPOINT " + name); err != nil || !a.isOK() {
		return a, err // there is none
	}
	c.tell()
	return c.ask("SAVEPOINT " + name)
}

func replaceAsIgnore(c *conn, sql string) (answer, error) {
	if verb(sql) != "REPLACE" {
		return c.ask(sql)
	}
	c.tell()
	return c.ask("INSERT IGNORE" + strings.TrimSpace(sql)[len("REPLACE"):])
}

var orderBy = regexp.MustCompile(`(?i) ORDER BY .*?( LIMIT | FOR | LOCK |;|$)`)

// without leaves out what a pattern matches, but for its part of that name.
func without(pattern *regexp.Regexp, part string) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if pattern.MatchString(sql) {
			c.tell()
			sql = pattern.ReplaceAllString(sql, part)
		}
		return c.ask(sql)
	}
}

// patient waits where it was told not to.
func patient(c *conn, sql string) (answer, error) {
	if rest, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSpace(sql), ";"), " NOWAIT"); ok {
		c.tell()
		sql = rest
	}
	return c.ask(sql)
}

var skipLocked = regexp.MustCompile(`(?i) (FOR UPDATE|FOR SHARE|LOCK IN SHARE MODE) SKIP LOCKED;?\s*$`)

// skipMore skips the last row that is not locked, too.
func skipMore(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if err != nil || !skipLocked.MatchString(sql) || len(a) < 3 {
		return a, err
	}
	if columns, _ := lengthEncoded(a[0].body); len(a)-int(columns)-3 > 0 {
		c.tell()
		return a.dropLastRow(), nil
	}
	return a, nil
}
