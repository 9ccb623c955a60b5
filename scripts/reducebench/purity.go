package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// cause names what a finding is a finding of, as far as the oracle knows: the
// rules that explain it, or the kind of an unexplained one.
func (f *finding) cause() string {
	if len(f.Rules) > 0 {
		return strings.Join(f.Rules, "+")
	}
	return "unexplained " + string(f.Kind)
}

// tallyRules counts findings by cause, the most frequent first.
func tallyRules(list []finding) []string {
	count := map[string]int{}
	for i := range list {
		count[list[i].cause()]++
	}
	names := byCount(count)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, count[n])
	}
	return names
}

// byCount returns the keys, those of the largest counts first.
func byCount(count map[string]int) []string {
	var names []string
	for n := range count {
		names = append(names, n)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return names
}

// purity judges the recorded histories anew and tells how well fingerprints
// tell causes apart: once as they are, and once as they would be if no deviation
// had a rule, so that what is grouped and what it is measured by do not come
// from the same source. Findings of several causes belong to none.
func purity(w io.Writer, list []finding) error {
	var named, blind []labelled
	composite, unexplained := 0, 0
	for i := range list {
		f := &list[i]
		if f.History == nil {
			return fmt.Errorf("finding %d has no history; collect with -histories", i+1)
		}
		c, err := f.parse()
		if err != nil {
			return err
		}
		v := oracle.Check(c, f.History)
		cause := strings.Join(v.Rules, "+")
		switch {
		case v.Outcome == oracle.Violation:
			unexplained++
			cause = "unexplained " + string(v.Kind)
		case v.Outcome != oracle.Known:
			continue
		case len(v.Rules) > 1:
			composite++
			for k, print := range v.Causes() {
				named = append(named, labelled{print, v.Rules[k]})
			}
			continue
		}
		named = append(named, labelled{v.Fingerprint, cause})
		if v.Outcome == oracle.Known {
			blind = append(blind, labelled{oracle.Blind(c, f.History), cause})
		}
	}
	fmt.Fprintf(w, "%d findings, %d of them of two causes, which count for each; %d unexplained\n\n", len(list), composite, unexplained)
	fmt.Fprintln(w, "Fingerprints as they are:")
	study(w, named)
	fmt.Fprintln(w, "\nFingerprints as if no deviation had a rule (kind, level, shape), findings of one cause:")
	study(w, blind)
	return nil
}

type labelled struct{ print, cause string }

// study writes the share of findings whose fingerprint has mostly their cause,
// and how many fingerprints each cause has.
func study(w io.Writer, list []labelled) {
	groups, causes := map[string]map[string]int{}, map[string]map[string]bool{}
	count := map[string]int{}
	for _, l := range list {
		if groups[l.print] == nil {
			groups[l.print] = map[string]int{}
		}
		if causes[l.cause] == nil {
			causes[l.cause] = map[string]bool{}
		}
		groups[l.print][l.cause]++
		causes[l.cause][l.print] = true
		count[l.cause]++
	}
	pure, single := 0, 0
	for _, g := range groups {
		best := 0
		for _, n := range g {
			best = max(best, n)
		}
		pure += best
		if len(g) == 1 {
			single++
		}
	}
	most := 0
	for _, prints := range causes {
		most = max(most, len(prints))
	}
	fmt.Fprintf(w, "  %d findings, %d fingerprints, %d of them with one cause; state purity %.1f%%; at most %d fingerprints for a cause\n",
		len(list), len(groups), single, 100*float64(pure)/float64(max(len(list), 1)), most)
	for _, c := range byCount(count) {
		fmt.Fprintf(w, "  %5d  %-44s %d fingerprints\n", count[c], c, len(causes[c]))
	}
}
