package lying

import (
	"regexp"
	"strings"
)

// ConstraintLies are planted in cases of mutate.Constrained, whose tables are p, c, which refers to
// p, and l, into which a trigger may write. No rule has a model of those.
var ConstraintLies = []Lie{
	{Name: "cascade-forgets-a-child", answer: amidOthers(forgetChild)},
	{Name: "trigger-fires-twice", answer: amidOthers(fireTwice)},
	{Name: "foreign-key-is-not-checked", answer: amidOthers(unchecked)},
	{Name: "changed-record-is-not-told", answer: changedUntold},
}

var deletedParent = regexp.MustCompile(`(?i)^DELETE FROM p WHERE id = (\d+)`)

// forgetChild leaves a row of c behind that refers to the deleted row of p.
func forgetChild(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	m := deletedParent.FindStringSubmatch(sql)
	if err != nil || m == nil || !a.isOK() || a.affected() == 0 {
		return a, err
	}
	c.tell()
	for _, more := range []string{"SET foreign_key_checks = 0", "REPLACE INTO c VALUES (50, " + m[1] + ")", "SET foreign_key_checks = 1"} {
		if _, err := c.ask(more); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// fireTwice does once more what a trigger on p may have done.
func fireTwice(c *conn, sql string) (answer, error) {
	a, err := c.ask(sql)
	if err != nil || !strings.HasPrefix(sql, "UPDATE p ") || !a.isOK() || a.affected() == 0 {
		return a, err
	}
	c.tell()
	if _, err := c.ask("UPDATE l SET n = n + 1 WHERE k = 1"); err != nil {
		return nil, err
	}
	return a, nil
}

// unchecked lets a row refer to one that is not there.
func unchecked(c *conn, sql string) (answer, error) {
	if verb(sql) != "INSERT" || !strings.HasPrefix(sql, "INSERT INTO c ") {
		return c.ask(sql)
	}
	c.tell()
	if _, err := c.ask("SET foreign_key_checks = 0"); err != nil {
		return nil, err
	}
	a, err := c.ask(sql)
	if err != nil {
		return nil, err
	}
	_, err = c.ask("SET foreign_key_checks = 1")
	return a, err
}

// changedUntold keeps MariaDB from telling error 1020. Other servers do not know the variable.
func changedUntold(c *conn, sql string) (answer, error) {
	if v := verb(sql); v == "BEGIN" || v == "START" {
		a, err := c.ask("SET SESSION innodb_snapshot_isolation = OFF")
		if err != nil {
			return nil, err
		}
		if a.isOK() {
			c.tell()
		}
	}
	return c.ask(sql)
}
