package schemadump

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// leftOut counts statements of a dump that are not read, by their kind.
type leftOut struct {
	kinds []string
	count map[string]int
}

func (l *leftOut) add(kind string) {
	if l.count == nil {
		l.count = map[string]int{}
	}
	if l.count[kind]++; l.count[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
}

func (l *leftOut) lines() (out []string) {
	for _, k := range l.kinds {
		out = append(out, spelling.Count(l.count[k], "statement")+" of the kind "+k)
	}
	return out
}

// parts are those of tables that are left out, with the tables in which they are, and types for which others stand.
type parts struct {
	kinds  []string
	tables map[string][]string
	stands []string
}

func (p *parts) add(what, table string) {
	if p.tables == nil {
		p.tables = map[string][]string{}
	}
	if p.tables[what] == nil {
		p.kinds = append(p.kinds, what)
	}
	if !slices.Contains(p.tables[what], table) {
		p.tables[what] = append(p.tables[what], table)
	}
}

// stand notes that another type stands for one.
func (p *parts) stand(typ, other string) {
	p.note(fmt.Sprintf("columns of the type %s are %s", typ, other))
}

// standCollation notes that text of a collation has the one that the server gives it.
func (p *parts) standCollation(name string) {
	p.note("text of the collation " + name + " has the default one of the server")
}

func (p *parts) note(s string) {
	if !slices.Contains(p.stands, s) {
		p.stands = append(p.stands, s)
	}
}

func (p *parts) lines() (out []string) {
	for _, what := range p.kinds {
		out = append(out, what+" of "+spelling.Some(p.tables[what]))
	}
	return out
}
