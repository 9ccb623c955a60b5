package invariant

import (
	"fmt"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// ddl changes the definitions of tables beside transactions that read and write them.
var ddl = Workload{
	Name: "ddl",
	Says: "while columns, indexes, names and partitions change, no row that was acknowledged is lost and none is there " +
		"twice; two reads of one snapshot are the same, or a statement fails",
	Kinds: []Opportunity{
		{RowTwice, "read two tables between which rows are exchanged"},
		{Unstable, "read a table twice beside the client that changes definitions"},
		{Lost, "wrote and were acknowledged"},
	},
	usual: map[string]string{
		"1412": "table definition changed", "1146": "no such table", "1176": "no such index", "1054": "no such column",
		"1060": "column is there", "1061": "index is there", "1091": "no such column or index", "1050": "table is there",
		"4092": "too many row versions", "1845": "not possible in place", "1846": "not possible in place",
		"1637": "too many active transactions", "1799": "log of an online change too long", "1615": "prepared again",
		"42P01": "no such table", "42P07": "table or index is there", "42701": "column is there", "42703": "no such column",
		"42704": "no such index", "0A000": "definition changed",
	},
	define: func(d *dialect) []string {
		row := " (id BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, token BIGINT NOT NULL)"
		out := []string{"CREATE TABLE changing" + row + d.engine, "CREATE TABLE scratch" + row + d.engine,
			"CREATE TABLE plain" + row + d.engine}
		if !d.postgres {
			return append(out, "CREATE TABLE parted"+row+d.engine+" PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (0), "+
				"PARTITION high VALUES LESS THAN MAXVALUE)")
		}
		return append(out, "CREATE TABLE parted (id BIGINT NOT NULL, v BIGINT NOT NULL, token BIGINT NOT NULL) PARTITION BY RANGE (id)",
			"CREATE TABLE high PARTITION OF parted (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (MAXVALUE)")
	},
	begin: func(e *Epoch) state {
		return &changing{e: e, main: newLedger(), exchanged: newLedger()}
	},
}

// definition is a change of one and the way back.
type definition struct {
	there, back []string
	// whole: the statements are one transaction.
	whole bool
}

var (
	mysqlDefinitions = []definition{
		{there: []string{"ALTER TABLE changing ADD COLUMN c INT"}, back: []string{"ALTER TABLE changing DROP COLUMN c"}},
		{there: []string{"ALTER TABLE changing ADD COLUMN d VARCHAR(20) NOT NULL DEFAULT 'd' FIRST, ALGORITHM=INPLACE"},
			back: []string{"ALTER TABLE changing DROP COLUMN d, ALGORITHM=INPLACE"}},
		{there: []string{"ALTER TABLE changing ADD INDEX by_v (v)"}, back: []string{"ALTER TABLE changing DROP INDEX by_v"}},
		{there: []string{"ALTER TABLE changing FORCE, ALGORITHM=INPLACE"}},
		{there: []string{"ALTER TABLE changing FORCE, ALGORITHM=COPY"}},
		{there: []string{"TRUNCATE TABLE scratch"}},
		{there: []string{"RENAME TABLE changing TO changed"}, back: []string{"RENAME TABLE changed TO changing"}},
		{there: []string{"ALTER TABLE parted EXCHANGE PARTITION high WITH TABLE plain"}},
	}
	tidbDefinitions = []definition{
		mysqlDefinitions[0], mysqlDefinitions[2], mysqlDefinitions[5], mysqlDefinitions[6], mysqlDefinitions[7],
	}
	postgresDefinitions = []definition{
		{there: []string{"ALTER TABLE changing ADD COLUMN c INT"}, back: []string{"ALTER TABLE changing DROP COLUMN c"}},
		{there: []string{"ALTER TABLE changing ADD COLUMN d TEXT NOT NULL DEFAULT 'd'"}, back: []string{"ALTER TABLE changing DROP COLUMN d"}},
		{there: []string{"CREATE INDEX by_v ON changing (v)"}, back: []string{"DROP INDEX by_v"}},
		{there: []string{"CREATE INDEX CONCURRENTLY by_t ON changing (token)"}, back: []string{"DROP INDEX by_t"}},
		{there: []string{"TRUNCATE TABLE scratch"}},
		{there: []string{"ALTER TABLE changing RENAME TO changed"}, back: []string{"ALTER TABLE changed RENAME TO changing"}},
		{whole: true, there: []string{"ALTER TABLE parted DETACH PARTITION high", "ALTER TABLE high RENAME TO other",
			"ALTER TABLE plain RENAME TO high", "ALTER TABLE other RENAME TO plain",
			"ALTER TABLE parted ATTACH PARTITION high FOR VALUES FROM (0) TO (MAXVALUE)"}},
	}
)

func definitionsOf(d *dialect) []definition {
	switch {
	case d.postgres:
		return postgresDefinitions
	case d.dbms == history.TiDB:
		return tidbDefinitions
	}
	return mysqlDefinitions
}

// oldRows are there when an epoch begins, in each table.
const oldRows = 60

type changing struct {
	e               *Epoch
	main, exchanged *ledger
	next            atomic.Int64
	nextExchanged   atomic.Int64
}

func (c *changing) fill() (out []string) {
	for _, table := range []string{"changing", "parted"} {
		sql := "INSERT INTO " + table + " (id, v, token) VALUES "
		for i := range int64(oldRows) {
			if i > 0 {
				sql += ", "
			}
			sql += fmt.Sprintf("(%d, %d, 0)", c.e.first+i, i)
			c.ledgerOf(table).born(c.e.first+i, true)
		}
		out = append(out, sql)
	}
	c.next.Store(c.e.first + oldRows)
	c.nextExchanged.Store(c.e.first + oldRows)
	return out
}

func (c *changing) ledgerOf(table string) *ledger {
	if table == "changing" {
		return c.main
	}
	return c.exchanged
}

func (c *changing) discard() (out []string) {
	for _, table := range []string{"changing", "parted", "plain", "scratch"} {
		out = append(out, fmt.Sprintf("DELETE FROM %s WHERE id < %d", table, c.e.first))
	}
	return out
}

func (c *changing) transact(t *txn) {
	switch {
	case t.number == 0:
		c.redefine(t)
	case t.rand.IntN(3) == 0:
		t.readsOnly = true
		t.within(func() error { return c.look(t) })
	default:
		c.write(t)
	}
}

// redefine changes a definition and, if there is a way, changes it back. Where a kill came between, the next change meets
// what is left of it.
func (c *changing) redefine(t *txn) {
	t.readsOnly = true
	limit := "SET SESSION lock_wait_timeout = 1"
	switch t.set.dialect.dbms {
	case history.PostgreSQL:
		limit = "SET lock_timeout = '1s'"
	case history.TiDB:
		limit = "DO 0"
	}
	d := among(t.rand, definitionsOf(t.set.dialect))
	err := t.exec(limit)
	if d.whole && err == nil {
		t.within(func() error {
			for _, sql := range d.there {
				if err := t.exec(sql); err != nil {
					return err
				}
			}
			return nil
		})
		return
	}
	for _, sql := range d.there {
		if err == nil {
			err = t.exec(sql)
		}
	}
	for _, sql := range d.back {
		// What is left of a change that a kill or a lock cut off is taken back, too.
		if o := t.set.host.Outcome(err, false); err != nil && o.Code == "" {
			break
		}
		for range 20 {
			if err = t.exec(sql); err == nil || !locked[t.set.host.Outcome(err, false).Code] {
				break
			}
		}
	}
	t.close(err, false)
}

// locked are the errors of a statement that has waited for a lock in vain, or fallen victim to a deadlock.
var locked = map[string]bool{"1205": true, "1213": true, "55P03": true, "40P01": true}

func (c *changing) write(t *txn) {
	left := map[string]map[int64]bool{"changing": {}, "parted": {}}
	t.settle = func(s kv.Status) {
		t.meets(Lost)
		for table, rows := range left {
			c.ledgerOf(table).settle(t, rows, s)
		}
	}
	t.within(func() error {
		for range 1 + t.rand.IntN(3) {
			if err := c.change(t, left); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *changing) change(t *txn, left map[string]map[int64]bool) error {
	// A row of the exchanged ones is in either of two tables, between which it moves.
	table, of, next := "changing", "changing", &c.next
	switch t.rand.IntN(8) {
	case 0, 1:
		table, of, next = "parted", "parted", &c.nextExchanged
	case 2:
		table, of, next = "plain", "parted", &c.nextExchanged
	case 3:
		return t.exec(fmt.Sprintf("INSERT INTO scratch (id, v, token) VALUES (%d, 0, 0)", c.e.first+t.token))
	}
	var id int64
	there := true
	var sql string
	switch n := t.rand.IntN(6); n {
	case 0, 1:
		id = next.Add(1) - 1
		sql = fmt.Sprintf("INSERT INTO %s (id, v, token) VALUES (%d, %d, %d)", table, id, n, t.token)
	case 2:
		id = c.e.first + t.rand.Int64N(next.Load()-c.e.first)
		sql, there = fmt.Sprintf("DELETE FROM %s WHERE id = %d", table, id), false
	default:
		id = c.e.first + t.rand.Int64N(next.Load()-c.e.first)
		sql = fmt.Sprintf("UPDATE %s SET v = v + 1, token = %d WHERE id = %d", table, t.token, id)
	}
	n, err := t.change(sql, id)
	if n > 0 {
		left[of][id] = there
	}
	return err
}

const exchanged = "SELECT id, v, token, 1 FROM parted WHERE %[1]s UNION ALL SELECT id, v, token, 2 FROM plain WHERE %[1]s"

// look reads a table twice, or the two between which rows are exchanged. What a transaction has read nobody redefines
// until it ends, so its second read of the same table is of the same definition.
func (c *changing) look(t *txn) error {
	in := between("id", c.e.first, c.e.last)
	what := t.rand.IntN(3)
	sql := []string{"SELECT id, v, token FROM changing WHERE " + in, fmt.Sprintf(exchanged, in), "SELECT id FROM scratch"}[what]
	first, err := t.query(sql)
	if err != nil {
		return err
	}
	if what == 1 && t.set.reads != Unpromised {
		t.meets(RowTwice)
		t.pending = append(t.pending, twice(first, "one SELECT")...)
	}
	if t.set.reads != PerTransaction {
		return nil
	}
	if what == 0 && t.rand.IntN(2) == 0 { // by an index that may be there
		sql = "SELECT id, v, token FROM changing WHERE v >= 0 AND " + in
	}
	second, err := t.query(sql)
	if err != nil {
		return err
	}
	t.meets(Unstable)
	only, other := difference(first, second)
	if len(only)+len(other) > 0 {
		var keys []int64
		for _, r := range append(only, other...) {
			keys = append(keys, number(r[0]))
		}
		t.violates(violation(Unstable, keys, "two SELECTs of one transaction, which have one snapshot, differ:\n"+
			"%s\ngives at first alone %s\nand then alone %s", sql, spellRows(only), spellRows(other)))
	}
	return nil
}

// twice finds the rows that are in both tables, or in one of them twice.
func twice(rows [][]history.Cell, where string) (out []Violation) {
	seen := map[string][]history.Cell{}
	for _, r := range rows {
		if before, ok := seen[r[0].Text]; ok {
			out = append(out, violation(RowTwice, []int64{number(r[0])},
				"%s shows a row twice (id, v, token; 1: in table parted, 2: in table plain): %s %s", where, spellRow(before), spellRow(r)))
		}
		seen[r[0].Text] = r
	}
	return out
}

// finish first takes back a change of name that was cut off.
func (c *changing) finish(r *reader) ([]Violation, error) {
	d := r.epoch.set.dialect
	rename := "RENAME TABLE changed TO changing"
	if d.postgres {
		rename = "ALTER TABLE IF EXISTS changed RENAME TO changing"
	}
	// Where there is nothing to take back the server says so. If its connection is lost the reads below fail, too.
	_, _ = r.conn.Change(rename)
	in := between("id", c.e.first, c.e.last)
	var main [][]int64
	var both [][]history.Cell
	err := r.snapshot(func() (err error) {
		if main, err = r.numbers("SELECT id, token FROM changing WHERE " + in); err == nil {
			both, err = r.conn.Query(fmt.Sprintf(exchanged, in))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the tables that were changed: %w", err)
	}
	out := twice(both, "at the end of the epoch one SELECT")
	shown := map[int64]int64{}
	for _, row := range main {
		shown[row[0]] = row[1]
	}
	out = append(out, c.main.judge("changing", shown)...)
	shown = map[int64]int64{}
	for _, row := range both {
		shown[number(row[0])] = number(row[2])
	}
	return append(out, c.exchanged.judge("parted or plain", shown)...), nil
}
