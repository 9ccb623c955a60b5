package lying

import "strings"

// Lies that one session's statement brings upon another session. Each alone may pass for a
// lie of the other one's; that they hang on the order of two statements that have nothing to
// do with each other is what shows them. They are not among the Lies, which the oracle
// must name.
var (
	// ReadRenewsSnapshots: a plain SELECT inside a transaction renews the snapshots of the
	// other transactions that have only read.
	ReadRenewsSnapshots = Lie{Name: "plain-read-renews-other-snapshots", answer: readRenewsSnapshots}
	// UpdateDropsLocks: an UPDATE inside a transaction drops the locks that the others hold
	// so far, which commits what they wrote.
	UpdateDropsLocks = Lie{Name: "update-drops-locks-of-others", answer: updateDropsLocks}
)

func readRenewsSnapshots(c *conn, sql string) (answer, error) {
	v := verb(sql)
	_, locks := forUpdate(sql)
	plain := v == "SELECT" && !locks && !strings.Contains(strings.ToUpper(sql), " SHARE")
	switch {
	case v == "BEGIN" || v == "START":
		c.heeded, c.changed = c.othersDisturbed(), false
	case !c.inTrans:
	case plain:
		if d := c.othersDisturbed(); d > c.heeded && !c.changed {
			c.heeded = d
			if err := c.anew(); err != nil {
				return nil, err
			}
		}
		c.disturb()
	default:
		c.changed = true
	}
	return c.ask(sql)
}

func updateDropsLocks(c *conn, sql string) (answer, error) {
	switch v := verb(sql); {
	case v == "BEGIN" || v == "START":
		c.heeded = c.othersDisturbed()
	case c.inTrans && v != "COMMIT":
		if d := c.othersDisturbed(); d > c.heeded {
			c.heeded = d
			if err := c.anew(); err != nil {
				return nil, err
			}
		}
		if v == "UPDATE" {
			c.disturb()
		}
	}
	return c.ask(sql)
}

// disturb tells the other connections that this one did something.
func (c *conn) disturb() {
	c.b.disturbed.Add(1)
	c.disturbs++
}

func (c *conn) othersDisturbed() int64 { return c.b.disturbed.Load() - c.disturbs }

// anew commits, and begins again.
func (c *conn) anew() error {
	c.tell()
	for _, s := range []string{"COMMIT", "BEGIN"} {
		if _, err := c.ask(s); err != nil {
			return err
		}
	}
	return nil
}
