package load

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

func TestOutcome(t *testing.T) {
	answer := func(n uint16) error { return fmt.Errorf("it failed: %w", &mysql.MySQLError{Number: n}) }
	state := func(s string) error {
		return fmt.Errorf("it failed: %w", &pgsession.Refusal{Answer: history.Error{State: s}})
	}
	for _, c := range []struct {
		name       string
		err        error
		committing bool
		want       kv.Status
		code       code
	}{
		{"a deadlock", answer(1213), false, kv.Fail, "1213"},
		{"a deadlock of the commit", answer(1213), true, kv.Fail, "1213"},
		{"a lock wait timeout", answer(1205), false, kv.Fail, "1205"},
		{"a row changed since the snapshot", answer(1020), false, kv.Fail, "1020"},
		{"TiDB's write conflict at the commit", answer(9007), true, kv.Fail, "9007"},
		{"TiDB does not know", answer(8501), true, kv.Info, "8501"},
		{"a strange error", answer(1180), false, kv.Fail, "1180"},
		{"a strange error of the commit", answer(1180), true, kv.Info, "1180"},
		{"a deadlock that is told in the commit", fmt.Errorf("it failed: %w", &mysql.MySQLError{Number: 1180,
			Message: "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"}), true, kv.Fail, lockedOut},
		{"a group's certification", answer(3101), true, kv.Fail, "3101"},
		{"a hook of a group", answer(3100), true, kv.Fail, "3100"},
		{"a node without a quorum", answer(1047), true, kv.Fail, "1047"},
		{"a node that is read-only", answer(1290), true, kv.Fail, "1290"},
		{"a lost connection before the commit", mysql.ErrInvalidConn, false, kv.Fail, noCode},
		{"a connection lost in the commit", mysql.ErrInvalidConn, true, kv.Info, noCode},
		{"one that broke before the commit was sent counts as unknown, too", driver.ErrBadConn, true, kv.Info, noCode},
		{"PostgreSQL's serialization failure", state("40001"), false, kv.Fail, "40001"},
		{"one of the commit", state("40001"), true, kv.Fail, "40001"},
		{"PostgreSQL's deadlock", state("40P01"), false, kv.Fail, "40P01"},
		{"a statement of a failed transaction", state("25P02"), false, kv.Fail, "25P02"},
		{"a commit that rolls back", fmt.Errorf("it failed: %w", rolledBack{}), true, kv.Fail, "ROLLBACK"},
		{"a session that is ended in its commit", state("57P01"), true, kv.Info, "57P01"},
		{"a timeout", errors.New("i/o timeout"), true, kv.Info, noCode},
	} {
		if got, code := outcome(c.err, c.committing); got != c.want || code != c.code {
			t.Errorf("%s: %v %q, want %v %q", c.name, got, code, c.want, c.code)
		}
	}
}

func TestListText(t *testing.T) {
	for _, c := range []struct {
		text any
		want []kv.Value
		bad  bool
	}{
		{[]byte(""), []kv.Value{}, false},
		{[]byte("5"), []kv.Value{5}, false},
		{[]byte(",5,17"), []kv.Value{5, 17}, false},
		{[]byte("5,17,3"), []kv.Value{5, 17, 3}, false},
		{[]byte("-5"), []kv.Value{-5}, false},
		{[]byte("5,"), nil, true},
		{[]byte("5,,6"), nil, true},
		{[]byte("5;6"), nil, true},
		{[]byte("x"), nil, true},
		{nil, nil, true},
		{int64(5), nil, true},
	} {
		tp := &tape{}
		got, err := tp.list(c.text)
		if (err != nil) != c.bad || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

// A list that was read stays as it is when more are read behind it.
func TestListsStay(t *testing.T) {
	tp := &tape{}
	var lists [][]kv.Value
	for range 3 * valuesChunk / 4 {
		l, err := tp.list([]byte("1,2,3,4"))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, l)
	}
	for _, l := range lists {
		if !reflect.DeepEqual(l, []kv.Value{1, 2, 3, 4}) {
			t.Fatalf("a list has become %v", l)
		}
	}
}

// Whatever clients do at a time: keys lie in their epoch, and no value is written
// twice.
func TestKeysAndValues(t *testing.T) {
	for name, w := range workloads {
		const clients = 4
		size := w.size()
		r := &run{workload: w, settings: Settings{Clients: clients}}
		e := r.newEpoch(3, nil)
		var mu sync.Mutex
		seen := map[kv.Value]int{}
		writes := map[kv.Value]int{}
		var wait sync.WaitGroup
		for i := range clients {
			wait.Add(1)
			go func() {
				defer wait.Done()
				c := &chooser{rand: rand.New(rand.NewPCG(1, uint64(i))), epoch: e, locks: readLocks[MixedReads], last: kv.Value(i), step: clients}
				var steps []step
				for range 4 * size.transactions / clients { // more than the epoch has keys for
					steps = w.plan(steps[:0], c)
					mu.Lock()
					for _, s := range steps {
						if s.key < e.keys.first || s.key > e.keys.last() {
							t.Errorf("%s: key %d lies outside of the epoch's %d to %d", name, s.key, e.keys.first, e.keys.last())
						}
						if !s.kind.IsRead() && s.kind != kv.Delete && s.kind != kv.Delta {
							seen[s.val]++
							writes[s.key]++
						}
					}
					mu.Unlock()
				}
			}()
		}
		wait.Wait()
		for v, n := range seen {
			if n > 1 {
				t.Fatalf("%s: value %d was written %d times", name, v, n)
			}
		}
		first, last := e.keys.used()
		if last > e.keys.last() || first != e.keys.first {
			t.Errorf("%s: keys %d to %d were used of %d to %d", name, first, last, e.keys.first, e.keys.last())
		}
	}
}

func TestMiniTransactionsReadBeforeTheyWrite(t *testing.T) {
	r := &run{workload: registers{mini: true}, settings: Settings{Clients: 1}}
	c := &chooser{rand: rand.New(rand.NewPCG(1, 2)), epoch: r.newEpoch(0, nil), locks: readLocks[PlainReads], step: 1}
	var steps []step
	for range 10000 {
		steps = r.workload.plan(steps[:0], c)
		read := map[kv.Value]bool{}
		reads, writes := 0, 0
		for _, s := range steps {
			if s.kind == kv.Read {
				read[s.key] = true
				reads++
			} else if writes++; !read[s.key] {
				t.Fatalf("a write without a read before it: %+v", steps)
			}
		}
		if reads > 2 || writes > 2 || reads == 0 {
			t.Fatalf("no mini-transaction: %+v", steps)
		}
	}
}

func TestReadsOfTiDB(t *testing.T) {
	if _, err := locksFor("append", ShareReads, history.Server{DBMS: history.TiDB}); err == nil {
		t.Error("TiDB is asked for share locks")
	}
	locks, err := locksFor("append", MixedReads, history.Server{DBMS: history.TiDB})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range locks {
		if l == forShare {
			t.Error("TiDB is asked for share locks among others")
		}
	}
	if _, err := locksFor("append", "dirty", history.Server{DBMS: history.MySQL}); err == nil {
		t.Error("an unknown way of reading")
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]int{"": 0, "kill": 1, "kill,pause": 2, "pause, kill": 2} {
		if got, err := ParseFaults(text); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseFaults("kill,burn"); err == nil {
		t.Error("an unknown fault")
	}
}
