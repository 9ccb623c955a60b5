package load

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// mixed is a few rows on which every kind of statement works: reads by each of the
// indexes, blind updates and upserts, rows that are replaced, or deleted and inserted
// again, and so come into conditions and leave them all the time.
//
// A row keeps the values that it has had, its trail, as list-append does. What replaces
// a row begins a new trail, so the transaction has locked the row and read the old one
// before. Three of four rows are always there between transactions. One of eight is
// deleted once in an epoch, one of four is not there at first: so there is but one time
// at which a key is absent, and a read of nothing tells which version it met.
type mixed struct{}

// mixedKeys is how many rows there are. The first are used most.
const mixedKeys = 16

// Divisors of the values that the indexed columns c7 and c5 hold.
const (
	coveredBy = 7
	groupedBy = 5
)

// form is how a step of this workload is spelled.
type form uint8

const (
	byKey form = iota
	byRange
	withTrail
	upsert
	update
	replace
	insertAgain
)

var mixedConditions = makeMixedConditions()

func makeMixedConditions() []*condition {
	var out []*condition
	for _, c := range []struct {
		column string
		n      int
	}{{"c7", coveredBy}, {"c5", groupedBy}} {
		for i := range c.n {
			out = append(out, &condition{
				name: names.Of(fmt.Appendf(nil, "mod %d %d", c.n, i)), sql: fmt.Sprintf("%s = %d AND ", c.column, i),
				index: c.column,
			})
		}
	}
	return out
}

func (mixed) size() size {
	return size{transactions: 1500, inUse: mixedKeys, most: 1 << 30}
}

func (mixed) kind() kv.Workload { return kv.Mixed }

// settings makes the sessions of the clients use indexes.
func (mixed) settings(d *dialect) []string { return d.steer }

func (mixed) table() string { return "mixed_row" }

func (mixed) define(d *dialect) []string {
	const columns = "k BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, c7 INT NOT NULL, c5 INT NOT NULL, " +
		"trail TEXT NOT NULL"
	if d.hint == "" {
		return []string{"CREATE TABLE mixed_row (" + columns + ")",
			"CREATE INDEX c7 ON mixed_row (c7, k, v)", "CREATE INDEX c5 ON mixed_row (c5, k)"}
	}
	return []string{"CREATE TABLE mixed_row (" + columns + ", KEY c7 (c7, k, v), KEY c5 (c5))"}
}

// mayDie tells a key that is deleted once.
func mayDie(k kv.Value) bool { return k%8 == 4 }

func (mixed) born(e *epoch) []kv.RecordOp {
	var out []kv.RecordOp
	for k := e.keys.first; k <= e.keys.last(); k++ {
		if !isAbsent(k) {
			out = append(out, kv.RecordOp{Kind: kv.Init, Key: k, Val: bornValue + k})
		}
	}
	return out
}

func (w mixed) fill(e *epoch) []string {
	b := []byte("INSERT INTO mixed_row (k, v, c7, c5, trail) VALUES ")
	for i, o := range w.born(e) {
		if i > 0 {
			b = append(b, ',')
		}
		b = mixedRow(b, o.Key, o.Val)
	}
	return []string{string(b)}
}

// mixedRow appends a row with a trail of its own.
func mixedRow(b []byte, k, v kv.Value) []byte {
	return fmt.Appendf(b, "(%d,%d,%d,%d,',%[2]d')", k, v, v%coveredBy, v%groupedBy)
}

func (mixed) plan(steps []step, c *chooser) []step {
	k := c.epoch.keys
	for range 1 + c.rand.IntN(longestTransaction) {
		switch c.rand.IntN(12) {
		case 0, 1:
			steps = append(steps, step{kind: kv.Read, key: k.pick(c), lock: c.lock()})
		case 2:
			from := k.pick(c)
			steps = append(steps, step{kind: kv.Read, form: byRange, key: from, val: min(from+2, k.last()), lock: c.lock()})
		case 3, 4, 5:
			cond := mixedConditions[c.rand.IntN(len(mixedConditions))]
			steps = append(steps, step{kind: kv.ReadPredicate, key: k.first, val: k.last(), cond: cond, lock: c.lock()})
		case 6:
			key := k.pick(c)
			steps = append(steps, step{kind: kv.Read, key: key, lock: c.lock()}, c.change(key))
		case 7:
			steps = c.changeLocked(steps, k.pick(c))
		default:
			steps = append(steps, c.change(k.pick(c)))
		}
	}
	return steps
}

// change is a write that the row's trail tells of.
func (c *chooser) change(k kv.Value) step {
	f := upsert
	if c.rand.IntN(2) == 0 && !isAbsent(k) {
		f = update
	}
	return step{kind: kv.Write, form: f, key: k, val: c.value()}
}

// changeLocked replaces a row that was locked and read before, or deletes it.
func (c *chooser) changeLocked(steps []step, k kv.Value) []step {
	first := step{kind: kv.Read, form: withTrail, key: k, lock: c.lockForSure(), guard: true}
	switch {
	case isAbsent(k):
		return append(steps, c.change(k))
	case mayDie(k):
		if c.readsOnly || !c.revives || !c.epoch.keys.claim(k) {
			return append(steps, c.change(k))
		}
		return append(steps, first, step{kind: kv.Delete, key: k, guarded: true})
	case c.rand.IntN(2) == 0 && c.replaces:
		return append(steps, first, step{kind: kv.Write, form: replace, key: k, val: c.value(), guarded: true})
	}
	return append(steps, first, step{kind: kv.Delete, key: k, guarded: true},
		step{kind: kv.Insert, form: insertAgain, key: k, val: c.value(), guarded: true})
}

// claim tells the first who asks that a key is theirs to delete.
func (k *keys) claim(key kv.Value) bool { return k.gone[key-k.first].CompareAndSwap(false, true) }

func (mixed) sql(d *dialect, b []byte, s step) []byte {
	switch {
	case s.whole:
		return append(between(append(b, "SELECT k, v, trail FROM mixed_row WHERE "...), s.key, s.val), " ORDER BY k"...)
	case s.kind == kv.ReadPredicate:
		b = append(b, "SELECT k, v FROM mixed_row "...)
		if d.hint != "" {
			b = fmt.Appendf(b, d.hint, s.cond.index)
		}
		b = between(append(append(b, "WHERE "...), s.cond.sql...), s.key, s.val)
		return append(b, d.locks[s.lock]...)
	case s.form == byRange:
		b = append(between(append(b, "SELECT k, v FROM mixed_row WHERE "...), s.key, s.val), " ORDER BY k"...)
		return append(b, d.locks[s.lock]...)
	case s.kind == kv.Read:
		what := "v"
		if s.form == withTrail {
			what = "v, trail"
		}
		b = fmt.Appendf(b, "SELECT %s FROM mixed_row WHERE k = %d", what, s.key)
		return append(b, d.locks[s.lock]...)
	case s.kind == kv.Delete:
		return strconv.AppendInt(append(b, "DELETE FROM mixed_row WHERE k = "...), int64(s.key), 10)
	case s.form == update:
		return fmt.Appendf(b, d.change+" WHERE k = %[1]d", s.key, s.val, s.val%coveredBy, s.val%groupedBy)
	case s.form == replace:
		return mixedRow(append(b, "REPLACE INTO mixed_row (k, v, c7, c5, trail) VALUES "...), s.key, s.val)
	}
	b = mixedRow(append(b, "INSERT INTO mixed_row (k, v, c7, c5, trail) VALUES "...), s.key, s.val)
	if s.form == insertAgain {
		return b
	}
	return fmt.Appendf(b, d.upsert, s.key, s.val, s.val%coveredBy, s.val%groupedBy)
}

// record leaves out an UPDATE or DELETE that met no row, as for predicates, and what a
// read that skips locked rows did not return.
func (mixed) record(t *tape, s step, a *answer) error {
	switch {
	case s.whole:
		return recordTrails(t, s, a)
	case s.kind == kv.ReadPredicate:
		return recordCondition(t, s, a)
	case s.form == byRange && s.lock == skipLocked:
		return recordRows(t, s, a)
	case s.form == byRange:
		return recordRange(t, s, a)
	case s.kind == kv.Read:
		return recordRow(t, s, a)
	case s.form == replace && (a == nil || a.changed > 1):
		t.add(kv.RecordOp{Kind: kv.Delete, Key: s.key}, s.lock)
		t.add(kv.RecordOp{Kind: kv.Insert, Key: s.key, Val: s.val}, s.lock)
	case a == nil || a.changed > 0:
		t.add(kv.RecordOp{Kind: s.kind, Key: s.key, Val: s.val}, s.lock)
	}
	return nil
}

// recordRow records a row that was read by its primary key, with its trail if that
// was read, too.
func recordRow(t *tape, s step, a *answer) error {
	if len(a.rows) > 1 {
		return fmt.Errorf("%d rows of key %d, which is the primary key", len(a.rows), s.key)
	}
	if len(a.rows) == 0 {
		if s.lock != skipLocked {
			t.add(kv.RecordOp{Kind: kv.Read, Key: s.key, Val: kv.Nil}, s.lock)
		}
		return nil
	}
	return t.row(s.key, a.rows[0], s.lock)
}

// row records the columns v and, if it is there, trail.
func (t *tape) row(k kv.Value, columns []driver.Value, l lock) error {
	v, err := cell(columns[0])
	if err != nil {
		return err
	}
	t.add(kv.RecordOp{Kind: kv.Read, Key: k, Val: v}, l)
	if len(columns) > 1 {
		list, err := t.list(columns[1])
		if err != nil {
			return err
		}
		t.add(kv.RecordOp{Kind: kv.Versions, Key: k, List: list}, l)
	}
	return nil
}

func recordTrails(t *tape, s step, a *answer) error {
	return eachKey(s, a, func(k kv.Value, row []driver.Value) error {
		if row == nil {
			t.add(kv.RecordOp{Kind: kv.Read, Key: k, Val: kv.Nil}, s.lock)
			return nil
		}
		return t.row(k, row[1:], s.lock)
	})
}

// recordRows records rows (key, value), and nothing of keys that have none in the
// answer.
func recordRows(t *tape, s step, a *answer) error {
	for _, row := range a.rows {
		k, err := cell(row[0])
		if err != nil {
			return err
		}
		if err := t.row(k, row[1:2], s.lock); err != nil {
			return err
		}
	}
	return nil
}

// recordCondition records rows (key, value) that meet a condition.
func recordCondition(t *tape, s step, a *answer) error {
	if s.lock == skipLocked {
		return recordRows(t, s, a)
	}
	mark := t.mark(2 * len(a.rows))
	for _, row := range a.rows {
		k, err := cell(row[0])
		if err != nil {
			return err
		}
		v, err := cell(row[1])
		if err != nil {
			return err
		}
		t.values = append(t.values, k, v)
	}
	t.add(kv.RecordOp{Kind: kv.ReadPredicate, Val: s.cond.name, First: s.key, Last: s.val,
		List: t.values[mark:len(t.values):len(t.values)]}, s.lock)
	return nil
}

func (mixed) readAll(e *epoch) step {
	return step{kind: kv.Read, whole: true, key: e.keys.first, val: e.keys.last()}
}

func (mixed) discard(e *epoch) string {
	return fmt.Sprintf("DELETE FROM mixed_row WHERE k < %d", e.keys.first)
}
