package mysqltest

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// plainSQL returns SQL on one line without its comments; those that are code for some servers stay.
func plainSQL(sql string) string {
	var b strings.Builder
	blank := func() {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
			b.WriteByte(' ')
		}
	}
	for i := 0; i < len(sql); {
		rest := sql[i:]
		n := 1
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			end := corpus.EndOfQuote(sql, i)
			if end < 0 {
				end = len(sql)
			}
			n = end - i
			b.WriteString(rest[:n])
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			blank()
		case strings.HasPrefix(rest, "/*") && strings.Contains(rest, "*/") && !strings.HasPrefix(rest, "/*!") &&
			!strings.HasPrefix(rest, "/*M!") && !strings.HasPrefix(rest, "/*+"):
			n = strings.Index(rest, "*/") + len("*/")
			blank()
		case c == ' ' || '\t' <= c && c <= '\r':
			blank()
		default:
			b.WriteByte(c)
		}
		i += n
	}
	return strings.TrimSpace(b.String())
}

// phrase holds the words and signs of a statement: words in lower case, names without quotes, each string as a quote.
type phrase []string

func phraseOf(sql string) phrase { return (&stmt.RawStmt{SQL: sql}).Words() }

// begins reports whether a statement begins with these words.
func (p phrase) begins(words ...string) bool { return p.is(0, words...) }

func (p phrase) is(at int, words ...string) bool {
	if at < 0 || at+len(words) > len(p) {
		return false
	}
	for i, w := range words {
		if p[at+i] != w {
			return false
		}
	}
	return true
}

func (p phrase) find(w string) int {
	for i := range p {
		if p[i] == w {
			return i
		}
	}
	return -1
}

func (p phrase) has(w string) bool { return p.find(w) >= 0 }

// hasName reports whether some word is a name, given with its database or without.
func (p phrase) hasName(name string) bool {
	return p.has(name[strings.LastIndexByte(name, '.')+1:])
}

// nameAt reads a name, with its database if that is not test, and says where it ends.
func (p phrase) nameAt(i int) (string, int) {
	switch {
	case i >= len(p):
		return "", i
	case p.is(i+1, ".") && i+2 < len(p):
		if p[i] == "test" {
			return p[i+2], i + 3
		}
		return p[i] + "." + p[i+2], i + 3
	}
	return p[i], i + 1
}

// skip returns the place behind those of some words that stand at a place.
func (p phrase) skip(i int, words ...string) int {
	for i < len(p) {
		found := false
		for _, w := range words {
			found = found || p[i] == w
		}
		if !found {
			break
		}
		i++
	}
	return i
}

// makes returns the table that a statement makes, "" for none.
func (p phrase) makes() string {
	i := p.skip(1, "or", "replace", "temporary")
	if !p.begins("create") || !p.is(i, "table") {
		return ""
	}
	name, _ := p.nameAt(p.skip(i+1, "if", "not", "exists"))
	return name
}

// drops returns the tables, and with DROP VIEW and the like what else a statement drops, and the word of its kind.
func (p phrase) drops() (what string, list []string) {
	if !p.begins("drop") {
		return "", nil
	}
	i := p.skip(1, "temporary", "online", "offline")
	if i == len(p) {
		return "", nil
	}
	what = p[i]
	i = p.skip(i+1, "if", "exists")
	for i < len(p) {
		name, end := p.nameAt(i)
		list = append(list, name)
		if !p.is(end, ",") {
			break
		}
		i = end + 1
	}
	return what, list
}

// renames returns the names of tables before and behind RENAME TABLE, or ALTER TABLE … RENAME.
func (p phrase) renames() (from, to []string) {
	switch {
	case p.begins("rename", "table"):
		for i := p.skip(2, "if", "exists"); i < len(p); {
			a, end := p.nameAt(i)
			if !p.is(end, "to") {
				return from, to
			}
			b, end := p.nameAt(end + 1)
			from, to = append(from, a), append(to, b)
			if !p.is(end, ",") {
				return from, to
			}
			i = end + 1
		}
	case p.begins("alter", "table"):
		at := p.find("rename")
		if at < 0 || p.is(at+1, "column") || p.is(at+1, "index") || p.is(at+1, "key") {
			return nil, nil
		}
		a, _ := p.nameAt(p.skip(2, "if", "exists"))
		b, _ := p.nameAt(p.skip(at+1, "to", "as"))
		return []string{a}, []string{b}
	}
	return from, to
}
