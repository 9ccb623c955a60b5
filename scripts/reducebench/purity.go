package main

import (
	"fmt"
	"slices"
	"strings"
)

// cause names what a finding is a finding of, as far as the oracle knows: the
// rules that explain it, or the kind of an unexplained one.
func (f *finding) cause() string {
	if len(f.Rules) > 0 {
		return strings.Join(f.Rules, "+")
	}
	return string(f.Kind)
}

// tallyRules counts findings by cause, the most frequent first.
func tallyRules(list []finding) []string {
	count := map[string]int{}
	var names []string
	for i := range list {
		c := list[i].cause()
		if count[c] == 0 {
			names = append(names, c)
		}
		count[c]++
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, count[n])
	}
	return names
}
