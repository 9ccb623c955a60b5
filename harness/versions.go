package harness

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// script makes a case ready for the server of the pool.
func (p *Pool) script(c *corpus.Case) (*script, error) {
	s, err := newScript(c, p.server.DBMS)
	if err == nil && p.server.DBMS == history.PostgreSQL && c.TellsVersions() {
		s.tellVersions(c, p.server.Version)
	}
	if err == nil {
		if err = p.takesLevels(s); err == nil {
			err = p.spreads(c, s)
		}
	}
	if err == nil {
		err = s.sendBy(c.Protocol())
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// tellVersions has the statements that can tell the versions of the rows that they read and write do so.
func (s *script) tellVersions(c *corpus.Case, version string) {
	major := history.VersionNumbers(version)[0]
	tables := map[string]bool{}
	for _, l := range c.Init {
		if t, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			tables[t.Table.Name.L] = true
		}
	}
	base := func(name string) bool { return tables[name] }
	for i := range s.steps {
		st := &s.steps[i]
		if st.traits&(ownNamed|namesDatabase) != 0 {
			continue
		}
		if sql, told, ok := pgsql.WithVersions(st.node, base, major); ok {
			st.sql, st.versions = sql, &told
		}
	}
}

// takeVersions takes the versions out of an answer, which then is that of the statement as the case has it.
func takeVersions(told *pgsql.Told, r *history.Result) []history.RowVersion {
	if told == nil || r.Err != nil {
		return nil
	}
	hidden := 0
	for _, there := range []bool{told.Found, told.Made} {
		if there {
			hidden += pgsql.VersionColumns
		}
	}
	own := len(r.Columns) - hidden
	if own < 0 {
		return nil
	}
	versions := make([]history.RowVersion, len(r.Rows))
	for i, row := range r.Rows {
		of := row[own:]
		if told.Found {
			versions[i].Found = versionIn(of)
			of = of[pgsql.VersionColumns:]
		}
		if told.Made {
			versions[i].Made = versionIn(of)
		}
		r.Rows[i] = row[:own:own]
	}
	r.Columns = r.Columns[:own:own]
	if told.Writes {
		r.Columns, r.Rows = nil, nil
	}
	return versions
}

// versionIn joins the columns that tell a version, "" if there is none.
func versionIn(cells []history.Cell) string {
	parts := make([]string, pgsql.VersionColumns)
	for i := range parts {
		if cells[i].Null {
			return ""
		}
		parts[i] = cells[i].Text
	}
	return strings.Join(parts, " ")
}
