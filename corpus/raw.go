package corpus

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// A statement that the parser does not read can be in a case all the same, behind a comment
// that says what it touches:
//
//	/* tx1 */ /* raw reads=t,u */ SELECT * FROM t INTERSECT ALL SELECT * FROM u;
//	/* tx1 */ /* raw reads=t writes=t locks=exclusive */ DELETE FROM t RETURNING a;
//
// The comment belongs to the statement, so a statement alone is read and printed with it.

var (
	rawPattern    = regexp.MustCompile(`^/\*[ \t]*raw\b([^*]*)\*/`)
	rawKeyPattern = regexp.MustCompile(`[^\s]+`)
)

var rawKeys = []string{"reads", "writes", "locks"}

// rawLine is a raw statement of a case, and where it and the tables are that it is said to
// touch.
type rawLine struct {
	at     int
	stmt   *stmt.RawStmt
	tables []namedTable
}

type namedTable struct {
	at   int
	name string
}

// raw reads text[start:end] if it is a raw statement; nil if it is none.
func (r *caseReader) raw(start, end int) (ast.StmtNode, error) {
	at := end - len(strings.TrimLeft(r.text[start:end], " \t\r\n"))
	m := rawPattern.FindStringSubmatchIndex(r.text[at:end])
	if m == nil {
		return nil, nil
	}
	s := &stmt.RawStmt{}
	line := rawLine{at: at, stmt: s}
	said := map[string]bool{}
	for _, w := range rawKeyPattern.FindAllStringIndex(r.text[at+m[2]:at+m[3]], -1) {
		from := at + m[2] + w[0]
		key, value, _ := strings.Cut(r.text[from:at+m[2]+w[1]], "=")
		if said[key] {
			return nil, r.errorf(from, "%s= stands there twice: name several tables as in %s=t,u", key, key)
		}
		said[key] = true
		var err error
		switch behind := from + len(key) + 1; key {
		case "reads":
			s.Reads, err = line.names(r, behind, value)
		case "writes":
			s.Writes, err = line.names(r, behind, value)
		case "locks":
			var ok bool
			if s.Lock, ok = stmt.ModeOf(value); !ok {
				err = r.errorf(behind, "unknown lock %q: want locks=share or locks=exclusive, or leave it out", value)
			}
		default:
			return nil, r.errorf(from, "unknown word %q of a raw statement%s: want reads=TABLES, writes=TABLES or locks=share|exclusive", key, spelling.Hint(key, rawKeys))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(s.Reads)+len(s.Writes) == 0 {
		return nil, r.errorf(at, "a raw statement says which tables it touches, as in /* raw reads=t,u writes=t */")
	}
	var err error
	if s.SQL, err = r.rawText(at+m[1], end); err != nil {
		return nil, err
	}
	if missing := unsaid(s); missing != "" {
		return nil, r.errorf(at, "%s", missing)
	}
	r.raws = append(r.raws, line)
	return s, nil
}

// rawWrites are the verbs of statements that change rows.
var rawWrites = map[string]bool{"insert": true, "replace": true, "update": true, "delete": true, "merge": true}

// unsaid names what a statement plainly does and its writer has not said, "" for nothing: it
// would be judged as what it is not.
func unsaid(s *stmt.RawStmt) string {
	words := s.Words()
	before := func(i int) string {
		if i == 0 {
			return ""
		}
		return words[i-1]
	}
	for i, w := range words {
		switch {
		case len(s.Writes) == 0 && rawWrites[w] && (i == 0 || words[0] == "with" && w != "replace" && before(i) != "for"):
			return "this " + strings.ToUpper(w) + " writes: say which tables, as in /* raw reads=t writes=t */"
		case s.Lock == stmt.None && len(s.Writes) == 0 && (before(i) == "for" && (w == "update" || w == "share") || before(i) == "share" && w == "mode"):
			return "this query locks what it reads: say locks=share or locks=exclusive, as in /* raw reads=t locks=share */"
		}
	}
	return ""
}

// names reads the names of tables at a place of the text.
func (l *rawLine) names(r *caseReader, at int, list string) ([]*ast.TableName, error) {
	var out []*ast.TableName
	for name := range strings.SplitSeq(list, ",") {
		if name == "" || strings.ContainsAny(name, ".`'\"=") {
			return nil, r.errorf(at, "want names of tables of this case, with commas and nothing else between, as in reads=t,u")
		}
		out = append(out, &ast.TableName{Name: model.NewCIStr(name)})
		l.tables = append(l.tables, namedTable{at, name})
		at += len(name) + 1
	}
	return out, nil
}

// rawText returns a statement on one line without comments, which scan keeps, and with all
// else as it is written.
func (r *caseReader) rawText(start, end int) (string, error) {
	var out strings.Builder
	space := func() {
		if out.Len() > 0 && !strings.HasSuffix(out.String(), " ") {
			out.WriteByte(' ')
		}
	}
	s := r.text[:end]
	for i := start; i < end; {
		switch c := s[i]; {
		case c == '\n' || isSpace(c):
			space()
			i++
		case c == '#', strings.HasPrefix(s[i:], "--") && (i+2 == len(s) || s[i+2] <= ' '):
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				n = end - i
			}
			i += n
			space()
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i+2:], "*/") + 4
			if n < 4 {
				return "", r.errorf(i, "this comment is never closed")
			}
			switch body := s[i+2 : i+n-2]; {
			case strings.HasPrefix(body, "+"):
				out.WriteString(oneLine(s[i : i+n]))
			case isCode(body):
				return "", r.errorf(i, "a raw statement cannot have a version comment: what it holds is not looked at; write what is in it without one")
			default:
				space()
			}
			i += n
		case c == '\'' || c == '"' || c == '`':
			n := EndOfQuote(s, i)
			if n < 0 {
				return "", r.errorf(i, "%c is never closed", c)
			}
			if c == '`' && strings.ContainsAny(s[i:n], "\n\r\x00\x1a") {
				return "", r.errorf(i, "a raw statement cannot have a name with a line end or a control character")
			}
			out.Write(appendEscaped(nil, s[i:n]))
			i = n
		default:
			out.WriteByte(c)
			i++
		}
	}
	text := strings.TrimSpace(out.String())
	if text == "" {
		return "", r.errorf(start, "empty statement")
	}
	return text, nil
}

// rawTables complains of a table that a raw statement is said to touch and that the case does
// not make, and of one that it names and is not said to touch: what it answers would be
// computed without that table's rows.
func (r *caseReader) rawTables() error {
	if len(r.raws) == 0 {
		return nil
	}
	made := map[string]bool{}
	var names []string
	add := func(t *ast.TableName) {
		made[t.Name.L] = true
		names = append(names, t.Name.O)
	}
	for _, lines := range [][]Line{r.c.Init, r.c.Steps} {
		for _, l := range lines {
			switch s := l.Stmt.(type) {
			case *ast.CreateTableStmt:
				add(s.Table)
			case *ast.CreateViewStmt:
				add(s.ViewName)
			case *ast.RenameTableStmt:
				for _, t := range s.TableToTables {
					add(t.NewTable)
				}
			}
		}
	}
	for _, l := range r.raws {
		said := map[string]bool{}
		for _, t := range l.tables {
			if said[strings.ToLower(t.name)] = true; !made[strings.ToLower(t.name)] {
				return r.errorf(t.at, "this case has no table %q%s", t.name, spelling.Hint(t.name, names))
			}
		}
		for _, w := range l.stmt.Words() {
			if made[w] && !said[w] {
				return r.errorf(l.at, "this statement names %s, a table of this case, and says neither reads=%s nor writes=%s", w, w, w)
			}
		}
	}
	return nil
}
