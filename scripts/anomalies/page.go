package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// page writes the page: what the words mean, the summary, and the cells.
func page(families []pattern.Family, columns []*column) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(summary(columns))
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n\n%s", sections[f].title, sections[f].says)
		if f == pattern.ThreeItems {
			b.WriteString(counts(f, columns))
			continue
		}
		for _, k := range kindsOf(columns[0].patterns[f]) {
			b.WriteString("\n" + cells(f, k, columns))
		}
	}
	return b.String()
}

// kind is a group of rows: the patterns of a kind.
type kind struct {
	name     string
	form     form
	patterns []int // places in the family
}

func kindsOf(list []pattern.Pattern) []kind {
	var out []kind
	for i := range list {
		if len(out) == 0 || out[len(out)-1].name != list[i].Kind {
			out = append(out, kind{name: list[i].Kind, form: formOf(&list[i])})
		}
		k := &out[len(out)-1]
		k.patterns = append(k.patterns, i)
	}
	return out
}

// header is the first two lines of a table: some words, then the columns.
func header(columns []*column, first ...string) string {
	for _, c := range columns {
		first = append(first, c.title())
	}
	return "| " + strings.Join(first, " | ") + " |\n|" + strings.Repeat(" --- |", len(first)) + "\n"
}

// cells is the table of one kind.
func cells(f pattern.Family, k kind, columns []*column) string {
	var b strings.Builder
	title := k.form.name
	if f == pattern.TwoItems {
		title += ", edges " + k.name
	}
	fmt.Fprintf(&b, "### %s\n\n%s", strings.ToUpper(title[:1])+title[1:], header(columns, "pattern"))
	for _, i := range k.patterns {
		b.WriteString("| `" + columns[0].patterns[f][i].Name() + "`")
		for _, c := range columns {
			b.WriteString(" | " + c.cells[f][i].text(&c.patterns[f][i]))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// text is a cell in the words that the page explains.
func (c *cell) text(p *pattern.Pattern) string {
	out := map[outcome]string{notJudged: "?", waited: "wait", failed: c.err, readOther: "read"}[c.outcome]
	switch {
	case c.outcome == seen:
		return "**" + c.name(p) + "**"
	case c.outcome == seenLater:
		return "wait, **" + c.name(p) + "**"
	case len(c.phenomena) > 0:
		out += " (" + short(c.phenomena[0]) + ")"
	}
	return out
}

// counts is the table of a family of which only sums are told.
func counts(f pattern.Family, columns []*column) string {
	var b strings.Builder
	b.WriteString(header(columns, "edges", "anomaly", "patterns"))
	for _, k := range kindsOf(columns[0].patterns[f]) {
		fmt.Fprintf(&b, "| %s | %s | %d", k.name, k.form.name, len(k.patterns))
		for _, c := range columns {
			n := 0
			for _, i := range k.patterns {
				if c.cells[f][i].shown() {
					n++
				}
			}
			fmt.Fprintf(&b, " | %d", n)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// summary is the table of servers and levels, over the families whose cells are told.
func summary(columns []*column) string {
	var b strings.Builder
	b.WriteString("| server | level | it promises | seen | seen after a wait | wait | error | read | anomalies seen |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, c := range columns {
		n := map[outcome]int{}
		var names []string
		for f, list := range c.cells {
			if f == pattern.ThreeItems {
				continue
			}
			for i := range list {
				x := &list[i]
				n[x.outcome]++
				if x.shown() {
					names = append(names, x.name(&c.patterns[f][i]))
				} else if len(x.phenomena) > 0 {
					names = append(names, short(x.phenomena[0]))
				}
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if len(names) == 0 {
			names = []string{"none"}
		}
		promise := "?"
		if q, err := promised(&c.server, c.level); err == nil {
			promise = fmt.Sprintf("[%s](%s)", q.Model, q.Link)
		}
		fmt.Fprintf(&b, "| %s (%s) | %s | %s | %d | %d | %d | %d | %d | %s |\n", c.target, c.server.Version, c.level.Short(), promise,
			n[seen], n[seenLater], n[waited], n[failed], n[readOther], strings.Join(names, ", "))
	}
	return b.String()
}
