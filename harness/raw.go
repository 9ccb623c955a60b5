package harness

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Nothing but its words tells what a raw statement may reach, so what they could mean counts.

// rawVerbs begin the statements that read and change rows.
var rawVerbs = []string{"select", "with", "values", "table", "(", "insert", "replace", "update", "delete", "merge"}

// refusedWords write files, set variables of the whole server, or stop its threads.
var refusedWords = []string{
	"outfile", "dumpfile", "load_file", "benchmark", "global", "persist", "persist_only",
	"pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile", "pg_promote", "pg_switch_wal",
	"pg_read_file", "pg_read_binary_file", "pg_ls_dir", "lo_import", "lo_export", "dblink", "dblink_exec",
	"set_config", unlockAll, "pg_notify",
	// They run a text as a query.
	"query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "ts_stat", "ts_rewrite",
}

// callsQuoted reports whether a statement may call a function by a name in quotes, which Words does not tell from a text.
func callsQuoted(words []string) bool {
	for i := 1; i < len(words); i++ {
		if words[i] == "(" && words[i-1] == "'" {
			return true
		}
	}
	return false
}

// definitionTraits tells the traits of a raw statement of a set-up, which defines something.
func definitionTraits(s *stmt.RawStmt, sql string) (traits, error) {
	words := s.Words()
	for i, w := range words {
		switch {
		case slices.Contains(refusedWords, w), strings.HasPrefix(w, "pg_"):
			return 0, &RefusedError{sql, "a raw statement may not hold the word " + w}
		case w == "." && i > 0 && !qualifies(words, i-1, s):
			return 0, &RefusedError{sql, "it may name another database: " + words[i-1] + " stands before a dot"}
		}
	}
	if strings.Contains(s.SQL, `"`) && callsQuoted(words) {
		return 0, &RefusedError{sql, "a raw statement calls functions by their names without quotes"}
	}
	return altersSchema | taints, nil
}

// rawTraits tells the traits of a raw statement, and why it is refused.
func rawTraits(s *stmt.RawStmt) (t traits, refused string) {
	words := s.Words()
	if !slices.Contains(rawVerbs, words[0]) && !(s.Plan && words[0] == "explain") {
		return 0, "a raw statement is a query, INSERT, REPLACE, UPDATE, DELETE or MERGE"
	}
	for i, w := range words {
		switch {
		case slices.Contains(refusedWords, w):
			return 0, "a raw statement may not hold the word " + w
		case w == "." && i > 0 && !qualifies(words, i-1, s):
			return 0, "it may name another database: " + words[i-1] + " before a dot is no table of the statement and is not made by AS in it"
		case w == "@":
			t |= taints
		case w == "ignore":
			t |= ignores
		}
	}
	if strings.Contains(s.SQL, `"`) && callsQuoted(words) {
		return 0, "a raw statement calls functions by their names without quotes"
	}
	if words[0] == "select" && slices.Contains(words, "into") {
		return 0, "SELECT INTO makes a table"
	}
	if s.Calls(statefulFuncs) {
		t |= taints
	}
	if s.Calls(varyingFuncs) {
		t |= varies
	}
	if !s.Plain() {
		t |= locks
	}
	more, refused := advisoryTraits(words, s.SQL)
	return t | more, refused
}

// qualifies reports whether a word is surely the name of a table, or of something that the
// statement itself makes, and so no database.
func qualifies(words []string, at int, s *stmt.RawStmt) bool {
	name := words[at]
	names := func(w string) bool {
		return slices.ContainsFunc(slices.Concat(s.Reads, s.Writes), func(t *ast.TableName) bool { return t.Name.L == w })
	}
	switch { // PostgreSQL's rows that met a key, and that a write changes
	case names(name), name == "excluded" && slices.Contains(words, "conflict"),
		(name == "old" || name == "new") && slices.Contains(words[:at], "returning"):
		return true
	}
	for i, w := range words {
		if w != name {
			continue
		}
		if i > 0 && (words[i-1] == "as" || words[i-1] == ")" || names(words[i-1])) || i+2 < len(words) && words[i+1] == "as" && words[i+2] == "(" {
			return true
		}
	}
	return false
}
