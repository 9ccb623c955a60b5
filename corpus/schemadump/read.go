package schemadump

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Dump is what a dump says of tables.
type Dump struct {
	// Tables are in the order of the dump.
	Tables []*ast.CreateTableStmt
	// Left says what is not read, Stands which types others stand for, a line each.
	Left, Stands []string
}

// Read returns the tables of a dump of MySQL, MariaDB or TiDB, or of PostgreSQL, and what is left out. name is for errors,
// which name the line. An error says that there is no table, or that the text is none.
func Read(name string, text []byte) (*Dump, error) {
	if ofPostgreSQL(string(text)) {
		return readPostgreSQL(name, string(text))
	}
	r := &reader{text: string(text), byName: map[string]*ast.CreateTableStmt{}}
	for _, s := range split(string(text)) {
		r.statement(s)
	}
	if len(r.tables) == 0 {
		if r.first != nil {
			return nil, fmt.Errorf("%s:%d: no table could be read: %w", name, r.line(r.firstAt), r.first)
		}
		return nil, fmt.Errorf("%s: there is no CREATE TABLE: want a dump such as mysqldump --no-data or pg_dump --schema-only "+
			"writes", name)
	}
	return &Dump{Tables: r.tables, Left: append(r.left.lines(), r.unread...), Stands: r.parts.stands}, nil
}

type reader struct {
	text   string
	tables []*ast.CreateTableStmt
	byName map[string]*ast.CreateTableStmt
	left   leftOut
	parts  parts
	// unread says which tables could not be read, and why.
	unread []string
	// first is why the first table was not read.
	first   error
	firstAt int
}

// line is that of an offset in the text.
func (r *reader) line(at int) int { return 1 + strings.Count(r.text[:at], "\n") }

// tableName finds the name behind CREATE TABLE.
var tableName = regexp.MustCompile("(?is)^CREATE\\s+(?:TEMPORARY\\s+)?TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?(`[^`]+`|[^\\s(]+)")

func nameOf(create string) string {
	if m := tableName.FindStringSubmatch(create); m != nil {
		return strings.Trim(m[1], "`")
	}
	return "without a name"
}

func (r *reader) statement(s statement) {
	words := strings.Fields(strings.ToUpper(s.text))
	kind := words[0]
	if len(words) > 1 && (kind == "CREATE" || kind == "ALTER" || kind == "DROP") {
		kind += " " + words[1]
	}
	switch kind {
	case "SET", "USE", "DROP TABLE", "DROP DATABASE", "DROP VIEW", "CREATE DATABASE", "LOCK", "UNLOCK", "START", "COMMIT", "BEGIN":
		return // of the dump itself
	case "CREATE TABLE", "ALTER TABLE", "CREATE INDEX", "CREATE UNIQUE":
	default:
		r.left.add(kind)
		return
	}
	n, err := r.parse(s.text)
	if err != nil {
		var parse *corpus.ParseError
		if errors.As(err, &parse) {
			err = errors.New(parse.Msg)
		}
		if kind != "CREATE TABLE" {
			r.left.add(kind + " that cannot be read")
			return
		}
		if r.first == nil {
			r.first, r.firstAt = err, s.at
		}
		r.unread = append(r.unread, fmt.Sprintf("table %s in line %d: %v", nameOf(s.text), r.line(s.at), err))
		return
	}
	switch n := n.(type) {
	case *ast.CreateTableStmt:
		if len(n.Cols) == 0 {
			r.left.add("CREATE TABLE like another, or as a query")
			return
		}
		n.Table.Schema.O, n.Table.Schema.L = "", ""
		r.tables = append(r.tables, n)
		r.byName[n.Table.Name.L] = n
	case *ast.AlterTableStmt:
		r.alter(n)
	case *ast.CreateIndexStmt:
		t := r.byName[n.Table.Name.L]
		if t == nil || n.KeyType != ast.IndexKeyTypeNone && n.KeyType != ast.IndexKeyTypeUnique {
			r.left.add(kind)
			return
		}
		c := &ast.Constraint{Tp: ast.ConstraintIndex, Name: n.IndexName, Keys: n.IndexPartSpecifications}
		if n.KeyType == ast.IndexKeyTypeUnique {
			c.Tp = ast.ConstraintUniq
		}
		t.Constraints = append(t.Constraints, c)
	}
}

// alter adds the keys of an ALTER TABLE to its table.
func (r *reader) alter(n *ast.AlterTableStmt) {
	t := r.byName[n.Table.Name.L]
	for _, s := range n.Specs {
		if t == nil || s.Tp != ast.AlterTableAddConstraint || s.Constraint == nil {
			r.left.add("part of an ALTER TABLE that adds no key")
			continue
		}
		t.Constraints = append(t.Constraints, s.Constraint)
	}
}
