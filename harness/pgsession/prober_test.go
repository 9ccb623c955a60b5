package pgsession_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// room is a server with a prober and a few sessions, each of which runs statements by itself.
type room struct {
	t        *testing.T
	prober   harness.Prober
	sessions []*pgsession.Session
	replies  []chan harness.Reply
}

func newRoom(t *testing.T, n int) *room { return newRoomOn(t, n, "postgres") }

// newRoomOn is newRoom on a server of a target.
func newRoomOn(t *testing.T, n int, target string) *room {
	db := startTarget(t, target)
	prober, err := db.Prober(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := prober.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &room{t: t, prober: prober}
	for range n {
		r.sessions = append(r.sessions, open(t, db))
		r.replies = append(r.replies, make(chan harness.Reply, 1))
	}
	must(t, r.sessions[0], "CREATE TABLE t (a INT PRIMARY KEY, b INT)")
	must(t, r.sessions[0], "INSERT INTO t SELECT n, n FROM generate_series(1, 9) n")
	return r
}

// send sends a statement whose answer comes by the session's channel.
func (r *room) send(i int, sql string) {
	go func() {
		reply, err := r.sessions[i].Execute(sql)
		if err != nil {
			r.t.Errorf("%s: %v", sql, err)
		}
		r.replies[i] <- reply
	}()
}

func (r *room) ids() (ids []uint64) {
	for _, s := range r.sessions {
		ids = append(ids, s.ID())
	}
	return ids
}

// waiting asks who waits; the answer is by session.
func (r *room) waiting() map[int]harness.Waiting {
	r.t.Helper()
	ws, err := r.prober.Waiting(r.t.Context(), r.ids())
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[int]harness.Waiting{}
	for _, w := range ws {
		out[slices.Index(r.ids(), w.Conn)] = w
	}
	return out
}

// seen polls until a session is seen to wait.
func (r *room) seen(i int) harness.Waiting {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if w, ok := r.waiting()[i]; ok {
			return w
		}
	}
	r.t.Fatalf("session %d is not seen to wait", i)
	return harness.Waiting{}
}

func (r *room) answer(i int) harness.Reply {
	r.t.Helper()
	select {
	case reply := <-r.replies[i]:
		return reply
	case <-time.After(10 * time.Second):
		r.t.Fatalf("session %d gets no answer", i)
		return harness.Reply{}
	}
}

func (r *room) expect(what string, w harness.Waiting, kind history.WaitKind, lock string, holders ...int) {
	r.t.Helper()
	var want []uint64
	for _, h := range holders {
		want = append(want, r.sessions[h].ID())
	}
	slices.Sort(want)
	slices.Sort(w.Holders)
	if w.Kind != kind || !slices.Equal(w.Holders, want) || !strings.HasPrefix(w.ID, lock) {
		r.t.Errorf("%s: %+v, want %s of %q by %v", what, w, kind, lock, want)
	}
}

func TestWaits(t *testing.T) {
	r := newRoom(t, 4)
	must(t, r.sessions[0], "BEGIN; UPDATE t SET b = 0 WHERE a = 1")
	if w := r.waiting(); len(w) > 0 {
		t.Errorf("nobody runs a statement: %v", w)
	}
	r.send(3, "SELECT pg_sleep(0.3)")
	r.send(1, "UPDATE t SET b = 1 WHERE a = 1")
	first := r.seen(1)
	r.expect("a row", first, history.RowLock, "transactionid ", 0)
	if again := r.seen(1); again.ID != first.ID {
		t.Errorf("the lock is called %q and then %q", first.ID, again.ID)
	}
	r.send(2, "UPDATE t SET b = 2 WHERE a = 1")
	r.expect("behind a waiter", r.seen(2), history.RowLock, "tuple ", 1)
	if w, ok := r.waiting()[3]; ok {
		t.Errorf("a session that sleeps waits: %+v", w)
	}
	must(t, r.sessions[0], "COMMIT")
	r.answer(1)
	r.answer(2)
	r.answer(3)
	if w := r.waiting(); len(w) > 0 {
		t.Errorf("all is answered: %v", w)
	}

	must(t, r.sessions[0], "BEGIN; LOCK TABLE t IN SHARE MODE")
	r.send(1, "INSERT INTO t VALUES (100, 1)")
	r.expect("a table", r.seen(1), history.Metadata, "relation RowExclusiveLock ", 0)
	// What would go well with the holder waits behind the waiter.
	r.send(2, "ALTER TABLE t ADD c INT")
	r.expect("a table behind a waiter", r.seen(2), history.Metadata, "relation AccessExclusiveLock ", 0, 1)
	r.send(3, "SELECT count(*) FROM t")
	r.expect("a reader behind a waiter", r.seen(3), history.Metadata, "relation AccessShareLock ", 2)
	must(t, r.sessions[0], "COMMIT")
	for i := 1; i <= 3; i++ {
		if reply := r.answer(i); reply.Err != nil {
			t.Error(reply.Err)
		}
	}

	must(t, r.sessions[0], "SELECT pg_advisory_lock(7)")
	r.send(1, "SELECT pg_advisory_lock(7)")
	r.expect("an advisory lock", r.seen(1), history.Metadata, "advisory ", 0)
	must(t, r.sessions[0], "SELECT pg_advisory_unlock(7)")
	r.answer(1)

	must(t, r.sessions[0], "BEGIN; INSERT INTO t VALUES (50, 1)")
	r.send(1, "INSERT INTO t VALUES (50, 2)")
	r.expect("a unique key", r.seen(1), history.RowLock, "transactionid ", 0)
	must(t, r.sessions[0], "COMMIT")
	if reply := r.answer(1); reply.Err == nil || reply.Err.State != "23505" {
		t.Errorf("the duplicate: %+v", reply)
	}

	must(t, r.sessions[0], "BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE t SET b = 7 WHERE a = 7")
	must(t, r.sessions[1], "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
	r.send(1, "SELECT count(*) FROM t")
	r.expect("a safe snapshot", r.seen(1), history.SafeSnapshot, "safe snapshot", 0)
	must(t, r.sessions[0], "COMMIT")
	r.answer(1)
	must(t, r.sessions[1], "COMMIT")
}

func TestPreparedTransactionHolds(t *testing.T) {
	r := newRoom(t, 2)
	must(t, r.sessions[0], "BEGIN; UPDATE t SET b = 0 WHERE a = 1; PREPARE TRANSACTION 'p'")
	r.send(1, "UPDATE t SET b = 1 WHERE a = 1")
	r.expect("a prepared transaction", r.seen(1), history.RowLock, "transactionid ")
	must(t, r.sessions[0], "ROLLBACK PREPARED 'p'")
	r.answer(1)
}

func TestDeadlockTellsWhoWaited(t *testing.T) {
	r := newRoom(t, 2)
	must(t, r.sessions[0], "BEGIN; UPDATE t SET b = 0 WHERE a = 1")
	must(t, r.sessions[1], "BEGIN; UPDATE t SET b = 0 WHERE a = 2")
	r.send(0, "UPDATE t SET b = 0 WHERE a = 2")
	r.seen(0)
	r.send(1, "UPDATE t SET b = 0 WHERE a = 1")
	// The error ends the victim's transaction and lets the other one go on: both answer, in any order.
	victim, other := r.answer(0), r.answer(1)
	if victim.Err == nil {
		victim, other = other, victim
	}
	if other.Err != nil || other.Affected != 1 {
		t.Errorf("the other one's answer: %+v", other)
	}
	want := fmt.Sprintf("Process %d waits for ", r.sessions[0].ID())
	e := victim.Err
	if e == nil || e.State != "40P01" || e.Code != 40901 || !strings.Contains(e.Message, want) || victim.InTxn {
		t.Errorf("the victim's answer: %+v (%+v)", victim, victim.Err)
	}
}

// TestProberIsRight lets sessions lock rows, a table and a name at random; a model of the locks tells who
// must wait. Each statement asks for one lock, and the answer of one that waits comes as soon as its lock is
// free.
func TestProberIsRight(t *testing.T) {
	const rounds, sessions, steps = 200, 4, 12
	r := newRoom(t, sessions)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	asked, waits := 0, 0
	for range rounds {
		var held [sessions]map[string]bool // by those that do not wait
		wants := map[int]string{}
		for i := range sessions {
			held[i] = map[string]bool{}
			must(t, r.sessions[i], "BEGIN")
		}
		free := func(i int, lock string) bool {
			for j := range sessions {
				if j != i && (held[j][lock] || wants[j] == lock) {
					return false
				}
			}
			return true
		}
		// settle takes the answers of those that wait no more, and compares.
		settle := func() {
			for again := true; again; {
				again = false
				for i, lock := range wants {
					holder := false
					for j := range sessions {
						holder = holder || j != i && held[j][lock]
					}
					if holder {
						continue
					}
					// One of those that wait for it gets it.
					var who int
					for end := time.Now().Add(10 * time.Second); ; {
						for who = sessions - 1; who >= 0 && (wants[who] != lock || len(r.replies[who]) == 0); who-- {
						}
						if who >= 0 {
							break
						}
						if time.Now().After(end) {
							t.Fatalf("nobody gets %s", lock)
						}
						time.Sleep(100 * time.Microsecond)
					}
					if reply := r.answer(who); reply.Err != nil {
						t.Fatal(reply.Err)
					}
					held[who][lock] = true
					delete(wants, who)
					again = true
					break
				}
			}
			for i := range wants {
				r.seen(i)
				waits++
			}
			for i := range r.waiting() {
				if wants[i] == "" {
					t.Fatalf("session %d waits; those that do are %v", i, wants)
				}
			}
			asked++
		}
		for range steps {
			i := random.IntN(sessions)
			if wants[i] != "" {
				continue
			}
			if random.IntN(5) == 0 {
				must(t, r.sessions[i], "COMMIT; BEGIN")
				held[i] = map[string]bool{}
				settle()
				continue
			}
			lock, sql := "advisory", "SELECT pg_advisory_xact_lock(1)"
			if n := random.IntN(4); n > 0 {
				lock = fmt.Sprintf("row %d", n)
				sql = fmt.Sprintf("UPDATE t SET b = b + 1 WHERE a = %d", n)
			}
			if cycle(held[:], wants, i, lock) {
				continue
			}
			if free(i, lock) || held[i][lock] {
				must(t, r.sessions[i], sql)
				held[i][lock] = true
			} else {
				wants[i] = lock
				r.send(i, sql)
			}
			settle()
		}
		for len(wants) > 0 {
			for i := range sessions {
				if wants[i] == "" {
					must(t, r.sessions[i], "COMMIT")
					held[i] = map[string]bool{}
				}
			}
			for i := range sessions {
				if wants[i] == "" {
					must(t, r.sessions[i], "BEGIN")
				}
			}
			settle()
		}
		for i := range sessions {
			must(t, r.sessions[i], "COMMIT")
		}
	}
	if t.Logf("%d questions about %d waits", asked, waits); waits < rounds {
		t.Errorf("in %d rounds there were %d waits: this test shows nothing", rounds, waits)
	}
}

// cycle tells whether a session that asked for a lock would close a circle of waits.
func cycle(held []map[string]bool, wants map[int]string, i int, lock string) bool {
	seen := make([]bool, len(held))
	var reach func(lock string, by int) bool
	reach = func(lock string, by int) bool {
		for j := range held {
			if j == by || seen[j] || !held[j][lock] && wants[j] != lock {
				continue
			}
			if j == i {
				return true
			}
			seen[j] = true
			if wants[j] != "" && reach(wants[j], j) {
				return true
			}
		}
		return false
	}
	return reach(lock, i)
}

// BenchmarkWaiting is one question about two sessions of which none, one or both wait.
func BenchmarkWaiting(b *testing.B) {
	db := start(b)
	s := []*pgsession.Session{open(b, db), open(b, db), open(b, db)}
	p, err := db.Prober(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	must(b, s[0], "CREATE TABLE t (a INT PRIMARY KEY, b INT); INSERT INTO t VALUES (1, 1)")
	must(b, s[0], "BEGIN; UPDATE t SET b = 2")
	for waiting := range 3 {
		if waiting > 0 {
			if err := s[waiting].Send("UPDATE t SET b = 3"); err != nil {
				b.Fatal(err)
			}
		}
		for end := time.Now().Add(10 * time.Second); ; {
			ws, err := p.Waiting(b.Context(), []uint64{s[1].ID(), s[2].ID()})
			if err != nil || time.Now().After(end) {
				b.Fatalf("%d sessions wait, want %d: %v", len(ws), waiting, err)
			}
			if len(ws) == waiting {
				break
			}
		}
		b.Run(fmt.Sprintf("%d of 2 wait", waiting), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Waiting(b.Context(), []uint64{s[1].ID(), s[2].ID()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExecute is one statement of a session.
func BenchmarkExecute(b *testing.B) {
	s := open(b, start(b))
	must(b, s, "CREATE TABLE t (a INT PRIMARY KEY, b INT); INSERT INTO t VALUES (1, 1), (2, 2)")
	for _, sql := range []string{"SELECT * FROM t WHERE a = 1", "UPDATE t SET b = b + 1 WHERE a = 1", "BEGIN; COMMIT",
		"DROP TABLE IF EXISTS u; CREATE TABLE u (a INT PRIMARY KEY, b INT)"} {
		b.Run(sql, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Query(sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen is one session, from the beginning to its farewell.
func BenchmarkOpen(b *testing.B) {
	db := start(b)
	for b.Loop() {
		s, err := db.Open(b.Context(), false)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCommitsThatNotify: who waits for another COMMIT that notifies, of whatever case, waits for no session of its own.
// That COMMIT is held here, since it waits for a standby server that there is not.
func TestCommitsThatNotify(t *testing.T) {
	r := newRoomOn(t, 3, "postgres,wal_level=replica,max_wal_senders=2,synchronous_standby_names=nobody")
	for i := range r.sessions[:2] {
		must(t, r.sessions[i], "SET synchronous_commit = local")
	}
	must(t, r.sessions[0], "SET synchronous_commit = on")
	r.send(0, "UPDATE t SET b = 0; NOTIFY c")
	const held = "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 1262 AND objid = 0 AND "
	until := func(what string) {
		for end := time.Now().Add(10 * time.Second); ; {
			if rows, err := r.sessions[2].Query(held + what); err != nil || time.Now().After(end) {
				t.Fatalf("no lock that is %s (%v)", what, err)
			} else if rows[0][0].Text != "0" {
				return
			}
		}
	}
	until("granted")
	r.send(1, "NOTIFY c")
	until("NOT granted")
	if w, ok := r.waiting()[1]; ok {
		t.Errorf("a COMMIT that notifies waits: %+v", w)
	}
	must(t, r.sessions[2], fmt.Sprintf("SELECT pg_cancel_backend(%d)", r.sessions[0].ID()))
	r.answer(0)
	r.answer(1)
}
