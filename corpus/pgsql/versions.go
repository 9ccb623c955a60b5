package pgsql

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Told says what versions of rows a statement that WithVersions has written tells. They are the last columns of each
// row of its answer, each version in three of them: the table's number, where the row lies, and which transaction
// made it.
//
// https://www.postgresql.org/docs/current/ddl-system-columns.html
type Told struct {
	// Found says that the version comes that the statement read or replaced, Made that the one comes that it made. Of
	// both, the first comes first, and is NULL where there is none.
	Found, Made bool
	// Writes says that the statement gives no rows of its own: the columns of versions are all that it answers.
	Writes bool
}

// VersionColumns is how many columns tell one version.
const VersionColumns = 3

// firstOldAndNew is the version of PostgreSQL that brought old and new behind RETURNING.
// https://www.postgresql.org/docs/release/18.0/
const firstOldAndNew = 18

// WithVersions is SQL for the version major, with the versions of the rows that the statement reads or writes in its
// answer. ok is false if it cannot tell them: it is no query or write of one table, that table is none of those that
// base knows by their lower-case names, or a row of its answer is none of the table.
//
// A query that tells them reads the rows themselves: where an index alone would do, the server may go another way.
func WithVersions(n ast.StmtNode, base func(table string) bool, major int) (sql string, told Told, ok bool) {
	p := &printer{}
	switch s := n.(type) {
	case *ast.SelectStmt:
		of, alone := p.only(s.From, base)
		if !alone || s.Kind != ast.SelectStmtKindSelect || s.Distinct || s.GroupBy != nil || s.Having != nil || s.With != nil ||
			len(s.WindowSpecs) > 0 {
			return "", told, false
		}
		p.versions = versionOf(of)
		sql, told = p.selection(s), Told{Found: true}
		if p.versions != "" { // it was not written: the rows are those of groups
			return "", told, false
		}
	case *ast.InsertStmt:
		of, alone := p.only(s.Table, base)
		if !alone {
			return "", told, false
		}
		sql, told = p.insert(s)+" RETURNING "+versionOf(of), Told{Made: true, Writes: true}
	case *ast.UpdateStmt:
		of, alone := p.only(s.TableRefs, base)
		if !alone || s.With != nil {
			return "", told, false
		}
		told = Told{Made: true, Writes: true}
		list := versionOf(of)
		if major >= firstOldAndNew && of != "old" && of != "new" {
			told.Found, list = true, versionOf("old")+", "+versionOf("new")
		}
		sql = p.update(s) + " RETURNING " + list
	case *ast.DeleteStmt:
		of, alone := p.only(s.TableRefs, base)
		if !alone || s.With != nil {
			return "", told, false
		}
		sql, told = p.delete(s)+" RETURNING "+versionOf(of), Told{Found: true, Writes: true}
	}
	return sql, told, sql != "" && p.unsayable == ""
}

// only returns the name by which a statement calls its only table, as it is written.
func (p *printer) only(refs *ast.TableRefsClause, base func(string) bool) (name string, ok bool) {
	if refs == nil || refs.TableRefs.Right != nil {
		return "", false
	}
	source, ok := refs.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return "", false
	}
	table, ok := source.Source.(*ast.TableName)
	if !ok || !base(table.Name.L) {
		return "", false
	}
	if source.AsName.O != "" {
		return quoted(source.AsName.O), true
	}
	return quoted(table.Name.O), true
}

// versionOf is the columns that tell a version.
func versionOf(of string) string {
	return strings.Join([]string{of + ".tableoid", of + ".ctid", of + ".xmin"}, ", ")
}
