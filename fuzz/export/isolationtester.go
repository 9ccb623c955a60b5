package export

import (
	"bytes"
	"fmt"
	"strings"
)

// isolationtester writes a specification for PostgreSQL's isolationtester, for
// its forks and compatible servers. The statements are the case's own: types
// and functions may have to be rewritten.
//
// https://github.com/postgres/postgres/blob/master/src/test/isolation/README
func isolationtester(s *script) (Files, error) {
	var b bytes.Buffer
	comment(&b, "#", "%s", s.title())
	comment(&b, "#", "%s %s, %s", s.History.Server.DBMS, s.History.Server.Version, s.LevelText())
	for _, w := range s.Account.Why {
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
	for _, sql := range s.setup() {
		block("", "setup", sql)
	}
	for i, t := range s.tables() {
		if i == 0 {
			b.WriteString("teardown\t{ DROP TABLE ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(t)
	}
	if len(s.tables()) > 0 {
		b.WriteString("; }\n")
	}
	for _, n := range s.Sessions {
		fmt.Fprintf(&b, "\nsession s%d\n", n)
		block("", "setup", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL "+s.Levels[n].String())
		for i := range s.actions {
			if a := &s.actions[i]; a.Session == n && !a.Resumed {
				block("", "step "+stepName(a), a.sql)
			}
		}
	}
	b.WriteString("\npermutation")
	for i := range s.actions {
		if a := &s.actions[i]; !a.Resumed {
			b.WriteString(" " + stepName(a))
		}
	}
	b.WriteByte('\n')
	return Files{Text: b.Bytes()}, err
}

func stepName(a *action) string { return fmt.Sprintf("s%d_%d", a.Session, a.Step) }
