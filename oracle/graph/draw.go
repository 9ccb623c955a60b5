package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Drawing is a cycle as a picture: nodes in the order in which they stand on a ring,
// and what leads from one to another.
type Drawing struct {
	Title string
	Nodes []string // several lines each
	Edges []Arrow
}

// Arrow is an edge of a drawing.
type Arrow struct {
	From, To int
	Label    string // several lines
}

// WriteDOT writes a drawing for Graphviz.
func (d *Drawing) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph cycle {\n  label=%s;\n  node [shape=box, fontname=monospace];\n", dotString(d.Title))
	for i, n := range d.Nodes {
		fmt.Fprintf(b, "  t%d [label=%s];\n", i+1, dotString(n))
	}
	for _, e := range d.Edges {
		fmt.Fprintf(b, "  t%d -> t%d [label=%s];\n", e.From+1, e.To+1, dotString(e.Label))
	}
	b.WriteString("}\n")
	return b.Flush()
}

func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\l`).Replace(s) + `"`
}

// WriteSVG draws the nodes on a ring. A cycle has no better layout, so no
// library lays it out.
func (d *Drawing) WriteSVG(w io.Writer) error {
	const letter, line, pad = 7.3, 16.0, 8.0
	n := len(d.Nodes)
	type box struct{ x, y, w, h float64 }
	boxes := make([]box, n)
	widest, tallest, label := 0.0, 0.0, 0.0
	for _, e := range d.Edges {
		for _, l := range strings.Split(e.Label, "\n") {
			label = max(label, float64(len([]rune(l)))*letter)
		}
	}
	for i, text := range d.Nodes {
		lines := strings.Split(text, "\n")
		for _, l := range lines {
			boxes[i].w = max(boxes[i].w, float64(len([]rune(l)))*letter+2*pad)
		}
		boxes[i].h = float64(len(lines))*line + 2*pad
		widest, tallest = max(widest, boxes[i].w), max(tallest, boxes[i].h)
	}
	// Radii at which neighbours do not touch, and labels of edges have room.
	step := math.Sin(math.Pi / float64(max(n, 2)))
	rx, ry := (widest+90)/2/step, (tallest+70)/2/step
	width, height := max(2*rx+widest+40, rx+2*label+90), 2*ry+tallest+70
	cx, cy := width/2, height/2+15
	for i := range boxes {
		a := 2*math.Pi*float64(i)/float64(n) - math.Pi/2
		boxes[i].x, boxes[i].y = cx+rx*math.Cos(a), cy+ry*math.Sin(a)
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0L10,5L0,10z" fill="#444"/></marker></defs>` + "\n")
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="white"/><text x="12" y="20" font-weight="bold">%s</text>`+"\n", html.EscapeString(d.Title))
	for _, e := range d.Edges {
		from, to := boxes[e.From], boxes[e.To]
		// Edges of a cycle of two are bent apart.
		dx, dy := to.x-from.x, to.y-from.y
		dist := max(math.Hypot(dx, dy), 1)
		bend := 18.0
		if n == 2 {
			bend = 50
		}
		mx, my := (from.x+to.x)/2+bend*dy/dist, (from.y+to.y)/2-bend*dx/dist
		x1, y1 := edgeOf(from.x, from.y, from.w, from.h, mx, my)
		x2, y2 := edgeOf(to.x, to.y, to.w, to.h, mx, my)
		fmt.Fprintf(b, `<path d="M%.1f,%.1fQ%.1f,%.1f %.1f,%.1f" fill="none" stroke="#444" marker-end="url(#arrow)"/>`+"\n", x1, y1, mx, my, x2, y2)
		lx, ly := (x1+2*mx+x2)/4, (y1+2*my+y2)/4
		// Labels grow away from the middle, where others stand.
		anchor := "middle"
		switch {
		case lx > cx+1:
			anchor = "start"
		case lx < cx-1:
			anchor = "end"
		}
		for k, l := range strings.Split(e.Label, "\n") {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" stroke="white" stroke-width="4" paint-order="stroke" fill="#b03030">%s</text>`+"\n", lx, ly+4+line*float64(k), anchor, html.EscapeString(l))
		}
	}
	for i, text := range d.Nodes {
		x := boxes[i]
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="#f4f4f8" stroke="#444"/>`+"\n", x.x-x.w/2, x.y-x.h/2, x.w, x.h)
		for j, l := range strings.Split(text, "\n") {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" xml:space="preserve">%s</text>`+"\n", x.x-x.w/2+pad, x.y-x.h/2+pad+line*float64(j)+12, html.EscapeString(l))
		}
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// edgeOf is where the line from the middle of a box to a point leaves the box.
func edgeOf(x, y, w, h, tx, ty float64) (float64, float64) {
	dx, dy := tx-x, ty-y
	scale := math.Inf(1)
	if dx != 0 {
		scale = min(scale, w/2/math.Abs(dx))
	}
	if dy != 0 {
		scale = min(scale, h/2/math.Abs(dy))
	}
	if math.IsInf(scale, 1) || scale > 1 {
		return x, y
	}
	return x + dx*scale, y + dy*scale
}
