package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// orderOfGroups says in which order the groups stand.
const orderOfGroups = "broken invariants come first, then wrong final states, then wrong answers; " +
	"among these the smallest"

// writeSummary lists the groups: what each is, where it shows, and what to change.
func (r *Report) writeSummary(b *strings.Builder) {
	if len(r.Groups) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%s)\n", r.Summary(), orderOfGroups)
	for _, g := range r.Groups {
		fmt.Fprintf(b, "%3d  %s\n     %s\n", g.Number, g.Title, g.Extent())
		fmt.Fprintf(b, "     %s\n", g.FirstAdvice())
	}
	b.WriteString("\n")
}

// writeText tells a group: its smallest finding whole, what to change, and one line for each other finding.
func (g *Group) writeText(b *strings.Builder, causes int) {
	fmt.Fprintf(b, "\ncause %d of %d, %s\n  %s\n", g.Number, causes, g.Title, g.Extent())
	g.writeAdvice(b)
	f := g.list[0]
	f.writeText(b)
	levels, others := g.also()
	for _, o := range levels {
		o.writeAlso(b, f)
	}
	writeLines(b, others)
	g.writeLarger(b)
}

func (g *Group) writeAdvice(b *strings.Builder) {
	for i := range g.Advice {
		a := &g.Advice[i]
		if i == 0 {
			fmt.Fprintf(b, "  %s\n", g.FirstAdvice())
			continue
		}
		fmt.Fprintf(b, "  For %s: %s\n", a.For(), a.Text)
	}
}

// writeLines writes a line for each of some findings.
func writeLines(b *strings.Builder, list []*Finding) {
	if len(list) == 0 {
		return
	}
	b.WriteString("  findings of the same cause\n")
	for _, f := range list {
		fmt.Fprintf(b, "    %s\n", f.line())
	}
}

// line is a finding in one line.
func (f *Finding) line() string {
	return fmt.Sprintf("%s, %s: %s", f.Brief(), strings.Join(f.Transactions, " × "), f.File)
}

// Brief is the kind of a finding and the level.
func (f *Finding) Brief() string {
	if f.Class == Application {
		return string(f.Kind)
	}
	return string(f.Kind) + " at " + f.Level
}

// LargerText names the sets that show a group without a finding of their own; empty: there are none.
func (g *Group) LargerText() string {
	list := g.larger()
	if len(list) == 0 {
		return ""
	}
	return "also in " + spelling.Some(list)
}

func (g *Group) writeLarger(b *strings.Builder) {
	if s := g.LargerText(); s != "" {
		fmt.Fprintf(b, "  %s\n", s)
	}
}

// writeSnippets writes what some frameworks say.
func writeSnippets(b *strings.Builder, list []Snippet, frameworks []string) {
	for _, s := range list {
		if slices.Contains(frameworks, s.Framework) {
			fmt.Fprintf(b, "\n%s (%s)\n%s", s.Framework, strings.Join(s.Docs, ", "), s.Code)
		}
	}
}
