package load

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// appends is list-append: each value of a key is the list of all values ever
// appended to it, so one read shows the order of all versions before it.
// https://github.com/jepsen-io/elle (list-append)
type appends struct{}

// Statements a transaction has at most.
const longestTransaction = 4

func (appends) size() size {
	return size{transactions: 20000, inUse: 10, most: 64, fresh: 0.03}
}

func (appends) kind() kv.Workload { return kv.ListAppend }

func (appends) table() string { return "append_list" }

func (appends) define(*dialect) []string {
	return []string{"CREATE TABLE append_list (k BIGINT NOT NULL PRIMARY KEY, val TEXT NOT NULL)"}
}

// fill leaves every fourth key to be inserted by the first client that appends
// to it. With all of them absent each look-up of a missing key would lock the gap
// at the table's end, and few clients would get past each other.
func (appends) fill(e *epoch) []string {
	return insertRows("append_list (k, val)", e, func(b []byte, k kv.Value) []byte {
		return append(strconv.AppendInt(append(b, '('), int64(k), 10), ",'')"...)
	})
}

func (appends) plan(steps []step, c *chooser) []step {
	n := 1 + c.rand.IntN(longestTransaction)
	for range n {
		if c.readsOnly || c.rand.IntN(2) == 0 {
			steps = append(steps, step{kind: kv.ReadList, key: c.epoch.keys.pick(c), lock: c.lock()})
		} else {
			steps = append(steps, step{kind: kv.Append, key: c.epoch.keys.write(c), val: c.value()})
		}
	}
	return steps
}

func (appends) sql(d *dialect, b []byte, s step) []byte {
	switch {
	case s.whole:
		b = between(append(b, "SELECT k, val FROM append_list WHERE "...), s.key, s.val)
		return append(b, d.orders...)
	case len(s.also) > 0:
		return s.several(d, b)
	case s.kind == kv.ReadList:
		b = append(b, "SELECT val FROM append_list WHERE k = "...)
		b = strconv.AppendInt(b, int64(s.key), 10)
		return append(b, d.locks[s.lock]...)
	}
	return fmt.Appendf(b, d.list, s.key, s.val)
}

func (appends) record(t *tape, s step, a *answer) error {
	if s.kind == kv.Append {
		t.add(kv.RecordOp{Kind: kv.Append, Key: s.key, Val: s.val}, s.lock)
		return nil
	}
	if len(s.also) > 0 {
		return recordSeveral(t, s, a)
	}
	if !s.whole {
		var list []kv.Value
		if len(a.rows) > 1 {
			return fmt.Errorf("%d rows of key %d, which is the primary key", len(a.rows), s.key)
		}
		if len(a.rows) == 0 && s.lock == skipLocked {
			return nil
		}
		if len(a.rows) == 1 {
			var err error
			if list, err = t.list(a.rows[0][0]); err != nil {
				return err
			}
		}
		t.add(kv.RecordOp{Kind: kv.ReadList, Key: s.key, List: list}, s.lock)
		return nil
	}
	return eachKey(s, a, func(k kv.Value, row []driver.Value) error {
		var list []kv.Value // a key without a row is an empty list
		if row != nil {
			var err error
			if list, err = t.list(row[1]); err != nil {
				return err
			}
		}
		t.add(kv.RecordOp{Kind: kv.ReadList, Key: k, List: list}, s.lock)
		return nil
	})
}

// list reads the text of a list: numbers between commas, one comma before the
// first where the row was there from the start.
func (t *tape) list(v driver.Value) ([]kv.Value, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("the server returned %v for a list", v)
	}
	mark := t.mark(len(b)/2 + 1)
	for len(b) > 0 {
		if b[0] == ',' {
			b = b[1:]
		}
		n, rest, err := number(b)
		if err != nil {
			return nil, err
		}
		t.values, b = append(t.values, n), rest
	}
	return t.values[mark:len(t.values):len(t.values)], nil
}

func (appends) readAll(e *epoch) step {
	first, last := e.keys.used()
	return step{kind: kv.ReadList, whole: true, key: first, val: last}
}

func (appends) discard(e *epoch) string {
	return fmt.Sprintf("DELETE FROM append_list WHERE k < %d", e.keys.first)
}
