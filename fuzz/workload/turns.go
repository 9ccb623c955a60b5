package workload

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ring gives sets of transactions their turns.
type ring struct {
	sets [][]*workload.Transaction
	n    int // turns so far
}

// next returns the set whose turn it is, and how many it had before.
func (r *ring) next() (set []*workload.Transaction, before int) {
	set, before = r.sets[r.n%len(r.sets)], r.n/len(r.sets)
	r.n++
	return set, before
}

// turn is what is run of one state.
type turn struct {
	set    []*workload.Transaction
	levels []corpus.Level
	before int // turns that the set had already
	orders int
}

const (
	// orders is how many orders are run of one input.
	orders = 3
	// often is in how many runs each anomaly is seen at a level before the set gets fewer
	// turns there, and every how manieth it keeps.
	often, kept = 5, 2
)

// addSets finds the sets of transactions that take part.
func (c *campaign) addSets() {
	for size := c.Min; size <= c.Max; size++ {
		for _, set := range mutate.Sets(c.w, size) {
			if len(c.Only) > 0 && slices.ContainsFunc(set, func(t *workload.Transaction) bool { return !slices.Contains(c.Only, t.Name) }) {
				continue
			}
			r := &c.larger
			if size == c.Min {
				r = &c.smallest
			}
			r.sets = append(r.sets, set)
		}
	}
}

// firstWins reports whether a server refuses the second of two writers of a row that did
// not see each other.
func firstWins(server history.Server) bool {
	return server.DBMS == history.MariaDB && strings.EqualFold(server.Settings["innodb_snapshot_isolation"], "ON")
}

// addDangerous chooses those of the larger sets that look dangerous on a server.
func (c *campaign) addDangerous(firstWins bool) {
	for _, set := range slices.Concat(c.smallest.sets, c.larger.sets) {
		if len(set) > 2 && mutate.Dangerous(c.w, set, firstWins) {
			c.dangerous.sets = append(c.dangerous.sets, set)
		}
	}
}

// turn chooses what the i-th input is for. The smallest sets, of which there are fewer and
// in which most shows, have two of three turns, and all sets of a ring take turns, so that
// each is met soon. Larger sets take longer, as there are more serial orders; of their
// turns every other one is for sets that look dangerous. Of a mended workload half of all
// are: what else showed is mended, and of these few look dangerous with the reads that lock.
func (c *campaign) turn(i int) turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i%6 == 5 || c.mends && i%2 == 1 {
		for range c.dangerous.sets {
			set, before := c.dangerous.next()
			if levels := c.suspect(set); len(levels) > 0 {
				// Three transactions have more orders.
				return turn{set, levels, before, 2 * orders}
			}
		}
	}
	r := &c.smallest
	if i%3 == 2 && len(c.larger.sets) > 0 || len(r.sets) == 0 {
		r = &c.larger
	}
	for {
		set, before := r.next()
		levels := c.Levels
		if before%kept != 0 {
			levels = c.unsettled(set)
		}
		if len(levels) > 0 {
			return turn{set, levels, before, orders}
		}
	}
}

// suspect returns the levels at which a dangerous set is worth more than its turns: no
// part of it shows an anomaly there, and it did not do so often either. What
// SERIALIZABLE allows no set can show.
func (c *campaign) suspect(set []*workload.Transaction) []corpus.Level {
	names := namesOfSet(set)
	return slices.DeleteFunc(slices.Clone(c.Levels), func(l corpus.Level) bool {
		return l == corpus.Serializable || c.seen(names, l) >= often ||
			slices.ContainsFunc(parts(names), func(part []string) bool { return c.seen(part, l) > 0 })
	})
}

// unsettled returns the levels at which neither a set nor a part of it has shown anomalies
// often enough.
func (c *campaign) unsettled(set []*workload.Transaction) []corpus.Level {
	names := namesOfSet(set)
	return slices.DeleteFunc(slices.Clone(c.Levels), func(l corpus.Level) bool {
		return slices.ContainsFunc(append(parts(names), names), func(part []string) bool { return c.seen(part, l) >= often })
	})
}

// seen is in how many runs a set showed the rarest of the anomalies that it shows at a
// level: while one is rare there may be more.
func (c *campaign) seen(names []string, level corpus.Level) int {
	cell := c.cells[c.cellKey(names, level)]
	if cell == nil {
		return 0
	}
	rarest := 0
	for _, n := range cell.Anomalies {
		if rarest == 0 || n < rarest {
			rarest = n
		}
	}
	return rarest
}

func namesOfSet(set []*workload.Transaction) []string {
	out := make([]string, len(set))
	for i, t := range set {
		out[i] = t.Name
	}
	return out
}

// parts returns what is left of a set without some of its members, two at least.
func parts(names []string) [][]string {
	var out [][]string
	if len(names) <= 2 {
		return nil
	}
	for i := range names {
		part := slices.Concat(names[:i], names[i+1:])
		out = append(append(out, part), parts(part)...)
	}
	return out
}
