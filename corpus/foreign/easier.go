package foreign

import (
	"slices"
	"strings"
)

// Some of a set-up changes no answer: how rows and indexes are stored. It is left out where MySQL's SQL has no words
// for it, and the case says so.

// easier returns a statement of a set-up in words that are read, and what was left out; nil if nothing is left of it.
func (s statement) easier() (_ statement, without []string) {
	drop := func(from, to int) {
		without = append(without, statement(s[from:to]).text())
		s = slices.Concat(s[:from], s[to:])
	}
	index := s.is(0, "create", "index") || s.is(0, "create", "unique", "index")
	if s.is(0, "create", "index") && s.has("where") {
		return nil, []string{s.text()}
	}
	if s.is(0, "alter", "table") && s.has("storage") {
		return nil, []string{s.text()}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s.is(i, "include", "(") && i > 0 && s.is(i-1, ")"):
			drop(i, s.closes(i+1)+1)
			i--
		case index && s.is(i, "using") && i+1 < len(s):
			drop(i, i+2)
			i--
		case s.is(0, "create", "table") && s.is(i, "with", "(") && i > 0 && s.is(i-1, ")"):
			drop(i, s.closes(i+1)+1)
			i--
		case s.is(i, "with", "time", "zone"):
			drop(i, i+3)
			i--
		case s.is(i, "collate") && i+1 < len(s) && s[i+1].sql == `"C"`: // which all texts are printed with
			s = slices.Concat(s[:i], s[i+2:])
			i--
		case s.is(i, "generated", "by", "default", "as", "identity"):
			s = slices.Concat(s[:i], statement{{word, "AUTO_INCREMENT", "auto_increment"}}, s[i+5:])
		case s.is(i, "varchar") && s.is(0, "create", "table") && !s.is(i+1, "("):
			s = slices.Clone(s)
			s[i] = token{word, "text", "text"} // the same but for its name
		}
	}
	if on := s.find("index") + 1; index && s.is(on, "on") && on+3 < len(s) {
		own := strings.ToLower(s[on+1].low + "_" + s[on+3].low + "_idx") // as PostgreSQL names it
		s = slices.Concat(s[:on], statement{{name, own, own}}, s[on:])
	}
	return s.withSeries().valuesAsQuery(), without
}

// closes returns the place of the parenthesis that closes the one at i, the last place if none does.
func (s statement) closes(i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch {
		case s.is(i, "("):
			depth++
		case s.is(i, ")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s) - 1
}

// valuesAsQuery writes the one row of an INSERT that holds a query as a SELECT.
func (s statement) valuesAsQuery() statement {
	i := s.find("values")
	if i < 0 || !s.is(0, "insert") || !s.is(i+1, "(") || s.closes(i+1) != len(s)-1 || !s.has("select") {
		return s
	}
	return slices.Concat(s[:i], statement{{word, "SELECT", "select"}}, s[i+2:len(s)-1])
}
