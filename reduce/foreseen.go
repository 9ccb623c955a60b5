package reduce

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/foresight"
)

// guess asks for what is foreseen of a draft, once for each best case.
func (r *reducer) guess(d *draft) foresight.Guess {
	if r.o.Foresee == nil || r.o.Strategy == DeltaDebug {
		return foresight.Open
	}
	g, ok := r.guesses[d.text()]
	if !ok {
		if r.guesses == nil {
			r.guesses = map[string]foresight.Guess{}
		}
		g = r.o.Foresee(d.build(r.header))
		r.guesses[d.text()] = g
	}
	return g
}

// foreseen deletes lines as long as the bug is predicted to show without them, and
// offers what is left. In case the prediction is wrong, it also offers what was left
// halfway, and so on. It takes about two predictions a line.
func (r *reducer) foreseen() []candidate {
	path := []*draft{r.best}
	try := func(d *draft) bool {
		if d == nil || !d.within(r.allowed) || r.tried[d.text()] || r.guess(d) != foresight.Shows {
			return false
		}
		path = append(path, d)
		return true
	}
	for again := true; again; {
		again = false
		now := path[len(path)-1]
		n := len(now.steps)
		for size := max(n/2, 1); ; size /= 2 {
			for to := len(now.steps); to > 0; to -= size {
				if d := now.without(nil, setOf(count(max(to-size, 0), to))); try(d) {
					now, again = d, true
					to = min(to, len(now.steps)+size)
				}
			}
			if size == 1 {
				break
			}
		}
		for i := len(now.init) - 1; i >= 0; i-- {
			if d := now.without(setOf([]int{i}), nil); try(d) {
				now, again = d, true
			}
		}
		all := spans(now.steps)
		for k := len(all) - 1; k >= 0; k-- {
			if d := now.without(nil, setOf(ends(all[k]))); try(d) || slices.ContainsFunc(now.lone(all[k]), try) ||
				now.isLast(all[k]) && try(now.openEnd(all[k])) {
				again = true
				break
			}
		}
	}
	var out []candidate
	for k := len(path) - 1; k > 0; k /= 2 {
		d := path[k]
		out = append(out, candidate{armForeseen, armForeseen.String() + d.text(), func() *draft { return d }})
	}
	return out
}
