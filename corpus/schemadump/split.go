package schemadump

import (
	"regexp"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// statement is one of a dump, at an offset in its text.
type statement struct {
	at   int
	text string
}

// delimiterLine changes what ends statements, as MySQL's client reads it.
// https://dev.mysql.com/doc/refman/en/mysql-commands.html
var delimiterLine = regexp.MustCompile(`(?i)^[ \t]*delimiter[ \t]+(\S+)[ \t]*\r?$`)

// split cuts a dump into statements. Comments are left out, the executable ones of MySQL, too: a dump sets variables and
// makes views in them.
func split(text string) (list []statement) {
	delimiter := ";"
	var b strings.Builder
	begun := -1
	end := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			list = append(list, statement{begun, s})
		}
		b.Reset()
		begun = -1
	}
	for i := 0; i < len(text); {
		lineStart := i == 0 || text[i-1] == '\n'
		rest := text[i:]
		line, _, _ := strings.Cut(rest, "\n")
		switch m := delimiterLine.FindStringSubmatch(line); {
		case lineStart && m != nil:
			end()
			delimiter = m[1]
			i += len(line)
			continue
		case strings.HasPrefix(rest, delimiter):
			end()
			i += len(delimiter)
			continue
		}
		n := 1
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			if n = corpus.EndOfQuote(rest, 0); n < 0 {
				n = len(rest)
			}
		case c == '#' || strings.HasPrefix(rest, "-- ") || strings.HasPrefix(rest, "--\n") || strings.HasPrefix(rest, "--\r"):
			i += len(line)
			continue
		case strings.HasPrefix(rest, "/*"):
			close := strings.Index(rest[2:], "*/")
			if close < 0 {
				close = len(rest) - 4
			}
			i += close + 4
			b.WriteByte(' ')
			continue
		}
		if begun < 0 && strings.TrimSpace(rest[:n]) != "" {
			begun = i
		}
		b.WriteString(rest[:n])
		i += n
	}
	end()
	return list
}
