package export

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// isolationtester writes a specification for PostgreSQL's isolationtester, for
// its forks and compatible servers. Tables are written in PostgreSQL's types, and
// what its parser would refuse is refused here. All that is promised is that the
// specification is parsed and runs to its end: another server owes other answers, and
// an error is one of them (WHERE needs a boolean there, not a number).
//
// https://github.com/postgres/postgres/blob/master/src/test/isolation/README
func isolationtester(s *script) (Files, error) {
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
	translated := func(stmt ast.StmtNode) []string {
		out, why := postgres(stmt)
		if why != nil && err == nil {
			err = why
		}
		return out
	}
	for _, l := range s.Case.Init {
		for _, sql := range translated(l.Stmt) {
			block("", "setup", sql)
		}
	}
	for i, t := range s.tables() {
		if i == 0 {
			b.WriteString("teardown\t{ DROP TABLE ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(quotePostgres(t))
	}
	if len(s.tables()) > 0 {
		b.WriteString("; }\n")
	}
	for _, n := range s.Sessions {
		fmt.Fprintf(&b, "\nsession s%d\n", n)
		block("", "setup", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL "+s.Levels[n].String())
		for i := range s.actions {
			if a := &s.actions[i]; a.Session == n && !a.Resumed {
				block("", "step "+stepName(a), strings.Join(translated(s.Case.Steps[s.History.Stmts[a.Stmt].Line].Stmt), "; "))
			}
		}
		block("", "teardown", "ROLLBACK")
	}
	b.WriteString("\npermutation")
	for i := range s.actions {
		if a := &s.actions[i]; !a.Resumed {
			b.WriteString(" " + stepName(a))
		}
	}
	b.WriteByte('\n')
	if err != nil {
		return Files{}, err
	}
	return Files{Text: b.Bytes()}, nil
}

func stepName(a *action) string { return fmt.Sprintf("s%d_%d", a.Session, a.Step) }
