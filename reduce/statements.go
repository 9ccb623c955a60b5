package reduce

import (
	"slices"
	"strconv"
	"strings"
)

// statementCandidates lists the deletions of whole lines, large ones first.
func statementCandidates(d *draft) []candidate {
	var out []candidate
	named := func(a arm, id string, init, steps []int) {
		out = append(out, candidate{a, id, func() *draft {
			return d.without(setOf(init), setOf(steps))
		}})
	}
	add := func(a arm, init, steps []int) {
		// Named by the lines alone: what failed as a run need not be asked
		// again as a transaction.
		named(a, d.lineNames(init, steps), init, steps)
	}
	bySession := map[int][]int{}
	for i, e := range d.steps {
		bySession[e.session] = append(bySession[e.session], i)
	}
	for _, s := range d.sessions() {
		add(armSession, nil, bySession[s])
	}
	all := spans(d.steps)
	for k := len(all) - 1; k >= 0; k-- {
		s := all[k]
		add(armTransaction, nil, s.lines)
		if pair := ends(s); len(pair) > 0 {
			named(armPair, armPair.String()+d.lineNames(nil, s.lines), nil, pair)
		}
		for _, alone := range d.lone(s) {
			out = append(out, candidate{armLone, armLone.String() + alone.text(), func() *draft { return alone }})
		}
		if d.isLast(s) {
			out = append(out, candidate{armOpenEnd, armOpenEnd.String() + d.lineNames(nil, s.lines), func() *draft { return d.openEnd(s) }})
		}
	}
	if tables := d.tables().order; len(tables) > 1 {
		for _, t := range tables {
			init, steps := d.linesOf(t.name)
			add(armTable, init, steps)
		}
	}
	chunks(len(d.steps), func(from, to int) {
		add(armRun, nil, count(from, to))
	})
	for _, s := range d.sessions() {
		chunks(len(bySession[s]), func(from, to int) {
			add(armRun, nil, bySession[s][from:to])
		})
	}
	chunks(len(d.init), func(from, to int) {
		add(armRun, count(from, to), nil)
	})
	for i := len(d.init) - 1; i >= 0; i-- {
		add(armSetUp, []int{i}, nil)
	}
	for i := len(d.steps) - 1; i >= 0; i-- {
		add(d.steps[i].st.deletion, nil, []int{i})
	}
	return out
}

// ends returns the lines that begin and end a transaction.
func ends(s span) []int {
	if s.end < 0 {
		return []int{s.begin}
	}
	return []int{s.begin, s.end}
}

// chunks calls f with the halves, quarters and so on of n lines, down to pairs:
// log2(n) sweeps, fewer than n calls in all.
func chunks(n int, f func(from, to int)) {
	for size := (n + 1) / 2; size >= 2; size = (size + 1) / 2 {
		for from := (n - 1) / size * size; from >= 0; from -= size {
			if to := min(from+size, n); to-from >= 2 {
				f(from, to)
			}
		}
		if size == 2 {
			return
		}
	}
}

func count(from, to int) []int {
	out := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

func setOf(list []int) map[int]bool {
	out := make(map[int]bool, len(list))
	for _, i := range list {
		out[i] = true
	}
	return out
}

// linesOf returns the lines that use a table.
func (d *draft) linesOf(table string) (init, steps []int) {
	for i, st := range d.init {
		if slices.Contains(st.tables, table) {
			init = append(init, i)
		}
	}
	for i, e := range d.steps {
		if slices.Contains(e.st.tables, table) {
			steps = append(steps, i)
		}
	}
	return init, steps
}

// lineNames joins the texts of lines.
func (d *draft) lineNames(init, steps []int) string {
	var b strings.Builder
	for _, i := range init {
		b.WriteString("\n0 " + d.init[i].text)
	}
	for _, i := range steps {
		b.WriteString("\n" + strconv.Itoa(d.steps[i].session) + " " + d.steps[i].st.text)
	}
	return b.String()
}
