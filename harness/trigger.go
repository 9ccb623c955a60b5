package harness

import (
	"regexp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// eachRow ends what stands before the statement that a trigger runs.
// https://dev.mysql.com/doc/refman/en/create-trigger.html
var eachRow = regexp.MustCompile(`(?is)^(\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:DEFINER\s*=\s*\S+\s+)?TRIGGER\b.*?\bFOR\s+EACH\s+ROW\s+(?:(?:FOLLOWS|PRECEDES)\s+\S+\s+)?)(.*)$`)

// guarded is a statement of a set-up; if it makes a trigger, then one that does nothing while rows
// are laid out.
func guarded(n ast.StmtNode) ast.StmtNode {
	t, ok := n.(*stmt.TriggerStmt)
	if !ok {
		return n
	}
	m := eachRow.FindStringSubmatch(t.SQL)
	if m == nil {
		return n
	}
	own := *t
	own.SQL = m[1] + "BEGIN IF " + loading + " IS NULL THEN " + m[2] + "; END IF; END"
	return &own
}

// mayReact says that tables of a case may have triggers, or constraints that PostgreSQL checks by triggers: foreign
// keys, and those that may be deferred.
// https://www.postgresql.org/docs/current/catalog-pg-trigger.html
func mayReact(c *corpus.Case) bool {
	return slices.ContainsFunc(c.Init, func(l corpus.Line) bool {
		switch s := l.Stmt.(type) {
		case *stmt.TriggerStmt, *ast.AlterTableStmt:
			return true
		case *ast.CreateTableStmt:
			return s.ReferTable != nil || len(stmt.References(s)) > 0
		case *stmt.RawStmt:
			words := s.Words()
			return slices.ContainsFunc([]string{"references", "trigger", "deferrable"}, func(w string) bool {
				return slices.Contains(words, w)
			})
		}
		return false
	})
}

// triggerTraits refuses a trigger that could touch more than the tables of its case.
func triggerTraits(t *stmt.TriggerStmt) (traits, error) {
	words := t.Words()
	for i, w := range words {
		switch {
		case slices.Contains(refusedWords, w), w == "call", w == "prepare", w == "kill":
			return 0, &RefusedError{t.SQL, "a trigger may not hold the word " + w}
		case w == "." && i > 0 && words[i-1] != "new" && words[i-1] != "old":
			return 0, &RefusedError{t.SQL, "it may name another database: " + words[i-1] + " stands before a dot"}
		}
	}
	return 0, nil
}
