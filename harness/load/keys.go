package load

import (
	"strconv"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// keys hands out the keys of an epoch: a few are in use at a time, and one that
// was written often enough gives way to a fresh one, so that lists stay short.
type keys struct {
	first kv.Value // of the epoch
	limit int      // how many the epoch has
	next  atomic.Int64
	most  int64 // writes of one key
	slots []slot
	gone  []atomic.Bool // by key: somebody is to delete it
}

type slot struct {
	key    atomic.Int64
	writes atomic.Int64
	_      [48]byte // a cache line of its own: clients write in them all the time
}

func newKeys(first kv.Value, limit, inUse int, most int64) *keys {
	k := &keys{
		first: first, limit: limit, most: most, slots: make([]slot, min(inUse, limit)), gone: make([]atomic.Bool, limit),
	}
	for i := range k.slots {
		k.slots[i].key.Store(int64(first) + int64(i))
	}
	k.next.Store(int64(first) + int64(len(k.slots)))
	return k
}

// pick returns a key in use.
func (k *keys) pick(c *chooser) kv.Value {
	return kv.Value(k.slots[c.slot(len(k.slots))].key.Load())
}

// write returns a key in use and counts a write of it.
func (k *keys) write(c *chooser) kv.Value {
	if c.readsOnly {
		return k.pick(c)
	}
	return k.count(c.slot(len(k.slots)))
}

func (k *keys) count(i int) kv.Value {
	s := &k.slots[i]
	key := s.key.Load()
	if s.writes.Add(1) >= k.most {
		if fresh := k.next.Add(1) - 1; fresh < int64(k.first)+int64(k.limit) {
			s.writes.Store(0)
			s.key.Store(fresh)
		}
	}
	return kv.Value(key)
}

// last returns the last key of the epoch, handed out or not.
func (k *keys) last() kv.Value { return k.first + kv.Value(k.limit) - 1 }

// used returns the first and the last key that were handed out.
func (k *keys) used() (first, last kv.Value) {
	return k.first, min(kv.Value(k.next.Load()), k.first+kv.Value(k.limit)) - 1
}

// isAbsent tells whether the row of a key is missing when its epoch begins.
func isAbsent(k kv.Value) bool { return k%4 == 3 }

// insertRows returns the INSERTs of all keys of an epoch that are there from the
// start.
func insertRows(into string, e *epoch, row func([]byte, kv.Value) []byte) []string {
	const most = 500 // rows a statement
	var out []string
	var b []byte
	n := 0
	for i := range e.keys.limit {
		k := e.keys.first + kv.Value(i)
		if isAbsent(k) {
			continue
		}
		if n == 0 {
			b = append(b[:0], "INSERT INTO "+into+" VALUES "...)
		} else {
			b = append(b, ',')
		}
		b = row(b, k)
		if n++; n == most {
			out, n = append(out, string(b)), 0
		}
	}
	if n > 0 {
		out = append(out, string(b))
	}
	return out
}

// between appends a condition on the keys of a range.
func between(b []byte, from, to kv.Value) []byte {
	b = append(b, "k BETWEEN "...)
	b = strconv.AppendInt(b, int64(from), 10)
	b = append(b, " AND "...)
	return strconv.AppendInt(b, int64(to), 10)
}
