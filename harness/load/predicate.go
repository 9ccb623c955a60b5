package load

import (
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// predicates are rows that come, change and go, and SELECTs of all rows that meet
// a condition. Every key is changed once at most: every second one has a row from the
// beginning, which is updated or deleted, the others are inserted. So it is known
// which versions a SELECT could have met and did not.
// https://github.com/jepsen-io/elle (closed predicates)
type predicates struct{}

// classes is how many values the indexed column has.
const classes = 8

// condition is what a SELECT asks for.
type condition struct {
	name kv.Value // as the checker spells it
	sql  string   // "" for all rows
	// index is the one that serves it, where the statement names one.
	index string
}

var (
	names = &kv.Names{}
	// conditions: an index serves all but the first, which only the end of an epoch
	// asks: what a SELECT showed stands in the explanation of each of its dependencies.
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
	return size{transactions: 200, longest: 300, fresh: 1}
}

func (predicates) kind() kv.Workload { return kv.Predicate }

func (predicates) table() string { return "predicate_row" }

func (predicates) define(d *dialect) []string {
	const columns = "k BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, class INT NOT NULL"
	defined := []string{"CREATE TABLE predicate_row (" + columns + d.inline + ")"}
	if d.index != "" {
		defined = append(defined, d.index)
	}
	return defined
}

// bornValue is above all values that clients write.
const bornValue kv.Value = 1 << 40

// born returns the rows with which an epoch begins.
func (predicates) born(e *epoch) []kv.RecordOp {
	var out []kv.RecordOp
	for k := e.keys.first; k <= e.keys.last(); k++ {
		if k%2 == 0 {
			out = append(out, kv.RecordOp{Kind: kv.Init, Key: k, Val: bornValue + k})
		}
	}
	return out
}

func (w predicates) fill(e *epoch) []string {
	b := []byte("INSERT INTO predicate_row (k, v, class) VALUES ")
	for i, o := range w.born(e) {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "(%d,%d,%d)", o.Key, o.Val, o.Val%classes)
	}
	return []string{string(b)}
}

func (predicates) plan(steps []step, c *chooser) []step {
	k := c.epoch.keys
	for range 1 + c.rand.IntN(longestTransaction-1) {
		n := c.rand.IntN(8)
		if c.readsOnly {
			n %= 4
		}
		switch n {
		case 0, 1, 2:
			steps = append(steps, step{kind: kv.ReadPredicate, key: k.first, val: k.last(), cond: conditions[1+c.rand.IntN(len(conditions)-1)], lock: c.lock()})
		case 3:
			steps = append(steps, step{kind: kv.Read, key: k.near(c), lock: c.lock()})
		default:
			switch key := k.fresh(); {
			case key == kv.Nil:
			case key%2 != 0:
				steps = append(steps, step{kind: kv.Insert, key: key, val: c.value()})
			case n < 6:
				steps = append(steps, step{kind: kv.Write, key: key, val: c.value()})
			default:
				steps = append(steps, step{kind: kv.Delete, key: key})
			}
		}
	}
	return steps
}

// fresh hands out a key that nobody else gets, kv.Nil when there is none left.
func (k *keys) fresh() kv.Value {
	if n := kv.Value(k.next.Add(1) - 1); n <= k.last() {
		return n
	}
	return kv.Nil
}

// near returns a key that was handed out lately or will be soon.
func (k *keys) near(c *chooser) kv.Value {
	const around = 8
	return max(k.first, min(k.last(), kv.Value(k.next.Load())+kv.Value(c.rand.IntN(2*around)-around)))
}

func (predicates) sql(d *dialect, b []byte, s step) []byte {
	num := func(v kv.Value) { b = strconv.AppendInt(b, int64(v), 10) }
	switch s.kind {
	case kv.ReadPredicate:
		b = append(b, "SELECT k, v FROM predicate_row WHERE "...)
		b = between(append(b, s.cond.sql...), s.key, s.val)
		b = append(b, d.locks[s.lock]...)
	case kv.Read:
		b = append(b, "SELECT v FROM predicate_row WHERE k = "...)
		num(s.key)
		b = append(b, d.locks[s.lock]...)
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
		return recordCondition(t, s, a)
	case s.kind == kv.Read && len(a.rows) == 0 && s.lock == skipLocked:
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
