package pattern

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// cycles enumerates the patterns of n transactions on n items in which each item is
// touched by two neighbours of one cycle, and nothing else happens: every choice of
// edges, every order of the operations, each commit directly behind the transaction's
// last operation or at the end. With two transactions there are no other places for
// commits, since each has one of the last two operations.
func cycles(f Family, n int) []Pattern {
	var out []Pattern
	for _, kinds := range necklaces(n) {
		byName := map[string][]Op{}
		for _, ops := range orders(edgesOf(kinds)) {
			for late := range 1 << n {
				done := canonical(withCommits(ops, late))
				byName[text(done)] = done
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			out = append(out, Pattern{Family: f, Kind: kindName(kinds), Ops: byName[name]})
		}
	}
	return out
}

// necklaces returns the sequences of n kinds of edges, of those that a rotation turns
// into each other the first: where a cycle begins is a matter of names.
func necklaces(n int) [][]EdgeKind {
	var out [][]EdgeKind
	digits := make([]int, n)
	for {
		if !slices.ContainsFunc(rotations(digits), func(r []int) bool { return slices.Compare(r, digits) < 0 }) {
			kinds := make([]EdgeKind, n)
			for i, d := range digits {
				kinds[i] = edgeKinds[d]
			}
			out = append(out, kinds)
		}
		i := n - 1
		for i >= 0 && digits[i] == len(edgeKinds)-1 {
			digits[i] = 0
			i--
		}
		if i < 0 {
			return out
		}
		digits[i]++
	}
}

func rotations(digits []int) [][]int {
	out := make([][]int, len(digits))
	for i := range digits {
		out[i] = slices.Concat(digits[i:], digits[:i])
	}
	return out
}

func kindName(kinds []EdgeKind) string {
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = string(k)
	}
	return strings.Join(parts, " ")
}

// edgesOf returns the operations of a cycle, two for each edge: edge i leads on item i
// from transaction i to the next one.
func edgesOf(kinds []EdgeKind) [][2]Op {
	out := make([][2]Op, len(kinds))
	for i, k := range kinds {
		item := byte('x' + i)
		from, to := i+1, (i+1)%len(kinds)+1
		out[i] = [2]Op{{Action(k[0]), from, item}, {Action(k[1]), to, item}}
	}
	return out
}

// orders returns every order in which the first operation of each edge comes before
// its second.
func orders(edges [][2]Op) [][]Op {
	var out [][]Op
	done := make([]int, len(edges)) // operations of each edge
	var next func(ops []Op)
	next = func(ops []Op) {
		if len(ops) == 2*len(edges) {
			out = append(out, ops)
			return
		}
		for i := range edges {
			if done[i] < 2 {
				done[i]++
				next(append(slices.Clip(ops), edges[i][done[i]-1]))
				done[i]--
			}
		}
	}
	next(nil)
	return out
}

// withCommits adds the commits: at the end those of the transactions whose bit is set.
func withCommits(ops []Op, late int) []Op {
	var out, end []Op
	for i, o := range ops {
		out = append(out, o)
		if slices.ContainsFunc(ops[i+1:], func(later Op) bool { return later.Txn == o.Txn }) {
			continue
		}
		c := Op{Do: Commit, Txn: o.Txn}
		if late>>(o.Txn-1)&1 == 1 {
			end = append(end, c)
		} else {
			out = append(out, c)
		}
	}
	return append(out, end...)
}

// canonical numbers transactions and items in the order in which they appear, and
// sorts the commits behind the last operation, whose order decides nothing.
func canonical(ops []Op) []Op {
	txns, items := map[int]int{}, map[byte]byte{0: 0}
	out := make([]Op, len(ops))
	for i, o := range ops {
		if txns[o.Txn] == 0 {
			txns[o.Txn] = len(txns) + 1
		}
		if _, ok := items[o.Item]; !ok {
			items[o.Item] = byte('x' + len(items) - 1)
		}
		out[i] = Op{o.Do, txns[o.Txn], items[o.Item]}
	}
	last := len(out)
	for last > 0 && out[last-1].Do == Commit {
		last--
	}
	slices.SortFunc(out[last:], func(a, b Op) int { return cmp.Compare(a.Txn, b.Txn) })
	return out
}
