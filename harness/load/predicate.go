package load

import (
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// predicates are rows that come, change and go, and SELECTs of all rows that meet
// a condition. Every value is written once and every key inserted once, so that it
// is known which versions a SELECT could have met and did not.
// https://github.com/jepsen-io/elle (closed predicates)
type predicates struct{}

// classes is how many values the indexed column has.
const classes = 3

// condition is what a SELECT asks for.
type condition struct {
	name kv.Value // as the checker spells it
	sql  string   // "" for all rows
}

var (
	names = &kv.Names{}
	// conditions: an index serves all but the first.
	conditions = makeConditions()
)

func makeConditions() []*condition {
	out := []*condition{{name: names.Of([]byte("true"))}}
	for i := range classes {
		name := fmt.Sprintf("mod %d %d", classes, i)
		out = append(out, &condition{name: names.Of([]byte(name)), sql: fmt.Sprintf("class = %d AND ", i)})
	}
	return out
}

func (predicates) size() size {
	return size{transactions: 2000, inUse: 12, most: 1 << 30, fresh: 0.7}
}

func (predicates) kind() kv.Workload { return kv.Predicate }

func (predicates) table() string {
	return "CREATE TABLE predicate_row (k BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, class INT NOT NULL, KEY (class, k))"
}

// fill leaves the table empty: every row is some client's INSERT.
func (predicates) fill(*epoch) []string { return nil }

func (predicates) plan(steps []step, c *chooser) []step {
	k := c.epoch.keys
	for range 1 + c.rand.IntN(longestTransaction-1) {
		switch c.rand.IntN(8) {
		case 0, 1, 2:
			steps = append(steps, step{kind: kv.ReadPredicate, key: k.first, val: k.last(), cond: conditions[c.rand.IntN(len(conditions))], lock: c.lock()})
		case 3:
			steps = append(steps, step{kind: kv.Read, key: k.pick(c), lock: c.lock()})
		case 4, 5:
			key := k.write(c)
			steps = append(steps, step{kind: kv.Read, key: key, lock: c.lock()}, step{kind: kv.Write, key: key, val: c.value()})
		case 6: // one row goes, another comes
			old, fresh := k.replace(c)
			steps = append(steps, step{kind: kv.Delete, key: old})
			if fresh != kv.Nil {
				steps = append(steps, step{kind: kv.Insert, key: fresh, val: c.value()})
			}
		case 7:
			if _, fresh := k.replace(c); fresh != kv.Nil {
				steps = append(steps, step{kind: kv.Insert, key: fresh, val: c.value()})
			}
		}
	}
	return steps
}

// replace puts a fresh key, kv.Nil if there is none left, into the place of one
// in use.
func (k *keys) replace(c *chooser) (old, fresh kv.Value) {
	s := &k.slots[c.slot(len(k.slots))]
	old = kv.Value(s.key.Load())
	fresh = kv.Value(k.next.Add(1) - 1)
	if fresh > k.last() {
		return old, kv.Nil
	}
	s.writes.Store(0)
	s.key.Store(int64(fresh))
	return old, fresh
}

func (predicates) sql(b []byte, s step) []byte {
	num := func(v kv.Value) { b = strconv.AppendInt(b, int64(v), 10) }
	switch s.kind {
	case kv.ReadPredicate:
		b = append(b, "SELECT k, v FROM predicate_row WHERE "...)
		b = between(append(b, s.cond.sql...), s.key, s.val)
		b = append(b, lockWords[s.lock]...)
	case kv.Read:
		b = append(b, "SELECT v FROM predicate_row WHERE k = "...)
		num(s.key)
		b = append(b, lockWords[s.lock]...)
	case kv.Insert:
		b = append(b, "INSERT INTO predicate_row (k, v, class) VALUES ("...)
		num(s.key)
		b = append(b, ", "...)
		num(s.val)
		b = append(b, ", "...)
		num(s.val % classes)
		b = append(b, ')')
	case kv.Write:
		b = append(b, "UPDATE predicate_row SET v = "...)
		num(s.val)
		b = append(b, ", class = "...)
		num(s.val % classes)
		b = append(b, " WHERE k = "...)
		num(s.key)
	case kv.Delete:
		b = append(b, "DELETE FROM predicate_row WHERE k = "...)
		num(s.key)
	}
	return b
}

func (predicates) readAll(e *epoch) step {
	return step{kind: kv.ReadPredicate, key: e.keys.first, val: e.keys.last(), cond: conditions[0]}
}

func (predicates) discard(e *epoch) string {
	return fmt.Sprintf("DELETE FROM predicate_row WHERE k < %d", e.keys.first)
}

// record leaves out an UPDATE or DELETE that met no row: not at every level does
// that lock the gap, so it orders nothing.
func (predicates) record(t *tape, s step, a *answer) error {
	switch {
	case s.kind == kv.ReadPredicate:
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
		t.add(kv.RecordOp{Kind: kv.ReadPredicate, Val: s.cond.name, List: t.values[mark:len(t.values):len(t.values)]}, s.lock)
	case s.kind == kv.Read:
		v := kv.Nil
		if len(a.rows) == 1 {
			var err error
			if v, err = cell(a.rows[0][0]); err != nil {
				return err
			}
		}
		t.add(kv.RecordOp{Kind: kv.Read, Key: s.key, Val: v}, s.lock)
	case a == nil || a.changed > 0:
		t.add(kv.RecordOp{Kind: s.kind, Key: s.key, Val: s.val}, s.lock)
	}
	return nil
}
