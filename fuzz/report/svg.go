package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// Measures of a drawing in pixels; laneWidth is that of one session's column.
const (
	laneWidth, answerWidth = 300, 260
	leftMargin, lineHeight = 40, 17
	svgCharacters          = 38
)

var svgColours = []string{"#0b57d0", "#a0460a", "#7b2fa0", "#0a7a74"}

// SVG draws the interleaving of one run: a lane for each session, dotted where
// it waits, the answers beside, the wrong one in red. It has its own background
// so that it looks the same wherever it is put.
func SVG(w io.Writer, t *timeline.Timeline) error {
	d := &drawing{t: t, width: leftMargin + laneWidth*len(t.Sessions) + answerWidth}
	d.head()
	rows, omitted := moments(t)
	for i := range rows {
		d.moment(&t.Moments[i], &rows[i])
	}
	if omitted > 0 {
		d.text(leftMargin, d.y, "#63686f", fmt.Sprintf("%d more moments are not drawn", omitted))
		d.y += lineHeight
	}
	step, expected, actual := t.Wrong()
	where := "in the end"
	if step > 0 {
		where = fmt.Sprintf("step %d", step)
	}
	d.y += lineHeight / 2
	for _, l := range []struct{ colour, text string }{{"#1a6b35", where + ", expected: " + expected}, {"#b3261e", where + ", actual: " + actual}} {
		for _, part := range wrap(l.text, (d.width-leftMargin)/8) {
			d.text(leftMargin, d.y, l.colour, part)
			d.y += lineHeight
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="ui-monospace, monospace" font-size="13">`+"\n", d.width, d.y, d.width, d.y)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", d.width, d.y)
	out.Write(d.under.Bytes())
	out.Write(d.over.Bytes())
	out.WriteString("</svg>\n")
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write drawing: %w", err)
	}
	return nil
}

type drawing struct {
	t           *timeline.Timeline
	width, y    int
	under, over bytes.Buffer
}

func (d *drawing) head() {
	d.y = 24
	title := fmt.Sprintf("%s on %s %s at %s", d.t.Verdict.Kind, d.t.Target, d.t.History.Server.Version, d.t.LevelText())
	for _, l := range wrap(title, (d.width-leftMargin)/8) {
		d.text(leftMargin, d.y, "#1c1e21", l)
		d.y += lineHeight
	}
	d.y += 8
	for k, s := range d.t.Sessions {
		d.text(d.x(k)+14, d.y, svgColours[k%4], fmt.Sprintf("tx%d", s))
	}
	d.y += lineHeight
}

func (d *drawing) x(lane int) int { return leftMargin + laneWidth*lane }

// moment draws one row: the text of the statement in its lane, the answer at
// the right, the lanes' lines under them.
func (d *drawing) moment(m *timeline.Moment, r *moment) {
	lane := 0
	for k, s := range d.t.Sessions {
		if s == m.Session {
			lane = k
		}
	}
	left, right := wrap(r.SQL, svgCharacters-4), wrap(r.Answer, svgCharacters-6)
	answered := len(right)
	if r.Differs {
		right = append(right, wrap("expected "+r.Wanted, svgCharacters-6)...)
	}
	height := max(len(left), len(right))*lineHeight + 6
	if r.Differs {
		fmt.Fprintf(&d.under, `<rect x="0" y="%d" width="%d" height="%d" fill="#fde7e5"/>`+"\n", d.y-13, d.width, height)
	}
	for k, x := range r.Marks {
		d.line(k, x.In, d.y-13, 9)
		d.line(k, x.Out, d.y-4, height-9)
	}
	fmt.Fprintf(&d.over, `<circle cx="%d" cy="%d" r="5" fill="%s"/>`+"\n", d.x(lane)+4, d.y-4, svgColours[lane%4])
	d.text(4, d.y, "#63686f", fmt.Sprint(r.Step))
	for i, l := range left {
		d.text(d.x(lane)+14, d.y+i*lineHeight, "#1c1e21", l)
	}
	for i, l := range right {
		colour := "#63686f"
		switch {
		case i >= answered:
			colour = "#1a6b35"
		case r.Differs, r.Waits:
			colour = "#b3261e"
		}
		d.text(d.x(len(d.t.Sessions))+8, d.y+i*lineHeight, colour, l)
	}
	d.y += height
}

// line draws a piece of a lane.
func (d *drawing) line(lane int, how line, y, height int) {
	colour, dash := svgColours[lane%4], ""
	switch how {
	case absent:
		return
	case broken:
		colour, dash = "#b3261e", ` stroke-dasharray="3 3"`
	}
	fmt.Fprintf(&d.under, `<path d="M%d %dv%d" stroke="%s" stroke-width="3"%s/>`+"\n", d.x(lane)+4, y, height, colour, dash)
}

func (d *drawing) text(x, y int, colour, text string) {
	fmt.Fprintf(&d.over, `<text x="%d" y="%d" fill="%s" xml:space="preserve">`, x, y, colour)
	_ = xml.EscapeText(&d.over, []byte(text)) // a buffer takes all
	d.over.WriteString("</text>\n")
}

// wrap breaks text between words, or within one that is too long.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		r := []rune(word)
		for len(r) > width {
			if line != "" {
				out = append(out, line)
				line = ""
			}
			out = append(out, string(r[:width]))
			r = r[width:]
		}
		switch {
		case line == "":
			line = string(r)
		case len([]rune(line))+1+len(r) > width:
			out = append(out, line)
			line = string(r)
		default:
			line += " " + string(r)
		}
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}
