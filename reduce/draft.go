package reduce

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// entry is one step: a statement of a session.
type entry struct {
	session int
	st      *statement
	// hold and frees are those of corpus.Line.
	hold  *corpus.Hold
	frees bool
}

// draft is a case in the reducer's own form: interned statements, no comments.
// Like statements, drafts never change; every operation makes a new one.
type draft struct {
	lib *library
	// levels holds the level of each session that the header names; nil: the
	// header names none.
	levels map[int]corpus.Level
	init   []*statement
	steps  []entry

	key    string
	schema *schema
	size   *Size
}

// newDraft reads a case.
func newDraft(lib *library, c *corpus.Case) (*draft, error) {
	d := &draft{lib: lib}
	read := func(l corpus.Line) (*statement, error) {
		st, err := lib.add(corpus.CloneStmt(l.Stmt))
		if err != nil {
			return nil, err
		}
		if _, err := corpus.ParseStatement(st.text); err != nil {
			return nil, fmt.Errorf("read back %s: %w", st.text, err)
		}
		return st, nil
	}
	for i, l := range c.Init {
		st, err := read(l)
		if err != nil {
			return nil, fmt.Errorf("init line %d: %w", i+1, err)
		}
		d.init = append(d.init, st)
	}
	for i, l := range c.Steps {
		st, err := read(l)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		d.steps = append(d.steps, entry{l.Session, st, l.Hold, l.Frees})
	}
	for _, s := range c.Sessions() {
		if l, ok := c.LevelOf(s); ok {
			if d.levels == nil {
				d.levels = map[int]corpus.Level{}
			}
			d.levels[s] = l
		}
	}
	return d.finish(), nil
}

// with returns a draft of other lines at the same levels.
func (d *draft) with(init []*statement, steps []entry) *draft {
	out := &draft{lib: d.lib, levels: d.levels, init: init, steps: steps}
	return out.finish()
}

// replaceInit returns the draft with another statement as its i-th init line.
func (d *draft) replaceInit(i int, st *statement) *draft {
	init := slices.Clone(d.init)
	init[i] = st
	return d.with(init, d.steps)
}

// replaceStep returns the draft with another statement as its i-th step.
func (d *draft) replaceStep(i int, st *statement) *draft {
	steps := slices.Clone(d.steps)
	steps[i].st = st
	return d.with(d.init, steps)
}

// finish drops levels of sessions that are gone.
func (d *draft) finish() *draft {
	if d.levels == nil {
		return d
	}
	present := map[int]bool{}
	for _, e := range d.steps {
		present[e.session] = true
	}
	for s := range d.levels {
		if !present[s] {
			d.levels = maps.Clone(d.levels)
			maps.DeleteFunc(d.levels, func(s int, _ corpus.Level) bool { return !present[s] })
			break
		}
	}
	return d
}

// text returns what distinguishes a draft from others; the key of the cache.
func (d *draft) text() string {
	if d.key != "" {
		return d.key
	}
	var b strings.Builder
	for _, s := range slices.Sorted(maps.Keys(d.levels)) {
		b.WriteString(strconv.Itoa(s) + d.levels[s].Short() + " ")
	}
	for _, st := range d.init {
		b.WriteString("\n" + st.text)
	}
	for _, e := range d.steps {
		b.WriteString("\n/*" + strconv.Itoa(e.session) + "*/" + e.st.text)
		if e.hold != nil {
			b.WriteString("/*held*/")
		}
		if e.frees {
			b.WriteString("/*frees*/")
		}
	}
	d.key = b.String()
	return d.key
}

// chars counts the characters of the statements, the published measure of
// what a reduction is worth.
func (d *draft) chars() int {
	n := 0
	for _, st := range d.init {
		n += len(st.text)
	}
	for _, e := range d.steps {
		n += len(e.st.text)
	}
	return n
}

// measure returns the size of the draft.
func (d *draft) measure() Size {
	if d.size != nil {
		return *d.size
	}
	s := Size{Statements: len(d.init) + len(d.steps)}
	add := func(st *statement) {
		s.Tokens += st.tokens
		s.Columns += st.columns
		s.Types += st.types
		s.Literals += st.literals
	}
	for _, st := range d.init {
		add(st)
	}
	for _, e := range d.steps {
		add(e.st)
	}
	s.Switches, s.Spread = interleaving(d.steps)
	if n := len(d.distinctLevels()); n > 1 {
		s.Levels = n - 1
	}
	s.Names = canonicalNames(d).wrong
	d.size = &s
	return s
}

func (d *draft) distinctLevels() []corpus.Level {
	var out []corpus.Level
	for _, l := range d.levels {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// build makes a case with the header of the original, without comments: they
// describe what the original did. Trees are shared with other candidates.
func (d *draft) build(header []corpus.Field) *corpus.Case {
	c := &corpus.Case{Header: slices.Clone(header)}
	seen := map[*statement]int{}
	node := func(st *statement) ast.StmtNode {
		seen[st]++
		return st.node(seen[st] - 1)
	}
	for _, st := range d.init {
		c.Init = append(c.Init, corpus.Line{Session: corpus.InitSession, Stmt: node(st)})
	}
	for _, e := range d.steps {
		c.Steps = append(c.Steps, corpus.Line{Session: e.session, Stmt: node(e.st), Hold: e.hold, Frees: e.frees})
	}
	if d.levels != nil {
		c.SetLevels(d.levels)
	}
	return c
}

// tables returns the schema that the statements of the draft make.
func (d *draft) tables() *schema {
	if d.schema != nil {
		return d.schema
	}
	var made []*statement
	var key strings.Builder
	note := func(st *statement) {
		if st.creates != nil || st.indexes != nil {
			made = append(made, st)
			key.WriteString(st.text + "\n")
		}
	}
	for _, st := range d.init {
		note(st)
	}
	for _, e := range d.steps {
		note(e.st)
	}
	s, ok := d.lib.schemas[key.String()]
	if !ok {
		s = newSchema(made)
		d.lib.schemas[key.String()] = s
	}
	d.schema = s
	return s
}

// sessions returns the sessions in the order in which they first appear.
func (d *draft) sessions() []int {
	var out []int
	for _, e := range d.steps {
		if !slices.Contains(out, e.session) {
			out = append(out, e.session)
		}
	}
	return out
}

// statements calls f for each line in order.
func (d *draft) statements(f func(*statement)) {
	for _, st := range d.init {
		f(st)
	}
	for _, e := range d.steps {
		f(e.st)
	}
}

// transform replaces each statement by f of it: the same one, another, or nil
// to delete the line. It returns nil if f reports false.
func (d *draft) transform(f func(*statement) (*statement, bool)) *draft {
	init := make([]*statement, 0, len(d.init))
	for _, st := range d.init {
		t, ok := f(st)
		if !ok {
			return nil
		}
		if t != nil {
			init = append(init, t)
		}
	}
	steps := make([]entry, 0, len(d.steps))
	for _, e := range d.steps {
		t, ok := f(e.st)
		if !ok {
			return nil
		}
		if t != nil {
			steps = append(steps, entry{e.session, t, e.hold, e.frees})
		}
	}
	return d.with(init, steps)
}
