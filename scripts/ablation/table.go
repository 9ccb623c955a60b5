package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// least is the factor below which a difference counts as not shown: seeds are
// few and the machine is shared.
const least = 2

// The lines between which the table stands in its file.
const tableBegin, tableEnd = "<!-- begin of what `ablation table` writes -->\n", "<!-- end -->\n"

// intoFile replaces what stands between the lines of a file.
func intoFile(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, ok := strings.Cut(string(old), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return errors.New("write the table: " + path + " has no place for it")
	}
	return writeFile(path, before+tableBegin+text+tableEnd+after)
}

// group is the cells of one arm on one target.
type group struct {
	arm   string
	cells []cell
}

// part is what has tables of its own: a target, and a later measurement on it.
type part struct{ target, later string }

func (p part) String() string {
	if p.later == "" {
		return p.target
	}
	return p.target + ", " + p.later
}

// groups returns the arms of a part, in the order of the table.
func groups(cells []cell, p part) []group {
	var out []group
	for _, arm := range arms {
		g := group{arm: arm}
		for _, c := range cells {
			if c.Target == p.target && c.Later == p.later && c.Arm == arm {
				g.cells = append(g.cells, c)
			}
		}
		if len(g.cells) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// partsOf are those of the cells, the embedded target first, and later
// measurements behind the first one.
func partsOf(cells []cell) []part {
	seen := map[part]bool{}
	for _, c := range cells {
		seen[part{c.Target, c.Later}] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b part) int {
		if (a.target != target.Default) != (b.target != target.Default) {
			if a.target == target.Default {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.target, b.target), strings.Compare(a.later, b.later))
	})
}

func (g *group) values(of func(*cell) float64) []float64 {
	var out []float64
	for i := range g.cells {
		out = append(out, of(&g.cells[i]))
	}
	slices.Sort(out)
	return out
}

// median of sorted values: with an even number, the lower of the two.
func median(sorted []float64) float64 { return sorted[(len(sorted)-1)/2] }

// span writes the median, and the lowest and highest.
func span(sorted []float64, format string) string {
	text := fmt.Sprintf(format, median(sorted))
	if len(sorted) > 1 {
		text += fmt.Sprintf(" ("+format+"–"+format+")", sorted[0], sorted[len(sorted)-1])
	}
	return text
}

func behaviours(c *cell) float64 { return float64(c.Behaviours) }
func deviations(c *cell) float64 { return float64(len(c.Deviations) + len(c.Violations)) }
func rate(c *cell) float64       { return float64(c.Cases) / float64(c.Seconds) }
func lines(c *cell) float64      { return 100 * float64(c.Covered) / float64(max(c.Statements, 1)) }

// table writes what was measured as Markdown.
func table(cells []cell) string {
	var b strings.Builder
	for _, p := range partsOf(cells) {
		list := groups(cells, p)
		longest := 0
		for _, g := range list {
			for _, c := range g.cells {
				longest = max(longest, c.Seconds)
			}
		}
		fmt.Fprintf(&b, "\n### %s, %d s a seed\n\n", p, longest)
		i := slices.IndexFunc(list, func(g group) bool { return g.arm == armRandom })
		goal := 0
		if i >= 0 {
			goal = list[i].goal()
		}
		fmt.Fprintf(&b, "| arm | seeds | cases a second | behaviours | against random | cases until %d behaviours | line coverage, %% | deviations |\n", goal)
		b.WriteString("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n")
		for _, g := range list {
			coverage := "–"
			if v := slices.DeleteFunc(g.values(lines), func(v float64) bool { return v == 0 }); len(v) > 0 {
				coverage = span(v, "%.1f")
			}
			if g.arm == startAlone {
				fmt.Fprintf(&b, "| %s | %d | – | – | – | – | %s | – |\n", g.arm, len(g.cells), coverage)
				continue
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", g.arm, len(g.cells),
				span(g.values(rate), "%.0f"), span(g.values(behaviours), "%.0f"), against(&g, list, i), g.until(goal), coverage, span(g.values(deviations), "%.0f"))
		}
		b.WriteString("\n" + times(list))
	}
	return b.String() + "\n"
}

// against compares the behaviours of an arm with those of random inputs.
func against(g *group, list []group, random int) string {
	if random < 0 || g.arm == armRandom {
		return "–"
	}
	f := median(g.values(behaviours)) / median(list[random].values(behaviours))
	if f < least && f > 1.0/least {
		return fmt.Sprintf("× %.2f, not shown", f)
	}
	return fmt.Sprintf("× %.2f", f)
}

// goal is the number of behaviours that most seeds of random inputs come to, at
// the last point of ByCases; 0: no cell has that.
func (g *group) goal() int {
	var ends []float64
	for _, c := range g.cells {
		if n := len(c.ByCases); n > 0 {
			ends = append(ends, float64(c.ByCases[n-1]))
		}
	}
	if len(ends) == 0 {
		return 0
	}
	slices.Sort(ends)
	return int(median(ends))
}

// until writes after how many cases an arm came to so many behaviours: a measure
// that a busy machine does not change.
func (g *group) until(goal int) string {
	var at []float64
	measured := 0
	for _, c := range g.cells {
		if len(c.ByCases) == 0 {
			continue
		}
		measured++
		if i := slices.IndexFunc(c.ByCases, func(n int) bool { return n >= goal }); i >= 0 {
			at = append(at, float64((i+1)*caseStep))
		}
	}
	slices.Sort(at)
	switch {
	case measured == 0 || goal == 0:
		return "–"
	case len(at) == 0:
		return fmt.Sprintf("not in %d of %d", measured, measured)
	case len(at) < measured:
		return fmt.Sprintf("%s, not in %d of %d", span(at, "%.0f"), measured-len(at), measured)
	}
	return span(at, "%.0f")
}

// times writes when each arm saw each deviation first.
func times(list []group) string {
	names := map[string]bool{}
	var head, rule, body strings.Builder
	head.WriteString("| seconds to the first |")
	rule.WriteString("| --- |")
	for _, g := range list {
		if g.arm == startAlone {
			continue
		}
		head.WriteString(" " + g.arm + " |")
		rule.WriteString(" ---: |")
		for i := range g.cells {
			for name := range g.cells[i].found() {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		body.WriteString("| `" + name + "` |")
		for _, g := range list {
			if g.arm == startAlone {
				continue
			}
			var at []float64
			for i := range g.cells {
				if s, ok := g.cells[i].found()[name]; ok {
					at = append(at, s)
				}
			}
			slices.Sort(at)
			switch {
			case len(at) == 0:
				body.WriteString(" – |")
			case len(at) < len(g.cells):
				fmt.Fprintf(&body, " %.0f (%d of %d) |", median(at), len(at), len(g.cells))
			default:
				fmt.Fprintf(&body, " %.0f |", median(at))
			}
		}
		body.WriteString("\n")
	}
	return head.String() + "\n" + rule.String() + "\n" + body.String()
}

// found joins deviations and violations.
func (c *cell) found() map[string]float64 {
	out := maps.Clone(c.Deviations)
	for kind, s := range c.Violations {
		out["violation: "+kind] = s
	}
	return out
}
