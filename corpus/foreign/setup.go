package foreign

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
)

// setup holds the lines that set a case up.
type setup struct {
	lines []corpus.Line
	// tables holds the names in lower case.
	tables map[string]bool
	// booleans holds those with a column of type BOOLEAN, which is printed as SMALLINT.
	booleans map[string]bool
	// leftOut is what changes no answer and is not there.
	leftOut []string
}

// made is one statement of a set-up.
type made struct {
	s    statement
	node ast.StmtNode
	// no says why it is no line of a case.
	no *Refusal
	// names holds what it makes and the tables that it names.
	names []string
	out   bool
	// without is what was left out of it.
	without []string
}

// setUp makes lines of a set-up. What no line can say is left out together with all that it touches, if the
// sessions use none of it: used holds all words of theirs.
func (w Words) setUp(blocks []string, used map[string]bool) (*setup, *Refusal) {
	var list []*made
	objects := map[string]bool{}
	for _, sql := range blocks {
		parts, err := statements(sql)
		if err != nil {
			return nil, &Refusal{Reason: "SQL that cannot be taken apart", Detail: oneLine(err.Error())}
		}
		for _, s := range parts {
			if s.changesNothing(objects) {
				continue
			}
			list = append(list, &made{s: s})
			for _, n := range makes(s) {
				objects[n] = true
			}
		}
	}
	for _, m := range list {
		for _, t := range m.s {
			if t.names() && objects[strings.ToLower(t.low)] {
				m.names = append(m.names, strings.ToLower(t.low))
			}
		}
		if m.node, m.without, m.no = w.setUpLine(m.s); m.no != nil && len(m.names) == 0 {
			return nil, m.no
		}
	}
	without := map[string]*Refusal{}
	for changed := true; changed; {
		changed = false
		for _, m := range list {
			no := m.no
			for _, n := range m.names {
				if no == nil {
					no = without[n]
				}
			}
			if no == nil || m.out {
				continue
			}
			m.out, changed = true, true
			for _, n := range m.names {
				if without[n] == nil {
					without[n] = no
				}
			}
		}
	}
	out := &setup{tables: map[string]bool{}, booleans: map[string]bool{}}
	for _, m := range list {
		for _, n := range m.names {
			if no := without[n]; no != nil && used[n] {
				again := *no
				return nil, &again
			}
		}
		if m.out {
			continue
		}
		out.leftOut = append(out.leftOut, m.without...)
		if m.node == nil {
			continue
		}
		out.lines = append(out.lines, corpus.Line{Session: corpus.InitSession, Stmt: m.node})
		switch s := m.node.(type) {
		case *ast.CreateTableStmt:
			out.tables[s.Table.Name.L] = true
			out.booleans[s.Table.Name.L] = slices.ContainsFunc(m.s, token.boolean)
		case *ast.CreateViewStmt:
			out.tables[s.ViewName.Name.L] = true
		}
	}
	return out, nil
}

// changesNothing reports whether a statement of a set-up does nothing to the rows of a new database, in which there are
// these objects.
func (s statement) changesNothing(objects map[string]bool) bool {
	return s.is(0, "vacuum") || s.is(0, "analyze") || s.is(0, "drop") && s.has("exists") &&
		!slices.ContainsFunc(s, func(t token) bool { return t.names() && objects[strings.ToLower(t.low)] })
}

// beforeKind may stand between CREATE and what is made, afterKind between that and its name.
var (
	beforeKind = []string{
		"or", "replace", "global", "local", "temp", "temporary", "unlogged", "unique", "materialized", "recursive",
		"constraint",
	}
	afterKind = []string{"if", "not", "exists", "concurrently"}
)

// nameless are made without a name of their own.
var nameless = []string{"cast", "operator", "transform", "access", "event", "text", "default"}

// makes returns the name of what a CREATE makes, in lower case; of one with a schema both parts.
func makes(s statement) []string {
	if !s.is(0, "create") {
		return nil
	}
	i := 1
	for i < len(s) && slices.Contains(beforeKind, s[i].low) {
		i++
	}
	if i == len(s) || slices.Contains(nameless, s[i].low) {
		return nil
	}
	i++
	for i < len(s) && slices.Contains(afterKind, s[i].low) {
		i++
	}
	if i == len(s) || s.is(i, "on") || s[i].kind != word && s[i].kind != name {
		return nil
	}
	out := []string{strings.ToLower(s[i].low)}
	if s.is(i+1, ".") && i+2 < len(s) {
		out = append(out, strings.ToLower(s[i+2].low))
	}
	return out
}

// parted are the words by which a statement of a set-up is refused, before it is read.
var parted = []struct{ word, reason string }{
	{"inherits", "a table that inherits"},
	{"partition", "a partitioned table"},
	{"exclude", "an exclusion constraint"},
	{"deferrable", "a deferrable constraint"},
	{"temp", "a temporary table"},
	{"temporary", "a temporary table"},
	{"timestamptz", "a type that MySQL does not have"},
	{"array", "a type that MySQL does not have"},
	{"serial", "a type that MySQL has with another meaning"},
	{"float", "a type that MySQL has with another meaning"},
	{"real", "a type that MySQL has with another meaning"},
	{"bit", "a type that MySQL has with another meaning"},
	{"time", "a type that MySQL has with another meaning"},
	{"xml", "a type that MySQL does not have"},
	{"regclass", "a type that MySQL does not have"},
}

// setUpLine reads one statement of a set-up.
func (w Words) setUpLine(s statement) (node ast.StmtNode, without []string, no *Refusal) {
	if w == PostgreSQL {
		switch {
		case s.is(0, "create") && (s.is(1, "table") || s.is(1, "index") || s.is(1, "unique", "index") || s.is(1, "view")):
		case s.is(0, "insert"), s.is(0, "update"), s.is(0, "delete"), s.is(0, "alter", "table"):
		default:
			what := s[0].low
			for i := 1; i < len(s) && s[0].low == "create"; i++ {
				if what += " " + s[i].low; !slices.Contains(beforeKind, s[i].low) {
					break
				}
			}
			return nil, nil, refuse(s, "%s in the set-up", strings.ToUpper(what))
		}
		if s, without = s.easier(); s == nil {
			return nil, without, nil
		}
		for _, p := range parted {
			if s.has(p.word) {
				return nil, nil, refuse(s, "%s", p.reason)
			}
		}
		if no := s.readAlike(); no != nil {
			return nil, nil, no
		}
		if t, other := s.meansOther(); other {
			return nil, nil, refuse(s, "%s in the set-up", t)
		}
	}
	node, err := w.parsed(s)
	switch {
	case err != nil && w == PostgreSQL && s.is(0, "create", "index"):
		return nil, append(without, s.text()), nil // it makes no answer another one
	case err != nil:
		no := refuse(s, "SQL of the set-up that is not read")
		no.Detail += ": " + oneLine(err.Error())
		return nil, nil, no
	}
	return node, without, nil
}

// parsed reads a statement with the parser of MySQL's SQL, if PostgreSQL's words are to be had for it.
func (w Words) parsed(s statement) (ast.StmtNode, error) {
	again := slices.Clone(s)
	for i, t := range s {
		if w == PostgreSQL && (t.kind == name || s.namedKey(i)) {
			again[i].sql = backquoted(t)
		}
	}
	node, err := corpus.ParseStatement(again.text())
	if err != nil {
		return nil, err
	}
	if w == PostgreSQL {
		if _, err := pgsql.SQL(node); err != nil {
			return nil, err
		}
	}
	return node, nil
}

// beforeKey stand before KEY where it is no name.
var beforeKey = []string{"primary", "foreign", "unique", "no", "for"}

// namedKey reports whether the word at a place is KEY as the name of a column, which MySQL's SQL has in quotes only.
func (s statement) namedKey(i int) bool {
	return s.is(i, "key") && (i == 0 || !slices.Contains(beforeKey, s[i-1].low))
}

func (t token) boolean() bool { return t.kind == word && (t.low == "boolean" || t.low == "bool") }
