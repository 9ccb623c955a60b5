package pattern

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var families = []Family{TwoItems, OneItem, Aborts, Conditions, ThreeItems}

// TestCounts: the numbers follow from the definition, and were counted by another
// program, too.
func TestCounts(t *testing.T) {
	for _, x := range []struct {
		family        Family
		kinds         string
		all           int
		noDirtyWrite  int
		noDirtyAtAll  int
		withoutCycles int
	}{
		{TwoItems, "rw rw, wr rw, wr wr, ww rw, ww wr, ww ww", 54, 30, 12, 0},
		{ThreeItems, "rw rw rw, wr rw rw, wr wr rw, wr wr wr, ww rw rw, ww rw wr, ww wr rw, ww wr wr, ww ww rw, ww ww wr, ww ww ww", 3240, 1350, 360, 0},
		{OneItem, "dirty read, dirty write, intermediate read, lost update, non-repeatable read, own write overwritten", 16, 8, 4, 2},
		{Aborts, "aborted read, dirty write, one rolled back", 8, 4, 0, 8},
	} {
		kinds := map[string]bool{}
		writeFree, free, open := 0, 0, 0
		list := Of(x.family)
		for _, p := range list {
			kinds[p.Kind] = true
			if !p.Cyclic() {
				open++
			}
			if p.Dirty(WW) {
				continue
			}
			writeFree++
			if !p.Dirty(WR) {
				free++
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(kinds)), ", "); got != x.kinds {
			t.Errorf("%s: kinds %s, want %s", x.family, got, x.kinds)
		}
		if len(list) != x.all || writeFree != x.noDirtyWrite || free != x.noDirtyAtAll || open != x.withoutCycles {
			t.Errorf("%s: %d patterns, %d without a dirty write, %d also without a dirty read, %d without a cycle; want %d, %d, %d, %d",
				x.family, len(list), writeFree, free, open, x.all, x.noDirtyWrite, x.noDirtyAtAll, x.withoutCycles)
		}
	}
}

// TestNoTwoAreEqual renames transactions and items in every way: no pattern turns into
// another one, and none is there twice.
func TestNoTwoAreEqual(t *testing.T) {
	for _, f := range families {
		at := map[string]int{}
		for i, p := range Of(f) {
			for _, name := range renamed(&p) {
				if j, ok := at[name]; ok && j != i {
					t.Errorf("%s: %s is pattern %d and %d", f, name, j, i)
				}
				at[name] = i
			}
		}
	}
}

// renamed returns the pattern under all names of transactions and items, the order of
// the last commits, which decides nothing, being that of the numbers.
func renamed(p *Pattern) []string {
	last := len(p.Ops)
	for last > 0 && p.Ops[last-1].Do == Commit {
		last--
	}
	var out []string
	for _, txns := range permutations([]int{1, 2, 3}) {
		for _, items := range permutations([]byte("xyz")) {
			ops := slices.Clone(p.Ops)
			for i := range ops {
				ops[i].Txn = txns[ops[i].Txn-1]
				if x := ops[i].Item; x != 0 && x != Condition {
					ops[i].Item = items[x-'x']
				}
			}
			slices.SortFunc(ops[last:], func(a, b Op) int { return a.Txn - b.Txn })
			out = append(out, text(ops))
		}
	}
	return out
}

func permutations[T any](of []T) [][]T {
	if len(of) < 2 {
		return [][]T{of}
	}
	var out [][]T
	for i := range of {
		for _, rest := range permutations(slices.Concat(of[:i], of[i+1:])) {
			out = append(out, append([]T{of[i]}, rest...))
		}
	}
	return out
}

// TestTwoItemsByBruteForce goes through all sequences of two operations of each
// transaction on two rows, with commits anywhere, and keeps those with a cycle over
// both: the other way round than the enumeration.
func TestTwoItemsByBruteForce(t *testing.T) {
	got := map[string]bool{}
	for _, p := range Of(TwoItems) {
		got[p.Name()] = true
	}
	want := map[string]bool{}
	for set := range 16 {
		var ops []Op
		for i := range 4 {
			do := []Action{Read, Write}[set>>i&1]
			ops = append(ops, Op{do, 1 + i/2, byte('x' + i%2)})
		}
		for _, order := range permutations(append(ops, Op{Commit, 1, 0}, Op{Commit, 2, 0})) {
			p := Pattern{Ops: order}
			if p.End(1) < place(order, 1) || p.End(2) < place(order, 2) {
				continue
			}
			edges := p.Edges()
			if len(edges) == 2 && p.Cyclic() {
				want[text(canonical(order))] = true
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d enumerated, %d by brute force", len(got), len(want))
	}
}

// place is where a transaction's last operation on a row stands.
func place(ops []Op, txn int) int {
	last := -1
	for i, o := range ops {
		if o.Txn == txn && !o.ends() {
			last = i
		}
	}
	return last
}

// TestOneItemIsComplete: every meeting of one operation of a transaction with two of
// another around it is there that gives a cycle, the commit at once or at the end.
func TestOneItemIsComplete(t *testing.T) {
	got := map[string]bool{}
	for _, p := range Of(OneItem) {
		got[p.Name()] = true
	}
	n := 0
	for set := range 8 {
		do := func(i int) string { return string([]Action{Read, Write}[set>>i&1]) }
		a, b, c := do(0)+"1x", do(1)+"2x", do(2)+"1x"
		if p := (&Pattern{Ops: parse(strings.Join([]string{a, b, c, "c1 c2"}, " "))}); len(p.Edges()) < 2 || !p.Cyclic() {
			continue
		}
		for _, name := range []string{strings.Join([]string{a, b, c, "c1 c2"}, " "), strings.Join([]string{a, b, "c2", c, "c1"}, " ")} {
			n++
			if !got[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
	if n != 10 {
		t.Errorf("%d meetings, want 10", n)
	}
}

// TestConditionsCross: each way in which a row can come into a condition's choice, or
// go out of it, is in each form.
func TestConditionsCross(t *testing.T) {
	kinds := map[string]map[Action]int{}
	for _, p := range Of(Conditions) {
		if kinds[p.Kind] == nil {
			kinds[p.Kind] = map[Action]int{}
		}
		seen := map[Action]bool{}
		for _, o := range p.Ops {
			if slices.Contains(crossings, o.Do) {
				seen[o.Do] = true
			}
		}
		if len(seen) != 1 {
			t.Errorf("%s: %d ways to cross", p.Name(), len(seen))
		}
		for a := range seen {
			kinds[p.Kind][a]++
		}
		if want := p.Kind != "aborted read by a condition"; p.Cyclic() != want {
			t.Errorf("%s: a cycle: %v", p.Name(), p.Cyclic())
		}
	}
	if len(kinds) != 6 {
		t.Errorf("%d kinds", len(kinds))
	}
	for kind, by := range kinds {
		if len(by) != len(crossings) {
			t.Errorf("%s: %v", kind, by)
		}
	}
}

// TestCases: the text of each case is read back, the operations stand in the lines
// where Line says, and no two writes write the same.
func TestCases(t *testing.T) {
	n := 0
	for _, f := range families {
		for i, p := range Of(f) {
			if f == ThreeItems && i%20 != 0 {
				continue
			}
			n++
			c := p.Case()
			name := p.Name()
			if f != ThreeItems || i == 0 {
				if again, err := Find(name); err != nil || again.Name() != name {
					t.Fatalf("%s is not found: %v", name, err)
				}
			}
			if _, err := corpus.Parse(name, corpus.Print(c, corpus.Text)); err != nil {
				t.Fatal(err)
			}
			values := map[int]bool{}
			begun := 0
			for j, o := range p.Ops {
				line := c.Steps[p.Line(j)]
				sql := corpus.SQL(line.Stmt, corpus.Text)
				want := map[Action]string{Read: "SELECT", Write: "UPDATE", Commit: "COMMIT", Abort: "ROLLBACK", Insert: "INSERT", Delete: "DELETE", Enter: "UPDATE", Leave: "UPDATE", MoveIn: "UPDATE", MoveOut: "UPDATE", Update: "UPDATE"}[o.Do]
				if line.Session != o.Txn || !strings.HasPrefix(sql, want) {
					t.Errorf("%s: operation %d is %s of tx%d", name, j, sql, line.Session)
				}
				if o.ends() {
					begun++
				}
				if o.writes() && !p.Effect(j).Gone {
					if e := p.Effect(j); values[e.Value] {
						t.Errorf("%s: %d is written twice", name, e.Value)
					} else {
						values[e.Value] = true
					}
				}
			}
			if len(c.Steps) != len(p.Ops)+begun {
				t.Errorf("%s: %d lines", name, len(c.Steps))
			}
		}
	}
	if n < 200 {
		t.Errorf("%d cases", n)
	}
	const want = `-- source: pattern r1x w2x w2y c2 r1y c1 (wr rw)

/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE k = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 12 WHERE k = 1;
/* tx2 */ UPDATE t SET v = 22 WHERE k = 2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE k = 2;
/* tx1 */ COMMIT;
`
	p, err := Find(" r1x w2x  w2y c2 r1y c1")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(corpus.Print(p.Case(), corpus.Text)); got != want {
		t.Errorf("case:\n%s\nwant:\n%s", got, want)
	}
	if _, err := Find("w1x w2y"); err == nil {
		t.Error("a pattern that is none is found")
	}
}
