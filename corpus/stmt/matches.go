package stmt

import (
	"slices"
	"strings"
)

// Matches returns a query that has a row if some row which PostgreSQL's UPDATE … FROM or DELETE … USING finds is found
// together with several rows of the other tables: which of them an assignment or RETURNING then takes is open. It is ""
// for any other statement, and for one that is not plainly of that form.
// https://www.postgresql.org/docs/current/sql-update.html
func (r *RawStmt) Matches() string {
	if strings.ContainsAny(r.SQL, "\"\\$`") {
		return ""
	}
	parts := clausesOf(r.SQL)
	if len(parts) == 0 {
		return ""
	}
	target, others := "", ""
	switch parts[0].word {
	case "update":
		target = parts[0].rest
		if len(parts) > 2 && parts[1].word == "set" && parts[2].word == "from" {
			others, parts = parts[2].rest, parts[3:]
		}
	case "delete":
		if len(parts) > 2 && parts[0].rest == "" && parts[1].word == "from" && parts[2].word == "using" {
			target, others, parts = parts[1].rest, parts[2].rest, parts[3:]
		}
	}
	names := strings.Fields(target)
	if n := len(names); others == "" || n == 0 || n > 3 || n == 3 && !strings.EqualFold(names[1], "as") || strings.EqualFold(names[0], "only") ||
		strings.ContainsAny(target, "*().,") {
		return ""
	}
	where := ""
	if len(parts) > 0 && parts[0].word == "where" {
		where, parts = " WHERE "+parts[0].rest, parts[1:]
	}
	if len(parts) > 1 || len(parts) == 1 && parts[0].word != "returning" {
		return ""
	}
	return "SELECT 1 FROM " + target + ", " + others + where + " GROUP BY " + names[len(names)-1] + ".ctid HAVING COUNT(*) > 1 LIMIT 1"
}

// Joins reports whether it is an UPDATE with FROM, or a DELETE with USING that returns something.
func (r *RawStmt) Joins() bool {
	var words []string
	for _, c := range clausesOf(r.SQL) {
		words = append(words, c.word)
	}
	switch {
	case len(words) == 0:
		return false
	case words[0] == "update":
		return slices.Contains(words, "from")
	}
	return words[0] == "delete" && slices.Contains(words, "using") && slices.Contains(words, "returning")
}

// clause is a word that begins a part of a statement, in lower case, and what stands behind it.
type clause struct{ word, rest string }

var clauseWords = []string{"update", "delete", "set", "from", "using", "where", "returning"}

// clausesOf cuts an UPDATE or DELETE into its clauses, outside of parentheses; nothing for any other statement.
func clausesOf(sql string) (out []clause) {
	depth, from, before := 0, 0, ""
	for at := 0; at < len(sql); {
		n := 1
		switch c := sql[at]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '\'' || c == '"':
			n = quoted(sql[at:])
		case inWord(c):
			for at+n < len(sql) && inWord(sql[at+n]) {
				n++
			}
			word := strings.ToLower(sql[at : at+n])
			if depth == 0 && slices.Contains(clauseWords, word) && !(word == "from" && before == "distinct") {
				if len(out) > 0 {
					out[len(out)-1].rest = strings.TrimSpace(sql[from:at])
				}
				out, from = append(out, clause{word: word}), at+n
			} else if len(out) == 0 {
				return nil
			}
			before = word
		}
		at += n
	}
	if len(out) == 0 || out[0].word != "update" && out[0].word != "delete" {
		return nil
	}
	out[len(out)-1].rest = strings.TrimSpace(sql[from:])
	return out
}
