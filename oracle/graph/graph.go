package graph

import "fmt"

// Kinds is a set of kinds of edges; an edge has one of them.
type Kinds uint8

const (
	WW Kinds = 1 << iota
	WR
	RW
	PredicateWR
	PredicateRW
	Session
	RealTime
	// ImpliedWW is a write dependency that only holds if no update was lost: a
	// transaction read the version before its own, so no other stands between.
	ImpliedWW

	// AnyRW, AnyWR: on items and on predicates.
	AnyRW = RW | PredicateRW
	AnyWR = WR | PredicateWR
	Item  = WW | ImpliedWW | WR | RW
	Data  = Item | PredicateWR | PredicateRW
	All   = Data | Session | RealTime
)

var kindNames = []struct {
	kind Kinds
	name string
}{{WW, "ww"}, {WR, "wr"}, {RW, "rw"}, {PredicateWR, "predicate wr"}, {PredicateRW, "predicate rw"}, {ImpliedWW, "ww"}, {Session, "session"}, {RealTime, "real time"}}

func (k Kinds) String() string {
	for _, n := range kindNames {
		if n.kind == k {
			return n.name
		}
	}
	return fmt.Sprintf("kinds %#x", uint8(k))
}

// Graph is a directed graph in compressed rows: 5 bytes an edge, 4 a node. Parallel
// edges are allowed, loops are left out.
type Graph struct {
	off  []uint32
	to   []int32
	kind []Kinds
}

// Build makes a graph of n nodes. It calls emit twice, to count and to fill;
// emit must give the same edges both times.
func Build(n int, emit func(edge func(from, to int32, k Kinds))) *Graph {
	g := &Graph{off: make([]uint32, n+1)}
	emit(func(from, to int32, _ Kinds) {
		if from != to {
			g.off[from]++
		}
	})
	sum := uint32(0)
	for i, d := range g.off {
		g.off[i] = sum
		sum += d
	}
	g.to = make([]int32, sum)
	g.kind = make([]Kinds, sum)
	// off[i] moves to the end of row i, which is the start of row i+1; shifted
	// back afterwards instead of kept in a second array.
	emit(func(from, to int32, k Kinds) {
		if from != to {
			g.to[g.off[from]], g.kind[g.off[from]] = to, k
			g.off[from]++
		}
	})
	copy(g.off[1:], g.off[:n])
	g.off[0] = 0
	return g
}

// Nodes and Edges are the numbers of them.
func (g *Graph) Nodes() int { return len(g.off) - 1 }
func (g *Graph) Edges() int { return len(g.to) }

// Out returns the edges that leave a node, not to be changed.
func (g *Graph) Out(v int32) ([]int32, []Kinds) {
	a, b := g.off[v], g.off[v+1]
	return g.to[a:b], g.kind[a:b]
}

// Components returns the strongly connected components of two nodes and more
// over edges of the given kinds (Tarjan, 1972, without recursion): O(nodes +
// edges) time, 12 bytes a node. Nodes of a component are in no order.
func (g *Graph) Components(kinds Kinds) [][]int32 {
	n := int32(g.Nodes())
	// low is 0 for nodes not met, its low link while on the stack, done after.
	const done = 1<<31 - 1
	low := make([]int32, n)
	next := make([]uint32, n)
	// index holds, beside call, the number that a node got when it was met.
	var stack, call, index []int32
	var out [][]int32
	count := int32(0)
	for root := range n {
		if low[root] != 0 {
			continue
		}
		call = append(call[:0], root)
		count++
		low[root], next[root] = count, g.off[root]
		stack = append(stack, root)
		index = append(index[:0], count)
	walk:
		for len(call) > 0 {
			v := call[len(call)-1]
			for i, end := next[v], g.off[v+1]; i < end; i++ {
				if g.kind[i]&kinds == 0 && g.kind[i] != own {
					continue
				}
				w := g.to[i]
				if low[w] == 0 {
					next[v] = i + 1
					count++
					low[w], next[w] = count, g.off[w]
					call, index, stack = append(call, w), append(index, count), append(stack, w)
					continue walk
				}
				if low[w] < low[v] {
					low[v] = low[w]
				}
			}
			own := index[len(index)-1]
			call, index = call[:len(call)-1], index[:len(index)-1]
			if low[v] < own {
				if p := call[len(call)-1]; low[v] < low[p] {
					low[p] = low[v]
				}
				continue
			}
			at := len(stack) - 1
			for stack[at] != v {
				low[stack[at]] = done
				at--
			}
			low[v] = done
			if at < len(stack)-1 {
				out = append(out, append([]int32(nil), stack[at:]...))
			}
			stack = stack[:at]
		}
	}
	return out
}

// Sub returns the graph of some nodes and the edges of the given kinds between
// them; node i of it is nodes[i].
func (g *Graph) Sub(nodes []int32, kinds Kinds) *Graph {
	at := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		at[v] = int32(i)
	}
	return Build(len(nodes), func(edge func(int32, int32, Kinds)) {
		for i, v := range nodes {
			to, kind := g.Out(v)
			for j, w := range to {
				if kind[j]&kinds != 0 || kind[j] == own {
					if x, ok := at[w]; ok {
						edge(int32(i), x, kind[j])
					}
				}
			}
		}
	})
}
