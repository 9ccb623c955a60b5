package load

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// registers are keys whose value is replaced by one that no other write has.
//
// A value does not tell what it replaced, so most writes follow a read of the same
// key in their transaction: the chain of these is the order of versions. As
// mini-transactions (two reads and two writes at most, each write behind a read of
// its key) all of it is known, and a check takes linear time.
// https://arxiv.org/abs/2503.17163 (MTC: mini-transactions)
type registers struct{ mini bool }

func (registers) size() size {
	return size{transactions: 20000, inUse: 10, most: 64, fresh: 0.03}
}

func (registers) kind() kv.Workload { return kv.Register }

func (registers) table() string { return "register" }

func (registers) define(*dialect) []string {
	return []string{"CREATE TABLE register (k BIGINT NOT NULL PRIMARY KEY, v BIGINT NULL)"}
}

func (registers) fill(e *epoch) []string {
	return insertRows("register (k, v)", e, func(b []byte, k kv.Value) []byte {
		return append(strconv.AppendInt(append(b, '('), int64(k), 10), ",NULL)"...)
	})
}

// operation is one of a mini-transaction, on its first or its second key.
type operation struct {
	write bool
	key   int
}

// minis are the shapes of mini-transactions.
var minis = [...][]operation{
	{{false, 0}},
	{{false, 0}, {true, 0}},
	{{false, 0}, {false, 1}},
	{{false, 0}, {false, 1}, {true, 0}},
	{{false, 0}, {false, 1}, {true, 1}},
	{{false, 0}, {true, 0}, {false, 1}},
	{{false, 0}, {true, 0}, {false, 1}, {true, 1}},
	{{false, 0}, {false, 1}, {true, 0}, {true, 1}},
	{{false, 0}, {false, 1}, {true, 1}, {true, 0}},
}

// blindOf is of how many writes one follows no read.
const blindOf = 8

func (w registers) plan(steps []step, c *chooser) []step {
	read := func(k kv.Value) step { return step{kind: kv.Read, key: k, lock: c.lock()} }
	readFirst := func(k kv.Value) step { return step{kind: kv.Read, key: k, lock: c.lockToWrite()} }
	write := func(k kv.Value) step { return step{kind: kv.Write, key: k, val: c.value()} }
	if !w.mini {
		for range 1 + c.rand.IntN(longestTransaction-1) {
			if c.readsOnly || c.rand.IntN(2) == 0 {
				steps = append(steps, read(c.epoch.keys.pick(c)))
				continue
			}
			k := c.epoch.keys.write(c)
			if c.rand.IntN(blindOf) > 0 {
				steps = append(steps, readFirst(k))
			}
			steps = append(steps, write(k))
		}
		return steps
	}
	first, second := c.epoch.keys.two(c)
	at := [2]int{first, second}
	var key [2]kv.Value
	shape := minis[c.rand.IntN(len(minis))]
	for i := range key {
		key[i] = kv.Value(c.epoch.keys.slots[at[i]].key.Load())
	}
	for i, o := range shape {
		switch {
		case o.write && c.readsOnly:
		case o.write:
			c.epoch.keys.count(at[o.key])
			steps = append(steps, write(key[o.key]))
		case slices.Contains(shape[i+1:], operation{true, o.key}):
			steps = append(steps, readFirst(key[o.key]))
		default:
			steps = append(steps, read(key[o.key]))
		}
	}
	return steps
}

// two draws two different slots, or one twice where there is one.
func (k *keys) two(c *chooser) (first, second int) {
	first = c.slot(len(k.slots))
	second = c.slot(len(k.slots))
	if first == second {
		second = (first + 1) % len(k.slots)
	}
	return first, second
}

func (registers) sql(d *dialect, b []byte, s step) []byte {
	switch {
	case s.whole:
		return append(between(append(b, "SELECT k, v FROM register WHERE "...), s.key, s.val), d.orders...)
	case s.kind == kv.Read:
		b = append(b, "SELECT v FROM register WHERE k = "...)
		b = strconv.AppendInt(b, int64(s.key), 10)
		return append(b, d.locks[s.lock]...)
	}
	return fmt.Appendf(b, d.register, s.key, s.val)
}

func (registers) record(t *tape, s step, a *answer) error {
	if s.kind == kv.Write {
		t.add(kv.RecordOp{Kind: kv.Write, Key: s.key, Val: s.val}, s.lock)
		return nil
	}
	if s.whole {
		return recordRange(t, s, a)
	}
	v := kv.Nil
	if len(a.rows) > 1 {
		return fmt.Errorf("%d rows of key %d, which is the primary key", len(a.rows), s.key)
	}
	if len(a.rows) == 0 && s.lock == skipLocked {
		return nil
	}
	if len(a.rows) == 1 {
		var err error
		if v, err = cell(a.rows[0][0]); err != nil {
			return err
		}
	}
	t.add(kv.RecordOp{Kind: kv.Read, Key: s.key, Val: v}, s.lock)
	return nil
}

// recordRange records rows (key, value) of a read of all keys of a range as one
// read of each; a key without a row reads as nil.
func recordRange(t *tape, s step, a *answer) error {
	return eachKey(s, a, func(k kv.Value, row []driver.Value) error {
		v := kv.Nil
		if row != nil {
			var err error
			if v, err = cell(row[1]); err != nil {
				return err
			}
		}
		t.add(kv.RecordOp{Kind: kv.Read, Key: k, Val: v}, s.lock)
		return nil
	})
}

func (registers) readAll(e *epoch) step {
	first, last := e.keys.used()
	return step{kind: kv.Read, whole: true, key: first, val: last}
}

func (registers) discard(e *epoch) string {
	return fmt.Sprintf("DELETE FROM register WHERE k < %d", e.keys.first)
}
