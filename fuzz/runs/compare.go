package runs

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// group is the runs that are compared with each other, the oldest first.
type group struct {
	Key  string
	Runs []*Run
}

// groups sorts the runs by target; of targets the one that ran last comes first.
func (s *Set) groups() []*group {
	at := map[string]*group{}
	var out []*group
	for i := range s.Runs {
		r := &s.Runs[i]
		g := at[r.Key()]
		if g == nil {
			g = &group{Key: r.Key()}
			at[g.Key], out = g, append(out, g)
		}
		g.Runs = append(g.Runs, r)
	}
	slices.SortStableFunc(out, func(a, b *group) int { return b.last().Begun.Compare(a.last().Begun) })
	return out
}

func (g *group) last() *Run { return g.Runs[len(g.Runs)-1] }

// ran returns the runs that ran a case: what a run whose server did not start lacks tells nothing.
func (g *group) ran() []*Run {
	return slices.DeleteFunc(slices.Clone(g.Runs), func(r *Run) bool { return r.Cases == 0 })
}

// seen returns the fingerprints of a run: of its findings, and of the cases that a baseline kept from being some.
func (r *Run) seen() map[string]bool {
	out := map[string]bool{}
	for i := range r.Findings {
		out[r.Findings[i].Fingerprint] = true
	}
	for _, l := range r.ByLevel {
		for f := range l.Violations {
			out[f] = true
		}
	}
	if r.Baseline != nil {
		for f := range r.Baseline.Covered {
			out[f] = true
		}
		for _, e := range r.Baseline.Entries {
			if e.Cases > 0 {
				out[e.Fingerprint] = true
			}
		}
	}
	return out
}

// news is what a run has that no earlier one had, and what it lacks that the one before had.
type news struct {
	Found []*found
	// Deviations are rules that no earlier run met.
	Deviations []string
	Gone       []*found
}

// found is what the runs of a group tell of a fingerprint.
type found struct {
	// Anchor is empty of one that the page leaves out.
	Anchor string
	// Newest is as the newest run tells it that has it.
	Newest *findings.Finding
	// First and Last are the first and the newest run that have it; Runs counts them, Cases those that showed it.
	First, Last *Run
	Runs, Cases int
	New         bool
	// File is where its case lies, or "".
	File string
	// first and last are the places of First and Last among the runs.
	first, last int
}

// foundIn sums the findings of a group up, those of the newest runs first.
func (g *group) foundIn(s *Set) []*found {
	at := map[string]*found{}
	var out []*found
	for n, r := range g.Runs {
		for i := range r.Findings {
			f := &r.Findings[i]
			x := at[f.Fingerprint]
			if x == nil {
				x = &found{First: r, first: n}
				at[f.Fingerprint], out = x, append(out, x)
			}
			x.Newest, x.Cases = f, x.Cases+f.Seen
			if x.Last != r {
				x.Last, x.last, x.Runs = r, n, x.Runs+1
			}
			if file := s.caseOf(r, f.File); file != "" {
				x.File = file
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *found) int {
		return cmp.Or(b.last-a.last, b.first-a.first, cmp.Compare(b.Cases, a.Cases),
			strings.Compare(a.Newest.Fingerprint, b.Newest.Fingerprint))
	})
	return out
}

// news compares the newest run that ran a case with those before. ok is false if there is none before.
func (g *group) news(all []*found) (n news, ok bool) {
	ran := g.ran()
	if len(ran) < 2 {
		return n, false
	}
	newest, previous := ran[len(ran)-1], ran[len(ran)-2]
	before, rules := map[string]bool{}, map[string]bool{}
	for _, r := range ran[:len(ran)-1] {
		maps.Copy(before, r.seen())
		for rule := range r.Known {
			rules[rule] = true
		}
	}
	now, justBefore := newest.seen(), previous.seen()
	for _, x := range all {
		switch f := x.Newest.Fingerprint; {
		case x.Last == newest && !before[f]:
			x.New = true
			n.Found = append(n.Found, x)
		case justBefore[f] && !now[f]:
			n.Gone = append(n.Gone, x)
		}
	}
	for rule := range newest.Known {
		if !rules[rule] {
			n.Deviations = append(n.Deviations, rule)
		}
	}
	slices.Sort(n.Deviations)
	return n, true
}

// The rows of a table of kinds, in this order.
const (
	rowCases     = "cases"
	rowViolation = "violation"
	rowKnown     = "known deviation"
)

// kinds is a table of a group: what of which kind was seen at which level.
type kinds struct {
	Levels []string
	Rows   []kindRow
}

type kindRow struct {
	// Sort is one of rowCases and so on, Kind that of a violation, or the rule of a known deviation.
	Sort, Kind string
	Cells      []kindCell // by level, and then all levels
}

// kindCell counts cases, of the last run that ran one and of all.
type kindCell struct {
	Last, Total int
	// Anchor is that of a finding of this kind at this level, or "".
	Anchor string
}

// kindsOf makes the table; it has no rows if no run tells its counts by level.
func (g *group) kindsOf(all []*found) kinds {
	type at struct{ sort, kind, level string }
	totals, lasts := map[at]int{}, map[at]int{}
	levels := map[string]bool{}
	kindOf := map[string]string{}
	for _, x := range all {
		kindOf[x.Newest.Fingerprint] = string(x.Newest.Kind)
	}
	var newest *Run // that ran a case
	if ran := g.ran(); len(ran) > 0 {
		newest = ran[len(ran)-1]
	}
	for _, r := range g.Runs {
		count := func(sort, kind, level string, n int) {
			totals[at{sort, kind, level}] += n
			if r == newest {
				lasts[at{sort, kind, level}] += n
			}
		}
		for level, l := range r.ByLevel {
			levels[level] = true
			count(rowCases, "", level, l.Cases)
			for print, n := range l.Violations {
				first, _, _ := strings.Cut(print, "/")
				count(rowViolation, cmp.Or(kindOf[print], first), level, n)
			}
			for rule, n := range l.Known {
				count(rowKnown, rule, level, n)
			}
		}
	}
	out := kinds{Levels: slices.SortedFunc(maps.Keys(levels), byStrength)}
	rows := map[string]map[string]bool{rowCases: {}, rowViolation: {}, rowKnown: {}}
	for k := range totals {
		rows[k.sort][k.kind] = true
	}
	for _, sort := range []string{rowCases, rowViolation, rowKnown} {
		for _, kind := range slices.Sorted(maps.Keys(rows[sort])) {
			to, sum := kindRow{Sort: sort, Kind: kind}, kindCell{}
			for _, level := range out.Levels {
				k := at{sort, kind, level}
				c := kindCell{Last: lasts[k], Total: totals[k], Anchor: anchorOf(all, sort, kind, level)}
				sum.Last, sum.Total = sum.Last+c.Last, sum.Total+c.Total
				to.Cells = append(to.Cells, c)
			}
			to.Cells = append(to.Cells, sum)
			out.Rows = append(out.Rows, to)
		}
	}
	return out
}

// byStrength compares the names of levels: the weakest first, and behind them cases of several levels.
func byStrength(a, b string) int {
	rank := func(name string) int {
		l, err := corpus.ParseLevel(name)
		if err != nil {
			return len(corpus.Levels)
		}
		return slices.Index(corpus.Levels, l)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// anchorOf is that of the first finding of a kind at a level.
func anchorOf(all []*found, sort, kind, level string) string {
	for _, x := range all {
		f := x.Newest
		at := f.Level
		if strings.Contains(at, "=") {
			at = campaign.LevelsMixed
		}
		violation := sort == rowViolation && f.Verdict == oracle.Violation && string(f.Kind) == kind
		if at == level && (violation || sort == rowKnown && slices.Contains(f.Rules, kind)) {
			return x.Anchor
		}
	}
	return ""
}
