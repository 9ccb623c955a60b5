package lying

import (
	"strings"
	"time"
)

// Honest passes everything on.
var Honest = Lie{Name: "honest"}

// Lies are the planted bugs. Each says which kinds of violation name it.
var Lies = []Lie{
	{"repeatable-read-served-as-read-committed", []string{"non-repeatable-read"}, levelAs("REPEATABLE READ", "READ COMMITTED")},
	{"read-committed-served-as-repeatable-read", []string{"stale-read"}, levelAs("READ COMMITTED", "REPEATABLE READ")},
	{"locking-read-takes-no-lock", []string{"missing-wait"}, unlocked},
	{"commit-is-lost", []string{"lost-commit", "stale-read"}, replaceVerb("COMMIT", "ROLLBACK")},
	{"rollback-is-kept", []string{"kept-rollback", "dirty-read"}, replaceVerb("ROLLBACK", "COMMIT")},
	{"write-lost-after-a-wait", []string{"lost-own-write", "lost-commit", "lost-write"}, lostAfterWait},
	{"snapshot-taken-too-late", []string{"non-repeatable-read"}, lateBegin},
	{"snapshot-taken-too-early", []string{"stale-read", "wrong-rows"}, earlyBegin},
	{"select-answered-from-a-cache", []string{"stale-read", "lost-own-write"}, cached},
	{"row-missing-from-an-answer", []string{"wrong-rows", "lost-own-write", "stale-read"}, dropRow},
	{"writes-committed-at-once", []string{"missing-wait", "dirty-read", "kept-rollback"}, commitAtOnce},
	{"affected-rows-miscounted", []string{"wrong-count"}, miscount},
}

func levelAs(from, to string) func(*conn, string) (answer, error) {
	return func(c *conn, sql string) (answer, error) {
		if verb(sql) == "SET" && levelIn(sql) == from {
			c.tell()
			sql = strings.Replace(strings.ToUpper(sql), from, to, 1)
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
	if up := strings.ToUpper(sql); c.level == "READ COMMITTED" && strings.HasSuffix(strings.TrimSuffix(up, ";"), "FOR UPDATE") {
		c.tell()
		sql = sql[:strings.LastIndex(up, "FOR UPDATE")]
	}
	return c.ask(sql)
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
	if err != nil || !a.isOK() || v != "COMMIT" && v != "ROLLBACK" {
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
