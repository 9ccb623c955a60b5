package mutate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

var orderCases = map[string]string{
	"two": `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 2;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t;
/* tx2 */ ROLLBACK;
`,
	"no conflict": `
/* init */ CREATE TABLE t (a INT);
/* init */ CREATE TABLE u (a INT);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE u SET a = 2;
/* tx2 */ COMMIT;
`,
	"autocommit": `
/* init */ CREATE TABLE t (a INT);
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx2 */ SELECT * FROM t;
`,
	"three": `
/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx3 */ BEGIN;
/* tx3 */ COMMIT;
`,
}

// bruteOrders lists the accepted interleavings of a case, straight from the
// definition: on the lines of the finished case, with nothing of orderFilter.
func bruteOrders(t *testing.T, c *corpus.Case) map[string]bool {
	t.Helper()
	d := draftOf(c)
	lines := make([][]corpus.Line, len(d.sessions))
	for i, s := range d.sessions {
		for _, stmt := range s.stmts {
			lines[i] = append(lines[i], corpus.Line{Session: s.number, Stmt: stmt})
		}
	}
	out := map[string]bool{}
	var steps []corpus.Line
	var walk func()
	walk = func() {
		done := true
		for i := range lines {
			if len(lines[i]) == 0 {
				continue
			}
			done = false
			l := lines[i][0]
			steps, lines[i] = append(steps, l), lines[i][1:]
			walk()
			steps = steps[:len(steps)-1]
			lines[i] = append([]corpus.Line{l}, lines[i]...)
		}
		if done && wanted(steps) {
			out[withSortedBegins(steps)] = true
		}
	}
	walk()
	return out
}

func wanted(steps []corpus.Line) bool {
	begin, end := map[int]int{}, map[int]int{}
	for i, l := range steps {
		if stmt.KindOf(l.Stmt).Begins() {
			begin[l.Session] = i
		}
		if stmt.KindOf(l.Stmt).Ends() {
			end[l.Session] = i
		}
	}
	// Lifetimes: connected by overlaps.
	group := map[int]int{}
	for s := range begin {
		group[s] = s
	}
	for range begin {
		for x := range begin {
			for y := range begin {
				if begin[x] < end[y] && begin[y] < end[x] {
					g := min(group[x], group[y])
					group[x], group[y] = g, g
				}
			}
		}
	}
	for x := range group {
		for y := range group {
			if group[x] != group[y] {
				return false
			}
		}
	}
	// Some conflict of open transactions, if there is any conflict at all.
	possible := false
	for i, a := range steps {
		for j, b := range steps {
			ka, ta := KindOf(a.Stmt)
			kb, tb := KindOf(b.Stmt)
			inside := func(l corpus.Line, at int) bool { return begin[l.Session] < at && at < end[l.Session] }
			if a.Session == b.Session || ta == "" || ta != tb || !inside(a, i) || !inside(b, j) || !ka.Writes() {
				continue
			}
			if !kb.Writes() && kb == stmt.Other {
				continue
			}
			possible = true
			if first := min(end[a.Session], end[b.Session]); i < first && j < first {
				return true
			}
		}
	}
	return !possible
}

// withSortedBegins prints an order with each run of BEGINs sorted.
func withSortedBegins(steps []corpus.Line) string {
	var out, run []string
	flush := func() {
		slices.Sort(run)
		out, run = append(out, run...), nil
	}
	for _, l := range steps {
		text := string(rune('0'+l.Session)) + " " + corpus.SQL(l.Stmt, corpus.Text)
		if stmt.KindOf(l.Stmt).Begins() {
			run = append(run, text)
			continue
		}
		flush()
		out = append(out, text)
	}
	flush()
	return strings.Join(out, "\n")
}

func TestOrdersAreExactlyTheWantedOnes(t *testing.T) {
	for name, text := range orderCases {
		c := parse(t, text)
		want := bruteOrders(t, c)
		if len(want) < 5 {
			t.Fatalf("%s: only %d orders by brute force", name, len(want))
		}
		got := map[string]bool{}
		for seed := range uint64(400) {
			orders := Orders(NewSeeded(seed), c, 10)
			distinct := map[string]bool{}
			for _, o := range orders {
				key := withSortedBegins(o.Steps)
				if !want[key] {
					t.Fatalf("%s, seed %d: unwanted order\n%s", name, seed, key)
				}
				if distinct[key] {
					t.Fatalf("%s, seed %d: an order came twice\n%s", name, seed, key)
				}
				distinct[key], got[key] = true, true
			}
			if len(orders) == 0 || len(orders) > 10 || len(orders) < min(3, len(want)) {
				t.Fatalf("%s, seed %d: %d orders", name, seed, len(orders))
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d orders in 400 samples, %d by brute force", name, len(got), len(want))
		}
	}
}

func TestOrdersKeepEachSession(t *testing.T) {
	for seed := range uint64(300) {
		c := Generate(NewSeeded(seed), Options{NumTx: 3})
		for _, o := range Orders(NewSeeded(seed+1), c, 5) {
			for s := 1; s <= 3; s++ {
				if sql(o, s) != sql(c, s) {
					t.Fatalf("seed %d: session %d\n%s\n%s", seed, s, sql(o, s), sql(c, s))
				}
			}
			if setUp(o) != setUp(c) {
				t.Fatalf("seed %d: another set-up", seed)
			}
		}
	}
}

func TestOrdersOfOneSession(t *testing.T) {
	c := parse(t, "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ BEGIN;\n/* tx1 */ SELECT * FROM t;\n/* tx1 */ COMMIT;\n")
	out := Orders(NewSeeded(1), c, 10)
	if len(out) != 1 || sql(out[0], 1) != sql(c, 1) {
		t.Errorf("%d orders of one session", len(out))
	}
}

// A pair that stands outside every transaction cannot be brought together.
func TestOwnOrderIsTheLastResort(t *testing.T) {
	c := parse(t, `
/* init */ CREATE TABLE t (a INT);
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
`)
	impossible := []pair{{ref{0, 0}, ref{1, 0}}}
	out := draftOf(c).orders(NewSeeded(1), 3, impossible)
	if len(out) != 1 || print(out[0]) != print(c) {
		t.Errorf("got %d orders, the first\n%s", len(out), print(out[0]))
	}
	d := draftOf(c)
	d.sessions[0].stmts = d.sessions[0].stmts[:1]
	if out := d.orders(NewSeeded(1), 1, impossible); len(out) != 1 || len(out[0].Steps) != 3 {
		t.Error("the order of a changed case does not cover it")
	}
}

// A stored case that an input leaves as it is keeps its order; a transaction that it
// leaves open is committed, behind all else.
func TestStoredCaseKeepsItsOrder(t *testing.T) {
	c := parse(t, `
/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
`)
	o := Options{Levels: corpus.Levels}.withDefaults()
	d := draftOf(c)
	src := NewBytes(nil)
	d.edit(src, nil, o)
	got := d.ordered(src, o, 1)[0]
	var lines []string
	for _, l := range got.Steps {
		lines = append(lines, fmt.Sprint(l.Session, " ", corpus.SQL(l.Stmt, corpus.Text)))
	}
	// Of BEGINs beside each other, that of the first session comes first.
	want := "1 BEGIN|2 UPDATE t SET a = 1|2 BEGIN|1 UPDATE t SET a = 2|2 SELECT * FROM t|1 SELECT * FROM t|1 COMMIT|2 COMMIT"
	if s := strings.Join(lines, "|"); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

func TestConstructedPairRunsBeforeTheFirstEnd(t *testing.T) {
	c := parse(t, `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t;
/* tx2 */ COMMIT;
`)
	// The last statement of each transaction.
	p := pair{ref{0, 2}, ref{1, 2}}
	for seed := range uint64(200) {
		for _, o := range draftOf(c).orders(NewSeeded(seed), 4, []pair{p}) {
			ended := 0
			for _, l := range o.Steps {
				text := corpus.SQL(l.Stmt, corpus.Text)
				if text == "COMMIT" {
					ended++
				} else if ended > 0 {
					t.Fatalf("seed %d: a statement of the pair behind an end\n%s", seed, print(o))
				}
			}
		}
	}
}
