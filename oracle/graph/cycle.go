package graph

// Edge is one edge of a cycle.
type Edge struct {
	From, To int32
	Kind     Kinds
}

// Doubled returns the graph whose nodes are the begin (2v) and the commit
// (2v+1) of each node v. It has a cycle exactly where g has one without two
// neighbouring anti-dependencies, which is what snapshot isolation forbids
// (Cerone and Gotsman, "Analysing Snapshot Isolation", theorem 4.1): an
// anti-dependency leads from a begin to a commit, everything else from a
// commit to a begin.
func (g *Graph) Doubled() *Graph {
	n := int32(g.Nodes())
	return Build(2*g.Nodes(), func(edge func(int32, int32, Kinds)) {
		for v := range n {
			edge(2*v, 2*v+1, own)
			to, kind := g.Out(v)
			for i, w := range to {
				if kind[i]&AnyRW != 0 {
					edge(2*v, 2*w+1, kind[i])
				} else {
					edge(2*v+1, 2*w, kind[i])
				}
			}
		}
	})
}

// own is the edge from a transaction's begin to its commit; every search
// follows it.
const own Kinds = 0

// Undouble turns a path of a Doubled graph into one of the graph itself.
func Undouble(path []Edge) []Edge {
	out := path[:0:0]
	for _, e := range path {
		if e.Kind != own {
			out = append(out, Edge{e.From / 2, e.To / 2, e.Kind})
		}
	}
	return out
}

// Finder looks for shortest paths in one graph again and again without
// clearing its memory: 20 bytes a node.
type Finder struct {
	g      *Graph
	parent []uint32 // the edge by which a node was met
	seen   []uint32 // the round in which it was
	queue  []int32
	from   []int32 // the node before, on the path
	depth  []int32
	round  uint32
	// Free tells nodes that only stand between others, such as points of time:
	// a path is as long as its other nodes are many.
	Free func(v int32) bool
	// Limit is the longest path to look for, in nodes that are not free; 0: any.
	Limit int32
	// Visited counts edges looked at, for limits on the work.
	Visited int
}

// NewFinder prepares searches in g.
func NewFinder(g *Graph) *Finder {
	n := g.Nodes()
	return &Finder{g: g, parent: make([]uint32, n), seen: make([]uint32, n), from: make([]int32, n), depth: make([]int32, n)}
}

// Path returns a shortest path from one node to another over the given kinds,
// nil if there is none. From a node to itself it is the empty path.
func (f *Finder) Path(from, to int32, kinds Kinds) []Edge {
	if from == to {
		return []Edge{}
	}
	f.round++
	f.queue = append(f.queue[:0], from)
	f.seen[from], f.depth[from] = f.round, 0
	// Free nodes are entered at no cost: they are walked through at once, depth
	// first, before the queue goes on.
	var free []int32
	for h := 0; h < len(f.queue) || len(free) > 0; {
		var v int32
		if len(free) > 0 {
			v, free = free[len(free)-1], free[:len(free)-1]
		} else {
			v = f.queue[h]
			h++
		}
		for i, end := f.g.off[v], f.g.off[v+1]; i < end; i++ {
			f.Visited++
			w := f.g.to[i]
			if f.g.kind[i]&kinds == 0 && f.g.kind[i] != own || f.seen[w] == f.round {
				continue
			}
			isFree := f.Free != nil && f.Free(w)
			f.depth[w] = f.depth[v]
			if !isFree {
				f.depth[w]++
			}
			if f.Limit > 0 && f.depth[w] > f.Limit {
				continue
			}
			f.seen[w], f.parent[w], f.from[w] = f.round, i, v
			if w == to {
				return f.trace(from, to)
			}
			if isFree {
				free = append(free, w)
			} else {
				f.queue = append(f.queue, w)
			}
		}
	}
	return nil
}

func (f *Finder) trace(from, to int32) []Edge {
	var back []Edge
	for v := to; v != from; v = f.from[v] {
		back = append(back, Edge{f.from[v], v, f.g.kind[f.parent[v]]})
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// Simple tells whether a cycle meets no node twice.
func Simple(cycle []Edge) bool {
	met := make(map[int32]bool, len(cycle))
	for _, e := range cycle {
		if met[e.From] {
			return false
		}
		met[e.From] = true
	}
	return true
}
