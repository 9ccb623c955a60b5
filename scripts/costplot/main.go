package main

import (
	_ "embed"
	"fmt"
	"image/color"
	"io"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

//go:embed costs.tsv
var costs string

const output = "scripts/costplot/costs.svg"

// point is a row of costs.tsv; what is not known is 0, which has no place on a
// logarithmic axis.
type point struct{ transactions, seconds, megabytes float64 }

type series struct {
	name   string
	points []point
}

// style is how a series looks. Published figures come from other machines and other
// questions, so their points are never joined to a line of ours.
var styles = map[string]struct {
	color  color.Color
	shape  draw.GlyphDrawer
	joined bool
	legend string
}{
	"txnfuzz":   {color.RGBA{0x0b, 0x57, 0xd0, 0xff}, draw.CircleGlyph{}, true, "txnfuzz (lists, 4.5 operations)"},
	"reference": {color.RGBA{0x5f, 0x63, 0x68, 0xff}, draw.SquareGlyph{}, true, "rough reference program (the same files)"},
	"Cobra":     {color.RGBA{0xa0, 0x46, 0x0a, 0xff}, draw.TriangleGlyph{}, false, "Cobra (published: black box, TPC-C, GPU)"},
	"PolySI":    {color.RGBA{0x7b, 0x2f, 0xa0, 0xff}, draw.PyramidGlyph{}, false, "PolySI (published: black box, SI; corners of the range)"},
	"Elle":      {color.RGBA{0x0a, 0x7a, 0x74, 0xff}, draw.CrossGlyph{}, false, "Elle (published: lists, 22 million)"},
	"Plume":     {color.RGBA{0xc0, 0x1f, 0x4a, 0xff}, draw.PlusGlyph{}, false, "Plume (published: 20 operations, weak levels)"},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "costplot:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 0:
		return plotFile()
	case args[0] == "measure":
		return measure(os.Stdout, args[1:])
	case args[0] == "make" && len(args) == 3:
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of transactions", args[2])
		}
		for _, h := range histories {
			if h.name == args[1] {
				return h.make(os.Stdout, n)
			}
		}
		return fmt.Errorf("no histories are called %q: lists or registers", args[1])
	}
	return fmt.Errorf("want nothing, make lists N, make registers N or measure [NAME=COMMAND…]")
}

func plotFile() error {
	f, err := os.Create(output)
	if err != nil {
		return fmt.Errorf("write the plot (run at the top of the repository): %w", err)
	}
	if err := drawCosts(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// drawCosts writes the plot as SVG.
func drawCosts(w io.Writer) error {
	all, err := read(costs)
	if err != nil {
		return err
	}
	const width, height = 16 * vg.Centimeter, 10 * vg.Centimeter
	canvas := vgsvg.New(width, 2*height)
	page := draw.New(canvas)
	for i, panel := range []struct {
		label string
		of    func(point) float64
	}{
		{"seconds", func(p point) float64 { return p.seconds }},
		{"megabytes at the peak", func(p point) float64 { return p.megabytes }},
	} {
		p, err := chart(all, panel.label, panel.of)
		if err != nil {
			return fmt.Errorf("draw %s: %w", panel.label, err)
		}
		p.Draw(draw.Crop(page, 0, -5*vg.Millimeter, vg.Length(1-i)*height, -vg.Length(i)*height))
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

func read(tsv string) ([]series, error) {
	var all []series
	for n, line := range strings.Split(tsv, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("costs.tsv:%d: %d fields, want 5", n+1, len(fields))
		}
		if _, ok := styles[fields[0]]; !ok {
			return nil, fmt.Errorf("costs.tsv:%d: no style for %q", n+1, fields[0])
		}
		var v [3]float64
		for i := range v {
			if fields[i+1] == "-" {
				continue
			}
			x, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil || !(x > 0) {
				return nil, fmt.Errorf("costs.tsv:%d: %q is no positive number", n+1, fields[i+1])
			}
			v[i] = x
		}
		if len(all) == 0 || all[len(all)-1].name != fields[0] {
			all = append(all, series{name: fields[0]})
		}
		last := &all[len(all)-1]
		last.points = append(last.points, point{v[0], v[1], v[2]})
	}
	return all, nil
}

func chart(all []series, label string, of func(point) float64) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "transactions", label
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	for _, s := range all {
		var xy plotter.XYs
		for _, q := range s.points {
			if v := of(q); v > 0 {
				xy = append(xy, plotter.XY{X: q.transactions, Y: v})
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		look := styles[s.name]
		line.Color, line.Width = look.color, vg.Points(1.5)
		dots.Color, dots.Shape, dots.Radius = look.color, look.shape, vg.Points(4)
		if look.joined {
			p.Add(line)
		}
		p.Add(dots)
		p.Legend.Add(look.legend, dots)
	}
	// Room for the legend above what is drawn.
	p.X.Max *= 1.3
	p.Y.Max *= 300
	return p, nil
}
