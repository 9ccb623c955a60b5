package web

import (
	"fmt"
	"math"
	"strings"
	"time"
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
	top := roundUp(most)
	begin, end := line[0].x, line[len(line)-1].x
	points := make([]string, len(line))
	for i, p := range line {
		x := (p.x - begin) / max(end-begin, 1e-9) * chartWidth
		points[i] = fmt.Sprintf("%.1f,%.1f", x, chartHeight-p.y/top*chartHeight)
	}
	say := func(v float64) string { return number(v) + unit }
	return chart{
		Name: f.Name, Help: f.Help, Points: strings.Join(points, " "), Top: say(top),
		Right: (time.Duration(end) * time.Second).String(), Now: say(line[len(line)-1].y), Least: say(least), Most: say(most),
	}, true
}

// roundUp is the next number above with one digit that is not zero, or 1 for none.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/unit) * unit
}

// number prints a value in at most three places behind those of a whole number.
func number(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v):
		return grouped(fmt.Sprintf("%.0f", v))
	case a >= 100:
		return grouped(fmt.Sprintf("%.0f", v))
	case a >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// grouped puts commas between thousands.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
