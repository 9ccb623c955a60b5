package reduce

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// moveCandidates lists the moves of a block of one session's neighbouring steps
// past steps of others that bring the order nearer to a serial one. Swapping
// two neighbours is the smallest of them. Costs n³ for n steps.
func moveCandidates(d *draft) []candidate {
	switches, spread := interleaving(d.steps)
	if switches == 0 {
		return nil
	}
	var out []candidate
	try := func(from, to, at int) {
		moved := move(d.steps, from, to, at)
		s, p := interleaving(moved)
		if s > switches || s == switches && p >= spread {
			return
		}
		id := fmt.Sprintf("%v%s\n>%d", armMove, d.lineNames(nil, count(from, to)), at-from)
		out = append(out, candidate{armMove, id, func() *draft { return d.with(d.init, moved) }})
	}
	for from := 0; from < len(d.steps); {
		s := d.steps[from].session
		to := from
		for to < len(d.steps) && d.steps[to].session == s {
			to++
		}
		for at := to + 1; at <= len(d.steps) && d.steps[at-1].session != s; at++ {
			for k := from; k < to; k++ {
				try(k, to, at)
			}
		}
		for at := from - 1; at >= 0 && d.steps[at].session != s; at-- {
			for k := to; k > from; k-- {
				try(from, k, at)
			}
		}
		from = to
	}
	// The best order first: with it, most others need no attempt.
	slices.SortStableFunc(out, func(a, b candidate) int {
		return a.make().measure().Compare(b.make().measure())
	})
	return out
}

// move puts steps[from:to] before the step that is now at index at.
func move(steps []entry, from, to, at int) []entry {
	out := make([]entry, 0, len(steps))
	block := steps[from:to]
	for i := 0; i <= len(steps); i++ {
		if i == at {
			out = append(out, block...)
		}
		if i < len(steps) && (i < from || i >= to) {
			out = append(out, steps[i])
		}
	}
	return out
}

// levelCandidates lists the levels that all sessions could have instead of
// mixed ones.
func levelCandidates(d *draft) []candidate {
	all := d.distinctLevels()
	if len(all) < 2 {
		return nil
	}
	var out []candidate
	set := func(sessions []int, l corpus.Level) {
		out = append(out, candidate{armLevel, fmt.Sprint(armLevel, sessions, l), func() *draft {
			levels := map[int]corpus.Level{}
			for s, old := range d.levels {
				levels[s] = old
			}
			for _, s := range sessions {
				levels[s] = l
			}
			next := &draft{lib: d.lib, levels: levels, init: d.init, steps: d.steps}
			return next.finish()
		}})
	}
	for _, l := range all {
		set(d.sessions(), l)
	}
	for _, s := range d.sessions() {
		for _, l := range all {
			if d.levels[s] != l {
				set([]int{s}, l)
			}
		}
	}
	return out
}
