package schemadump

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// writtenByPostgreSQL are words that a dump of PostgreSQL has and one of MySQL has not.
var writtenByPostgreSQL = regexp.MustCompile(`(?im)^-- PostgreSQL database|^ALTER TABLE ONLY|\bCHARACTER VARYING\b|::[a-z]|` +
	`\b(BIG|SMALL)?SERIAL\b[^=]*$|\bTIMESTAMPTZ\b|\bJSONB\b|\bWITH(OUT)? TIME ZONE\b|\bAS IDENTITY\b`)

// ofPostgreSQL says whose words a dump is in. Only MySQL quotes names by backticks.
func ofPostgreSQL(text string) bool {
	return !strings.Contains(text, "`") && writtenByPostgreSQL.MatchString(text)
}

func readPostgreSQL(name, text string) (*Dump, error) {
	r := &pgReader{byName: map[string]*pgTable{}, types: map[string]pgType{}}
	for _, list := range tokens(text) {
		r.statement(list)
	}
	for _, t := range r.tables {
		t.prune()
	}
	for _, t := range r.tables {
		t.link(r.byName)
	}
	d := &Dump{}
	for _, t := range r.tables {
		create, err := t.create(r.byName)
		if err != nil {
			r.left.add(fmt.Sprintf("CREATE TABLE that cannot be read: %s", t.name))
			continue
		}
		d.Tables = append(d.Tables, create)
	}
	d.Left, d.Stands = append(r.left.lines(), r.parts.lines()...), r.parts.stands
	if len(d.Tables) == 0 {
		return nil, fmt.Errorf("%s: no table of it can be read; left out: %s", name, strings.Join(d.Left, "; "))
	}
	return d, nil
}

// pgReader reads what pg_dump --schema-only writes, and what people write by hand.
// https://www.postgresql.org/docs/current/app-pgdump.html
type pgReader struct {
	tables []*pgTable
	byName map[string]*pgTable
	// types are those that the dump makes.
	types map[string]pgType
	left  leftOut
	parts parts
}

// unread are the statements of a dump that say nothing of tables.
var unread = []string{"set", "select", "comment", "grant", "revoke", "alter", "drop", "create sequence", "create schema",
	"create extension", "create role", "create user", "create database", "begin", "commit", "start", "security", "reset", "analyze"}

func (r *pgReader) statement(list []token) {
	c := &cursor{list: list}
	switch {
	case c.take("create", "table"), c.take("create", "unlogged", "table"):
		r.createTable(c)
		return
	case c.take("alter", "table"):
		r.alterTable(c)
		return
	case c.take("create", "index"):
		r.createIndex(c, false)
		return
	case c.take("create", "unique", "index"):
		r.createIndex(c, true)
		return
	case c.take("create", "type"):
		if r.createType(c) {
			return
		}
	case c.take("create", "domain"):
		r.createDomain(c)
		return
	}
	kind := list[0].text
	if c.i = 1; kind == "create" {
		c.take("or", "replace")
		c.take("constraint")
		kind += " " + c.peek().text
	}
	if !slices.Contains(unread, kind) {
		r.left.add(strings.ToUpper(kind))
	}
}

// createTable reads a table; one that is a partition, has some, or takes its columns from others is left out.
func (r *pgReader) createTable(c *cursor) {
	c.take("if", "not", "exists")
	name, ok := c.name()
	if !ok || !c.at("(") {
		r.left.add("CREATE TABLE as a query, a partition or of a type")
		return
	}
	body := c.inside()
	if c.has("partition", "by") || c.has("inherits") {
		r.left.add("CREATE TABLE with partitions or heirs")
		return
	}
	if r.byName[name] != nil {
		r.left.add("CREATE TABLE of a name that another schema has, too")
		return
	}
	t := &pgTable{name: name, parts: &r.parts}
	for _, part := range commas(body) {
		p := &cursor{list: part}
		switch {
		case p.at("constraint"), p.at("primary"), p.at("unique"), p.at("check"), p.at("foreign"), p.at("exclude"):
			r.constraint(t, p)
		case p.at("like"):
			r.parts.add("LIKE", name)
		default:
			r.column(t, p)
		}
	}
	r.tables = append(r.tables, t)
	r.byName[name] = t
}

func (r *pgReader) createType(c *cursor) bool {
	name, ok := c.name()
	if !ok || !c.take("as", "enum") {
		return false
	}
	var members []string
	for _, t := range c.inside() {
		if t.kind == str {
			members = append(members, literal(t.text))
		}
	}
	if len(members) == 0 {
		return false
	}
	r.types[name] = pgType{mysql: "enum(" + strings.Join(members, ", ") + ")", standsFor: "text with a CHECK"}
	return true
}

// createDomain takes the type that a domain is on; what it checks is left out.
func (r *pgReader) createDomain(c *cursor) {
	name, _ := c.name()
	c.take("as")
	t, n := r.columnType(c.rest())
	c.i += n
	r.types[name] = t
	if c.has("check") {
		r.parts.add("CHECK of a domain", name)
	}
}

func (r *pgReader) alterTable(c *cursor) {
	c.take("if", "exists")
	c.take("only")
	name, _ := c.name()
	t := r.byName[name]
	if t == nil {
		return // of one that is left out
	}
	for _, action := range commas(c.rest()) {
		a := &cursor{list: action}
		switch {
		case a.take("add"):
			if a.take("column") {
				a.take("if", "not", "exists")
				r.column(t, a)
				continue
			}
			r.constraint(t, a)
		case a.take("alter"):
			a.take("column")
			r.alterColumn(t, a)
		case a.at("owner"), a.at("cluster"), a.at("replica"), a.at("set"), a.at("enable"), a.at("force"), a.at("validate"):
		case a.at("attach"):
			r.left.add("ALTER TABLE that attaches a partition")
		default:
			r.left.add("ALTER TABLE that is not known here")
		}
	}
}

func (r *pgReader) alterColumn(t *pgTable, a *cursor) {
	name, _ := a.name()
	col := t.column(name)
	switch {
	case col == nil:
	case a.take("set", "default"):
		col.setDefault(a.rest())
	case a.take("set", "not", "null"):
		col.notNull = true
	case a.take("add", "generated"):
		col.counts = true
	}
}

// createIndex takes an index of columns. A unique one on a part of the rows would refuse more without its condition.
func (r *pgReader) createIndex(c *cursor, unique bool) {
	c.take("concurrently")
	c.take("if", "not", "exists")
	if !c.at("on") {
		c.name()
	}
	c.take("on")
	c.take("only")
	name, _ := c.name()
	t := r.byName[name]
	if t == nil {
		return
	}
	method := "btree"
	if c.take("using") {
		method, _ = c.name()
	}
	k := pgKey{kind: "INDEX"}
	if unique {
		k.kind = "UNIQUE"
	}
	for _, part := range commas(c.inside()) {
		p := &cursor{list: part}
		column, ok := p.name()
		if !ok || p.at("(") || p.at("::") {
			r.parts.add("index on an expression", name)
			return
		}
		desc := p.has("desc")
		k.columns = append(k.columns, column)
		k.desc = append(k.desc, desc)
	}
	switch {
	case method != "btree":
		r.parts.add("index by "+method, name)
	case c.has("where"):
		r.parts.add("partial index", name)
	case c.has("nulls", "not"):
		r.parts.add("index with NULLS NOT DISTINCT", name)
	default:
		t.keys = append(t.keys, k)
	}
}

// literal writes a string in MySQL's words.
func literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

// constraint reads one of a table, which may have a name.
func (r *pgReader) constraint(t *pgTable, c *cursor) {
	if c.take("constraint") {
		c.name()
	}
	switch {
	case c.take("primary", "key"):
		r.key(t, c, "PRIMARY KEY")
	case c.take("unique"):
		r.key(t, c, "UNIQUE")
	case c.take("check"):
		t.checks = append(t.checks, c.inside())
	case c.take("foreign", "key"):
		f := pgForeign{columns: names(c.inside())}
		c.take("references")
		f.reference(r, t, c)
		t.foreign = append(t.foreign, f)
	case c.take("exclude"):
		r.parts.add("exclusion constraint", t.name)
	case c.at("not"): // ADD CONSTRAINT … NOT NULL column, of 18
		c.take("not", "null")
		if name, ok := c.name(); ok && t.column(name) != nil {
			t.column(name).notNull = true
		}
	default:
		r.parts.add(fmt.Sprintf("constraint that begins with %s", strings.ToUpper(c.peek().text)), t.name)
	}
}

func (r *pgReader) key(t *pgTable, c *cursor, kind string) {
	if c.take("nulls", "not", "distinct") {
		r.parts.add("key with NULLS NOT DISTINCT", t.name)
		return
	}
	c.take("nulls", "distinct")
	if c.take("using", "index") {
		r.parts.add("key of an index that is there", t.name)
		return
	}
	list := names(c.inside())
	if len(list) == 0 {
		return
	}
	if c.has("deferrable") && !c.has("not", "deferrable") {
		r.parts.add("DEFERRABLE", t.name)
	}
	t.keys = append(t.keys, pgKey{kind: kind, columns: list, desc: make([]bool, len(list))})
}

// reference reads what stands behind REFERENCES.
func (f *pgForeign) reference(r *pgReader, t *pgTable, c *cursor) {
	f.parent, _ = c.name()
	if c.at("(") {
		f.to = names(c.inside())
	}
	for !c.done() {
		switch {
		case c.take("on"):
			event := strings.ToUpper(c.peek().text)
			c.i++
			action := strings.ToUpper(c.peek().text)
			c.i++
			if action == "SET" || action == "NO" {
				action += " " + strings.ToUpper(c.peek().text)
				c.i++
			}
			if c.at("(") {
				c.inside()
				r.parts.add("columns behind ON DELETE SET", t.name)
			}
			f.actions += " ON " + event + " " + action
		case c.take("not", "deferrable"):
		case c.take("deferrable"):
			r.parts.add("DEFERRABLE", t.name)
		case c.take("initially"), c.take("not", "valid"):
			c.i++
		case c.take("match"):
			if c.at("full") {
				r.parts.add("MATCH FULL", t.name)
			}
			c.i++
		default:
			return // the next constraint of the column
		}
	}
}
