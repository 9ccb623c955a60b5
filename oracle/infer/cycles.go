package infer

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// cycleBudget bounds the edges looked at while cycles of one kind in one
// component are counted and the shortest is sought: some tenths of a second.
// That there is a cycle is known before; what is counted is a lower bound.
const cycleBudget = 4_000_000

// dependencies is the graph of a history: its transactions, and behind them
// points of time.
type dependencies struct {
	*evidence
	g *graph.Graph
	n int32 // nodes from here on are points of time
	// timed: some transactions have times.
	timed bool
	built graph.Kinds // the orders that it was built with
}

func (e *evidence) dependencies(kinds graph.Kinds) *dependencies {
	d := &dependencies{evidence: e, n: int32(e.h.Len()), built: kinds}
	var clock timeline
	if kinds&graph.RealTime != 0 {
		clock = newTimeline(e.h, e.committed)
		d.timed = len(clock.after) > 0
	}
	d.g = graph.Build(e.h.Len()+clock.points, func(edge func(int32, int32, graph.Kinds)) {
		if e.versions != nil {
			e.versions.emit(edge)
		}
		if e.extra != nil {
			e.extra(edge)
		}
		if kinds&graph.Session != 0 {
			sessions(e.h, e.committed, edge)
		}
		clock.emit(e.h, d.n, edge)
	})
	return d
}

// timeline turns real time into few edges: each commit leads to the point of
// time at which it was known, each point to the next, and each point to the
// transactions that were sent after it and before the next.
type timeline struct {
	points int
	after  []int32 // committed transactions, by return
	before []int32 // committed transactions, by invocation
}

func newTimeline(h *kv.History, committed []bool) timeline {
	var c timeline
	for i := range h.Len() {
		t := h.Txn(i)
		if committed[i] && t.Status == kv.OK && t.Return != kv.Unknown {
			c.after = append(c.after, int32(i))
		}
		if committed[i] && t.Invoke != kv.Unknown {
			c.before = append(c.before, int32(i))
		}
	}
	if len(c.before) == 0 {
		c.after = nil
	}
	by := func(list []int32, at func(kv.Txn) int64) {
		less := func(a, b int32) int {
			switch x, y := at(h.Txn(int(a))), at(h.Txn(int(b))); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return int(a - b)
		}
		if !slices.IsSortedFunc(list, less) {
			slices.SortFunc(list, less)
		}
	}
	by(c.after, func(t kv.Txn) int64 { return t.Return })
	by(c.before, func(t kv.Txn) int64 { return t.Invoke })
	c.walk(h, func(int32, bool) {}, func() { c.points++ })
	return c
}

// walk goes along the time: txn for each commit (true) and invocation, point
// for each new point of time.
func (c *timeline) walk(h *kv.History, txn func(t int32, commit bool), point func()) {
	i, fresh := 0, false
	for _, b := range c.before {
		for ; i < len(c.after) && h.Txn(int(c.after[i])).Return < h.Txn(int(b)).Invoke; i++ {
			if !fresh {
				point()
				fresh = true
			}
			txn(c.after[i], true)
		}
		fresh = false
		txn(b, false)
	}
}

func (c *timeline) emit(h *kv.History, n int32, edge func(from, to int32, k graph.Kinds)) {
	at := none
	c.walk(h, func(t int32, commit bool) {
		switch {
		case commit:
			edge(t, n+at, graph.RealTime)
		case at != none:
			edge(n+at, t, graph.RealTime)
		}
	}, func() {
		if at != none {
			edge(n+at, n+at+1, graph.RealTime)
		}
		at++
	})
}

// search is one look for cycles of one kind.
type search struct {
	kinds    graph.Kinds
	doubled  bool
	required graph.Kinds // the cycle holds such an edge
	pair     bool        // it holds two neighbouring anti-dependencies
}

// searches returns what to look for with one more kind of order, worst first.
func searches(order, must graph.Kinds) []search {
	pick := func(k graph.Kinds) graph.Kinds {
		if must != 0 {
			return must
		}
		return k
	}
	return []search{
		{graph.WW | order, false, pick(graph.WW), false},
		{graph.WW | graph.AnyWR | order, false, pick(graph.AnyWR), false},
		{graph.Item | graph.PredicateWR | order, true, pick(graph.RW | graph.ImpliedWW), false},
		{graph.Data | order, true, pick(graph.PredicateRW), false},
		{graph.Item | graph.PredicateWR | order, false, pick(graph.RW), true},
		{graph.Data | order, false, pick(graph.PredicateRW), true},
		{graph.Data | order, false, must, false},
	}
}

// cycles reports the cycles of the graph, kind by kind. It returns the models
// that they refute.
func (d *dependencies) cycles(asked []model.Model) map[model.Model]bool {
	fails := map[model.Model]bool{}
	var kinds graph.Kinds
	for _, m := range asked {
		def, _ := model.Find(m)
		kinds |= def.Kinds
	}
	for _, nodes := range d.g.Components(kinds) {
		c := component{dependencies: d, nodes: nodes, g: d.g.Sub(nodes, kinds), met: map[model.Kind]bool{}}
		for _, m := range asked {
			if def, _ := model.Find(m); !fails[m] {
				fails[m] = c.refutes(def)
			}
		}
		for _, order := range []struct{ order, must graph.Kinds }{{0, 0}, {graph.Session, graph.Session}, {graph.Session | graph.RealTime, graph.RealTime}} {
			if order.must != 0 && (kinds&order.must == 0 || len(c.met) > 0) {
				continue // worse was found already
			}
			for _, s := range searches(order.order, order.must) {
				if s.required != 0 {
					c.look(s)
				}
			}
		}
	}
	return fails
}

// component is one strongly connected component of the whole graph.
type component struct {
	*dependencies
	nodes []int32
	g     *graph.Graph
	twice *graph.Graph // g doubled, once it is needed
	met   map[model.Kind]bool
}

func (c *component) double() *graph.Graph {
	if c.twice == nil {
		c.twice = c.g.Doubled()
	}
	return c.twice
}

func (c *component) refutes(def model.Definition) bool {
	g := c.g
	if def.Snapshot {
		g = c.double()
	}
	return len(g.Components(def.Kinds)) > 0
}

// look finds cycles, counts those that do not share where they start, and
// reports them, the shortest first.
func (c *component) look(s search) {
	g := c.g
	if s.doubled {
		g = c.double()
	}
	var found []foundCycle
	for _, comp := range g.Components(s.kinds) {
		sub := g.Sub(comp, s.kinds)
		f := graph.NewFinder(sub)
		original := func(v int32) int32 {
			v = comp[v]
			if s.doubled {
				v /= 2
			}
			return c.nodes[v]
		}
		if c.timed {
			free := make([]bool, len(comp))
			for i := range comp {
				free[i] = original(int32(i)) >= c.n
			}
			f.Free = func(v int32) bool { return free[v] }
		}
		found = append(found, c.each(sub, f, s, original)...)
	}
	slices.SortStableFunc(found, func(a, b foundCycle) int { return len(a.cycle) - len(b.cycle) })
	kinds := map[model.Kind]bool{}
	for _, x := range found {
		if c.met[x.kind] {
			continue
		}
		kinds[x.kind] = true
		grp, keep := c.found.add(x.kind)
		if keep {
			grp.Examples = append(grp.Examples, c.anomaly(x))
		}
	}
	for k := range kinds {
		c.met[k] = true
	}
}

type foundCycle struct {
	kind  model.Kind
	cycle []graph.Edge
}

func (c *component) each(sub *graph.Graph, f *graph.Finder, s search, original func(int32) int32) []foundCycle {
	var out []foundCycle
	used := map[int32]bool{}
	best := int32(0)
	for u := range int32(sub.Nodes()) {
		if f.Free != nil && f.Free(u) {
			continue // whatever passes a point of time came from a commit
		}
		to, kind := sub.Out(u)
		for i, v := range to {
			if kind[i]&s.required == 0 {
				continue
			}
			if f.Visited > cycleBudget {
				return out
			}
			// Where a cycle starts already, only a shorter one is of interest.
			again := used[original(u)]
			f.Limit = 0
			if again {
				if f.Limit = best - 1; f.Limit <= 0 {
					continue
				}
			}
			cycle := c.close(sub, f, s, graph.Edge{From: u, To: v, Kind: kind[i]})
			if cycle == nil {
				continue
			}
			cycle = c.readable(cycle, s, original)
			if cycle == nil {
				continue
			}
			if n := int32(len(cycle)); best == 0 || n < best {
				best = n
			}
			if !again {
				for _, e := range cycle {
					used[e.From] = true
				}
				out = append(out, foundCycle{model.Classify(cycle), cycle})
			} else if worst := slices.IndexFunc(out, func(x foundCycle) bool { return len(x.cycle) > len(cycle) }); worst >= 0 {
				out[worst] = foundCycle{model.Classify(cycle), cycle}
			}
		}
	}
	return out
}

// close completes an edge to a cycle, with pair only to one with two neighbouring
// anti-dependencies.
func (c *component) close(sub *graph.Graph, f *graph.Finder, s search, e graph.Edge) []graph.Edge {
	if !s.pair || e.Kind&graph.AnyRW == 0 {
		if p := f.Path(e.To, e.From, s.kinds); p != nil {
			return append([]graph.Edge{e}, p...)
		}
		return nil
	}
	to, kind := sub.Out(e.To)
	for i, w := range to {
		if kind[i]&graph.AnyRW&s.kinds == 0 {
			continue
		}
		p := f.Path(w, e.From, s.kinds)
		if p == nil {
			continue
		}
		if cycle := append([]graph.Edge{e, {From: e.To, To: w, Kind: kind[i]}}, p...); graph.Simple(cycle) {
			return cycle
		}
		if f.Visited > cycleBudget {
			return nil
		}
	}
	return nil
}

// readable turns a cycle of a part of the graph into one of transactions: points
// of time are left out.
func (c *component) readable(cycle []graph.Edge, s search, original func(int32) int32) []graph.Edge {
	var out []graph.Edge
	for _, e := range cycle {
		if s.doubled && e.Kind == 0 {
			continue // from a begin to its commit
		}
		e.From, e.To = original(e.From), original(e.To)
		if len(out) > 0 && out[len(out)-1].To >= c.n {
			out[len(out)-1].To = e.To
			continue
		}
		out = append(out, e)
	}
	// It may have been cut in the middle of a row of points.
	if len(out) > 1 && out[len(out)-1].To >= c.n {
		out[len(out)-1].To = out[0].To
		out = out[1:]
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

func (c *component) anomaly(x foundCycle) Anomaly {
	a := Anomaly{Kind: x.kind, Cycle: x.cycle, Steps: c.steps(x.cycle)}
	for _, e := range x.cycle {
		a.Txns = append(a.Txns, int(e.From))
	}
	return a
}
