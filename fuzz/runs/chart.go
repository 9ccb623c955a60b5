package runs

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/axis"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// chart is a drawing in a box of chartWidth by chartHeight, which the page stretches.
type chart struct {
	Name, Says string
	// Top, Left and Right are the labels of the axes: the greatest value, and the ends of the time.
	Top, Left, Right string
	Lines            []drawnLine
	Dots             []drawnDot
	Bars             []drawnBar
	// Fails are where a run failed.
	Fails []drawnDot
	// Heads and Rows are the same as a table; nil where the table of runs has the numbers.
	Heads []string
	Rows  [][]string
}

type drawnLine struct{ Class, Points string }

// drawnDot has a title that a browser shows.
type drawnDot struct{ X, Y, Title string }

type drawnBar struct{ Class, X, Y, Width, Height, Title string }

const (
	chartWidth  = 400.0
	chartHeight = 100.0
	// mostLines bounds the runs that are drawn beside each other in one chart, mostRows the rows of its table.
	mostLines = 8
	mostRows  = 12
)

// overRuns draws a number of each run, the oldest on the left; ok is false if there are not two of them.
func overRuns(name string, list []*Run, value func(*Run) (float64, bool)) (c chart, ok bool) {
	var values []float64
	most, least, n := 0.0, math.Inf(1), 0
	for _, r := range list {
		v, known := value(r)
		if !known {
			v = math.NaN()
		} else {
			most, least, n = max(most, v), min(least, v), n+1
		}
		values = append(values, v)
	}
	if n < 2 {
		return chart{}, false
	}
	c = ofRuns(name, list)
	top := axis.RoundUp(most)
	c.Top = axis.Number(top)
	var points []string
	newest := 0.0
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		newest = v
		x, y := across(i, len(list)), coordinate(chartHeight-v/top*chartHeight)
		points = append(points, x+","+y)
		c.Dots = append(c.Dots, drawnDot{x, y, fmt.Sprintf("%s: %s", moment(list[i]), axis.Number(v))})
	}
	c.Lines = []drawnLine{{"now", strings.Join(points, " ")}}
	c.Says = fmt.Sprintf("%s; from %s to %s in %d runs", axis.Number(newest), axis.Number(least), axis.Number(most), n)
	return c, true
}

// ofRuns begins a chart with a place for each run.
func ofRuns(name string, list []*Run) chart {
	c := chart{Name: name, Left: moment(list[0]), Right: moment(list[len(list)-1])}
	for i, r := range list {
		if r.Cases == 0 || r.End != nil && r.End.Error != "" {
			c.Fails = append(c.Fails, drawnDot{X: across(i, len(list)), Title: moment(r) + ": failed"})
		}
	}
	return c
}

// overFindings draws bars: the findings of each run, and of those what no run before it had.
func overFindings(list []*Run, isNew map[*Run]int) (chart, bool) {
	if len(list) < 2 {
		return chart{}, false
	}
	c := ofRuns("Findings", list)
	most := 0
	for _, r := range list {
		most = max(most, len(r.Findings))
	}
	top := axis.RoundUp(float64(most))
	c.Top = axis.Number(top)
	width := min(chartWidth/float64(len(list)+1)*0.6, 24)
	for i, r := range list {
		all, fresh := len(r.Findings), isNew[r]
		title := fmt.Sprintf("%s: %d, new %d", moment(r), all, fresh)
		bar := func(class string, from, to int) {
			if from == to {
				return
			}
			x := position(i, len(list)) - width/2
			c.Bars = append(c.Bars, drawnBar{class, coordinate(x), coordinate(chartHeight - float64(to)/top*chartHeight),
				coordinate(width), coordinate(float64(to-from) / top * chartHeight), title})
		}
		bar("new", 0, fresh)
		bar("old", fresh, all)
	}
	last := list[len(list)-1]
	c.Says = fmt.Sprintf("%d in the last run, %d of them new; at most %d", len(last.Findings), isNew[last], most)
	return c, true
}

// withinRuns draws the behaviours that the newest runs of a list met, one run beside the other.
func withinRuns(list []*Run) (c chart, ok bool) {
	var shown []*Run
	for _, r := range list {
		if len(r.Series) > 1 && r.Guide != nil {
			shown = append(shown, r)
		}
	}
	if len(shown) == 0 {
		return chart{}, false
	}
	shown = shown[max(0, len(shown)-mostLines):]
	newest := shown[len(shown)-1]
	longest, most := 0.0, 0
	for _, r := range shown {
		end := r.Series[len(r.Series)-1]
		longest, most = max(longest, end.Seconds), max(most, end.Behaviours-r.Series[0].Behaviours)
	}
	top := axis.RoundUp(float64(most))
	c = chart{Name: "New behaviours within a run", Top: axis.Number(top), Left: "0 s", Right: duration(longest)}
	for _, r := range shown {
		var points []string
		for _, p := range r.Series {
			points = append(points, coordinate(p.Seconds/max(longest, 1e-9)*chartWidth)+","+
				coordinate(chartHeight-float64(p.Behaviours-r.Series[0].Behaviours)/top*chartHeight))
		}
		class := "before"
		if r == newest {
			class = "now"
		}
		c.Lines = append(c.Lines, drawnLine{class, strings.Join(points, " ")})
	}
	fresh := func(p campaign.Point) string { return whole(p.Behaviours - newest.Series[0].Behaviours) }
	c.Says = fmt.Sprintf("%s in the run of %s (strong line)", fresh(newest.Series[len(newest.Series)-1]), moment(newest))
	if len(shown) > 1 {
		c.Says += fmt.Sprintf("; at most %s in the %d runs drawn", whole(most), len(shown))
	}
	c.Heads = []string{"after", "cases", "new behaviours", "kinds of deviations"}
	rows := min(mostRows, len(newest.Series))
	for i := range rows { // the first and the last point among them
		p := newest.Series[i*(len(newest.Series)-1)/(rows-1)]
		c.Rows = append(c.Rows, []string{duration(p.Seconds), whole(p.Cases), fresh(p), whole(p.Deviations)})
	}
	return c, true
}

// position is that of the i-th of n runs, with room for half a bar at both ends.
func position(i, n int) float64 { return (float64(i) + 0.5) / float64(n) * chartWidth }

func across(i, n int) string { return coordinate(position(i, n)) }

func coordinate(v float64) string { return fmt.Sprintf("%.1f", v) }

// moment is when a run began, in UTC.
func moment(r *Run) string {
	if r.Begun.IsZero() {
		return NotRecorded
	}
	return r.Begun.UTC().Format("2006-01-02 15:04")
}

func duration(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}
