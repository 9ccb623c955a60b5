package schemadump

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
)

// pgTable is a table as it was read, which all statements of the dump may still add to.
type pgTable struct {
	name    string
	cols    []*pgColumn
	keys    []pgKey
	checks  [][]token
	foreign []pgForeign
	parts   *parts
}

type pgColumn struct {
	name    string
	typ     pgType
	notNull bool
	// counts says that a sequence gives values.
	counts bool
	// def and computed are expressions.
	def, computed []token
}

// pgKey is of columns, each in its direction.
type pgKey struct {
	kind    string
	columns []string
	desc    []bool
}

type pgForeign struct {
	columns, to []string
	parent      string
	actions     string
}

func (t *pgTable) column(name string) *pgColumn {
	if i := slices.IndexFunc(t.cols, func(c *pgColumn) bool { return c.name == name }); i >= 0 {
		return t.cols[i]
	}
	return nil
}

// setDefault takes a default; that from a sequence is one that counts.
func (c *pgColumn) setDefault(list []token) {
	if len(list) > 0 && list[0].is("nextval") {
		c.counts = true
		return
	}
	c.def = list
}

// endsExpression are the words that follow the expression of a DEFAULT.
var endsExpression = []string{"not", "constraint", "check", "primary", "unique", "references", "generated", "collate"}

// column reads a column with its own constraints.
func (r *pgReader) column(t *pgTable, c *cursor) {
	name, ok := c.name()
	if !ok {
		return
	}
	col := &pgColumn{name: name}
	var n int
	col.typ, n = r.columnType(c.rest())
	c.i += n
	col.counts = col.typ.serial
	t.cols = append(t.cols, col)
	for !c.done() {
		switch {
		case c.take("constraint"):
			c.name()
		case c.take("not", "null"):
			col.notNull = true
		case c.take("null"):
		case c.take("default"):
			from := c.i
			for c.i++; !c.done() && !slices.ContainsFunc(endsExpression, c.at); {
				if c.at("(") {
					c.inside()
				} else {
					c.i++
				}
			}
			col.setDefault(c.list[from:min(c.i, len(c.list))])
		case c.take("check"):
			t.checks = append(t.checks, c.inside())
		case c.take("primary", "key"):
			t.keys = append(t.keys, pgKey{"PRIMARY KEY", []string{name}, []bool{false}})
		case c.take("unique"):
			t.keys = append(t.keys, pgKey{"UNIQUE", []string{name}, []bool{false}})
		case c.take("references"):
			f := pgForeign{columns: []string{name}}
			f.reference(r, t, c)
			t.foreign = append(t.foreign, f)
		case c.take("generated"):
			if !c.take("always", "as") && !c.take("by", "default", "as") {
				return
			}
			if c.take("identity") {
				col.counts = true
				c.inside()
				continue
			}
			col.computed = c.inside()
			if !c.take("stored") {
				c.take("virtual")
			}
		case c.take("collate"):
			c.name()
			r.parts.add("COLLATE", t.name)
		default:
			c.i++
		}
	}
}

// written are the parts of a table in MySQL's words.
type written struct {
	table *pgTable
	parts []string
	names map[string]bool
}

// prune leaves out columns of types that MySQL's SQL has not, and keys of them.
func (t *pgTable) prune() {
	t.cols = slices.DeleteFunc(t.cols, func(c *pgColumn) bool {
		if c.typ.mysql == "" {
			t.parts.add("column of the type "+c.typ.name, t.name)
			return true
		}
		if c.typ.standsFor != "" {
			name := c.typ.name
			if strings.HasPrefix(c.typ.mysql, "enum") {
				name = "ENUM"
			}
			t.parts.stand(name, c.typ.standsFor)
		}
		return false
	})
	t.keys = slices.DeleteFunc(t.keys, func(k pgKey) bool {
		keyable := func(name string) bool { c := t.column(name); return c != nil && c.typ.mysql != "json" }
		if !slices.ContainsFunc(k.columns, func(name string) bool { return !keyable(name) }) {
			return false
		}
		t.parts.add("key of a column that is left out or JSON", t.name)
		return true
	})
}

// link leaves out foreign keys to what is left out, and finds the columns that one means which names none.
func (t *pgTable) link(tables map[string]*pgTable) {
	var kept []pgForeign
	for _, f := range t.foreign {
		parent := tables[f.parent]
		if parent == nil {
			t.parts.add("foreign key to a table that is left out", t.name)
			continue
		}
		ok := false
		for _, k := range parent.keys {
			if len(f.to) == 0 && k.kind == "PRIMARY KEY" {
				f.to = k.columns
			}
			ok = ok || k.kind != "INDEX" && slices.Equal(slices.Sorted(slices.Values(k.columns)), slices.Sorted(slices.Values(f.to)))
		}
		lacks := func(n string) bool { return t.column(n) == nil }
		if !ok || len(f.to) != len(f.columns) || slices.ContainsFunc(f.columns, lacks) {
			t.parts.add("foreign key of columns that are left out", t.name)
			continue
		}
		kept = append(kept, f)
	}
	t.foreign = kept
}

// create writes the table as MySQL's SQL has it, and leaves out what cannot be said.
func (t *pgTable) create(tables map[string]*pgTable) (*ast.CreateTableStmt, error) {
	w := &written{table: t, names: map[string]bool{}}
	for _, c := range t.cols {
		w.names[c.name] = true
	}
	for _, c := range t.cols {
		w.parts = append(w.parts, backticked(c.name)+" "+t.typeOf(c, tables)+map[bool]string{true: " NOT NULL"}[c.notNull])
	}
	for i, c := range t.cols {
		t.options(w, i, c)
	}
	for _, k := range t.keys {
		cols := make([]string, len(k.columns))
		for i, name := range k.columns {
			cols[i] = backticked(name) + map[bool]string{true: " DESC"}[k.desc[i]]
		}
		w.add("index", fmt.Sprintf("%s (%s)", k.kind, strings.Join(cols, ", ")))
	}
	for _, check := range t.checks {
		sql, err := expression(check, w.names)
		if err != nil {
			t.parts.add("CHECK that MySQL's SQL has no words for", t.name)
			continue
		}
		w.add("CHECK that MySQL's SQL has no words for", "CHECK ("+sql+")")
	}
	for _, f := range t.foreign {
		w.add("foreign key", fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)%s", list(f.columns), backticked(f.parent), list(f.to), f.actions))
	}
	return w.statement(w.parts)
}

func list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = backticked(n)
	}
	return strings.Join(out, ", ")
}

// options adds to the i-th column what makes its values.
func (t *pgTable) options(w *written, i int, c *pgColumn) {
	plain := w.parts[i]
	try := func(what, option string, list []token) {
		sql, err := expression(list, w.names)
		if err == nil {
			w.parts[i] = plain + fmt.Sprintf(option, sql)
			_, err = w.statement(w.parts)
		}
		if err != nil {
			w.parts[i] = plain
			t.parts.add(what, t.name)
		}
	}
	switch {
	case c.computed != nil:
		try("expression of a computed column", " GENERATED ALWAYS AS (%s) STORED", c.computed)
	case c.counts && t.isPrimary(c.name) && strings.Contains(c.typ.mysql, "int"):
		w.parts[i] += " AUTO_INCREMENT PRIMARY KEY"
		t.keys = slices.DeleteFunc(t.keys, func(k pgKey) bool { return k.kind == "PRIMARY KEY" })
	case c.counts:
		t.parts.add("what a sequence gives to a column that is not the primary key", t.name)
	case c.def != nil && isLiteral(c.def):
		try("default", " DEFAULT %s", c.def)
	case c.def != nil:
		try("default that is no literal", " DEFAULT (%s)", c.def)
	}
}

// isLiteral says that an expression is a number, a string, a truth or NULL.
func isLiteral(list []token) bool {
	list = withoutCasts(list)
	for len(list) > 2 && list[0].is("(") && closing(list, 0) == len(list)-1 {
		list = list[1 : len(list)-1]
	}
	if len(list) == 2 && list[0].is("-") {
		list = list[1:]
	}
	return len(list) == 1 && (list[0].kind == str || list[0].kind == number || list[0].is("true") || list[0].is("false") || list[0].is("null"))
}

// add takes a part if the table can be read, and written for PostgreSQL, with it.
func (w *written) add(what, part string) {
	if _, err := w.statement(append(slices.Clone(w.parts), part)); err != nil {
		w.table.parts.add(what, w.table.name)
		return
	}
	w.parts = append(w.parts, part)
}

func (w *written) statement(parts []string) (*ast.CreateTableStmt, error) {
	n, err := corpus.ParseStatement("CREATE TABLE " + backticked(w.table.name) + " (" + strings.Join(parts, ", ") + ")")
	if err != nil {
		return nil, err
	}
	create, ok := n.(*ast.CreateTableStmt)
	if !ok {
		return nil, fmt.Errorf("it is read as %T", n)
	}
	_, err = pgsql.SQL(create)
	return create, err
}

func (t *pgTable) isPrimary(name string) bool {
	return slices.ContainsFunc(t.keys, func(k pgKey) bool { return k.kind == "PRIMARY KEY" && slices.Equal(k.columns, []string{name}) })
}

// typeOf is the type of a column, that of one in a key if it is in one or another table refers to it.
func (t *pgTable) typeOf(c *pgColumn, tables map[string]*pgTable) string {
	keyed, ok := keyedTypes[c.typ.mysql]
	if !ok {
		return c.typ.mysql
	}
	in := slices.ContainsFunc(t.keys, func(k pgKey) bool { return slices.Contains(k.columns, c.name) }) ||
		slices.ContainsFunc(t.foreign, func(f pgForeign) bool { return slices.Contains(f.columns, c.name) })
	for _, other := range tables {
		in = in || slices.ContainsFunc(other.foreign, func(f pgForeign) bool { return f.parent == t.name && slices.Contains(f.to, c.name) })
	}
	if in {
		return keyed
	}
	return c.typ.mysql
}
