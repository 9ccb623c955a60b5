package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// RawStmt is a statement that the parser does not read. Its writer has said what it
// touches. Nobody edits it.
type RawStmt struct {
	// SetOprStmt is empty: it lends the methods, which no other package can write, of a
	// statement and of what a query may read rows from.
	ast.SetOprStmt
	// SQL is the statement on one line, without comments.
	SQL string
	// Reads and Writes hold the tables that it reads and changes.
	Reads, Writes []*ast.TableName
	// Lock is what it locks of the rows that it reads.
	Lock Mode
	// Plan says that it asks for the plan of another statement. No file of a case says so.
	Plan bool
}

// Plain reports whether a statement does nothing but read, as a SELECT without locks.
func (r *RawStmt) Plain() bool { return r.Lock == None && len(r.Writes) == 0 }

// Defines reports whether a statement makes an index, or adds a constraint or the like to a table.
func (r *RawStmt) Defines() bool {
	w := r.Words()
	switch {
	case len(w) < 3:
		return false
	case w[0] == "create":
		return w[1] == "index" || w[1] == "unique" && w[2] == "index"
	}
	return w[0] == "alter" && w[1] == "table" && slices.Contains(w, "add")
}

// Accept shows the tables to a visitor: who asks which tables a statement names need not
// know of this one.
func (r *RawStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, skip := v.Enter(r)
	if skip {
		return v.Leave(n)
	}
	r = n.(*RawStmt)
	for _, tables := range [][]*ast.TableName{r.Reads, r.Writes} {
		for _, t := range tables {
			if _, ok := t.Accept(v); !ok {
				return r, false
			}
		}
	}
	return v.Leave(r)
}

// Restore writes the statement with what its writer has said of it.
func (r *RawStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(r.String())
	return nil
}

var modeNames = map[Mode]string{Share: "share", Exclusive: "exclusive"}

// ModeOf returns the mode of a name, as String writes it.
func ModeOf(name string) (Mode, bool) {
	for mode, n := range modeNames {
		if n == name {
			return mode, true
		}
	}
	return None, false
}

// String returns the statement behind a comment that says what it touches.
func (r *RawStmt) String() string {
	words := []string{"/* raw"}
	for _, list := range []struct {
		key    string
		tables []*ast.TableName
	}{{"reads", r.Reads}, {"writes", r.Writes}} {
		if len(list.tables) > 0 {
			names := make([]string, len(list.tables))
			for i, t := range list.tables {
				names[i] = t.Name.O
			}
			words = append(words, list.key+"="+strings.Join(names, ","))
		}
	}
	if r.Lock != None {
		words = append(words, "locks="+modeNames[r.Lock])
	}
	return strings.Join(append(words, "*/", r.SQL), " ")
}

// Calls reports whether the statement may call one of some functions, whose names are in
// lower case.
func (r *RawStmt) Calls(functions map[string]bool) bool {
	words := r.Words()
	for i, w := range words {
		called := i+1 < len(words) && words[i+1] == "("
		if functions[w] && (called || slices.Contains(bareFunctions, w)) {
			return true
		}
	}
	return false
}

// bareFunctions are called without parentheses, too.
var bareFunctions = []string{"current_date", "current_role", "current_time", "current_timestamp", "current_user", "localtime", "localtimestamp", "utc_date", "utc_time", "utc_timestamp"}

// Words returns the words of the statement in lower case, quoted names without their
// quotes, and the signs between them; each string as a quote.
func (r *RawStmt) Words() []string {
	var out []string
	for s := r.SQL; s != ""; {
		n := 1
		switch c := s[0]; {
		case c == ' ':
			s = s[1:]
			continue
		case c == '\'' || c == '"':
			n = quoted(s)
			out = append(out, "'")
			s = s[n:]
			continue
		case c == '`':
			n = quoted(s)
			out = append(out, strings.ToLower(strings.ReplaceAll(strings.Trim(s[:n], "`"), "``", "`")))
			s = s[n:]
			continue
		case isDigit(c):
			for n < len(s) && (inWord(s[n]) || s[n] == '.') {
				n++
			}
		case inWord(c):
			for n < len(s) && inWord(s[n]) {
				n++
			}
		}
		out = append(out, strings.ToLower(s[:n]))
		s = s[n:]
	}
	return out
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func inWord(c byte) bool {
	return c == '_' || c == '$' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// quoted returns the length of the quoted text that a text begins with.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] != s[0]:
		case i+1 < len(s) && s[i+1] == s[0]:
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}
