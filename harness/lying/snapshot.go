package lying

import "strings"

// UncheckedSnapshot is a server with snapshot isolation that now and then forgets to
// compare what a transaction writes with its snapshot: of the consistent snapshots that
// begin while so many commits of others are under way, one in every is such. MariaDB has
// had such a bug, which lost one update in 150,000 commits of 32 clients on 16 rows:
// https://jira.mariadb.org/browse/MDEV-39263
//
// It is not among the Lies: no single session of a case shows it.
func UncheckedSnapshot(commits, every int64) Lie {
	return Lie{Name: "snapshot-begun-amid-commits-is-not-checked", answer: func(c *conn, sql string) (answer, error) {
		return uncheckedSnapshot(c, sql, commits, every)
	}}
}

func uncheckedSnapshot(c *conn, sql string, commits, every int64) (answer, error) {
	check := func(is string) error {
		_, err := c.ask("SET SESSION innodb_snapshot_isolation = " + is)
		return err
	}
	switch v := verb(sql); {
	case v == "COMMIT":
		c.b.committing.Add(1)
		defer c.b.committing.Add(-1)
	case (v == "BEGIN" || v == "START") && c.unchecked:
		if err := check("ON"); err != nil {
			return nil, err
		}
		c.unchecked = false
	}
	if strings.HasSuffix(sql, "CONSISTENT SNAPSHOT") && c.b.committing.Load() >= commits && c.b.amid.Add(1)%every == 0 {
		if err := check("OFF"); err != nil {
			return nil, err
		}
		c.unchecked = true
		c.tell()
	}
	return c.ask(sql)
}
