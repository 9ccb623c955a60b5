package load

import (
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// chains are appends in which many look at the same moment. Most transactions are one SELECT of all keys in use, so that
// of two commits hardly any pair passes without somebody who sees the first and not the second; if another one then
// sees the second and not the first, no order of the commits explains both. The others write early, read what has been
// committed meanwhile, and commit later: so there is something that one snapshot can show in part.
//
// What it is after: a snapshot that is put together while others commit. MariaDB builds one by a walk over a table of
// the open transactions, without a lock that keeps them from ending.
// https://github.com/MariaDB/server/blob/11.8/storage/innobase/include/trx0sys.h (rw_trx_hash_t::iterate)
type chains struct{ appends }

const chainName = "chain"

const (
	chainKeys = 16
	// lookersOf is of how many transactions all but one look at everything.
	lookersOf = 4
)

func (chains) size() size {
	return size{transactions: 20000, inUse: chainKeys, most: 16, fresh: 0.06}
}

func (chains) plan(steps []step, c *chooser) []step {
	k := c.epoch.keys
	if c.rand.IntN(lookersOf) > 0 {
		return append(steps, step{kind: kv.ReadList, key: k.at(0), also: k.others(c), lock: c.lock()})
	}
	write := func() step {
		return step{kind: kv.Append, key: k.count(c.rand.IntN(len(k.slots))), val: c.value()}
	}
	steps = append(steps, write())
	for range c.rand.IntN(3) {
		steps = append(steps, step{kind: kv.ReadList, key: k.at(c.rand.IntN(len(k.slots))), lock: c.lock()})
		if c.rand.IntN(2) == 0 {
			steps = append(steps, write())
		}
	}
	return steps
}

// at returns the key of a slot.
func (k *keys) at(i int) kv.Value { return kv.Value(k.slots[i].key.Load()) }

// others returns the keys in use but the first one; they are valid until the next plan of the client.
func (k *keys) others(c *chooser) []kv.Value {
	c.several = c.several[:0]
	for i := 1; i < len(k.slots); i++ {
		c.several = append(c.several, k.at(i))
	}
	return c.several
}

// eachNamed hands out the keys of a step that reads some by their names.
func (s *step) eachNamed(do func(kv.Value) error) error {
	if err := do(s.key); err != nil {
		return err
	}
	for _, k := range s.also {
		if err := do(k); err != nil {
			return err
		}
	}
	return nil
}

// several appends a SELECT of the lists of several keys.
func (s step) several(d *dialect, b []byte) []byte {
	b = strconv.AppendInt(append(b, "SELECT k, val FROM append_list WHERE k IN ("...), int64(s.key), 10)
	for _, k := range s.also {
		b = strconv.AppendInt(append(b, ", "...), int64(k), 10)
	}
	return append(append(b, ')'), d.locks[s.lock]...)
}

// recordSeveral records a read of several keys as one read of each. A key without a row is an empty list, unless the
// read skips what is locked.
func recordSeveral(t *tape, s step, a *answer) error {
	seen := 0
	err := s.eachNamed(func(k kv.Value) error {
		var list []kv.Value
		here := 0
		for _, row := range a.rows {
			n, err := cell(row[0])
			if err != nil {
				return err
			}
			if n != k {
				continue
			}
			if list, err = t.list(row[1]); err != nil {
				return err
			}
			here++
		}
		if seen += here; here > 1 {
			return fmt.Errorf("%d rows of key %d, which is the primary key", here, k)
		}
		if here > 0 || s.lock != skipLocked {
			t.add(kv.RecordOp{Kind: kv.ReadList, Key: k, List: list}, s.lock)
		}
		return nil
	})
	if err == nil && seen < len(a.rows) {
		err = fmt.Errorf("%d rows, of which %d were asked for", len(a.rows), seen)
	}
	return err
}
