package mysqltest

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// reader takes a file apart into commands.
type reader struct {
	name, text string
	pos        int
	delimiter  string
}

// parse reads a file. Its errors are *corpus.ParseError.
func parse(name string, text []byte) ([]command, error) {
	return (&reader{name: name, text: strings.ReplaceAll(string(text), "\r\n", "\n"), delimiter: ";"}).commands(-1)
}

func (r *reader) errorf(at int, format string, args ...any) error {
	before := r.text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &corpus.ParseError{
		File: r.name, Line: r.line(at), Column: len([]rune(before[start:])) + 1, Msg: fmt.Sprintf(format, args...),
	}
}

func (r *reader) line(at int) int { return strings.Count(r.text[:at], "\n") + 1 }

// commands reads up to the brace that closes the block opened at a place, or to the end of the file if that is -1.
func (r *reader) commands(opened int) (out []command, err error) {
	for {
		r.blanks()
		at := r.pos
		rest := r.text[at:]
		var c *command
		switch {
		case rest == "" && opened >= 0:
			return nil, r.errorf(opened, "this block is never closed")
		case rest == "":
			return out, nil
		case rest[0] == '}' && opened >= 0:
			r.pos++
			return out, nil
		case rest[0] == '}':
			return nil, r.errorf(at, "this brace closes no block")
		case strings.HasPrefix(rest, r.delimiter):
			r.pos += len(r.delimiter)
			continue
		case strings.HasPrefix(rest, "--"):
			c, err = r.dashed()
		default:
			c, err = r.plain()
		}
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		c.in, c.at = r, at
		if err := r.follow(c); err != nil {
			return nil, err
		}
		out = append(out, *c)
	}
}

// blanks skips blanks and the lines, or ends of lines, that are comments.
func (r *reader) blanks() {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			r.pos++
		case c == '#':
			r.pos = r.endOfLine()
		default:
			return
		}
	}
}

func (r *reader) endOfLine() int {
	if n := strings.IndexByte(r.text[r.pos:], '\n'); n >= 0 {
		return r.pos + n
	}
	return len(r.text)
}

// word cuts the word off with which a text begins.
func word(s string) (string, string) {
	n := 0
	for n < len(s) && inWord(s[n]) {
		n++
	}
	return strings.ToLower(s[:n]), s[n:]
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// dashed reads a line that begins with --: a command that ends with it, or, as in older files, a comment.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQL_TEST_INPUT_CONVENTIONS.html
func (r *reader) dashed() (*command, error) {
	start := r.pos + len("--")
	for start < len(r.text) && strings.IndexByte(" \t", r.text[start]) >= 0 {
		start++
	}
	if strings.HasPrefix(r.text[start:], "}") {
		r.pos = start // --} closes a block, too
		return nil, nil
	}
	name, _ := word(r.text[start:])
	if name == "if" || name == "while" {
		r.pos = start + len(name)
		return &command{name: name}, nil
	}
	end := r.endOfLine()
	r.pos = end
	if !isCommand(name) {
		return nil, nil
	}
	text := strings.TrimSpace(r.text[start+len(name) : end])
	if name != "delimiter" && name != "echo" {
		text = strings.TrimSpace(strings.TrimSuffix(text, r.delimiter))
	}
	return &command{name: name, text: text}, nil
}

// plain reads a command or SQL up to the delimiter.
func (r *reader) plain() (*command, error) {
	at := r.pos
	name, _ := word(r.text[at:])
	if !isCommand(name) {
		name = ""
	}
	r.pos += len(name)
	if name == "if" || name == "while" {
		return &command{name: name}, nil
	}
	end, err := r.find(r.delimiter, name == "" || sendsSQL[name])
	if err != nil {
		return nil, err
	}
	if end < 0 {
		return nil, r.errorf(at, "this command does not end: want %s behind it", r.delimiter)
	}
	text := strings.TrimSpace(r.text[r.pos:end])
	r.pos = end + len(r.delimiter)
	return &command{name: name, text: text}, nil
}

// find returns where a text stands next outside of strings, -1 for nowhere; in SQL not where a comment holds it.
func (r *reader) find(what string, sql bool) (int, error) {
	lineStart := false
	for i := r.pos; i < len(r.text); {
		rest := r.text[i:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, what):
			return i, nil
		case c == '\\':
			i += 2
		case c == '\'' || c == '"' || c == '`':
			end := corpus.EndOfQuote(r.text, i)
			if end < 0 {
				return 0, r.errorf(i, "%c is never closed", c)
			}
			i = end
		case !sql:
			i++
		case c == '#', lineStart && strings.HasPrefix(rest, "-- "):
			if i += strings.IndexByte(rest, '\n'); !strings.Contains(rest, "\n") {
				return -1, nil
			}
		case strings.HasPrefix(rest, "/*") && strings.Contains(rest, "*/") && !strings.HasPrefix(what, "*/"):
			i += strings.Index(rest, "*/") + len("*/")
			lineStart = false
		default:
			lineStart = c == '\n' || lineStart && (c == ' ' || c == '\t')
			i++
		}
	}
	return -1, nil
}

// follow reads what belongs to a command and stands behind its end.
func (r *reader) follow(c *command) error {
	switch argument, has := withText[c.name]; {
	case has:
		return r.textBehind(c, argument)
	case c.name == "delimiter":
		if c.text == "" {
			return r.errorf(c.at, "want the new delimiter behind delimiter")
		}
		r.delimiter = c.text
	case c.name == "disable_parsing":
		return r.unparsed(c)
	case c.name == "if" || c.name == "while":
		return r.condition(c)
	}
	return nil
}

// textBehind skips the lines of a text, which is no SQL.
func (r *reader) textBehind(c *command, argument int) error {
	last := "EOF"
	if args := strings.Fields(c.text); len(args) > argument {
		last = args[argument]
	}
	r.pos = r.endOfLine()
	for r.pos < len(r.text) {
		r.pos++
		start := r.pos
		r.pos = r.endOfLine()
		if strings.TrimSpace(r.text[start:r.pos]) == last {
			return nil
		}
	}
	return r.errorf(c.at, "the text behind %s does not end: want a line %s", c.name, last)
}

// unparsed skips what stands before enable_parsing.
func (r *reader) unparsed(c *command) error {
	for r.pos < len(r.text) {
		start := r.pos
		r.pos = r.endOfLine()
		line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.text[start:r.pos]), "--"))
		if name, _ := word(line); name == "enable_parsing" {
			return nil
		}
		r.pos = min(r.pos+1, len(r.text))
	}
	return r.errorf(c.at, "want enable_parsing behind disable_parsing")
}

// condition reads what stands behind if and while: a condition in parentheses, and a block.
func (r *reader) condition(c *command) error {
	r.blanks()
	open := r.pos
	if !strings.HasPrefix(r.text[open:], "(") {
		return r.errorf(open, "want a condition in parentheses behind %s", c.name)
	}
	depth := 0
	for ; r.pos < len(r.text); r.pos++ {
		switch b := r.text[r.pos]; b {
		case '(':
			depth++
		case ')':
			depth--
		case '\'', '"', '`':
			end := corpus.EndOfQuote(r.text, r.pos)
			if end < 0 {
				return r.errorf(r.pos, "%c is never closed", b)
			}
			r.pos = end - 1
		}
		if depth == 0 {
			break
		}
	}
	if depth > 0 {
		return r.errorf(open, "this parenthesis is never closed")
	}
	c.text = strings.TrimSpace(r.text[open+1 : r.pos])
	r.pos++
	r.blanks()
	if !strings.HasPrefix(r.text[r.pos:], "{") {
		return r.errorf(r.pos, "want { behind the condition of %s", c.name)
	}
	at := r.pos
	r.pos++
	var err error
	c.block, err = r.commands(at)
	return err
}
