package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Validate reports everything that keeps a case from being run or from being
// read back as it is: statements that cannot be printed, lines in the wrong
// part, a level that is unreadable or of no session, header keys and comments that would be read as
// something else. The errors are joined.
func (c *Case) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Init)+len(c.Steps) == 0 {
		complain("no statement")
	} else if len(c.Steps) == 0 {
		complain(noSteps)
	}
	for _, s := range c.strangers() {
		complain("header level: %s", noSuchSession(s))
	}
	for _, f := range c.Header {
		if g, ok := parseField(strings.TrimSpace(f.Key + ": " + fold(f.Value))); !ok || g.Key != f.Key || strings.ContainsAny(f.Key, "\n\r") {
			complain("header key %q: want a letter first, and no colon, line end or space around it", f.Key)
		}
		if f.Key == levelKey {
			if _, err := parseLevels(f.Value); err != nil {
				complain("header level: %w", err)
			}
		}
	}
	check := func(part string, i int, l Line) {
		if l.Stmt == nil {
			complain("%s line %d has no statement", part, i+1)
			return
		}
		if _, err := Format(l.Stmt, Text); err != nil {
			complain("%s line %d: %w", part, i+1, err)
		}
	}
	for i, l := range c.Init {
		if l.Session != InitSession {
			complain("init line %d has session %d", i+1, l.Session)
		}
		check("init", i, l)
	}
	for i, l := range c.Steps {
		if l.Session < 1 || l.Session > MaxSession {
			complain("step %d: session %d is not in 1…%d", i+1, l.Session, MaxSession)
		}
		check("step", i, l)
		if s, ok := l.Stmt.(*stmt.SessionStmt); ok && s.Target != 0 && !slices.Contains(c.Sessions(), s.Target) {
			complain("step %d: %s: the case has no session tx%d", i+1, s, s.Target)
		}
	}
	return errors.Join(errs...)
}
