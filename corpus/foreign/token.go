package foreign

import (
	"fmt"
	"slices"
	"strings"
)

type tokenKind uint8

const (
	word   tokenKind = iota
	name             // in double quotes or backquotes
	text             // a string as any server reads it
	escape           // a string that servers read differently: E'', $$, or with a backslash
	number
	sign
)

// token is one word or sign of a statement; low is a word in lower case, and a quoted name without its quotes.
type token struct {
	kind     tokenKind
	sql, low string
}

// names reports whether a token can be a name.
func (t token) names() bool { return (t.kind == word || t.kind == name) && t.low != "" }

// statement is one SQL statement without comments.
type statement []token

// is reports whether the statement has these words from a place on.
func (s statement) is(at int, words ...string) bool {
	if at < 0 || at+len(words) > len(s) {
		return false
	}
	for i, w := range words {
		if t := s[at+i]; t.low != w || t.kind != word && t.kind != sign {
			return false
		}
	}
	return true
}

// find returns the place of a word, -1 for none.
func (s statement) find(w string) int {
	return slices.IndexFunc(s, func(t token) bool { return t.kind == word && t.low == w })
}

func (s statement) has(w string) bool { return s.find(w) >= 0 }

// text returns the words from a place on as the file has them, each sign beside its neighbours as SQL is mostly
// written.
func (s statement) text() string {
	var b strings.Builder
	for i, t := range s {
		if i > 0 && spaced(s, i) {
			b.WriteByte(' ')
		}
		b.WriteString(t.sql)
	}
	return b.String()
}

// spaced reports whether a blank stands before a token.
func spaced(s statement, i int) bool {
	before, t := s[i-1], s[i]
	switch {
	case before.sql == "(" || before.sql == "." || before.sql == "::" || before.sql == "[":
		return false
	case t.sql == ")" || t.sql == "," || t.sql == "." || t.sql == "::" || t.sql == "[" || t.sql == "]":
		return false
	case t.sql == "(":
		return !s.calls(i - 1)
	}
	return true
}

// statements takes SQL apart at its semicolons.
func statements(sql string) ([]statement, error) {
	var out []statement
	var s statement
	for i := 0; i < len(sql); {
		n, t, err := next(sql[i:])
		if err != nil {
			return nil, err
		}
		i += n
		switch {
		case t.sql == ";":
			if len(s) > 0 {
				out = append(out, s)
			}
			s = nil
		case t.sql != "":
			s = append(s, t)
		}
	}
	if len(s) > 0 {
		out = append(out, s)
	}
	return out, nil
}

// longSigns are those of several characters, the longest first.
var longSigns = []string{
	"<=>", "->>", "::", ":=", "||", "&&", "<=", ">=", "<>", "!=", "->", "<<", ">>", "@>", "<@", "!~",
}

// next returns the first token of a text and how many bytes it has; the token is empty for blanks and comments.
func next(s string) (n int, t token, err error) {
	c := s[0]
	switch {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		return 1, token{}, nil
	case strings.HasPrefix(s, "--"):
		if n = strings.IndexByte(s, '\n'); n < 0 {
			n = len(s)
		}
		return n, token{}, nil
	case strings.HasPrefix(s, "/*"):
		n, err = comment(s)
		return n, token{}, err
	case c == '\'' || c == '"' || c == '`':
		return quoted(s)
	case (c == 'e' || c == 'E') && strings.HasPrefix(s[1:], "'"):
		n, err := backslashed(s)
		return n, token{kind: escape, sql: s[:max(n, 0)]}, err
	case c == '$':
		if n, t, ok := dollars(s); ok {
			return n, t, nil
		}
		return 1, token{sign, "$", "$"}, nil
	case digit(c) || c == '.' && len(s) > 1 && digit(s[1]):
		for n < len(s) && (wordByte(s[n]) || s[n] == '.') {
			n++
		}
		return n, token{number, s[:n], s[:n]}, nil
	case wordByte(c):
		for n < len(s) && wordByte(s[n]) {
			n++
		}
		return n, token{word, s[:n], strings.ToLower(s[:n])}, nil
	}
	for _, op := range longSigns {
		if strings.HasPrefix(s, op) {
			return len(op), token{sign, op, op}, nil
		}
	}
	return 1, token{sign, s[:1], s[:1]}, nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func wordByte(c byte) bool {
	return c == '_' || digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// comment returns the length of a comment, which may hold others.
func comment(s string) (int, error) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("a comment is never closed")
}

// quoted reads a string or a quoted name, in which the quote is doubled.
func quoted(s string) (int, token, error) {
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != q:
		case i+1 < len(s) && s[i+1] == q:
			i++
		default:
			sql := s[:i+1]
			switch {
			case q != '\'':
				low := strings.ReplaceAll(sql[1:i], string(q)+string(q), string(q))
				return i + 1, token{name, sql, low}, nil
			case strings.ContainsAny(sql, "\\\n\r"):
				return i + 1, token{kind: escape, sql: sql}, nil
			}
			return i + 1, token{kind: text, sql: sql}, nil
		}
	}
	return 0, token{}, fmt.Errorf("%c is never closed", q)
}

// backslashed returns the length of a string E'…'.
func backslashed(s string) (int, error) {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == '\'':
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("' is never closed")
}

// dollars reads a string between $tag$ and $tag$.
func dollars(s string) (int, token, bool) {
	n := 1
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	if n == len(s) || s[n] != '$' || n > 1 && digit(s[1]) {
		return 0, token{}, false
	}
	tag := s[:n+1]
	end := strings.Index(s[n+1:], tag)
	if end < 0 {
		return 0, token{}, false
	}
	n = n + 1 + end + len(tag)
	return n, token{kind: escape, sql: s[:n]}, true
}
