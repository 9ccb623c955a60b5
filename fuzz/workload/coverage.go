package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// count adds a concurrent run to how often each statement ran. It needs the lock.
func (c *campaign) count(in *mutate.Input, o *Outcome) {
	for i := range o.Calls {
		name := in.Calls[i].Transaction.Name
		c.calls[name]++
		seen := map[workload.Place]bool{}
		for _, s := range o.Calls[i].steps {
			if !seen[s.at] {
				seen[s.at] = true
				c.ran[s.at]++
			}
		}
	}
}

// rarely is the share of a transaction's calls below which a statement of it counts as
// hardly run.
const rarely = 0.01

// listHardlyRun lists the statements that no call came to, or hardly one: what depends on
// them was not tested, whatever the table says.
func (c *campaign) listHardlyRun() {
	for _, t := range c.taking() {
		calls := c.calls[t.Name]
		if t.Code != nil || calls == 0 {
			continue
		}
		workload.Walk(t.Body, func(n *workload.Node) {
			if k := c.ran[n.Place]; n.Kind == workload.Run && float64(k) < rarely*float64(calls) {
				c.report.HardlyRun = append(c.report.HardlyRun, fmt.Sprintf("line %d, %s: %s (in %d of %s)", n.Place.Line, t.Name, oneLine(n.String()), k, spelling.Count(calls, "call")))
			}
		})
	}
}

// listApart lists the pairs of transactions of which neither touches what the other writes.
func (c *campaign) listApart() {
	taking, sets := c.taking(), mutate.Sets(c.w, 2)
	for i, a := range taking {
		for _, b := range taking[i+1:] {
			if !slices.ContainsFunc(sets, func(s []*workload.Transaction) bool {
				return s[0] == a && s[1] == b || s[0] == b && s[1] == a
			}) {
				c.report.Apart = append(c.report.Apart, []string{a.Name, b.Name})
			}
		}
	}
}

// CoverageText says what the runs did not reach, in lines.
func (r *Report) CoverageText() []string {
	var out []string
	if len(r.Apart) > 0 {
		var names []string
		for _, set := range r.Apart[:min(len(r.Apart), namedUnrun)] {
			names = append(names, strings.Join(set, " × "))
		}
		if n := len(r.Apart) - len(names); n > 0 {
			names = append(names, fmt.Sprintf("and %d more", n))
		}
		out = append(out, "not in the table, as neither touches what the other writes: "+strings.Join(names, ", "))
	}
	if s := r.NotRunText(); s != "" {
		out = append(out, s)
	}
	if len(r.HardlyRun) > 0 {
		out = append(out, "hardly or never run, so that nothing is known of what depends on it:")
		for _, s := range r.HardlyRun {
			out = append(out, "  "+s)
		}
	}
	return out
}
