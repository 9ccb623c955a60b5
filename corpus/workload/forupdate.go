package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Text is what Parse read, empty for a workload that comes from elsewhere.
func (w *Workload) Text() string { return w.text }

// ForUpdate returns the text of a workload with FOR UPDATE behind the statements that begin
// at some places, and everything else as its author wrote it. It is an error if no statement
// begins at one of them.
func ForUpdate(text string, at []Place) (string, error) {
	const mark = "\ufeff"
	rest, marked := strings.CutPrefix(text, mark)
	l := lexer{text: rest}
	var out strings.Builder
	if marked {
		out.WriteString(mark)
	}
	from := 0
	missing := slices.Clone(at)
	for {
		t, err := l.next()
		if err != nil {
			return "", err
		}
		if t.kind == endOfFile {
			break
		}
		i := slices.Index(missing, l.place(t.at))
		if t.kind != statement || i < 0 {
			continue
		}
		missing = slices.Delete(missing, i, i+1)
		end := t.from + codeEnd(rest[t.from:t.to])
		out.WriteString(rest[from:end] + " FOR UPDATE")
		from = end
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("no statement begins in line %d, column %d", missing[0].Line, missing[0].Column)
	}
	return out.String() + rest[from:], nil
}

// codeEnd is the length of a statement without the blanks and comments at its end.
func codeEnd(s string) int {
	end := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"' || c == '`':
			if i = corpus.EndOfQuote(s, i); i < 0 {
				return len(s)
			}
			end = i
		case c == '#', isDashes(s[i:]):
			i = lineEnd(s, i)
		case strings.HasPrefix(s[i:], "/*"):
			length := strings.Index(s[i+2:], "*/")
			if length < 0 {
				return len(s)
			}
			body := s[i+2 : i+2+length]
			i += length + 4
			if isCode(body) {
				end = i
			}
		default:
			i++
			if !isSpace(c) {
				end = i
			}
		}
	}
	return end
}
