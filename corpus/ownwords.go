package corpus

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// dialectKey is the header line `dialect`, which says that the statements behind it are in the words of another server
// than MySQL.
const dialectKey = "dialect"

// dialectPostgres is the only value of that line.
const dialectPostgres = "postgres"

const wantDialect = "want dialect: postgres, or none for MySQL's words"

// inWords reads text[start:end] as a statement of PostgreSQL: nil if the parser of MySQL's SQL takes it for the same. Else
// it is a raw statement, and what it touches is told by its words.
func (r *caseReader) inWords(start, end int) (*stmt.RawStmt, error) {
	sql, err := r.rawText(start, end)
	if err != nil {
		return nil, err
	}
	raw := &stmt.RawStmt{SQL: sql}
	words := raw.Words()
	if !startsInWords[words[0]] || r.reads(raw, words) {
		return nil, nil
	}
	if words[0] == "create" || words[0] == "alter" {
		if !raw.Defines() {
			return nil, nil
		}
	}
	raw.Touch(words, r.made())
	if raw.Defines() {
		raw.Writes = raw.Reads
	}
	if len(raw.Reads)+len(raw.Writes) == 0 {
		return nil, r.errorf(start, "this statement names no table of the case, so that nobody knows what it touches")
	}
	if missing := unsaid(raw); missing != "" {
		return nil, r.errorf(start, "%s", missing)
	}
	r.raws = append(r.raws, rawLine{at: start, stmt: raw, tables: named(start, raw)})
	return raw, nil
}

// startsInWords are the first words of what may be a raw statement.
var startsInWords = map[string]bool{
	"select": true, "with": true, "values": true, "table": true, "(": true, "insert": true, "update": true, "delete": true,
	"merge": true, "create": true, "alter": true,
}

// reads reports whether the parser of MySQL's SQL takes a statement for what it is: printed for PostgreSQL, it has the
// words that it had.
func (r *caseReader) reads(raw *stmt.RawStmt, words []string) bool {
	node, _, msg := parseFaithful(raw.SQL)
	// Words do not tell a name in quotes from a text, which MySQL takes it for, nor what a backslash in a text means.
	if msg != "" || strings.ContainsAny(raw.SQL, `"\`) {
		return false
	}
	switch node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
	default:
		return true
	}
	printed, err := forPostgreSQL(node, pgsql.SQL)
	return err == nil && slices.Equal((&stmt.RawStmt{SQL: printed}).Words(), words)
}

// made holds the names, in lower case, of the tables and views that the lines so far have made.
func (r *caseReader) made() map[string]bool {
	out := map[string]bool{}
	for _, l := range slices.Concat(r.c.Init, r.c.Steps) {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			out[s.Table.Name.L] = true
		case *ast.CreateViewStmt:
			out[s.ViewName.Name.L] = true
		}
	}
	return out
}

func named(at int, raw *stmt.RawStmt) (out []namedTable) {
	for _, t := range slices.Concat(raw.Reads, raw.Writes) {
		out = append(out, namedTable{at, t.Name.O})
	}
	return out
}
