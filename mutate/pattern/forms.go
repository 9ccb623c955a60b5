package pattern

import (
	"slices"
	"strings"
)

// forms are the patterns that are no cycles over several rows. A star stands for each
// way in which a write changes what a condition chooses.
var forms = []struct {
	family Family
	kind   string
	ops    []string
}{
	{OneItem, "dirty write", []string{"w1x w2x c1 c2", "w1x w2x w1x c1 c2", "w1x w2x c2 w1x c1"}},
	{OneItem, "own write overwritten", []string{"w1x w2x r1x c1 c2", "w1x w2x c2 r1x c1"}},
	{OneItem, "dirty read", []string{"w1x r2x c1 c2"}},
	{OneItem, "intermediate read", []string{"w1x r2x w1x c1 c2", "w1x r2x c2 w1x c1"}},
	{OneItem, "non-repeatable read", []string{"r1x w2x r1x c1 c2", "r1x w2x c2 r1x c1"}},
	// With one read, and with two as in a read-modify-write.
	{OneItem, "lost update", []string{
		"r1x w2x w1x c1 c2", "r1x w2x c2 w1x c1",
		"r1x r2x w1x w2x c1 c2", "r1x r2x w1x c1 w2x c2",
		"r1x r2x w2x w1x c1 c2", "r1x r2x w2x c2 w1x c1",
	}},

	{Aborts, "aborted read", []string{"w1x r2x a1 c2", "w1x r2x c2 a1", "w1x r2x a1 r2x c2", "w1x r2x w2y c2 a1"}},
	{Aborts, "dirty write, one rolled back", []string{"w1x w2x a1 c2", "w1x w2x c2 a1", "w1x w2x a2 c1", "w1x w2x c1 a2"}},

	{Conditions, "aborted read by a condition", []string{"*1p r2p a1 c2"}},
	{Conditions, "phantom", []string{"r1p *2p r1p c1 c2", "r1p *2p c2 r1p c1"}},
	{Conditions, "read skew, condition first", []string{"r1p *2p w2x c2 r1x c1"}},
	{Conditions, "read skew, condition last", []string{"r1x w2x *2p c2 r1p c1"}},
	{Conditions, "phantom met by an UPDATE", []string{"r1p *2p c2 u1p c1"}},
	{Conditions, "write skew with a condition", []string{"r1p r2p *1p *2p c1 c2", "r1p r2p *1p c1 *2p c2"}},
}

// crossings are the writes that change what a condition chooses.
var crossings = []Action{Insert, Delete, Enter, Leave, MoveIn, MoveOut}

func formsOf(f Family) []Pattern {
	var out []Pattern
	for _, form := range forms {
		if form.family != f {
			continue
		}
		for _, ops := range form.ops {
			if !strings.Contains(ops, "*") {
				out = append(out, Pattern{f, form.kind, parse(ops)})
				continue
			}
			for _, do := range crossings {
				out = append(out, Pattern{f, form.kind, parse(strings.ReplaceAll(ops, "*", string(do)))})
			}
		}
	}
	return out
}

// parse reads what text writes.
func parse(s string) []Op {
	var out []Op
	for _, w := range strings.Fields(s) {
		o := Op{Do: Action(w[0]), Txn: int(w[1] - '0')}
		if len(w) > 2 {
			o.Item = w[2]
		}
		out = append(out, o)
	}
	return out
}

// overKey says that the condition is one on the key, since some operation changes that.
func (p *Pattern) overKey() bool {
	return slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Do == MoveIn || o.Do == MoveOut })
}
