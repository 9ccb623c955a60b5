package export

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// isolationtester writes a specification for PostgreSQL's isolationtester, for
// its forks and compatible servers. What cannot be said there is refused. All that is promised
// is that the specification is parsed and runs to its end: another server owes other answers, and
// an error is one of them (a text cannot be compared with a number there).
//
// https://github.com/postgres/postgres/blob/master/src/test/isolation/README
func isolationtester(s *script) (Files, error) { return s.specification(nil) }

// specification writes the case, and where one statement is held at an injection point what that takes.
func (s *script) specification(at *injection) (Files, error) {
	if s.Case.EndsSessions() {
		return Files{}, errNoEnds
	}
	var b bytes.Buffer
	comment(&b, "#", "%s", s.title())
	comment(&b, "#", "%s", s.serverLine())
	if needs := s.needsText(plainCode); needs != "" {
		comment(&b, "#", "%s", needs)
	}
	for _, w := range s.why() {
		comment(&b, "#", "%s", w)
	}
	at.about(&b)
	b.WriteByte('\n')
	var err error
	block := func(indent, head, sql string) {
		if strings.ContainsAny(sql, "{}") && err == nil {
			// The specification's scanner ends a block at the first brace,
			// within quotes too.
			err = fmt.Errorf("a statement with a brace cannot be written: %s", sql)
		}
		fmt.Fprintf(&b, "%s%s\t{ %s; }\n", indent, head, sql)
	}
	translated := func(stmt ast.StmtNode) string {
		out, why := forPostgreSQL(stmt, s.onPostgres())
		if why != nil && err == nil {
			err = why
		}
		return out
	}
	b.WriteString(at.setup())
	for _, l := range s.Case.Init {
		block("", "setup", translated(l.Stmt))
	}
	if drops := append(s.drops(), at.drops()...); len(drops) > 0 {
		b.WriteString("teardown\t{ " + strings.Join(drops, "; ") + "; }\n")
	}
	for _, n := range s.Sessions {
		fmt.Fprintf(&b, "\nsession s%d\n", n)
		block("", "setup", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL "+s.Levels[n].String()+at.local(n))
		for i := range s.actions {
			if a := &s.actions[i]; a.Session == n && !a.Resumed {
				block("", "step "+stepName(a), translated(s.Case.Steps[s.History.Stmts[a.Stmt].Line].Stmt))
			}
		}
		if at.local(n) != "" {
			b.WriteString(arm)
		}
		block("", "teardown", "ROLLBACK")
	}
	b.WriteString(at.session())
	b.WriteString("\npermutation")
	for i := range s.actions {
		b.WriteString(at.around(&s.actions[i]))
	}
	b.WriteString(at.behind() + "\n")
	if err != nil {
		return Files{}, err
	}
	return Files{Text: b.Bytes()}, nil
}

func (s *script) drops() []string {
	if len(s.tables()) == 0 {
		return nil
	}
	names := make([]string, len(s.tables()))
	for i, t := range s.tables() {
		names[i] = pgsql.Name(t)
	}
	return []string{"DROP TABLE " + strings.Join(names, ", ")}
}

func stepName(a *action) string { return fmt.Sprintf("s%d_%d", a.Session, a.Step) }

// forPostgreSQL writes a statement, as one or several, or says why that cannot be. own says that raw ones are in
// PostgreSQL's words.
func forPostgreSQL(n ast.StmtNode, own bool) (string, error) {
	switch n := n.(type) {
	case *stmt.RawStmt:
		if !own {
			return "", fmt.Errorf("PostgreSQL does not know a raw statement: %s", n.SQL)
		}
		return n.SQL, nil
	case *ast.BeginStmt:
		if stmt.KindOf(n) == stmt.BeginSnapshot {
			if n.ReadOnly {
				return "START TRANSACTION READ ONLY; SELECT 1", nil
			}
			return "BEGIN; SELECT 1", nil // the first query takes the snapshot
		}
	}
	sql, err := corpus.Format(n, corpus.PostgreSQL)
	var unsayable *pgsql.UnsayableError
	if errors.As(err, &unsayable) {
		return "", fmt.Errorf("%w: %s", unsayable, corpus.SQL(n, corpus.Text))
	}
	return sql, err
}
