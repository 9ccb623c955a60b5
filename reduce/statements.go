package reduce

import (
	"fmt"
	"slices"
)

// candidate is one operation on a draft. id names the operation by what it
// does to which text, so that it can be recognised after other operations have
// moved lines; make returns nil where it does not apply.
type candidate struct {
	arm  arm
	id   string
	make func() *draft
}

// statementCandidates lists the deletions of whole lines, large ones first.
func statementCandidates(d *draft) []candidate {
	var out []candidate
	add := func(a arm, id string, init, steps []int) {
		out = append(out, candidate{a, a.String() + id, func() *draft {
			return d.without(setOf(init), setOf(steps))
		}})
	}
	bySession := map[int][]int{}
	for i, e := range d.steps {
		bySession[e.session] = append(bySession[e.session], i)
	}
	for _, s := range d.sessions() {
		add(armSession, fmt.Sprint(s, len(bySession[s])), nil, bySession[s])
	}
	all := spans(d.steps)
	for k := len(all) - 1; k >= 0; k-- {
		s := all[k]
		add(armTransaction, d.linesID(s.lines), nil, s.lines)
		if pair := ends(s); len(pair) > 0 {
			add(armPair, d.linesID(s.lines), nil, pair)
		}
	}
	for _, t := range d.tables().order {
		init, steps := d.linesOf(t.name)
		add(armTable, " "+t.name, init, steps)
	}
	chunks(len(d.steps), func(from, to int) {
		lines := count(from, to)
		add(armRun, d.linesID(lines), nil, lines)
	})
	for _, s := range d.sessions() {
		chunks(len(bySession[s]), func(from, to int) {
			lines := bySession[s][from:to]
			add(armRun, d.linesID(lines), nil, lines)
		})
	}
	chunks(len(d.init), func(from, to int) {
		add(armSetUp, d.initID(count(from, to)), count(from, to), nil)
	})
	for i := len(d.init) - 1; i >= 0; i-- {
		add(armSetUp, d.initID([]int{i}), []int{i}, nil)
	}
	for i := len(d.steps) - 1; i >= 0; i-- {
		add(d.steps[i].st.deletion, d.linesID([]int{i}), nil, []int{i})
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

func (d *draft) linesID(lines []int) string {
	id := ""
	for _, i := range lines {
		id += fmt.Sprintf("\n%d %s", d.steps[i].session, d.steps[i].st.text)
	}
	return id
}

func (d *draft) initID(lines []int) string {
	id := ""
	for _, i := range lines {
		id += "\n" + d.init[i].text
	}
	return id
}
