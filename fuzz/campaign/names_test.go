package campaign

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/unique"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestDependenciesAreThoseOfUniqueValues: who read from whom on PostgreSQL, as statements run alone tell it, is what the
// values in the answers tell, and at SERIALIZABLE it has no cycle.
func TestDependenciesAreThoseOfUniqueValues(t *testing.T) {
	for _, name := range targettest.Among(t, "postgres:18") {
		dependenciesAreThoseOfUniqueValues(t, targettest.Open(t, name, target.Options{}))
	}
}

func dependenciesAreThoseOfUniqueValues(t *testing.T, on *target.Target) {
	const cases = 60
	kinds, read, named := map[graph.Kinds]int{}, 0, 0
	for n := uint64(1); read < cases; n++ {
		made := mutate.Generate(mutate.NewBytes(mutate.InputOf(n, mutate.InputLen)), mutate.Options{
			Levels: on.Levels(), DBMS: on.Server().DBMS, Conflict: mutate.Mix,
		})
		u, err := unique.Case(made)
		if err != nil {
			continue
		}
		for _, c := range Sayable(on.Server().DBMS, []*corpus.Case{u}) {
			if slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return stmt.KindOf(l.Stmt) == stmt.RollbackTo }) {
				continue // what is read off takes a transaction that goes back to a savepoint for several, as on InnoDB
			}
			c.Header = nil // its level
			l := on.Levels()[1+int(n)%(len(on.Levels())-1)]
			r := on.Judge(t.Context(), c, target.LevelsFor(c, l))
			if r.Verdict.Outcome != oracle.OK {
				continue
			}
			told := answers.Read(c, r.History)
			if told == nil {
				continue
			}
			read++
			r.Anomalies()
			list, d := oracle.Phenomena(c, r.History, &r.Verdict)
			if d == nil {
				t.Errorf("%d: no dependencies\n%s", n, corpus.Print(c, corpus.Text))
				continue
			}
			waited := slices.ContainsFunc(r.History.Stmts, func(s history.Stmt) bool { return len(s.Waits) > 0 })
			for _, line := range told.Differs(d) {
				if l == corpus.ReadCommitted && waited && strings.HasPrefix(line, "only in the answers") {
					continue // nobody knows which row is the one that was waited for if its key has changed
				}
				t.Errorf("%d at %s: %s\n%s", n, l.Short(), line, corpus.Print(c, corpus.Text))
			}
			if l == corpus.Serializable && len(list) > 0 {
				t.Errorf("%d: %s\n%s", n, list[0].Line(d, r.History), corpus.Print(c, corpus.Text))
			}
			if len(list) > 0 {
				named++
			}
			for _, e := range d.Edges {
				kinds[e.Kind]++
			}
		}
	}
	for _, k := range []graph.Kinds{graph.WW, graph.WR, graph.RW, graph.PredicateWR, graph.PredicateRW} {
		if kinds[k] < 10 {
			t.Errorf("%d edges %s, want 10", kinds[k], k)
		}
	}
	if named < 3 {
		t.Errorf("%d of %d cases show an anomaly, want 3", named, read)
	}
}
