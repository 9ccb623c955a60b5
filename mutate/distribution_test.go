package mutate

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// profile counts what generated cases hold.
type profile struct {
	cases, statements        int
	kinds                    map[stmt.Kind]int
	mixed, rollbacks, starts int
	snapshots, autocommit    int
	levels                   map[string]int
	// Of the predicates that the solver can judge: those that select some but
	// not all, none, and all rows of the set-up.
	judged, some, none, all int
	// unjudged counts predicates that the solver refuses.
	unjudged int
	// overlapping counts cases where two transactions touch the same row of
	// the set-up and one of them writes it.
	overlapping int
}

func profileOf(n int, o Options) *profile {
	p := &profile{kinds: map[stmt.Kind]int{}, levels: map[string]int{}}
	for seed := range uint64(n) {
		p.add(Generate(NewSeeded(seed), o), o.withDefaults().Solver)
	}
	return p
}

func (p *profile) add(c *corpus.Case, s Solver) {
	p.cases++
	d := draftOf(c)
	first := corpus.Level(0)
	mixed := false
	for _, n := range c.Sessions() {
		l, _ := c.LevelOf(n)
		mixed = mixed || first != 0 && l != first
		first = l
	}
	if mixed {
		p.mixed++
	} else {
		p.levels[first.Short()]++
	}
	type touch struct {
		kind stmt.Kind
		rows []bool
	}
	touched := make([][]touch, len(d.sessions))
	for i := range d.sessions {
		inside := map[int]bool{}
		for _, r := range d.find(i, func(stmt.Kind) bool { return true }) {
			inside[r.stmt] = true
		}
		for j, n := range d.sessions[i].stmts {
			k, name := KindOf(n)
			switch kind := stmt.KindOf(n); {
			case kind.Begins():
				p.starts++
				if kind == stmt.BeginSnapshot {
					p.snapshots++
				}
				continue
			case kind.Ends():
				if kind == stmt.Rollback {
					p.rollbacks++
				}
				continue
			case k == stmt.Other:
				continue
			case !inside[j]:
				p.autocommit++
				continue
			}
			p.statements++
			p.kinds[k]++
			w := filter(n)
			if w == nil {
				continue
			}
			rows, ok := p.selected(d, tableNamed(d.tables, name), *w, s)
			if ok {
				touched[i] = append(touched[i], touch{k, rows})
			}
		}
	}
	for i := range touched {
		for _, a := range touched[i] {
			for _, other := range touched[i+1:] {
				for _, b := range other {
					if (a.kind.Writes() || b.kind.Writes()) && intersect(a.rows, b.rows) {
						p.overlapping++
						return
					}
				}
			}
		}
	}
}

func intersect(a, b []bool) bool {
	for i := range min(len(a), len(b)) {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}

// selected tells which rows of the set-up a predicate selects.
func (p *profile) selected(d *draft, t *table, where ast.ExprNode, s Solver) ([]bool, bool) {
	out := make([]bool, len(t.rows))
	if where == nil {
		for i := range out {
			out[i] = true
		}
		return out, true
	}
	truths, err := s.Judge(d.creation(t.name), d.setUps(t), where)
	if err != nil {
		p.unjudged++
		return nil, false
	}
	hits := 0
	for i, v := range truths {
		if out[i] = v == sqlvalue.True; out[i] {
			hits++
		}
	}
	p.judged++
	switch hits {
	case 0:
		p.none++
	case len(truths):
		p.all++
	default:
		p.some++
	}
	return out, true
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func (p *profile) log(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s: %d cases, %.2f statements in transactions a case", name, p.cases, share(p.statements, p.cases))
	for _, k := range rowKinds {
		t.Logf("  %-18s %5.1f %%", k, 100*share(p.kinds[k], p.statements))
	}
	t.Logf("  mixed levels %.1f %%, uniform %v, rollback %.1f %%, consistent snapshot %.1f %%, autocommit statements %d",
		100*share(p.mixed, p.cases), p.levels, 100*share(p.rollbacks, p.starts), 100*share(p.snapshots, p.starts), p.autocommit)
	t.Logf("  predicates: %.1f %% select some but not all rows, %.1f %% none, %.1f %% all, %d not judged; overlapping rows in %.1f %% of cases",
		100*share(p.some, p.judged), 100*share(p.none, p.judged), 100*share(p.all, p.judged), p.unjudged, 100*share(p.overlapping, p.cases))
}

func within(t *testing.T, what string, got, lo, hi float64) {
	t.Helper()
	if got < lo || got > hi {
		t.Errorf("%s: %.3f, want %.3f to %.3f", what, got, lo, hi)
	}
}

func TestDistribution(t *testing.T) {
	p := profileOf(3000, Options{Levels: corpus.Levels})
	p.log(t, "four levels")
	within(t, "statements a case", share(p.statements, p.cases), 8, 12)
	for _, k := range rowKinds {
		within(t, string(k), share(p.kinds[k], p.statements), 0.05, 0.40)
	}
	within(t, "mixed levels", share(p.mixed, p.cases), 0.16, 0.24)
	for _, l := range corpus.Levels {
		within(t, l.String(), share(p.levels[l.Short()], p.cases), 0.15, 0.27)
	}
	within(t, "rollback", share(p.rollbacks, p.starts), 0.08, 0.20)
	within(t, "consistent snapshot", share(p.snapshots, p.starts), 0.06, 0.18)
	within(t, "cases with an autocommit statement", share(p.autocommit, p.cases), 0.05, 0.20)
	within(t, "predicates that select some rows", share(p.some, p.judged), 0.5, 1)
	within(t, "predicates that the solver refuses", share(p.unjudged, p.judged+p.unjudged), 0, 0.01)
	within(t, "overlapping rows", share(p.overlapping, p.cases), 0.6, 1)
}

func TestShareLocksAreRareWhereTheyFail(t *testing.T) {
	p := profileOf(3000, Options{DBMS: history.TiDB})
	within(t, "FOR SHARE on TiDB", share(p.kinds[stmt.SelectForShare], p.statements), 0.0005, 0.01)
	p = profileOf(1000, Options{DBMS: history.TiDB, ShareLocks: true})
	within(t, "FOR SHARE on TiDB where it locks", share(p.kinds[stmt.SelectForShare], p.statements), 0.05, 0.2)
}

func TestConflictRaisesOverlap(t *testing.T) {
	without := profileOf(1500, Options{Conflict: None})
	for _, s := range []Conflict{FSF, PSF, CTC} {
		with := profileOf(1500, Options{Conflict: s})
		t.Logf("overlapping rows: none %.1f %%, %s %.1f %%", 100*share(without.overlapping, without.cases), s, 100*share(with.overlapping, with.cases))
		if with.overlapping <= without.overlapping {
			t.Errorf("%s: overlapping rows in %d of %d cases, %d without", s, with.overlapping, with.cases, without.overlapping)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		Generate(NewSeeded(uint64(i)), Options{})
	}
}

func BenchmarkFromInput(b *testing.B) {
	entries := published(b)
	inputs := make([][]byte, 1024)
	for i := range inputs {
		inputs[i] = InputOf(uint64(i), InputLen)
	}
	b.ResetTimer()
	b.ReportAllocs()
	cases := 0
	for i := range b.N {
		cases += len(FromInput(inputs[i%len(inputs)], entries, Options{}))
	}
	b.ReportMetric(float64(cases)/float64(b.N), "cases/op")
}
