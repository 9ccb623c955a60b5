package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// summary is what the table says of some measurements.
type summary struct {
	n, minimal, lost, cut        int
	steps, chars, attempts       float64 // medians of what is left, and of the attempts
	rate, seconds                float64 // medians; rate is the share of characters taken away
	useful, first, worst, at90th float64 // shares; the largest number of steps left; seconds
	// search is the useful share of the first layer before the closing pass,
	// whose attempts mostly fail because that proves a result minimal.
	search float64
}

func summarise(list []measurement) summary {
	var s summary
	var steps, chars, attempts, rate, seconds []float64
	var tried, kept, triedFirst, keptFirst, closing, closed int
	for i := range list {
		m := &list[i]
		if m.Lost {
			s.lost++
			continue
		}
		s.n++
		if m.Minimal {
			s.minimal++
		}
		if !m.Complete {
			s.cut++
		}
		steps = append(steps, float64(m.StepsAfter))
		chars = append(chars, float64(m.CharsAfter))
		attempts = append(attempts, float64(m.Attempts))
		rate = append(rate, 1-float64(m.CharsAfter)/float64(m.CharsBefore))
		seconds = append(seconds, m.Seconds)
		for j, l := range m.Layers {
			tried, kept = tried+l.Attempts, kept+l.Useful
			if j == 0 {
				triedFirst, keptFirst = triedFirst+l.Attempts, keptFirst+l.Useful
				closing, closed = closing+l.Closing, closed+l.ClosingUseful
			}
		}
	}
	s.steps, s.chars, s.attempts, s.rate, s.seconds = quantile(steps, .5), quantile(chars, .5), quantile(attempts, .5), quantile(rate, .5), quantile(seconds, .5)
	s.useful, s.first = share(kept, tried), share(keptFirst, triedFirst)
	s.search = share(keptFirst-closed, triedFirst-closing)
	s.worst, s.at90th = quantile(steps, 1), quantile(seconds, .9)
	return s
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// quantile returns the value below which that share of the list lies.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// writeTable writes one row a strategy for all findings, then for each target.
func writeTable(w io.Writer, list []measurement) {
	fmt.Fprintln(w, "| findings of | strategy | n | steps left, median (most) | characters left | taken away | attempts | useful | first layer, search | first layer, with proof | seconds, median (90 %) | 1-minimal |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, target := range append([]string{"all"}, targetsOf(list)...) {
		for _, strategy := range strategies {
			var some []measurement
			for _, m := range list {
				if m.Strategy == strategy.String() && (target == "all" || m.Target == target) {
					some = append(some, m)
				}
			}
			if len(some) == 0 {
				continue
			}
			s := summarise(some)
			fmt.Fprintf(w, "| %s | %s | %d | %.0f (%.0f) | %.0f | %.1f %% | %.0f | %.0f %% | %.0f %% | %.0f %% | %.2f (%.2f) | %.1f %% |\n",
				target, strategy, s.n, s.steps, s.worst, s.chars, 100*s.rate, s.attempts, 100*s.useful, 100*s.search, 100*s.first, s.seconds, s.at90th, 100*share(s.minimal, s.n))
		}
	}
	lost := 0
	for i := range list {
		if list[i].Lost {
			lost++
		}
	}
	if lost > 0 {
		fmt.Fprintf(w, "\n%d reductions did not start: the finding did not show again.\n", lost)
	}
}

func targetsOf(list []measurement) []string {
	var out []string
	for i := range list {
		if !slices.Contains(out, list[i].Target) {
			out = append(out, list[i].Target)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
