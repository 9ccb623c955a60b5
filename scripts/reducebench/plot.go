package main

import (
	"fmt"
	"io"
)

// The plot shows the mean share of characters that are left after so many
// attempts, as figure 8 of Fucci's paper (PVLDB 18(6), 2025) does.
const (
	plotAttempts          = 150
	plotWidth, plotHeight = 640, 360
	plotLeft, plotBottom  = 60, 40
)

var plotColours = []string{"#0b57d0", "#a0460a", "#0a7a74", "#7b2fa0"}

func writePlot(w io.Writer, list []measurement) error {
	x := func(attempt int) float64 { return plotLeft + float64(attempt)/plotAttempts*(plotWidth-plotLeft-20) }
	y := func(share float64) float64 { return 20 + (1-share)*(plotHeight-plotBottom-20) }
	p := &printer{w: w}
	p.f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight, plotWidth, plotHeight)
	p.f(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	for i := 0; i <= 5; i++ {
		s := float64(i) / 5
		p.f(`<path d="M%d %.1fH%d" stroke="#d9dce0"/><text x="%d" y="%.1f" text-anchor="end">%.0f %%</text>`+"\n", plotLeft, y(s), plotWidth-20, plotLeft-6, y(s)+4, 100*s)
	}
	for a := 0; a <= plotAttempts; a += 25 {
		p.f(`<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(a), plotHeight-plotBottom+18, a)
	}
	p.f(`<text x="%d" y="%d" text-anchor="middle">attempts</text>`+"\n", plotWidth/2, plotHeight-6)
	p.f(`<text x="%d" y="14">characters left, mean</text>`+"\n", plotLeft)
	for i, s := range strategies {
		curve := meanCurve(list, s.String())
		if curve == nil {
			continue
		}
		p.f(`<path fill="none" stroke="%s" stroke-width="2" d="M`, plotColours[i])
		for a, left := range curve {
			p.f("%.1f %.1f ", x(a), y(left))
		}
		p.f(`"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotWidth-170, 50+i*18, plotColours[i], s)
	}
	p.f("</svg>\n")
	return p.err
}

// meanCurve returns the mean share of characters left after 0, 1, … attempts,
// nil without measurements.
func meanCurve(list []measurement, strategy string) []float64 {
	sum, n := make([]float64, plotAttempts+1), 0
	for i := range list {
		m := &list[i]
		if m.Strategy != strategy || m.Lost {
			continue
		}
		n++
		at := 0
		left := 1.0
		for a := range sum {
			for at+1 < len(m.Curve) && m.Curve[at] <= a {
				left = float64(m.Curve[at+1]) / float64(m.CharsBefore)
				at += 2
			}
			sum[a] += left
		}
	}
	if n == 0 {
		return nil
	}
	for a := range sum {
		sum[a] /= float64(n)
	}
	return sum
}

// printer keeps the first error of many writes.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
