package schemadump

import (
	"errors"
	"slices"
	"strings"
)

// errNoWords says that MySQL's SQL has no words for an expression, or other ones than are looked for here.
var errNoWords = errors.New("no words for it")

// expression writes an expression in MySQL's words. Casts are left out: pg_dump writes them wherever the server has
// converted a value, and the tables of cases have types that MySQL's SQL has, too.
func expression(list []token, columns map[string]bool) (string, error) {
	list = inLists(withoutCasts(list))
	var out []string
	for i, t := range list {
		switch t.kind {
		case str:
			out = append(out, literal(t.text))
		case quotedName:
			out = append(out, backticked(t.text))
		case word:
			call := i+1 < len(list) && list[i+1].is("(")
			switch {
			case columns[t.text] && !call:
				out = append(out, backticked(t.text))
			case slices.Contains([]string{"any", "all", "array", "similar", "ilike", "overlaps", "at"}, t.text):
				return "", errNoWords
			default:
				out = append(out, t.text)
			}
		case sign:
			// || would be OR; what has three signs or a tilde is a match by a pattern, an array or JSON.
			if len(t.text) > 1 && !slices.Contains([]string{"<=", ">=", "<>", "!="}, t.text) || strings.Contains("~@#^&|?[]:$\"", t.text) {
				return "", errNoWords
			}
			out = append(out, t.text)
		default:
			out = append(out, t.text)
		}
	}
	return strings.Join(out, " "), nil
}

func backticked(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// withoutCasts leaves out each :: with its type.
func withoutCasts(list []token) (out []token) {
	for i := 0; i < len(list); i++ {
		if list[i].is("::") {
			_, n := typeName(list[i+1:])
			i += n
			continue
		}
		out = append(out, list[i])
	}
	return out
}

// inLists writes = ANY (ARRAY[…]), which is what the server makes of IN, as IN (…), and <> ALL (ARRAY[…]) as NOT IN (…).
func inLists(list []token) (out []token) {
	for i := 0; i < len(list); i++ {
		any := i+1 < len(list) && list[i].is("=") && (list[i+1].is("any") || list[i+1].is("some"))
		all := i+1 < len(list) && list[i].is("<>") && list[i+1].is("all")
		if !any && !all {
			out = append(out, list[i])
			continue
		}
		open := i + 2
		for open < len(list) && list[open].is("(") {
			open++
		}
		parens := open - i - 2
		end := slices.IndexFunc(list[min(open, len(list)):], func(t token) bool { return t.is("]") }) + open
		if parens == 0 || end < open || end+parens >= len(list) || !list[open].is("array") || !list[open+1].is("[") ||
			slices.ContainsFunc(list[end+1:end+1+parens], func(t token) bool { return !t.is(")") }) {
			out = append(out, list[i])
			continue
		}
		if all {
			out = append(out, token{kind: word, text: "not"})
		}
		out = append(out, token{kind: word, text: "in"}, token{kind: sign, text: "("})
		out = append(out, list[open+2:end]...)
		out = append(out, token{kind: sign, text: ")"})
		i = end + parens
	}
	return out
}
