package harness

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestCyclic(t *testing.T) {
	w := func(conn uint64, holders ...uint64) Waiting { return Waiting{Conn: conn, Holders: holders} }
	for _, c := range []struct {
		name string
		ws   []Waiting
		want bool
	}{
		{"nobody", nil, false},
		{"one waits for an idle one", []Waiting{w(1, 2)}, false},
		{"two wait for each other", []Waiting{w(1, 2), w(2, 1)}, true},
		{"a chain", []Waiting{w(1, 2), w(2, 3), w(3, 4)}, false},
		{"a cycle of three behind a chain", []Waiting{w(9, 1), w(1, 2), w(2, 3), w(3, 1)}, true},
		{"two holders, one of them in a cycle", []Waiting{w(1, 7, 2), w(2, 8, 1)}, true},
		{"a diamond", []Waiting{w(1, 2, 3), w(2, 4), w(3, 4)}, false},
		{"unknown holders", []Waiting{w(1), w(2)}, false},
	} {
		if got := cyclic(c.ws); got != c.want {
			t.Errorf("%s: cyclic = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSameWaits(t *testing.T) {
	a := []Waiting{{Conn: 1, ID: "x"}, {Conn: 2, ID: "y"}}
	b := []Waiting{{Conn: 2, ID: "y"}, {Conn: 1, ID: "x"}}
	if !sameWaits(a, b) {
		t.Error("the order of an answer must not matter")
	}
	for name, c := range map[string][]Waiting{
		"another lock": {{Conn: 1, ID: "z"}, {Conn: 2, ID: "y"}},
		"one less":     {{Conn: 1, ID: "x"}},
		"another kind": {{Conn: 1, ID: "x", Kind: history.Metadata}, {Conn: 2, ID: "y"}},
	} {
		if sameWaits(a, c) {
			t.Errorf("%s: taken for the same", name)
		}
	}
	if sameWaits(nil, nil) {
		t.Error("no waits at all were seen twice")
	}
}

// phase makes a run in which every lane has one statement outstanding and the
// statement of lane just was the last to be submitted; traits are those of the
// statement of each lane.
func phase(tr ...traits) (*run, []*connection) {
	r := &run{w: &worker{pool: &Pool{}}, s: &script{}, h: &history.History{}}
	var sessions []*connection
	for i, x := range tr {
		s := &connection{number: i + 1, id: uint64(i + 1), inTxn: true}
		sessions = append(sessions, s)
		r.lanes = append(r.lanes, &lane{connection: s, stmt: i})
		r.s.steps = append(r.s.steps, step{session: i + 1, traits: x})
		r.h.Stmts = append(r.h.Stmts, history.Stmt{Line: i, Session: i + 1, Submit: r.tick()})
	}
	return r, sessions
}

// returned lists the sessions in the order in which they were recorded to
// return.
func returned(r *run) []int {
	var out []int
	stmts := slices.Clone(r.h.Stmts)
	slices.SortFunc(stmts, func(a, b history.Stmt) int { return int(a.Return - b.Return) })
	for _, s := range stmts {
		if s.Return > 0 {
			out = append(out, s.Session)
		}
	}
	return out
}

// TestRecordOrder gives the answers of one phase in every order of arrival.
// Where only one statement can have released the others the recorded order must
// not depend on it; among several that ended transactions it must follow it.
func TestRecordOrder(t *testing.T) {
	keep := history.Result{InTxn: true}
	end := history.Result{}
	victim := history.Result{Err: &history.Error{Code: errDeadlock}}
	for _, c := range []struct {
		name    string
		traits  []traits
		results []history.Result
		just    int // index of the lane whose statement was just submitted
		want    func(arrival []int) []int
	}{
		{
			"COMMIT of session 3 releases two", []traits{0, 0, ends}, []history.Result{keep, keep, end}, 2,
			func([]int) []int { return []int{3, 1, 2} },
		},
		{
			"a victim lets the submitted statement through", []traits{0, 0}, []history.Result{keep, victim}, 0,
			func([]int) []int { return []int{2, 1} },
		},
		{
			"COMMIT releases a waiter in autocommit and one in a transaction", []traits{0, 0, ends}, []history.Result{keep, end, end}, 2,
			func([]int) []int { return []int{3, 2, 1} },
		},
		{
			"COMMIT releases two in autocommit", []traits{ends, 0, 0}, []history.Result{end, end, end}, 0,
			func(arrival []int) []int {
				out := []int{1}
				for _, n := range arrival {
					if n != 1 {
						out = append(out, n)
					}
				}
				return out
			},
		},
	} {
		permute(len(c.results), func(order []int) {
			r, sessions := phase(c.traits...)
			base := time.Now()
			var arrival []int
			for at, i := range order {
				r.got = append(r.got, answer{session: sessions[i], Reply: Reply{
					Result: c.results[i], At: base.Add(time.Duration(at)),
				}})
				arrival = append(arrival, i+1)
			}
			if err := r.record(r.lanes[c.just], nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want(arrival), returned(r)); diff != "" {
				t.Errorf("%s, arrived %v (-want +got):\n%s", c.name, arrival, diff)
			}
		})
	}
}

func permute(n int, f func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var walk func(int)
	walk = func(k int) {
		if k == n {
			f(slices.Clone(order))
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			walk(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	walk(0)
}

// TestRecordWaits opens waits, keeps one whose lock is unchanged, and cuts one
// whose lock is another.
func TestRecordWaits(t *testing.T) {
	r, _ := phase(0, 0)
	ask := func(ids ...string) []Waiting {
		return []Waiting{
			{Conn: 1, Kind: history.RowLock, ID: ids[0], Holders: []uint64{2}},
			{Conn: 2, Kind: history.Metadata, ID: ids[1]},
		}
	}
	for _, ws := range [][]Waiting{ask("a", ""), ask("a", ""), ask("b", "x")} {
		if err := r.record(nil, ws); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]history.Wait{
		{{Kind: history.RowLock, From: 3, Until: 5, Holders: []int{2}}, {Kind: history.RowLock, From: 6, Holders: []int{2}}},
		{{Kind: history.Metadata, From: 4}},
	}
	for i := range want {
		if diff := cmp.Diff(want[i], r.h.Stmts[i].Waits); diff != "" {
			t.Errorf("session %d (-want +got):\n%s", i+1, diff)
		}
	}
}

// TestErrorEndsTransaction holds what is known of a transaction behind an
// error, which carries no status of its own.
func TestErrorEndsTransaction(t *testing.T) {
	for _, c := range []struct {
		dbms   history.DBMS
		code   uint16
		traits traits
		open   bool
	}{
		{history.MySQL, 1213, 0, false},
		{history.MySQL, 1205, 0, true},
		{history.MySQL, 1020, 0, true},
		{history.MariaDB, 1020, 0, false},
		{history.MariaDB, 1062, 0, true},
		{history.TiDB, 9007, ends, false},
	} {
		r, sessions := phase(c.traits)
		r.h.Server.DBMS = c.dbms
		r.got = []answer{{session: sessions[0], Reply: Reply{Result: history.Result{Err: &history.Error{Code: c.code}}}}}
		if err := r.record(r.lanes[0], nil); err != nil {
			t.Fatal(err)
		}
		if got := r.h.Stmts[0].Result.InTxn; got != c.open {
			t.Errorf("%s error %d: transaction open: %v, want %v", c.dbms, c.code, got, c.open)
		}
	}
}

func TestGate(t *testing.T) {
	var g gate
	if g.delay() != gateMin {
		t.Errorf("first delay %v, want %v", g.delay(), gateMin)
	}
	for range 100 {
		g.observe(200 * time.Microsecond)
	}
	if d := g.delay(); d < 450*time.Microsecond || d > 550*time.Microsecond {
		t.Errorf("delay %v for statements of 200 µs", d)
	}
	g.observe(time.Second) // one moment without the processor
	if d := g.delay(); d > 600*time.Microsecond {
		t.Errorf("delay %v after one outlier", d)
	}
	for range 50 {
		g.observe(20 * time.Microsecond)
	}
	if d := g.delay(); d != gateMin {
		t.Errorf("delay %v for statements of 20 µs, want %v", d, gateMin)
	}
}

func TestAlarm(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	for range 100 {
		a.set(time.Hour)
		a.set(50 * time.Microsecond) // replaces the hour
		select {
		case <-a.C:
		case <-time.After(5 * time.Second):
			t.Fatal("the alarm did not ring")
		}
	}
	a.set(time.Millisecond)
	a.stop()
	select {
	case <-a.C:
		t.Fatal("a stopped alarm rang")
	case <-time.After(20 * time.Millisecond):
	}
}

func TestScript(t *testing.T) {
	const create = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"
	for _, c := range []struct {
		name             string
		text             string
		refill, constant bool
		traits           traits
	}{
		{"rows", create + "/* init */ INSERT INTO t VALUES (1, -2), (NULL, DEFAULT);\n/* tx1 */ SELECT * FROM t;\n", true, true, plainRead},
		{"no rows", create + "/* tx1 */ COMMIT;\n", true, true, ends},
		{"rows from rows", create + "/* init */ INSERT INTO t SELECT * FROM t;\n/* tx1 */ ROLLBACK;\n", false, true, ends},
		{"another statement", create + "/* init */ DELETE FROM t;\n/* tx1 */ ROLLBACK TO s;\n", false, true, 0},
		{"time", create + "/* init */ INSERT INTO t VALUES (1, NOW());\n/* tx1 */ DELETE FROM t;\n", true, false, locks},
		{"time in a default", "/* init */ CREATE TABLE t (a DATETIME DEFAULT CURRENT_TIMESTAMP);\n/* tx1 */ DELETE FROM t;\n", true, false, locks},
		{"foreign key", create + "/* init */ CREATE TABLE u (a INT REFERENCES t (a));\n/* tx1 */ DELETE FROM t;\n", true, true, locks},
		{"locking read", create + "/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;\n", true, true, locks},
		{"locking read inside", create + "/* tx1 */ SELECT (SELECT a FROM t FOR UPDATE);\n", true, true, locks},
		{"variable", create + "/* tx1 */ SELECT @x;\n", true, true, taints},
		{"level", create + "/* tx1 */ SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;\n", true, true, setsLevel},
		{"level of one transaction", create + "/* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n", true, true, setsLevel | taints},
		{"autocommit", create + "/* tx1 */ SET autocommit = 0;\n", true, true, taints},
		{"autocommit again", create + "/* tx1 */ SET autocommit = 1;\n", true, true, ends | taints},
		{"keys made first", create + "/* init */ CREATE INDEX i ON t (b);\n/* init */ INSERT INTO t VALUES (1, 2);\n/* tx1 */ COMMIT;\n", true, true, ends},
		{"keys made of rows", create + "/* init */ INSERT INTO t VALUES (1, 2);\n/* init */ CREATE INDEX i ON t (b);\n/* tx1 */ COMMIT;\n", false, true, ends},
		{"variable of the set-up", create + "/* init */ SET sql_mode = '';\n/* tx1 */ COMMIT;\n", false, true, ends},
		{"own database", "/* init */ CREATE DATABASE d;\n/* init */ USE d;\n/* init */ CREATE TABLE d.t (a INT);\n/* tx1 */ SELECT d.t.a FROM d.t;\n", true, true, plainRead},
		{"DDL", create + "/* tx1 */ ALTER TABLE t ADD c INT;\n", true, true, altersSchema | taints},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := corpus.Parse(c.name, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			s, err := newScript(parsed, history.MySQL)
			if err != nil {
				t.Fatal(err)
			}
			if s.refill != c.refill || s.constant != c.constant || s.traits != c.traits {
				t.Errorf("refill %v constant %v traits %b, want %v %v %b", s.refill, s.constant, s.traits, c.refill, c.constant, c.traits)
			}
		})
	}
}

// TestKillCountsAnswers: an answer that was taken before the server was lost is
// not waited for again.
func TestKillCountsAnswers(t *testing.T) {
	r, sessions := phase(0, 0)
	post, err := newCouriers()
	if err != nil {
		t.Fatal(err)
	}
	defer post.close()
	r.w.ctl, r.w.mail, r.w.sessions = &connection{broken: true}, post, map[int]*connection{}
	r.got = []answer{{session: sessions[0]}}
	post.putBack(answer{session: sessions[1]})
	if err := r.w.kill(r); err != nil {
		t.Errorf("both sessions had answered: %v", err)
	}
}
