package promise

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// hidden is what a case does out of sight of its statements' text.
type hidden struct {
	triggers []*stmt.TriggerStmt
	// read says that one of them has a query, keys that there are foreign keys.
	read, keys bool
	// otherKeys says that there are unique keys or exclusion constraints beside those of CREATE TABLE.
	otherKeys bool
	// deferred says that a constraint may be checked when a transaction commits.
	deferred bool
}

// settings are the variables that a session may set: a session beside it can set them alike, and what
// lays out the rows need not.
var settings = []string{
	"autocommit", "innodb_lock_wait_timeout", "lock_wait_timeout", "foreign_key_checks", "unique_checks", "sql_mode",
}

const errOwnValue = unjudgedError("a table with a value that is not one of the rows")

// hiddenIn looks at a case's set-up and at its tables as the server defines them. An unjudgedError says that they hold what
// the rows do not determine.
func hiddenIn(c *corpus.Case, defs map[string]*ast.CreateTableStmt, on history.Server) (h hidden, err error) {
	for _, def := range defs {
		if clocked(def) {
			return h, errOwnValue
		}
	}
	counted := false
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *stmt.TriggerStmt:
			if unsettled(s.SQL) {
				return h, unjudgedError("a trigger with a value that is not one of the rows")
			}
			h.triggers = append(h.triggers, s)
			h.read = h.read || slices.ContainsFunc([]string{"select", "table", "with"}, func(w string) bool {
				return slices.Contains(s.Words(), w)
			})
		case *stmt.RawStmt:
			words := s.Words()
			h.keys = h.keys || slices.Contains(words, "references")
			h.otherKeys = h.otherKeys || slices.Contains(words, "unique") || slices.Contains(words, "exclude")
			h.deferred = h.deferred || slices.Contains(words, "deferrable")
			counts := slices.ContainsFunc(words, func(w string) bool { return w == "default" || w == "identity" })
			if unsettled(s.SQL) || counts {
				return h, unjudgedError("a definition with a value that is not one of the rows")
			}
		case *ast.CreateIndexStmt:
			h.otherKeys = h.otherKeys || s.KeyType == ast.IndexKeyTypeUnique
		case *ast.AlterTableStmt:
			h.otherKeys = true
		case *ast.CreateTableStmt:
			h.keys = h.keys || len(stmt.References(s)) > 0
			counted = counted || slices.ContainsFunc(s.Cols, func(col *ast.ColumnDef) bool {
				return slices.ContainsFunc(col.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionAutoIncrement })
			})
			if clocked(s) || undetermined(s, nil) != "" {
				return h, errOwnValue
			}
		case *ast.CreateViewStmt:
			if undetermined(s, nil) != "" {
				return h, unjudgedError("a view of what the rows alone do not determine")
			}
		}
	}
	if counted && (on.DBMS == history.PostgreSQL || on.Declared != nil && on.Declared.OwnCounters) {
		return h, unjudgedError("AUTO_INCREMENT values that no session can choose")
	}
	if len(h.triggers) > 0 && counted {
		return h, unjudgedError("AUTO_INCREMENT values where there are triggers")
	}
	for _, l := range c.Steps {
		switch s := l.Stmt.(type) {
		case *ast.SetStmt:
			if name := setsOther(s); name != "" && stmt.KindOf(s) == stmt.SetVariable {
				return h, unjudgedError("SET " + name)
			}
		case *ast.SavepointStmt:
			if strings.ContainsFunc(s.Name, func(r rune) bool { return r > unicode.MaxASCII }) {
				return h, unjudgedError("a savepoint whose name is not ASCII")
			}
		case *ast.BeginStmt:
			if s.ReadOnly && on.DBMS != history.PostgreSQL {
				return h, unjudgedError("READ ONLY")
			}
		}
	}
	return h, nil
}

func setsOther(s *ast.SetStmt) string {
	for _, v := range s.Variables {
		if !slices.Contains(settings, strings.ToLower(v.Name)) || v.IsGlobal || !v.IsSystem {
			return v.Name
		}
	}
	return ""
}
