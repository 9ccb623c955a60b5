package mutate

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// After CTC, at least one tuple satisfies the predicate, whatever the case.
func TestContainmentHolds(t *testing.T) {
	changed, checked := 0, 0
	for seed := range uint64(2000) {
		o := Options{Conflict: CTC, Tables: 2}.withDefaults()
		src := NewSeeded(seed)
		d := fresh(src, o)
		before := print(d.build(serialOrder(d)))
		p, ok := d.construct(on(src, ConflictLane), o, -1)
		if !ok {
			continue
		}
		// The tuples: of the INSERT of the pair, else of the set-up.
		target := p.b
		inserts := d.setUps(d.tableOf(d.stmt(p.a)))
		if ins, is := d.stmt(p.a).(*ast.InsertStmt); is {
			inserts = []*ast.InsertStmt{ins}
		} else if ins, is := d.stmt(p.b).(*ast.InsertStmt); is {
			inserts, target = []*ast.InsertStmt{ins}, p.a
		}
		w := *filter(d.stmt(target))
		if w == nil || len(inserts) == 0 {
			continue
		}
		truths, err := o.Solver.Judge(d.creation(d.tableOf(d.stmt(target)).name), inserts, w)
		if err != nil {
			continue
		}
		checked++
		hit := false
		for _, v := range truths {
			hit = hit || v == sqlvalue.True
		}
		if !hit {
			t.Fatalf("seed %d: no tuple satisfies %s\n%s", seed, predicate(w), corpus.SQL(inserts[0], corpus.Text))
		}
		if print(d.build(serialOrder(d))) != before {
			changed++
		}
	}
	if checked < 1500 || changed < 300 {
		t.Errorf("checked %d of 2000, changed %d", checked, changed)
	}
}
