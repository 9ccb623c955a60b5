package foreign

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// rowVerbs begin the statements that read and write rows.
var rowVerbs = []string{"select", "with", "values", "table", "insert", "update", "delete", "merge"}

// pureFunctions answer what their arguments say, and nothing else.
var pureFunctions = func() map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(`count sum min max avg coalesce nullif greatest least abs upper lower length
		char_length octet_length substr substring trim ltrim rtrim replace concat repeat left right md5 mod floor ceil
		ceiling round row_number rank dense_rank lag lead generate_series string_agg array_agg bool_and bool_or every
		row cast position reverse lpad rpad sign power sqrt unnest`) {
		m[f] = true
	}
	return m
}()

// noFunctions may stand before a parenthesis and call nothing.
var noFunctions = func() map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(`in values any all some exists over filter by and or not as on using conflict from
		join where select union intersect except when then else set with returning having case between like distinct
		limit offset key unique primary check references default is only materialized within group numeric decimal
		varchar char character varying bit time timestamp interval float index of table into explain`) {
		m[f] = true
	}
	return m
}()

// behindName stand before what is a name even if a parenthesis follows.
var behindName = []string{
	"into", "as", "with", "recursive", "table", "references", "on", ")", "index", "view", "from", "join", "update", ".",
	"using",
}

// calls reports whether the word at a place is a function that is called.
func (s statement) calls(i int) bool {
	if s[i].kind != word || !s.is(i+1, "(") || noFunctions[s[i].low] {
		return false
	}
	return i == 0 || !slices.Contains(behindName, s[i-1].low) || pureFunctions[s[i].low]
}

// readAlike refuses text that servers read differently.
func (s statement) readAlike() *Refusal {
	for _, t := range s {
		switch {
		case t.kind == escape:
			return refuse(s, "a string that servers read differently")
		case t.kind == name && t.low != strings.ToLower(t.low):
			return refuse(s, "a quoted name with capitals")
		}
	}
	return nil
}

// sameSigns mean the same in MySQL and in PostgreSQL.
var sameSigns = []string{"(", ")", ",", ".", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "%"}

// otherWords are read by the parser of MySQL's SQL, and mean something else there.
var otherWords = []string{"any", "some", "all", "interval", "only"}

// meansOther returns the first word or sign that the parser of MySQL's SQL would take for something else.
func (s statement) meansOther() (string, bool) {
	for i, t := range s {
		switch {
		case t.low == "all" && i > 0 && s.is(i-1, "union"):
		case t.kind == sign && !slices.Contains(sameSigns, t.sql), t.kind == word && slices.Contains(otherWords, t.low):
			return t.sql, true
		case t.low == "using" && s.is(0, "delete"):
			return "DELETE USING", true
		case t.kind != text || i == 0:
		case s[i-1].kind == text, s[i-1].kind == word && !slices.Contains(beforeText, s[i-1].low):
			return "two strings side by side", true
		}
	}
	return "", false
}

// beforeText are the words behind which a string is a string, and not of a type, as in DATE '2024-01-01'.
var beforeText = []string{
	"and", "or", "not", "like", "values", "in", "between", "then", "else", "when", "case", "select", "where", "set", "by",
	"as", "default", "having", "is", "escape", "distinct", "returning", "date", "timestamp",
}

// rows reads a statement that reads or writes rows: parsed, or raw with what it touches.
func (b *builder) rows(s statement) (ast.StmtNode, *Refusal) {
	if b.words == MySQL {
		node, err := b.words.parsed(s)
		if err != nil {
			no := refuse(s, "SQL of a session that is not read")
			no.Detail += ": " + oneLine(err.Error())
			return nil, no
		}
		return node, nil
	}
	if !slices.Contains(rowVerbs, s[0].low) {
		what := s[0].low
		if len(s) > 1 && slices.Contains([]string{"create", "alter", "drop", "lock", "refresh"}, what) && s[1].kind == word {
			what += " " + s[1].low
		}
		return nil, refuse(s, "%s in a session", strings.ToUpper(what))
	}
	if no := s.readAlike(); no != nil {
		return nil, no
	}
	if node, err := corpus.ParseStatement(s.text()); err == nil && stmt.KindOf(node) == stmt.Advisory {
		return node, nil
	}
	for i, t := range s {
		switch {
		case s.calls(i) && s.keyed(i+1) && (strings.HasPrefix(t.low, "pg_advisory_") || strings.HasPrefix(t.low, "pg_try_advisory_")):
		case stmt.SystemColumn(t.low):
			return nil, refuse(s, "a column of the system")
		case s.is(i+1, ".") && (t.low == "old" || t.low == "new"):
			return nil, refuse(s, "OLD and NEW in RETURNING")
		case strings.HasPrefix(t.low, "pg_") && !s.calls(i), t.low == "information_schema":
			return nil, refuse(s, "a table of the system")
		case s.calls(i) && !pureFunctions[t.low] && !b.setup.tables[t.low]:
			return nil, refuse(s, "the function %s", t.low)
		}
	}
	booleans := slices.ContainsFunc(s, func(t token) bool { return b.setup.booleans[strings.ToLower(t.low)] })
	truth := s.has("true") || s.has("false")
	if _, other := s.meansOther(); !other && (booleans || !truth) {
		if node, err := b.words.parsed(s); err == nil {
			return node, nil
		}
	}
	if booleans {
		return nil, refuse(s, "a raw statement on a column of type BOOLEAN")
	}
	raw := b.raw(s)
	if len(raw.Reads)+len(raw.Writes) == 0 {
		return nil, refuse(s, "a raw statement that names no table")
	}
	return raw, nil
}

// keyed reports whether the parenthesis at a place holds a number or two, as keys of advisory locks.
func (s statement) keyed(open int) bool {
	end := s.closes(open)
	for i := open + 1; i < end; i++ {
		if s[i].kind != number && !(i == open+2 && s.is(i, ",")) {
			return false
		}
	}
	return end == open+2 || end == open+4
}

// raw is a statement with what its words say that it touches.
func (b *builder) raw(s statement) *stmt.RawStmt {
	raw := &stmt.RawStmt{SQL: s.text()}
	words := make([]string, len(s))
	for i, t := range s {
		if words[i] = strings.ToLower(t.low); t.kind == text || t.kind == escape {
			words[i] = "'"
		}
	}
	raw.Touch(words, b.setup.tables)
	return raw
}
