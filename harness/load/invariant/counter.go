package invariant

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// counters are rows that upserts make and raise. Those with an even key have a log that the same transaction writes.
var counters = Workload{
	Name: "counter", looks: true,
	Says: "each counter is the sum of the upserts that were acknowledged, and of those with an unknown outcome some or " +
		"none; where it has a log, the sum of that in each snapshot",
	Kinds: []Opportunity{
		{WrongSum, "read counters and their log while another one committed a change"},
		{Lost, "raised a counter and were acknowledged"}, {HalfDone, "raised two counters or more"},
	},
	define: func(d *dialect) []string {
		return []string{"CREATE TABLE counter (k BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)" + d.engine,
			"CREATE TABLE counter_log (token BIGINT NOT NULL, k BIGINT NOT NULL, d BIGINT NOT NULL, PRIMARY KEY (k, token))" +
				d.engine}
	},
	begin: func(e *Epoch) state { return &counts{e: e} },
}

const (
	countersInUse = 12
	mostRaised    = 3
	largestRaise  = 9
)

// raise is a transaction's upserts: by key, what it adds.
type raise struct {
	token  int64
	status kv.Status
	by     map[int64]int64
}

type counts struct {
	e      *Epoch
	mu     sync.Mutex
	raises []*raise
}

// fill loads no rows: the first upsert of a key inserts its row.
func (*counts) fill() []string { return nil }

func (c *counts) discard() []string {
	return []string{fmt.Sprintf("DELETE FROM counter WHERE k < %d", c.e.first),
		fmt.Sprintf("DELETE FROM counter_log WHERE k < %d", c.e.first)}
}

func isLogged(k int64) bool { return k%2 == 0 }

func (c *counts) transact(t *txn) {
	if t.looks || t.rand.IntN(5) == 0 {
		t.readsOnly = true
		t.within(func() error { return c.look(t) })
		return
	}
	r := &raise{token: t.token, by: map[int64]int64{}}
	t.settle = func(s kv.Status) {
		t.meets(Lost)
		if len(r.by) > 1 {
			t.meets(HalfDone)
		}
		r.status = s
		c.mu.Lock()
		c.raises = append(c.raises, r)
		c.mu.Unlock()
	}
	t.within(func() error {
		var keys []int64
		for range 1 + t.rand.IntN(mostRaised) {
			if k := c.e.first + t.rand.Int64N(countersInUse); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			by := 1 + t.rand.Int64N(largestRaise)
			r.by[k] = by
			upsert := "INSERT INTO counter (k, n) VALUES (%d, %d) ON DUPLICATE KEY UPDATE n = n + %[2]d"
			if t.set.dialect.postgres {
				upsert = "INSERT INTO counter (k, n) VALUES (%d, %d) ON CONFLICT (k) DO UPDATE SET n = counter.n + excluded.n"
			}
			if err := t.exec(fmt.Sprintf(upsert, k, by), k); err != nil {
				return err
			}
			if isLogged(k) {
				log := fmt.Sprintf("INSERT INTO counter_log (token, k, d) VALUES (%d, %d, %d)", t.token, k, by)
				if err := t.exec(log, k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

const sums = "(SELECT COALESCE(SUM(d), 0) FROM counter_log l WHERE l.k = c.k)"

// look compares the counters that have a log with it.
func (c *counts) look(t *txn) error {
	before := c.e.changes.Load()
	in := between("c.k", c.e.first, c.e.last) + " AND c.k % 2 = 0"
	var both [][]int64 // key, counter, sum of the log
	if t.set.reads != PerTransaction || t.rand.IntN(2) == 0 {
		rows, err := t.query("SELECT c.k, c.n, " + sums + " FROM counter c WHERE " + in)
		if err != nil {
			return err
		}
		for _, r := range rows {
			both = append(both, []int64{number(r[0]), number(r[1]), number(r[2])})
		}
	} else {
		rows, err := t.query("SELECT c.k, c.n FROM counter c WHERE " + in)
		if err != nil {
			return err
		}
		logged, err := t.query("SELECT c.k, SUM(c.d) FROM counter_log c WHERE " + in + " GROUP BY c.k")
		if err != nil {
			return err
		}
		sum := map[int64]int64{}
		for _, r := range logged {
			sum[number(r[0])] = number(r[1])
		}
		for _, r := range rows {
			both = append(both, []int64{number(r[0]), number(r[1]), sum[number(r[0])]})
			delete(sum, number(r[0]))
		}
		for k, n := range sum {
			both = append(both, []int64{k, 0, n})
		}
	}
	if t.set.reads == Unpromised {
		return nil
	}
	if c.e.changes.Load() > before {
		t.meets(WrongSum)
	}
	for _, b := range both {
		if b[1] != b[2] {
			t.violates(violation(WrongSum, b[:1], "one snapshot shows counter %d at %d, and a log of it whose sum is %d", b[0], b[1], b[2]))
		}
	}
	return nil
}

func (c *counts) finish(r *reader) ([]Violation, error) {
	var all, logged [][]int64
	err := r.snapshot(func() (err error) {
		if all, err = r.numbers("SELECT k, n FROM counter WHERE " + between("k", c.e.first, c.e.last)); err == nil {
			logged, err = r.numbers("SELECT k, token, d FROM counter_log WHERE " + between("k", c.e.first, c.e.last))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.judge(all, logged), nil
}

// judge holds counters (k, n) and their log (k, token, d) against what was acknowledged.
func (c *counts) judge(all, logged [][]int64) (out []Violation) {
	type entry struct{ k, token int64 }
	there, some, sum := map[entry]bool{}, map[int64]bool{}, map[int64]int64{}
	for _, l := range logged {
		there[entry{l[0], l[1]}] = true
		some[l[1]] = true
		sum[l[0]] += l[2]
	}
	low, high := map[int64]int64{}, map[int64]int64{}
	for _, r := range c.raises {
		// One whose COMMIT was not answered has committed all, if some of it is there.
		sure := r.status == kv.OK || r.status == kv.Info && some[r.token]
		for k, by := range r.by {
			switch {
			case sure:
				low[k] += by
				high[k] += by
			case r.status == kv.Info && !slices.ContainsFunc(slices.Collect(maps.Keys(r.by)), isLogged):
				high[k] += by
			}
			if !isLogged(k) || there[entry{k, r.token}] == sure {
				continue
			}
			kind, says := Lost, "was acknowledged and is not in its log"
			switch {
			case r.status == kv.Fail:
				kind, says = Kept, "was rolled back and is in its log"
			case r.status == kv.Info:
				kind, says = HalfDone, "is not in its log, where another row of the same transaction is"
			}
			out = append(out, violation(kind, []int64{k}, "at the end of the epoch: what transaction %d added to counter %d, %d, %s",
				r.token, k, by, says))
		}
	}
	n := map[int64]int64{}
	for _, row := range all {
		n[row[0]] = row[1]
	}
	for k := c.e.first; k < c.e.first+countersInUse; k++ {
		switch {
		case isLogged(k) && n[k] != sum[k]:
			out = append(out, violation(WrongSum, []int64{k}, "at the end of the epoch counter %d is %d, and the sum of its log %d", k, n[k], sum[k]))
		case n[k] < low[k]:
			out = append(out, violation(Lost, []int64{k},
				"at the end of the epoch counter %d is %d: upserts of %d in all were acknowledged", k, n[k], low[k]))
		case n[k] > high[k]:
			out = append(out, violation(WrongSum, []int64{k},
				"at the end of the epoch counter %d is %d: upserts of no more than %d in all can have been committed", k, n[k], high[k]))
		}
	}
	return out
}
