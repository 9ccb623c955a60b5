package workload

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// Group is all findings of one cause, at all levels: the same class, the same name, and the same statements that read
// too early (or whatever their conflicts are), whichever transactions come in between. Its JSON keys are part of the
// command line's contract.
type Group struct {
	// ID is the same in every run of a workload on a kind of server, Number is that in this report, from 1.
	ID     string `json:"id"`
	Number int    `json:"number"`
	Class  Class  `json:"class"`
	// Name is short, such as "lost update"; Title says also which statements meet.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Conflicts are those of all findings.
	Conflicts []Conflict `json:"conflicts"`
	// Findings are IDs; the first is the smallest, with which the group is explained.
	Findings []string    `json:"findings"`
	Levels   []string    `json:"levels"`
	Cells    []GroupCell `json:"cells"`
	// Advice says what to change, first for the smallest finding.
	Advice []Advice `json:"advice"`
	// Diff puts every FOR UPDATE that is proposed for the group at DiffLevel into the workload's file, in the unified
	// format; empty where none is proposed, or where the transactions are no SQL.
	Diff      string `json:"diff,omitempty"`
	DiffLevel string `json:"diff_level,omitempty"`
	// Snippets say it for frameworks.
	Snippets []Snippet `json:"snippets,omitempty"`

	list []*Finding
}

// GroupCell is a set of transactions that shows a group at a level.
type GroupCell struct {
	Transactions []string `json:"transactions"`
	Level        string   `json:"level"`
}

// shortName is the first name of an anomaly, without what stands in brackets.
func shortName(anomaly string) string {
	first, _, _ := strings.Cut(anomaly, "; ")
	first, _, _ = strings.Cut(first, " (")
	return first
}

// notExplained is the name of the group of findings that could not be told to be of another one.
const notExplained = "not explained"

// groupName is the short name of the group that a finding belongs to.
func (f *Finding) groupName() string {
	switch {
	case f.Class != Isolation:
		return string(f.Class) + ", " + string(f.Kind)
	case f.Anomaly != "":
		return shortName(f.Anomaly)
	case !f.Reduced:
		return notExplained
	}
	return "anomaly without a name"
}

// groupKey is equal for findings of one cause.
func (f *Finding) groupKey() string {
	key := []string{string(f.Class), f.groupName()}
	switch {
	case f.Class != Isolation:
	case len(f.Conflicts) > 0:
		for _, c := range f.Conflicts {
			key = append(key, c.key())
		}
	case !f.Reduced:
		key = append(key, string(f.Kind))
	case len(f.reads) > 0:
		for _, r := range f.reads {
			key = append(key, r.String())
		}
	default:
		key = append(append(key, string(f.Kind)), f.Transactions...)
	}
	return strings.Join(key, "\x00")
}

// smaller orders the findings of a group: those that were explained come first, then those of few transactions, of
// few statements, of a grave kind, at a strong level.
func (f *Finding) smaller(g *Finding) int {
	unexplained := func(f *Finding) int {
		if f.Class == Isolation && !f.Reduced {
			return 1
		}
		return 0
	}
	return cmp.Or(
		unexplained(f)-unexplained(g),
		len(f.Transactions)-len(g.Transactions),
		f.Statements-g.Statements,
		f.Kind.rank()-g.Kind.rank(),
		int(g.level)-int(f.level),
		strings.Compare(f.ID, g.ID))
}

// gravest is the rank of the gravest kind of a group's findings.
func (g *Group) gravest() int {
	least := g.list[0].Kind.rank()
	for _, f := range g.list {
		least = min(least, f.Kind.rank())
	}
	return least
}

// group puts the findings of a report into groups. The order of these is that of classes, then of the gravest kind in
// them (broken invariants, final states, answers), then the smallest finding, then the number of cells.
func (r *Report) group() {
	r.RedCells, r.Groups = 0, []*Group{}
	of := map[string]*Group{}
	for _, f := range r.Findings {
		key := f.groupKey()
		g := of[key]
		if g == nil {
			sum := sha256.Sum256([]byte(r.Workload + "\x00" + string(r.dbms) + "\x00" + key))
			g = &Group{ID: "cause-" + hex.EncodeToString(sum[:4]), Class: f.Class, Name: f.groupName(), Cells: []GroupCell{}}
			g.Cells = []GroupCell{}
			of[key] = g
			r.Groups = append(r.Groups, g)
		}
		g.list = append(g.list, f)
	}
	for _, g := range r.Groups {
		slices.SortFunc(g.list, (*Finding).smaller)
		for _, f := range g.list {
			g.Findings = append(g.Findings, f.ID)
			g.Conflicts = append(g.Conflicts, f.Conflicts...)
		}
		g.Conflicts = append([]Conflict{}, joined(g.Conflicts)...)
		for _, l := range r.Levels {
			if slices.ContainsFunc(g.list, func(f *Finding) bool { return f.Level == l }) {
				g.Levels = append(g.Levels, l)
			}
		}
	}
	for _, c := range r.Cells {
		if r.red(c) {
			r.RedCells++
		}
		for _, g := range r.Groups {
			if r.shows(c, g) {
				g.Cells = append(g.Cells, GroupCell{c.Transactions, c.Level})
			}
		}
	}
	slices.SortStableFunc(r.Groups, func(a, b *Group) int {
		x, y := a.list[0], b.list[0]
		return cmp.Or(classRank(a.Class)-classRank(b.Class), a.gravest()-b.gravest(), len(x.Transactions)-len(y.Transactions),
			x.Statements-y.Statements, len(b.Cells)-len(a.Cells), strings.Compare(a.ID, b.ID))
	})
	for i, g := range r.Groups {
		g.Number = i + 1
		g.Title = g.title()
		g.Advice = r.advice(g)
		r.change(g)
	}
}

// red reports whether something was found in a cell.
func (r *Report) red(c *Cell) bool { return len(c.Anomalies) > 0 || len(r.shownIn(c)) > 0 }

// shownIn returns the findings that a cell shows, those among them that fewer of its transactions show, too.
func (r *Report) shownIn(c *Cell) []*Finding {
	var out []*Finding
	ids := slices.Clone(c.Findings)
	for _, k := range sortedKeys(c.As) {
		ids = append(ids, c.As[k])
	}
	for _, id := range ids {
		if f := r.finding(id); f != nil && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// shows reports whether a cell shows a finding of a group.
func (r *Report) shows(c *Cell, g *Group) bool {
	return slices.ContainsFunc(r.shownIn(c), func(f *Finding) bool { return slices.Contains(g.list, f) })
}

// groupOf returns the group of a finding, nil if there is none.
func (r *Report) groupOf(f *Finding) *Group {
	for _, g := range r.Groups {
		if slices.Contains(g.list, f) {
			return g
		}
	}
	return nil
}

// groupIn returns the group of the anomalies of a kind in a cell, nil if it is not known.
func (r *Report) groupIn(c *Cell, k Kind) *Group {
	for _, f := range r.shownIn(c) {
		if f.Class == Isolation && f.Kind == k {
			return r.groupOf(f)
		}
	}
	return nil
}

// Label is the group's number and name, for a cell.
func (g *Group) Label() string { return fmt.Sprintf("%d: %s", g.Number, g.Name) }

func (g *Group) title() string {
	name := g.Name
	if f := g.list[0]; f.Class == Isolation && f.Anomaly != "" && f.NamedBy == ByOrder {
		name += " (a guess)"
	}
	var told []string
	for i := range g.Conflicts {
		told = append(told, g.Conflicts[i].told())
	}
	if len(told) == 0 {
		if g.Class == Isolation && g.Name != notExplained {
			return name + ": " + strings.Join(g.list[0].Transactions, " × ")
		}
		if g.Name == notExplained {
			return name + ", for want of time"
		}
		return name
	}
	return name + ": " + strings.Join(told, "; ")
}

// told says a conflict for people.
func (c *Conflict) told() string {
	var others []string
	for _, by := range c.By {
		name := by.Transaction
		if name == c.Transaction {
			name = "another " + name
		}
		if !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	by, at := listed(others, "or"), ""
	if c.Line > 0 {
		at = fmt.Sprintf(" (line %d)", c.Line)
	}
	switch c.Meeting {
	case Dirty:
		return fmt.Sprintf("%s reads from %s%s what %s may still take back or change", c.Transaction, c.Table, at, by)
	case Over:
		return fmt.Sprintf("%s writes %s%s over what %s wrote", c.Transaction, c.Table, at, by)
	}
	return fmt.Sprintf("%s reads %s%s, which %s then changes", c.Transaction, c.Table, at, by)
}

// Summary counts the red cells and their causes; empty: there are no findings.
func (r *Report) Summary() string {
	if len(r.Groups) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s", spelling.Count(r.RedCells, "red cell"), spelling.Count(len(r.Groups), "cause"))
}

// grouped is the report with its groups: those of a report that has ended are there already.
func (r *Report) grouped() *Report {
	if r.Groups == nil {
		r.group()
	}
	return r
}

// Extent says in how many cells a group shows, and which finding is its smallest.
func (g *Group) Extent() string {
	f := g.list[0]
	where := spelling.Count(len(g.Cells), "cell") + " at " + strings.Join(g.Levels, ", ")
	if g.Class == Application {
		where = "at every level"
	}
	return fmt.Sprintf("%s; smallest: %s, %s", where,
		strings.Join(f.Transactions, " × "), spelling.Count(f.Statements, "statement"))
}

// Lead is the smallest finding.
func (g *Group) Lead() *Finding { return g.list[0] }

// also returns the findings with the lead's transactions and kind at other levels, and all others.
func (g *Group) also() (levels, others []*Finding) {
	for _, f := range g.list[1:] {
		if f.Kind == g.list[0].Kind && slices.Equal(f.Transactions, g.list[0].Transactions) {
			levels = append(levels, f)
		} else {
			others = append(others, f)
		}
	}
	return levels, others
}

// larger returns the sets of a group's cells that have no finding of their own, in lines such as "a × b × c at RR".
func (g *Group) larger() []string {
	var out []string
	for _, c := range g.Cells {
		own := func(f *Finding) bool { return f.Level == c.Level && slices.Equal(f.Transactions, c.Transactions) }
		if !slices.ContainsFunc(g.list, own) {
			out = append(out, strings.Join(c.Transactions, " × ")+" at "+c.Level)
		}
	}
	return out
}

// Rest are the other findings.
func (g *Group) Rest() []*Finding { return g.list[1:] }

// OrderText says in which order the groups stand.
func (r *Report) OrderText() string { return upper(orderOfGroups) + "." }
