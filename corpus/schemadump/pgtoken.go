package schemadump

import (
	"regexp"
	"strings"
)

type tokenKind uint8

const (
	// word is a name or a key word, in lower case.
	word tokenKind = iota
	// quotedName is the text between double quotes.
	quotedName
	// str is the text of a string.
	str
	number
	// sign is an operator or a punctuation mark.
	sign
)

// token is one of PostgreSQL's SQL, at an offset in its text.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html
type token struct {
	at   int
	kind tokenKind
	text string
}

// is says that a token is a key word or a sign.
func (t token) is(text string) bool { return (t.kind == word || t.kind == sign) && t.text == text }

// isName says that a token can be a name.
func (t token) isName() bool { return t.kind == word || t.kind == quotedName }

var (
	wordForm   = regexp.MustCompile(`^[\pL_][\pL\pN_$]*`)
	numberForm = regexp.MustCompile(`^(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?`)
	signForm   = regexp.MustCompile(`^(::|<=|>=|<>|!=|\|\||[~!@#^&|?+*/%<>=-]+|.)`)
	dollarForm = regexp.MustCompile(`^\$([\pL_][\pL\pN_]*)?\$`)
)

// tokens cuts a text into statements, of which none is empty. Comments, the commands of psql and the rows behind a COPY
// are left out.
func tokens(text string) (list [][]token) {
	var now []token
	end := func() {
		if len(now) > 0 {
			list = append(list, now)
		}
		now = nil
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		line, _, _ := strings.Cut(rest, "\n")
		n := 1
		switch c := rest[0]; {
		case strings.ContainsRune(" \t\r\n\f\v", rune(c)):
		case strings.HasPrefix(rest, "--"):
			n = len(line)
		case c == '\\' && len(now) == 0: // \connect, \restrict
			n = len(line)
		case strings.HasPrefix(rest, "/*"):
			n = endOfComment(rest)
		case c == ';':
			rows := len(now) > 0 && now[0].is("copy") && now[len(now)-1].is("stdin")
			end()
			if rows {
				n = endOfRows(rest)
			}
		default:
			var t token
			t, n = next(rest)
			t.at = i
			now = append(now, t)
		}
		i += n
	}
	end()
	return list
}

// next reads a token and says how long it is.
func next(rest string) (t token, n int) {
	switch c := rest[0]; {
	case c == '"':
		text, n := quotedText(rest, false)
		return token{kind: quotedName, text: text}, n
	case c == '\'':
		text, n := quotedText(rest, false)
		return token{kind: str, text: text}, n
	case (c == 'E' || c == 'e') && strings.HasPrefix(rest[1:], "'"):
		text, n := quotedText(rest[1:], true)
		return token{kind: str, text: text}, n + 1
	case dollarForm.MatchString(rest):
		tag := dollarForm.FindString(rest)
		text, _, closed := strings.Cut(rest[len(tag):], tag)
		n := len(tag) + len(text)
		if closed {
			n += len(tag)
		}
		return token{kind: str, text: text}, n
	case wordForm.MatchString(rest):
		w := wordForm.FindString(rest)
		return token{kind: word, text: strings.ToLower(w)}, len(w)
	case numberForm.MatchString(rest):
		s := numberForm.FindString(rest)
		return token{kind: number, text: s}, len(s)
	}
	s := signForm.FindString(rest)
	return token{kind: sign, text: s}, max(1, len(s))
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

// quotedText reads what stands between quotes, which are doubled where they belong to the text; a backslash is a character
// like others unless the text has escapes.
func quotedText(rest string, escapes bool) (text string, n int) {
	quote := rest[0]
	for n = 1; n < len(rest); n++ {
		switch {
		case rest[n] == '\\' && escapes:
			n++
		case rest[n] != quote:
		case n+1 < len(rest) && rest[n+1] == quote:
			n++
		default:
			text = strings.ReplaceAll(rest[1:n], string([]byte{quote, quote}), string(quote))
			if escapes {
				text = unescaped.Replace(text)
			}
			return text, n + 1
		}
	}
	return rest[1:], len(rest)
}

// endOfComment is behind a comment, in which others may stand.
func endOfComment(rest string) int {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(rest[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(rest)
}

// endOfRows is behind the line \. that ends the rows of a COPY.
func endOfRows(rest string) int {
	if i := strings.Index(rest, "\n\\.\n"); i >= 0 {
		return i + len("\n\\.\n")
	}
	return len(rest)
}
