package main

import (
	"fmt"
	"strings"
)

const (
	plotWidth, plotHeight = 420, 300
	plotLeft, plotBottom  = 56, 40
)

var plotColours = []string{"#0b57d0", "#a0460a", "#0a7a74", "#7b2fa0", "#5f6368", "#b3261e"}

// plot draws the mean number of behaviours over time, a panel for each part, as SVG.
func plot(cells []cell) string {
	var b strings.Builder
	parts := partsOf(cells)
	width := plotWidth * len(parts)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, plotHeight, width, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, plotHeight)
	for i, p := range parts {
		panel(&b, groups(cells, p), p.String(), i*plotWidth)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func panel(b *strings.Builder, list []group, title string, left int) {
	top, seconds := 1.0, 0
	for _, g := range list {
		for _, c := range g.cells {
			seconds = max(seconds, c.Seconds)
		}
		for _, v := range g.curve() {
			top = max(top, v)
		}
	}
	x := func(tenth int) float64 {
		return float64(left+plotLeft) + float64(tenth)/tenths*(plotWidth-plotLeft-20)
	}
	y := func(v float64) float64 { return 24 + (1-v/top)*(plotHeight-plotBottom-24) }
	for i := 0; i <= 4; i++ {
		v := top * float64(i) / 4
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#d9dce0"/><text x="%.1f" y="%.1f" text-anchor="end">%.0f</text>`+"\n", x(0), y(v), x(tenths), x(0)-6, y(v)+4, v)
	}
	for t := 0; t <= tenths; t += 5 {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%d s</text>`+"\n", x(t), plotHeight-plotBottom+18, seconds*t/tenths)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="14">behaviours, %s</text>`+"\n", x(0), title)
	row := 0
	for i, arm := range arms {
		for _, g := range list {
			if g.arm != arm || arm == startAlone {
				continue
			}
			fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="2" d="M%.1f %.1f`, plotColours[i], x(0), y(0))
			for t, v := range g.curve() {
				fmt.Fprintf(b, " L%.1f %.1f", x(t+1), y(v))
			}
			fmt.Fprintf(b, `"/><text x="%.1f" y="%.1f" text-anchor="end" fill="%s">%s</text>`+"\n", x(tenths), y(0)-8-float64(14*row), plotColours[i], arm)
			row++
		}
	}
}

// curve is the mean of the cells' curves.
func (g *group) curve() []float64 {
	out := make([]float64, tenths)
	for _, c := range g.cells {
		for i, n := range c.Curve {
			out[i] += float64(n) / float64(len(g.cells))
		}
	}
	return out
}
