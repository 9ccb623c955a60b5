package corpus

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// ParseError says where a case is malformed.
type ParseError struct {
	// File is the name given to Parse.
	File string
	// Line and Column count from 1; columns count characters.
	Line, Column int
	Msg          string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// noSteps is what is wrong with a case that only sets up.
const noSteps = "no session sends a statement, so there is nothing to judge: want lines such as /* tx1 */ BEGIN;"

// MaxSession is the largest session number that the text form knows.
const MaxSession = 999

// Parse reads the text form of a case. name only appears in errors, all of
// which are *ParseError. A case whose printed form would not mean the same is
// refused, so Print never changes what was read.
func Parse(name string, text []byte) (*Case, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	r := &caseReader{name: name, text: string(text), c: &Case{}, levelAt: -1}
	if at := invalidUTF8(r.text); at >= 0 {
		return nil, r.errorf(at, "not UTF-8")
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.c, nil
}

// ParseStatement parses one SQL statement, with or without its semicolon. The
// error is a *ParseError whose File is empty.
func ParseStatement(sql string) (ast.StmtNode, error) {
	r := &caseReader{text: sql}
	if at := invalidUTF8(sql); at >= 0 {
		return nil, r.errorf(at, "not UTF-8")
	}
	return r.parse(0, len(sql))
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, c := range s {
		if c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

var (
	prefixPattern = regexp.MustCompile(`^/\*[ \t]*(?:(init)|tx([0-9]+))[ \t]*\*/`)
	fieldPattern  = regexp.MustCompile(`^([A-Za-z][^:]*):(?: (.*))?$`)
)

// caseReader holds the state of reading one file.
type caseReader struct {
	name, text string
	pos        int
	above      []string // comments since the last statement
	last       *Line    // the statement that ended on the current line
	c          *Case
	// raws holds the raw statements.
	raws []rawLine
	// levelAt is where the header line `level` that counts begins, -1 where none does.
	levelAt int
	// holds holds the header lines `hold`.
	holds []holdLine
	// postgres says that statements are in PostgreSQL's words.
	postgres bool
	// kills holds the statements that kill a session.
	kills []killLine
	// heard, if set, is told of every comment on a line of its own, and whether
	// it stands where header lines do.
	heard func(at int, text string, header bool)
}

func (r *caseReader) errorf(at int, format string, args ...any) *ParseError {
	at = min(at, len(r.text))
	before := r.text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &ParseError{
		File:   r.name,
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(before[start:]) + 1,
		Msg:    fmt.Sprintf(format, args...),
	}
}

func (r *caseReader) read() error {
	for r.pos < len(r.text) {
		switch rest := r.text[r.pos:]; {
		case rest[0] == '\n':
			r.last = nil
			r.pos++
		case isSpace(rest[0]):
			r.pos++
		case strings.HasPrefix(rest, "--"):
			if err := r.comment(); err != nil {
				return err
			}
		default:
			if err := r.statement(); err != nil {
				return err
			}
		}
	}
	if len(r.c.Init)+len(r.c.Steps) == 0 {
		return r.errorf(len(r.text), "no statement: want lines such as /* init */ CREATE TABLE …; and /* tx1 */ BEGIN;")
	}
	if len(r.c.Steps) == 0 {
		return r.errorf(len(r.text), "%s", noSteps)
	}
	r.c.Tail = r.above
	if err := r.levelSessions(); err != nil {
		return err
	}
	if err := r.killedSessions(); err != nil {
		return err
	}
	if err := r.heldStatements(); err != nil {
		return err
	}
	return r.rawTables()
}

type holdLine struct {
	at    int
	value string
}

// heldStatements marks the statement that a header line names.
func (r *caseReader) heldStatements() error {
	for i, l := range r.holds {
		if i > 0 {
			return r.errorf(l.at, "header hold: one statement can be held, and the header names two")
		}
		if err := r.c.applyHold(l.value); err != nil {
			return r.errorf(l.at, "%v", err)
		}
	}
	return nil
}

// levelSessions refuses a level for a session that sends nothing.
func (r *caseReader) levelSessions() error {
	absent := r.c.strangers()
	if len(absent) == 0 {
		return nil
	}
	name := regexp.MustCompile(fmt.Sprintf(`\btx[+]?0*%d\s*=`, absent[0]))
	at := r.levelAt
	// A line end that the value spells \n may stand before the name: then the line is told.
	if found := name.FindStringIndex(r.text[at:]); found != nil {
		at += found[0]
	}
	return r.errorf(at, "header level: %s", noSuchSession(absent[0]))
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\f' || b == '\v' }

// comment reads one comment line, or the note behind a statement.
func (r *caseReader) comment() error {
	start := r.pos
	end := strings.IndexByte(r.text[start:], '\n')
	if end < 0 {
		end = len(r.text)
	} else {
		end += start
	}
	r.pos = end
	text := commentText(r.text[start+2 : end])
	if r.last != nil {
		r.last.Note = joinNote(r.last.Note, text)
		return nil
	}
	return r.addAbove(start, text)
}

// commentText removes what separates a comment from its marker.
func commentText(s string) string {
	return strings.TrimSpace(s)
}

func joinNote(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// addAbove keeps a comment: as a header line if it is one and no statement came
// before, else for the next statement.
func (r *caseReader) addAbove(at int, text string) error {
	inHeader := len(r.c.Init)+len(r.c.Steps) == 0
	if r.heard != nil {
		r.heard(at, text, inHeader)
	}
	if inHeader {
		if f, ok := parseField(text); ok {
			if strings.Contains(f.Key, "\r") {
				return r.errorf(at, "line end in header key %q", f.Key)
			}
			if f.Key == holdKey {
				r.holds = append(r.holds, holdLine{at, f.Value})
				return nil
			}
			if f.Key == dialectKey {
				if f.Value != dialectPostgres {
					return r.errorf(at, "header dialect: %q: %s", f.Value, wantDialect)
				}
				r.postgres = true
			}
			if f.Key == versionsKey && f.Value != versionsTold {
				return r.errorf(at, "header %s: %q: %s", versionsKey, f.Value, wantVersions)
			}
			if f.Key == protocolKey {
				if _, err := protocol.Parse(f.Value); err != nil {
					return r.errorf(at, "header %s: %v", protocolKey, err)
				}
			}
			if f.Key == levelKey {
				if _, err := parseLevels(f.Value); err != nil {
					return r.errorf(at, "header level: %v", err)
				}
				if r.levelAt < 0 {
					r.levelAt = at
				}
			}
			r.c.Header = append(r.c.Header, f)
			return nil
		}
		// Printed, a line end in a comment is a space.
		if _, ok := parseField(strings.ReplaceAll(text, "\r", " ")); ok {
			return r.errorf(at, "line end in header %q", text)
		}
	}
	r.above = append(r.above, text)
	return nil
}

func parseField(text string) (Field, bool) {
	m := fieldPattern.FindStringSubmatch(text)
	if m == nil {
		return Field{}, false
	}
	return Field{Key: strings.TrimSpace(m[1]), Value: unfold(strings.TrimSpace(m[2]))}, true
}

// statement reads a prefix and a statement up to its semicolon.
func (r *caseReader) statement() error {
	m := prefixPattern.FindStringSubmatch(r.text[r.pos:])
	if m == nil {
		return r.errorf(r.pos, "want /* init */ or /* tx1 */ before a statement")
	}
	line := Line{}
	if m[1] == "" {
		n, err := strconv.Atoi(m[2])
		if err != nil || n < 1 || n > MaxSession {
			return r.errorf(r.pos, "session %s is not in 1…%d", m[2], MaxSession)
		}
		line.Session = n
	} else if len(r.c.Steps) > 0 {
		return r.errorf(r.pos, "an init line must stand before the first line of a session")
	}
	prefix := r.pos
	start := r.pos + len(m[0])
	end, inner, err := r.scan(prefix, start)
	if err != nil {
		return err
	}
	if end < 0 {
		return r.errorf(prefix, "this statement has no semicolon at its end")
	}
	if line.Stmt, err = r.parse(start, end); err != nil {
		return err
	}
	if raw, ok := line.Stmt.(*stmt.RawStmt); ok && raw.Defines() != (line.Session == InitSession) {
		if raw.Defines() {
			return r.errorf(prefix, "a session cannot define an index or a constraint in a raw statement: that stands behind /* init */")
		}
		return r.errorf(prefix, "a raw statement of the set-up makes an index or adds to a table: "+
			"/* init */ /* raw writes=t */ CREATE INDEX … or ALTER TABLE t ADD …")
	}
	if k := stmt.KindOf(line.Stmt); line.Session == InitSession &&
		(k.OfSession() || k.OfPrepared() || k.BesideRows() || k == stmt.SetModes || k == stmt.SetConstraints) {
		return r.errorf(prefix, "the set-up has no sessions: %s stands behind /* tx1 */", k)
	}
	if s, ok := line.Stmt.(*stmt.SequenceStmt); ok && s.Function == "" && line.Session != InitSession {
		return r.errorf(prefix, "a session cannot make a sequence: CREATE SEQUENCE stands behind /* init */")
	}
	if _, ok := line.Stmt.(*stmt.TriggerStmt); ok && line.Session != InitSession {
		return r.errorf(prefix, "a session cannot make a trigger: CREATE TRIGGER stands behind /* init */")
	}
	for _, c := range inner {
		if err := r.addAbove(c.at, c.text); err != nil {
			return err
		}
	}
	line.Above, r.above = r.above, nil
	r.pos = end + 1
	to := &r.c.Steps
	if line.Session == InitSession {
		to = &r.c.Init
	}
	*to = append(*to, line)
	r.last = &(*to)[len(*to)-1]
	return nil
}

type innerComment struct {
	at   int
	text string
}

// scan finds the semicolon that ends the statement at start, or -1, and the
// comments inside it, which the parser would drop. Hints and version comments
// are code. prefix is where the line begins.
func (r *caseReader) scan(prefix, start int) (end int, inner []innerComment, err error) {
	s := r.text
	for i := start; i < len(s); {
		switch c := s[i]; {
		case c == ';' && insideTrigger(s[start:i]):
			i++
		case c == ';':
			return i, inner, nil
		case c == '\'' || c == '"' || c == '`':
			j := EndOfQuote(s, i)
			if j < 0 {
				return 0, nil, r.errorf(i, "%c is never closed", c)
			}
			i = j
		case c == '#', strings.HasPrefix(s[i:], "--") && (i+2 == len(s) || s[i+2] <= ' '):
			j := strings.IndexByte(s[i:], '\n')
			if j < 0 {
				j = len(s) - i
			}
			inner = append(inner, innerComment{i, commentText(strings.TrimLeft(s[i:i+j], "-#"))})
			i += j
		case strings.HasPrefix(s[i:], "/*"):
			j := strings.Index(s[i+2:], "*/")
			if j < 0 {
				return 0, nil, r.errorf(i, "this comment is never closed")
			}
			if body := s[i+2 : i+2+j]; !isCode(body) && !(rawPattern.MatchString(s[i:]) && strings.TrimSpace(s[start:i]) == "") {
				if prefixPattern.MatchString(s[i:]) {
					return 0, nil, r.errorf(prefix, "this statement has no semicolon at its end")
				}
				for _, l := range strings.Split(body, "\n") {
					if l = commentText(l); l != "" {
						inner = append(inner, innerComment{i, l})
					}
				}
			}
			i += j + 4
		default:
			i++
		}
	}
	return -1, inner, nil
}

func isCode(comment string) bool {
	return strings.HasPrefix(comment, "!") || strings.HasPrefix(comment, "+") ||
		strings.HasPrefix(comment, "T!") || strings.HasPrefix(comment, "M!")
}

// EndOfQuote returns the index behind the quote that closes the one at i, -1 if none
// does. A backslash escapes, but not in a quoted name; a quote is doubled in any.
func EndOfQuote(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] != quote:
		case i+1 < len(s) && s[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// parse turns text[start:end] into a statement.
func (r *caseReader) parse(start, end int) (ast.StmtNode, error) {
	if s, err := r.sessionStmt(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.prepared(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.advisory(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.notification(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.sequence(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.modes(start, end); s != nil || err != nil {
		return s, err
	}
	if s, err := r.constraints(start, end); s != nil || err != nil {
		return s, err
	}
	if raw, err := r.raw(start, end); raw != nil || err != nil {
		return raw, err
	}
	if s, err := r.trigger(start, end); s != nil || err != nil {
		return s, err
	}
	if r.postgres {
		if raw, err := r.inWords(start, end); raw != nil || err != nil {
			return raw, err
		}
	}
	node, at, msg := parseFaithful(r.text[start:end])
	if msg != "" {
		return nil, r.errorf(start+at, "%s", msg)
	}
	return node, nil
}

// A parser costs 100 µs and 250 KB to make.
var parsers = sync.Pool{New: func() any { return parser.New() }}

// parseFaithful returns a statement whose printed form means the same, or the
// offset of an error and its message. Doing without the second parse would save
// half of the time; files are read rarely, and a case that changes its meaning
// on the way to a server would be a false alarm.
func parseFaithful(sql string) (stmt ast.StmtNode, at int, msg string) {
	stmt, at, msg = parseSQL(sql)
	if msg != "" {
		return nil, at, msg
	}
	at = len(sql) - len(strings.TrimLeft(sql, " \t\r\n"))
	printed, err := Format(stmt, Text)
	if err != nil {
		return nil, at, fmt.Sprintf("this statement cannot be printed: %v", err)
	}
	r := &caseReader{text: printed + ";"}
	if end, inner, err := r.scan(0, 0); err != nil || end != len(printed) || len(inner) > 0 {
		return nil, at, fmt.Sprintf("this statement cannot be printed as one statement without a comment: %s", printed)
	}
	again, _, msg := parseSQL(printed)
	if msg != "" {
		return nil, at, fmt.Sprintf("this statement cannot be printed: %s in %s", msg, printed)
	}
	if path := differentMeaning(stmt, again); path != "" {
		return nil, at, fmt.Sprintf("this statement cannot be printed without a change of %s: %s", path, printed)
	}
	if reprinted := SQL(again, Text); reprinted != printed {
		return nil, at, fmt.Sprintf("this statement cannot be printed stably: %s, then %s", printed, reprinted)
	}
	return stmt, 0, ""
}

// parseSQL returns a statement, or the offset of an error and its message.
func parseSQL(sql string) (stmt ast.StmtNode, at int, msg string) {
	first := len(sql) - len(strings.TrimLeft(sql, " \t\r\n"))
	sql, snapshot := withoutSnapshot(withoutWork(sql))
	p := parsers.Get().(*parser.Parser)
	defer func() {
		if e := recover(); e != nil {
			// The parser is left in an unknown state: not back into the pool.
			stmt, at, msg = nil, first, fmt.Sprintf("the parser panicked: %v", e)
			return
		}
		parsers.Put(p)
	}()
	stmts, _, err := p.ParseSQL(sql)
	switch {
	case err != nil:
		at, msg = syntaxError(sql, first, err)
		return nil, at, msg
	case len(stmts) == 0:
		return nil, first, "empty statement"
	case len(stmts) > 1:
		return nil, first, "more than one statement"
	}
	stmt = stmts[0]
	if strings.Contains(sql, "?") && hasMarker(stmt) {
		return nil, first, "a parameter marker (?) has no value"
	}
	keepLost(stmt)
	if b, ok := stmt.(*ast.BeginStmt); ok && snapshot {
		keepSnapshot(b)
	}
	return stmt, 0, ""
}

var (
	positionPattern = regexp.MustCompile(`(?s)^line [0-9]+ column [0-9]+ near "(.*)$`)
	codePattern     = regexp.MustCompile(`^\[[a-z]+:[0-9]+\]`)
)

// syntaxError finds the offset of an error of the parser. Its line and column
// are those behind the token that it stumbled on; the text it quotes starts at
// that token, and ends where the statement ends, or after 2,048 bytes.
func syntaxError(sql string, first int, err error) (at int, msg string) {
	m := positionPattern.FindStringSubmatch(err.Error())
	if m == nil {
		return first, codePattern.ReplaceAllString(err.Error(), "")
	}
	const longest = 2048
	quoted := m[1]
	for i := len(quoted); i >= 0; i-- {
		if i < len(quoted) && quoted[i] != '"' {
			continue
		}
		rest := strings.TrimSpace(strings.TrimPrefix(quoted[i:], `"`))
		switch {
		case i == longest && strings.HasPrefix(rest, "(total length "):
			n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(rest, "(total length "), ")"))
			if err == nil && n <= len(sql) {
				return len(sql) - n, "syntax error near " + excerpt(sql[len(sql)-n:])
			}
		case i < len(quoted) && strings.HasSuffix(sql, quoted[:i]):
			at = len(sql) - i
			if rest != "" {
				return at, rest
			}
			if strings.TrimSpace(quoted[:i]) == "" {
				return at, "syntax error: the statement ends too early"
			}
			return at, "syntax error near " + excerpt(quoted[:i])
		}
	}
	return first, err.Error()
}

// excerpt quotes the first word or so of a text.
func excerpt(s string) string {
	const longest = 24
	s, _, _ = strings.Cut(s, "\n")
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest]) + "…"
	}
	return strconv.Quote(s)
}

// hasMarker reports whether a tree that is not shared yet holds a question mark
// for a value: it prints and parses, and no server can run it.
func hasMarker(stmt ast.StmtNode) bool {
	m := &markerFinder{}
	stmt.Accept(m)
	return m.found
}

type markerFinder struct{ found bool }

func (m *markerFinder) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(ast.ParamMarkerExpr); ok {
		m.found = true
	}
	return n, m.found
}

func (m *markerFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
