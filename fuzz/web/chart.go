package web

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/axis"
)

// chart is a line over time as the template draws it: coordinates of a box of chartWidth by chartHeight.
type chart struct {
	Name, Help, Points string
	// Top, Right and Now are the labels of the axes and the newest value; Least and Most tell in words what the line does.
	Top, Right, Now, Least, Most string
}

const (
	chartWidth  = 600.0
	chartHeight = 120.0
)

// draw makes a chart of a figure; ok is false while there is no line.
func draw(f *Figure, line []point) (c chart, ok bool) {
	if len(line) < 2 {
		return chart{}, false
	}
	unit := f.Unit
	if f.Grows {
		unit += " a second"
	}
	most, least := 0.0, math.Inf(1)
	for _, p := range line {
		most, least = max(most, p.y), min(least, p.y)
	}
	top := axis.RoundUp(most)
	begin, end := line[0].x, line[len(line)-1].x
	points := make([]string, len(line))
	for i, p := range line {
		x := (p.x - begin) / max(end-begin, 1e-9) * chartWidth
		points[i] = fmt.Sprintf("%.1f,%.1f", x, chartHeight-p.y/top*chartHeight)
	}
	say := func(v float64) string { return axis.Number(v) + unit }
	return chart{
		Name: f.Name, Help: f.Help, Points: strings.Join(points, " "), Top: say(top),
		Right: (time.Duration(end) * time.Second).String(), Now: say(line[len(line)-1].y), Least: say(least), Most: say(most),
	}, true
}
