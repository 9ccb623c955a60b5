package mutate

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// woven returns a draft of a seed whose transactions follow a pattern; nil if the seed's
// tables have too few rows.
func woven(seed uint64, p *pattern.Pattern) *draft {
	o := Options{Conflict: Pattern}.withDefaults()
	in := InputOf(seed, InputLen)
	if p.Family == pattern.ThreeItems {
		in = WideInput(seed, 3)
	}
	d := fresh(NewBytes(in), o)
	r := splitMix(seed)
	if _, ok := d.weavePattern(random(&r), o, p); !ok {
		return nil
	}
	return d
}

// TestWovenOrder: the operations of a pattern come in its order, whatever the statements
// that stand for them, and each transaction ends as it says.
func TestWovenOrder(t *testing.T) {
	list := slices.Concat(shortPatterns, longPatterns()[:200])
	made := 0
	for i := range list {
		p := &list[i]
		d := woven(uint64(1000+i), p)
		if d == nil {
			continue
		}
		made++
		c := d.orders(NewSeeded(uint64(i)), 1, nil)[0]
		ends := map[int]string{}
		var order []int
		for _, l := range c.Steps {
			switch l.Stmt.(type) {
			case *ast.CommitStmt, *ast.RollbackStmt:
				if ends[l.Session] == "" {
					ends[l.Session] = corpus.SQL(l.Stmt, corpus.Text)
					order = append(order, l.Session)
				}
			}
		}
		var want []int
		for _, op := range p.Ops {
			switch op.Do {
			case pattern.Commit, pattern.Abort:
				want = append(want, op.Txn)
				if as := map[pattern.Action]string{pattern.Commit: "COMMIT", pattern.Abort: "ROLLBACK"}[op.Do]; ends[op.Txn] != as {
					t.Errorf("%s: tx%d ends with %s", p.Name(), op.Txn, ends[op.Txn])
				}
			}
		}
		if len(order) < len(want) || !slices.Equal(order[:len(want)], want) {
			t.Errorf("%s: the transactions end in the order %v\n%s", p.Name(), order, corpus.Print(c, corpus.Text))
		}
		back, err := corpus.Parse("woven", corpus.Print(c, corpus.Text))
		if err != nil || !bytes.Equal(corpus.Print(back, corpus.Text), corpus.Print(c, corpus.Text)) {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
	if made < len(list)*3/4 {
		t.Errorf("%d of %d patterns were woven", made, len(list))
	}
}

// TestWovenItems: what reads and writes an item finds its row.
func TestWovenItems(t *testing.T) {
	for i := range shortPatterns {
		p := &shortPatterns[i]
		o := Options{Conflict: Pattern}.withDefaults()
		d := fresh(NewBytes(InputOf(uint64(i), InputLen)), o)
		r := splitMix(uint64(i))
		w := &weaver{d: d, c: random(&r), o: o, p: p, items: map[byte]*item{}}
		if !w.choose() {
			continue
		}
		for k, op := range p.Ops {
			it := w.items[op.Item]
			if it == nil || op.Item == pattern.Condition {
				continue
			}
			stmt := w.statement(k)
			e := filter(stmt)
			if e == nil || *e == nil {
				continue
			}
			truths, err := w.judge(it.t, [][]value{it.row}, *e)
			if err == nil && truths[0] != sqlvalue.True {
				t.Errorf("%s, operation %d: %s does not hold for the row", p.Name(), k, corpus.SQL(stmt, corpus.Text))
			}
		}
	}
}

// TestWovenConditions: a write that is to bring a row into a condition, or out of it, does
// so in nearly all cases: there are tables in which no value can.
func TestWovenConditions(t *testing.T) {
	crossed, all := 0, 0
	for i := range shortPatterns {
		p := &shortPatterns[i]
		if p.Family != pattern.Conditions {
			continue
		}
		for seed := range uint64(8) {
			o := Options{Conflict: Pattern}.withDefaults()
			d := fresh(NewBytes(InputOf(seed*131+uint64(i), InputLen)), o)
			r := splitMix(seed)
			w := &weaver{d: d, c: random(&r), o: o, p: p, items: map[byte]*item{}}
			if !w.choose() || w.items[pattern.Condition].where == nil {
				continue
			}
			it := w.items[pattern.Condition]
			for k, op := range p.Ops {
				if op.Do != pattern.Insert {
					continue
				}
				ins, ok := w.statement(k).(*ast.InsertStmt)
				if !ok {
					t.Fatalf("%s: no INSERT", p.Name())
				}
				all++
				if truths, err := o.Solver.Judge(d.creation(it.t.name), []*ast.InsertStmt{ins}, it.where); err == nil && truths[0] == sqlvalue.True {
					crossed++
				}
			}
		}
	}
	t.Logf("%d of %d", crossed, all)
	if all < 40 || crossed < all*3/4 {
		t.Errorf("%d of %d INSERTs are chosen by the condition", crossed, all)
	}
}
