package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// indexes is a table that is read by each of its indexes.
var indexes = Workload{
	Name: "index", looks: true,
	Says: "in each snapshot all indexes of a table give the same rows; at the end of an epoch each agrees with the table",
	Kinds: []Opportunity{
		{Disagreement, "read the same rows by two indexes while another one committed a change"},
		{Lost, "wrote and were acknowledged"},
	},
	define: func(d *dialect) []string {
		table := "CREATE TABLE indexed (id BIGINT NOT NULL PRIMARY KEY, a BIGINT NOT NULL, b BIGINT NOT NULL, " +
			"u BIGINT NOT NULL, token BIGINT NOT NULL, pad VARCHAR(40) NOT NULL"
		if d.postgres {
			return []string{table + ")", "CREATE INDEX by_a ON indexed (a)",
				"CREATE INDEX by_b ON indexed (b, a, u, token, id)", "CREATE UNIQUE INDEX by_u ON indexed (u)"}
		}
		return []string{table + ", KEY by_a (a), KEY by_b (b, a, u, token), UNIQUE KEY by_u (u))" + d.engine}
	},
	begin: func(e *Epoch) state { return &indexed{e: e, ledger: newLedger()} },
}

const (
	indexedRows   = 48
	indexedValues = 8  // of a and b each
	uniqueValues  = 80 // of u
)

// ways are those of reading the table: the column that leads there and the index behind it.
var ways = []struct{ column, index string }{{"id", "PRIMARY"}, {"a", "by_a"}, {"b", "by_b"}, {"u", "by_u"}, {"", ""}}

type indexed struct {
	e      *Epoch
	ledger *ledger
}

func (x *indexed) fill() []string {
	sql := "INSERT INTO indexed (id, a, b, u, token, pad) VALUES "
	for i := range int64(indexedRows) {
		x.ledger.born(x.e.first+i, i%3 != 2)
		if i%3 == 2 {
			continue
		}
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("(%d, %d, %d, %d, 0, '')", x.e.first+i, x.e.first+i%indexedValues,
			x.e.first+i*5%indexedValues, x.e.first+i)
	}
	return []string{sql}
}

func (x *indexed) discard() []string {
	return []string{fmt.Sprintf("DELETE FROM indexed WHERE id < %d", x.e.first)}
}

// span is a set of rows: bounds of the columns.
type span struct{ from, to map[string]int64 }

func (x *indexed) all() span {
	s := span{map[string]int64{}, map[string]int64{}}
	for _, c := range []string{"id", "a", "b", "u"} {
		s.from[c], s.to[c] = x.e.first, x.e.last
	}
	return s
}

// some draws a set: bounds of one column, or of two.
func (x *indexed) some(t *txn) span {
	s := x.all()
	for range 1 + t.rand.IntN(2) {
		c, n := "a", int64(indexedValues)
		switch t.rand.IntN(4) {
		case 1:
			c = "b"
		case 2:
			c, n = "u", uniqueValues
		case 3:
			c, n = "id", indexedRows
		}
		s.from[c] = x.e.first + t.rand.Int64N(n)
		s.to[c] = s.from[c] + t.rand.Int64N(n)
	}
	return s
}

// read is a SELECT of a set by one of the ways. On PostgreSQL, which knows no hints, a column plus nothing has no
// index; the sessions of the workload have sequential scans turned off.
func read(d *dialect, s span, way int, columns string) string {
	w := ways[way]
	hint := ""
	switch {
	case d.postgres:
	case w.index == "":
		hint = " IGNORE INDEX (by_a, by_b, by_u)"
	default:
		hint = " FORCE INDEX (" + w.index + ")"
	}
	var conditions []string
	for _, c := range []string{"id", "a", "b", "u"} {
		of := c
		if c != w.column {
			of += " + 0"
		}
		conditions = append(conditions, between(of, s.from[c], s.to[c]))
	}
	return "SELECT " + columns + " FROM indexed" + hint + " WHERE " + strings.Join(conditions, " AND ")
}

const indexedColumns = "id, a, b, u, token"

func (x *indexed) transact(t *txn) {
	if !t.looks && t.rand.IntN(2) == 0 {
		x.write(t)
		return
	}
	t.readsOnly = true
	t.within(func() error { return x.compare(t) })
}

// compare reads a set by two indexes: in two statements where the transaction has one snapshot, else in one.
func (x *indexed) compare(t *txn) error {
	d, s := t.set.dialect, x.some(t)
	one, two := t.rand.IntN(len(ways)), t.rand.IntN(len(ways)-1)
	if two >= one {
		two++
	}
	if d.postgres {
		for _, set := range []string{"enable_seqscan", among(t.rand, plans)} {
			if err := t.exec("SET LOCAL " + set + " = off"); err != nil {
				return err
			}
		}
	}
	before := x.e.changes.Load()
	if t.set.reads == PerTransaction && t.rand.IntN(4) > 0 {
		first, err := t.query(read(d, s, one, indexedColumns))
		if err != nil {
			return err
		}
		second, err := t.query(read(d, s, two, indexedColumns))
		if err != nil {
			return err
		}
		x.differ(t, one, two, first, second, "two SELECTs of one transaction, which have one snapshot,")
	} else {
		both, err := t.query(read(d, s, one, indexedColumns+", 1 AS way") + " UNION ALL " +
			read(d, s, two, indexedColumns+", 2 AS way"))
		if err != nil {
			return err
		}
		var first, second [][]history.Cell
		for _, r := range both {
			if n := len(r) - 1; r[n].Text == "1" {
				first = append(first, r[:n])
			} else {
				second = append(second, r[:n])
			}
		}
		if t.set.reads != Unpromised {
			x.differ(t, one, two, first, second, "both halves of one SELECT, which has one snapshot,")
		}
	}
	if x.e.changes.Load() > before && t.set.reads != Unpromised {
		t.meets(Disagreement)
	}
	return nil
}

// plans are those that PostgreSQL may have to do without.
var plans = []string{"enable_seqscan", "enable_bitmapscan", "enable_indexscan", "enable_indexonlyscan"}

func (x *indexed) differ(t *txn, one, two int, first, second [][]history.Cell, what string) {
	only, other := difference(first, second)
	if len(only)+len(other) == 0 {
		return
	}
	var keys []int64
	for _, r := range slices.Concat(only, other) {
		keys = append(keys, number(r[0]))
	}
	t.violates(violation(Disagreement, keys,
		"%s do not agree (%s):\n%d rows by %s, of which %s by it alone\n%d rows by %s, of which %s by it alone",
		what, indexedColumns, len(first), wayName(one), spellRows(only), len(second), wayName(two), spellRows(other)))
}

func wayName(way int) string {
	if ways[way].index == "" {
		return "no index"
	}
	return "index " + ways[way].index
}

// difference returns the rows that only one of two answers has.
func difference(a, b [][]history.Cell) (onlyA, onlyB [][]history.Cell) {
	count := map[string]int{}
	for _, r := range b {
		count[spellRow(r)]++
	}
	for _, r := range a {
		if s := spellRow(r); count[s] > 0 {
			count[s]--
		} else {
			onlyA = append(onlyA, r)
		}
	}
	for _, r := range b {
		if s := spellRow(r); count[s] > 0 {
			count[s]--
			onlyB = append(onlyB, r)
		}
	}
	return onlyA, onlyB
}

// write changes, deletes and inserts rows, and reads what it made of them by two indexes.
func (x *indexed) write(t *txn) {
	left := x.ledger.settles(t)
	t.within(func() error {
		for range 1 + t.rand.IntN(3) {
			id := x.e.first + t.rand.Int64N(indexedRows)
			if t.rand.IntN(4) == 0 { // the row is found by another index
				by := fmt.Sprintf("a = %d", x.e.first+t.rand.Int64N(indexedValues))
				if t.rand.IntN(2) == 0 {
					by = fmt.Sprintf("u = %d", x.e.first+t.rand.Int64N(uniqueValues))
				}
				rows, err := t.query("SELECT id FROM indexed WHERE " + by + " ORDER BY id LIMIT 1 FOR UPDATE")
				if err != nil {
					return err
				}
				if len(rows) > 0 {
					id = number(rows[0][0])
				}
			}
			if err := x.change(t, id, left); err != nil {
				return err
			}
		}
		if t.set.reads == PerTransaction && t.rand.IntN(4) == 0 {
			return x.compare(t)
		}
		return nil
	})
}

func (x *indexed) change(t *txn, id int64, left map[int64]bool) error {
	a, b := x.e.first+t.rand.Int64N(indexedValues), x.e.first+t.rand.Int64N(indexedValues)
	u := x.e.first + t.rand.Int64N(uniqueValues)
	var sql string
	there := true
	switch t.rand.IntN(8) {
	case 0, 1:
		sql, there = fmt.Sprintf("DELETE FROM indexed WHERE id = %d", id), false
	case 2, 3:
		sql = fmt.Sprintf("INTO indexed (id, a, b, u, token, pad) VALUES (%d, %d, %d, %d, %d, 'x')", id, a, b, u, t.token)
		if t.set.dialect.postgres {
			sql = "INSERT " + sql + " ON CONFLICT DO NOTHING"
		} else {
			sql = "INSERT IGNORE " + sql
		}
	case 4:
		sql = fmt.Sprintf("UPDATE indexed SET u = %d, token = %d WHERE id = %d", u, t.token, id)
	case 5:
		sql = fmt.Sprintf("UPDATE indexed SET a = %d, b = %d, token = %d WHERE id = %d", a, b, t.token, id)
	case 6:
		sql = fmt.Sprintf("UPDATE indexed SET b = %d, token = %d, pad = 'longer than before' WHERE id = %d", b, t.token, id)
	default:
		sql = fmt.Sprintf("UPDATE indexed SET a = %d, token = %d, pad = 'y' WHERE id = %d", a, t.token, id)
	}
	n, err := t.change(sql, id)
	if n > 0 {
		left[id] = there
	}
	return err
}

func (x *indexed) finish(r *reader) ([]Violation, error) {
	d := r.epoch.set.dialect
	answers := make([][][]history.Cell, len(ways))
	err := r.snapshot(func() (err error) {
		if d.postgres {
			if _, err = r.conn.Change("SET LOCAL enable_seqscan = off"); err != nil {
				return err
			}
		}
		for i := range ways {
			if answers[i], err = r.conn.Query(read(d, x.all(), i, indexedColumns)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	table := len(ways) - 1
	out := x.agree(answers)
	shown := map[int64]int64{}
	for _, row := range answers[table] {
		shown[number(row[0])] = number(row[4])
	}
	out = append(out, x.ledger.judge("indexed", shown)...)
	if d.postgres {
		return out, nil
	}
	return x.serverAgrees(r, out)
}

// agree holds each way of reading the whole table against the last one, which is without an index.
func (x *indexed) agree(answers [][][]history.Cell) (out []Violation) {
	table := len(ways) - 1
	for i := range ways[:table] {
		only, other := difference(answers[i], answers[table])
		if len(only)+len(other) == 0 {
			continue
		}
		var keys []int64
		for _, row := range slices.Concat(only, other) {
			keys = append(keys, number(row[0]))
		}
		out = append(out, violation(Disagreement, keys,
			"at the end of the epoch index %s does not agree with the table (%s):\n%s are in the index alone\n%s are in the table alone",
			ways[i].index, indexedColumns, spellRows(only), spellRows(other)))
	}
	for i, row := range answers[table] {
		for _, before := range answers[table][:i] {
			if before[3] == row[3] {
				out = append(out, violation(Disagreement, []int64{number(row[0]), number(before[0])},
					"at the end of the epoch two rows have the same value of the unique index by_u (%s): %s %s",
					indexedColumns, spellRow(before), spellRow(row)))
			}
		}
	}
	return out
}

// serverAgrees asks the server whether the table is sound. MariaDB warns of entries that wait for purge, and calls the
// table sound. https://jira.mariadb.org/browse/MDEV-24402
func (x *indexed) serverAgrees(r *reader, out []Violation) ([]Violation, error) {
	check := "CHECK TABLE indexed EXTENDED"
	if r.epoch.set.dialect.dbms == history.TiDB {
		check = "ADMIN CHECK TABLE indexed" // which answers with an error
	}
	rows, err := r.conn.Query(check)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", check, err)
	}
	for _, row := range rows {
		if n := len(row); n > 1 && row[n-2].Text == "status" && row[n-1].Text == "OK" {
			return out, nil
		}
	}
	if len(rows) == 0 {
		return out, nil
	}
	return append(out, violation(Disagreement, nil, "%s says: %s", check, spellRows(rows))), nil
}
