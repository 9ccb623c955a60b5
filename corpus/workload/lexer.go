package workload

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// lexer finds what a file is made of: comment lines, directives in /* */ and
// statements.
type lexer struct {
	name, text string
	pos        int
}

func (l *lexer) errorf(at int, format string, args ...any) *corpus.ParseError {
	p := l.place(at)
	return &corpus.ParseError{File: l.name, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...)}
}

func (l *lexer) place(at int) Place {
	before := l.text[:min(max(at, 0), len(l.text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return Place{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1}
}

type tokenKind uint8

const (
	endOfFile tokenKind = iota
	comment
	directive
	statement
)

// token is a part of the file: text[from:to] is a comment without its mark, the
// inside of a directive, or a statement without its semicolon.
type token struct {
	kind     tokenKind
	at       int // where it begins, its mark included
	from, to int
	comments []string // inside of a statement
}

func (l *lexer) next() (token, *corpus.ParseError) {
	for l.pos < len(l.text) && isSpace(l.text[l.pos]) {
		l.pos++
	}
	at := l.pos
	rest := l.text[at:]
	switch {
	case rest == "":
		return token{kind: endOfFile, at: at, from: at, to: at}, nil
	case strings.HasPrefix(rest, "--"), rest[0] == '#':
		end := lineEnd(l.text, at)
		l.pos = end
		return token{kind: comment, at: at, from: at + len("--") - bool2int(rest[0] == '#'), to: end}, nil
	case strings.HasPrefix(rest, "/*") && !isCode(rest[2:]):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return token{}, l.errorf(at, "this comment is never closed")
		}
		l.pos = at + 2 + end + 2
		return token{kind: directive, at: at, from: at + 2, to: at + 2 + end}, nil
	}
	return l.statement(at)
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// isCode tells version comments and hints, by what follows the mark.
func isCode(body string) bool {
	return strings.HasPrefix(body, "!") || strings.HasPrefix(body, "+") || strings.HasPrefix(body, "T!") || strings.HasPrefix(body, "M!")
}

func (l *lexer) statement(at int) (token, *corpus.ParseError) {
	t := token{kind: statement, at: at, from: at}
	s := l.text
	for i := at; i < len(s); {
		switch c := s[i]; {
		case c == ';':
			t.to, l.pos = i, i+1
			return t, nil
		case c == '\'' || c == '"' || c == '`':
			end := corpus.EndOfQuote(s, i)
			if end < 0 {
				return t, l.errorf(i, "%c is never closed", c)
			}
			i = end
		case c == '#', isDashes(s[i:]):
			end := lineEnd(s, i)
			t.comments = append(t.comments, strings.TrimSpace(strings.TrimLeft(s[i:end], "-#")))
			i = end
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return t, l.errorf(i, "this comment is never closed")
			}
			if body := s[i+2 : i+2+end]; !isCode(body) {
				if word, _ := firstWord(body); isDirective(word) {
					return t, l.errorf(at, "this statement has no semicolon at its end")
				}
				t.comments = append(t.comments, strings.Join(strings.Fields(body), " "))
			}
			i += end + 4
		default:
			i++
		}
	}
	return t, l.errorf(at, "this statement has no semicolon at its end")
}

func isDashes(s string) bool { return strings.HasPrefix(s, "--") && (len(s) == 2 || s[2] <= ' ') }

// outside calls f for every byte of s that is neither quoted nor in a comment, with
// the depth of parentheses around it. f returns how many bytes it has taken, at
// least one.
func outside(s string, f func(i, depth int) int) {
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := corpus.EndOfQuote(s, i)
			if end < 0 {
				return
			}
			i = end
		case c == '#', isDashes(s[i:]):
			i = lineEnd(s, i)
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return
			}
			i += end + 4
		default:
			if c == ')' {
				depth--
			}
			n := f(i, depth)
			if c == '(' {
				depth++
			}
			i += max(n, 1)
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func isLetter(b byte) bool { return isWord(b) && (b < '0' || b > '9') }

// firstWord cuts the first word off a text, lower-case, and what follows it.
func firstWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\r\n\v\f")
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return strings.ToLower(s[:i]), s[i:]
}
