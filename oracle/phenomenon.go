package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Phenomenon is what the literature has a name for: a cycle of dependencies between
// committed transactions, or a read of what was not to stay.
type Phenomenon struct {
	Kind model.Kind
	// Cycle holds the dependencies, each from where the one before leads to; one for
	// a read of what was not to stay.
	Cycle []mvcc.Dependency
}

// Names that the literature uses for kinds, Hermitage's in brackets.
// https://github.com/ept/hermitage
var phenomena = map[model.Kind]string{
	model.G0:            "dirty write (G0)",
	model.G1a:           "dirty read of what was rolled back (G1a)",
	model.G1b:           "dirty read of a value on the way (G1b)",
	model.G1c:           "circular flow of information (G1c)",
	model.LostUpdate:    "lost update (P4)",
	model.OTV:           "observed transaction vanishes (OTV)",
	model.GSingleItem:   "read skew (G-single)",
	model.GSingle:       "phantom: read skew with a condition (PMP, G-single)",
	model.GNonadjacentI: "long fork (G-nonadjacent)",
	model.GNonadjacent:  "long fork with a condition (G-nonadjacent)",
	model.G2Item:        "write skew (G2-item)",
	model.G2:            "write skew with a condition (G2)",
}

// Name is the phenomenon's name in the literature.
func (p *Phenomenon) Name() string { return phenomena[p.Kind] }

// Phenomena returns what a history shows, the gravest first, one of each kind with a
// shortest cycle. The dependencies are exact where rules explain the history. Of a
// violation they are those before its first difference and, where that is the answer to a
// query, those that this answer shows and all that come behind it. Costs one replay,
// after a verdict of the loose kind some thousand. On PostgreSQL no replay is needed, but the answers to what
// promise.Dependencies asks.
func Phenomena(c *corpus.Case, h *history.History, v *Verdict) ([]Phenomenon, *mvcc.Dependencies) {
	if v.Outcome == Unknown {
		return nil, nil
	}
	c, h = read(c, h, v)
	if h.Server.DBMS == history.PostgreSQL {
		d := askedDependencies(c, h)
		if d == nil {
			return nil, nil
		}
		return named(d), d
	}
	if own, err := resolved(c, h); err == nil {
		c = own
	}
	r := explaining(c, h, v)
	if r == nil {
		return nil, nil
	}
	d := r.Dependencies()
	return named(d), d
}

// errNotAsked is of a question that nobody has asked the server.
var errNotAsked = errors.New("not asked")

// recordedAnswers are those that a history holds.
func recordedAnswers(h *history.History) promise.Scratch {
	return func(q *history.Solo) (*history.SoloAnswer, error) {
		if a := h.Solos[q.Key()]; a != nil {
			return a, nil
		}
		return nil, errNotAsked
	}
}

// askedDependencies are those that the server's answers to questions about statements alone tell, as far as a history
// holds these; else those that unique values tell.
func askedDependencies(c *corpus.Case, h *history.History) *mvcc.Dependencies {
	d, err := promise.Dependencies(c, h, recordedAnswers(h))
	if err == nil && d != nil {
		return d
	}
	if r := answers.Read(c, h); r != nil {
		return &r.Dependencies
	}
	return nil
}

// explaining returns the observed replay that fits a history under the rules of its
// verdict, nil if none does; of a violation, the one that gets furthest.
func explaining(c *corpus.Case, h *history.History, v *Verdict) *mvcc.Replay {
	p, levels := promiseTo(c, h, v), mvcc.Levels(c, h)
	for _, d := range slices.Concat(rules.Deviations(h.Server, levels), rules.OutOfScope(h.Server, levels)) {
		if slices.Contains(v.Rules, d.Name) {
			p = p.With(d)
		}
	}
	budget := solve.NewBudget(mvcc.Work)
	anew := func(keepGoing bool) *mvcc.Replay { return engines.New(c, h, p, keepGoing).Observed().Within(budget) }
	if v.Outcome == Violation {
		r := anew(true)
		if d, err := r.Run(); err == nil && (d == nil || d.Stmt == v.Stmt && r.Answered()) {
			return r
		}
		r = anew(false)
		if d, err := r.Run(); err != nil || d != nil && d.Stmt != v.Stmt {
			return nil
		}
		r.Unanswered()
		return r
	}
	// Behind what ROLLBACK TO has undone no wait is asked for. So a history may be as promised where the
	// server has renewed the transaction, whose parts then depend on others each for itself.
	promised := p
	for _, one := range engines.For(p).Relevant(c, h, rules.Deviations(h.Server, levels)) {
		if one.Dim != rules.IdleSavepoint || slices.Contains(v.Rules, one.Name) {
			continue
		}
		p = promised.With(one)
		if r := anew(false); fits(r) {
			return r
		}
	}
	p = promised
	for _, r := range []*mvcc.Replay{anew(false), anew(false).Loose(), anew(false).Loose().Patient()} {
		if fits(r) {
			return r
		}
	}
	return nil
}

func fits(r *mvcc.Replay) bool {
	d, err := r.Run()
	return err == nil && d == nil
}

// looks are the kinds of cycles by gravity: over which edges, and which one closes it.
var looks = []struct {
	along graph.Kinds // edges of the path back
	first graph.Kinds // the edge that the path closes
}{
	{graph.WW, graph.WW},
	{graph.WW | graph.AnyWR, graph.AnyWR},
	{graph.WW | graph.AnyWR, graph.RW},
	{graph.WW | graph.AnyWR, graph.PredicateRW},
	{graph.WW | graph.AnyWR | graph.RW, graph.RW},
	{graph.Data, graph.AnyRW},
}

// named looks for the phenomena of a graph.
func named(d *mvcc.Dependencies) []Phenomenon {
	var out []Phenomenon
	add := func(p Phenomenon) {
		if !slices.ContainsFunc(out, func(o Phenomenon) bool { return o.Kind == p.Kind }) {
			out = append(out, p)
		}
	}
	var edges []mvcc.Dependency
	for _, e := range d.Edges {
		switch {
		case !d.Units[e.To].Committed:
		case e.Aborted:
			add(Phenomenon{model.G1a, []mvcc.Dependency{e}})
		case !d.Units[e.From].Committed:
		case e.Intermediate:
			add(Phenomenon{model.G1b, []mvcc.Dependency{e}})
		case e.Chosen: // those of the item lead there
		default:
			edges = append(edges, e)
		}
	}
	g := graph.Build(len(d.Units), func(edge func(from, to int32, k graph.Kinds)) {
		for _, e := range edges {
			edge(int32(e.From), int32(e.To), e.Kind)
		}
	})
	find := graph.NewFinder(g)
	for _, l := range looks {
		if l.first == graph.RW {
			if p := vanishes(edges); p != nil {
				add(*p)
			}
		}
		for _, e := range edges {
			if e.Kind&l.first == 0 {
				continue
			}
			back := find.Path(int32(e.To), int32(e.From), l.along)
			if len(back) == 0 {
				continue
			}
			cycle := []mvcc.Dependency{e}
			for _, b := range back {
				cycle = append(cycle, pick(edges, b, &e))
			}
			add(Phenomenon{kindOf(cycle), cycle})
		}
	}
	return out
}

// vanishes looks for an observed transaction that vanishes: a plain read that sees a row as
// another transaction wrote it, and sees by then or later another row as it was before that
// transaction (Bailis et al., "Highly Available Transactions", VLDB 2013, definition 15).
func vanishes(edges []mvcc.Dependency) *Phenomenon {
	for _, seen := range edges {
		if seen.Kind != graph.WR || !seen.Plain {
			continue
		}
		for _, missed := range edges {
			if missed.Kind == graph.RW && missed.Plain && missed.From == seen.To && missed.To == seen.From && missed.Item != seen.Item && missed.FromStmt >= seen.ToStmt {
				return &Phenomenon{model.OTV, []mvcc.Dependency{seen, missed}}
			}
		}
	}
	return nil
}

// pick returns the dependency that an edge of a path stands for: one on the same row
// as the edge that the path closes, if there is one.
func pick(edges []mvcc.Dependency, b graph.Edge, closing *mvcc.Dependency) mvcc.Dependency {
	var out *mvcc.Dependency
	for i := range edges {
		e := &edges[i]
		if int32(e.From) == b.From && int32(e.To) == b.To && e.Kind == b.Kind && (out == nil || e.Item == closing.Item && out.Item != closing.Item) {
			out = e
		}
	}
	return *out
}

// kindOf names a cycle. A lost update is a read that another's write of the same row
// overtakes before the reader writes it, too.
func kindOf(cycle []mvcc.Dependency) model.Kind {
	if len(cycle) == 2 && cycle[0].Item == cycle[1].Item && cycle[0].Kind|cycle[1].Kind == graph.RW|graph.WW {
		return model.LostUpdate
	}
	edges := make([]graph.Edge, len(cycle))
	for i, e := range cycle {
		edges[i] = graph.Edge{From: int32(e.From), To: int32(e.To), Kind: e.Kind}
	}
	return model.Classify(edges)
}

// unitName names a transaction for people.
func unitName(d *mvcc.Dependencies, n int) string {
	u := &d.Units[n]
	name := fmt.Sprintf("tx%d", u.Session)
	k, of := 0, 0
	for i := range d.Units {
		if d.Units[i].Session == u.Session {
			if of++; i == n {
				k = of
			}
		}
	}
	if of > 1 {
		name += fmt.Sprintf(" (its transaction %d)", k)
	}
	return name
}

// Tell says in sentences what leads around the cycle.
func (p *Phenomenon) Tell(d *mvcc.Dependencies, h *history.History) []string {
	step := func(i int) string { return fmt.Sprintf("step %d", h.Stmts[i].Line+1) }
	var out []string
	for _, e := range p.Cycle {
		a, b, row := unitName(d, e.From), unitName(d, e.To), e.Row+" of "+e.Table
		switch {
		case e.Aborted && e.Kind == graph.PredicateWR:
			out = append(out, fmt.Sprintf("in %s %s saw what %s did to %s in %s and then rolled back", step(e.ToStmt), b, a, row, step(e.FromStmt)))
		case e.Aborted:
			out = append(out, fmt.Sprintf("in %s %s read %s, which %s wrote in %s and then rolled back", step(e.ToStmt), b, row, a, step(e.FromStmt)))
		case e.Intermediate:
			out = append(out, fmt.Sprintf("in %s %s read %s, which %s wrote in %s and then changed again", step(e.ToStmt), b, row, a, step(e.FromStmt)))
		case e.Kind&graph.WW != 0:
			out = append(out, fmt.Sprintf("%s wrote %s in %s over what %s wrote in %s", b, row, step(e.ToStmt), a, step(e.FromStmt)))
		case e.Kind&graph.AnyWR != 0:
			out = append(out, fmt.Sprintf("in %s %s saw%s what %s did to %s in %s", step(e.ToStmt), b, by(e.Through), a, row, step(e.FromStmt)))
		default:
			out = append(out, fmt.Sprintf("in %s %s did not see%s what %s did to %s in %s", step(e.FromStmt), a, by(e.Through), b, row, step(e.ToStmt)))
		}
	}
	return out
}

// by says how a statement came to a row that it does not read itself.
func by(through string) string {
	switch through {
	case "":
		return ""
	case mvcc.ThroughUpsert:
		return ", by an " + through + ","
	}
	return ", by a " + through + ","
}

// Line says it all on one line.
func (p *Phenomenon) Line(d *mvcc.Dependencies, h *history.History) string {
	return p.Name() + ": " + strings.Join(p.Tell(d, h), "; ")
}
