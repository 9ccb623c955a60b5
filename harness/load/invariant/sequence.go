package invariant

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// sequences draws values of a counter of the server's: AUTO_INCREMENT or an identity, and a SEQUENCE where there is one.
var sequences = Workload{
	Name: "sequence",
	Says: "no value of AUTO_INCREMENT, an identity or a SEQUENCE is given twice; across a kill: none that was committed",
	Kinds: []Opportunity{
		{ValueTwice, "drew values while another one was drawing some"}, {Lost, "inserted rows and were acknowledged"},
	},
	define: func(d *dialect) []string {
		drawn := "CREATE TABLE drawn (token BIGINT NOT NULL, id BIGINT NOT NULL, KEY (token))"
		// The key on the values is not unique, so that one which is given twice shows.
		auto := "CREATE TABLE auto (id BIGINT NOT NULL AUTO_INCREMENT, token BIGINT NOT NULL, n INT NOT NULL, " +
			"PRIMARY KEY (token, n), KEY (id))"
		if d.postgres {
			return []string{"CREATE SEQUENCE seq", "CREATE TABLE drawn (token BIGINT NOT NULL, id BIGINT NOT NULL)",
				"CREATE INDEX ON drawn (token)",
				"CREATE TABLE auto (id BIGINT GENERATED ALWAYS AS IDENTITY, token BIGINT NOT NULL, n INT NOT NULL, PRIMARY KEY (token, n))"}
		}
		out := []string{drawn + d.engine, auto + d.engine}
		if nextOf(d) != "" {
			out = append(out, "CREATE SEQUENCE seq")
		}
		return out
	},
	begin: func(e *Epoch) state { return &draws{e: e} },
}

// nextOf draws from a SEQUENCE; empty: the server has none.
func nextOf(d *dialect) string {
	switch d.dbms {
	case history.PostgreSQL:
		return "SELECT nextval('seq')"
	case history.MariaDB, history.TiDB:
		return "SELECT NEXTVAL(seq)"
	}
	return ""
}

// The counters that values come from.
const (
	fromAuto = iota
	fromSequence
)

var sources = [...]string{fromAuto: "auto", fromSequence: "drawn"}

// values are those that a run was given, by counter, as bits: they lie close together. Its zero value has none.
type values struct {
	mu   sync.Mutex
	bits [len(sources)]map[int64]*[1 << 10]uint64
}

// add says whether a value was new.
func (v *values) add(of int, n int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bits[of] == nil {
		v.bits[of] = map[int64]*[1 << 10]uint64{}
	}
	at, bit := n>>16, n&(1<<16-1)
	if v.bits[of][at] == nil {
		v.bits[of][at] = &[1 << 10]uint64{}
	}
	word := &v.bits[of][at][bit>>6]
	was := *word>>(bit&63)&1 == 1
	*word |= 1 << (bit & 63)
	return !was
}

// drew is a transaction and what it was given.
type drew struct {
	token  int64
	status kv.Status
	of     int
	values []int64
}

type draws struct {
	e      *Epoch
	mu     sync.Mutex
	active int
	all    []*drew
	least  int64 // tokens of the epoch are larger
}

func (s *draws) fill() []string {
	s.least = s.e.set.tokens.Load()
	return nil
}

func (s *draws) discard() (out []string) {
	for _, table := range sources {
		out = append(out, fmt.Sprintf("DELETE FROM %s WHERE token <= %d", table, s.least))
	}
	return out
}

func (s *draws) transact(t *txn) {
	d := &drew{token: t.token}
	if nextOf(t.set.dialect) != "" {
		d.of = t.rand.IntN(len(sources))
	}
	s.mu.Lock()
	s.active++
	beside := s.active > 1
	s.mu.Unlock()
	t.settle = func(status kv.Status) {
		s.mu.Lock()
		s.active--
		beside = beside || s.active > 0
		d.status = status
		s.all = append(s.all, d)
		s.mu.Unlock()
		t.meets(Lost)
		if beside {
			t.meets(ValueTwice)
		}
		// What was drawn and not committed is not given again as long as the server lives; a kill may forget it.
		if status != kv.OK && t.set.kills {
			return
		}
		for _, v := range d.values {
			if t.set.given.add(d.of, v) {
				continue
			}
			twice := violation(ValueTwice, []int64{v}, "value %d of the counter of table %s was given to transaction %d (%s), "+
				"and to another one before", v, sources[d.of], t.token, outcomes[status])
			if err := t.set.report(s.e, twice); err != nil && t.result.Err == nil {
				t.result.Err = err
			}
		}
	}
	t.within(func() (err error) {
		n := 1 + t.rand.IntN(3)
		if d.of == fromSequence {
			d.values, err = s.next(t, n)
			return err
		}
		d.values, err = s.insert(t, n)
		return err
	})
}

// next draws from a SEQUENCE and keeps what it was given.
func (s *draws) next(t *txn, n int) (out []int64, err error) {
	for range n {
		rows, err := t.query(nextOf(t.set.dialect))
		if err != nil || len(rows) != 1 {
			return out, err
		}
		v := number(rows[0][0])
		out = append(out, v)
		if err := t.exec(fmt.Sprintf("INSERT INTO drawn (token, id) VALUES (%d, %d)", t.token, v), v); err != nil {
			return out, err
		}
	}
	return out, nil
}

// insert inserts rows whose keys the server draws, and reads these.
func (s *draws) insert(t *txn, n int) (out []int64, err error) {
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf("(%d, %d)", t.token, i))
	}
	sql := "INSERT INTO auto (token, n) VALUES " + strings.Join(values, ", ")
	own := fmt.Sprintf("SELECT id FROM auto WHERE token = %d", t.token)
	if t.set.dialect.postgres {
		own = sql + " RETURNING id"
	} else if err := t.exec(sql); err != nil {
		return nil, err
	}
	rows, err := t.query(own)
	for _, r := range rows {
		out = append(out, number(r[0]))
	}
	return out, err
}

func (s *draws) finish(r *reader) ([]Violation, error) {
	var rows [len(sources)][][]int64
	err := r.snapshot(func() (err error) {
		for i, table := range sources {
			rows[i], err = r.numbers(fmt.Sprintf("SELECT id, token FROM %s WHERE token > %d", table, s.least))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.judge(rows), nil
}

// judge holds rows of values and tokens, by counter, against what was acknowledged.
func (s *draws) judge(rows [len(sources)][][]int64) (out []Violation) {
	there := map[[2]int64]bool{}
	for of, table := range rows {
		owner := map[int64]int64{}
		for _, r := range table {
			if before, twice := owner[r[0]]; twice {
				out = append(out, violation(ValueTwice, r[:1], "at the end of the epoch two rows of table %s have the value %d, of the transactions %d and %d",
					sources[of], r[0], before, r[1]))
			}
			owner[r[0]] = r[1]
			there[[2]int64{r[1], r[0]}] = true
		}
	}
	for _, d := range s.all {
		has := func(v int64) bool { return there[[2]int64{d.token, v}] }
		some := slices.ContainsFunc(d.values, has)
		for _, v := range d.values {
			switch {
			case d.status == kv.OK && !has(v):
				out = append(out, violation(Lost, []int64{v}, "at the end of the epoch the row of transaction %d with the value %d is not in table %s, and was acknowledged",
					d.token, v, sources[d.of]))
			case d.status == kv.Fail && has(v):
				out = append(out, violation(Kept, []int64{v}, "at the end of the epoch the row of transaction %d with the value %d is in table %s, and was rolled back",
					d.token, v, sources[d.of]))
			case d.status == kv.Info && some && !has(v):
				out = append(out, violation(HalfDone, []int64{v}, "at the end of the epoch the row of transaction %d with the value %d is not in table %s, where another one of it is",
					d.token, v, sources[d.of]))
			}
		}
	}
	return out
}
