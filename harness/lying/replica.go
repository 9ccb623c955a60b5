package lying

import (
	"fmt"
	"strings"
)

// Lies about replication, told by a primary: its sessions have the server leave out or misorder what replicas get. They
// are not among the Lies, which one server shows alone.

// KeptBack is a primary that keeps some of its transactions back from its replicas: one in every.
func KeptBack(every int64) Lie {
	return Lie{Name: "transaction-kept-from-replicas", answer: func(c *conn, sql string) (answer, error) {
		if !opensTransaction(sql) {
			return c.ask(sql)
		}
		if c.unchecked {
			if _, err := c.ask("SET SESSION sql_log_bin = 1"); err != nil {
				return nil, err
			}
			c.unchecked = false
		}
		if c.b.amid.Add(1)%every == 0 {
			if _, err := c.ask("SET SESSION sql_log_bin = 0"); err != nil {
				return nil, err
			}
			c.unchecked = true
			c.tell()
		}
		return c.ask(sql)
	}}
}

// Misordered is a MariaDB whose replicas with several workers apply the transactions of different sessions in any order:
// each session has a replication domain of its own, though they change the same rows.
// https://mariadb.com/docs/server/ha-and-performance/standard-replication/parallel-replication
func Misordered(domains int64) Lie {
	return Lie{Name: "transactions-applied-in-another-order", answer: func(c *conn, sql string) (answer, error) {
		if opensTransaction(sql) && !c.unchecked {
			if _, err := c.ask(fmt.Sprintf("SET SESSION gtid_domain_id = %d", 1+c.b.amid.Add(1)%domains)); err != nil {
				return nil, err
			}
			c.unchecked = true
			c.tell()
		}
		return c.ask(sql)
	}}
}

// opensTransaction tells a statement behind which writes may come.
func opensTransaction(sql string) bool {
	v := verb(sql)
	return v == "BEGIN" || v == "START" && !strings.Contains(strings.ToUpper(sql), "READ ONLY")
}
