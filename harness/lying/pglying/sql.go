package pglying

import (
	"fmt"
	"regexp"
	"strings"
)

// verb is the first word of a statement in capital letters.
func verb(sql string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return strings.ToUpper(strings.TrimSuffix(word, ";"))
}

// writes says that a statement is an INSERT, an UPDATE or a DELETE.
func writes(sql string) bool {
	v := verb(sql)
	return v == "INSERT" || v == "UPDATE" || v == "DELETE"
}

// isData says that a statement reads or writes a table.
func isData(sql string) bool {
	return writes(sql) || verb(sql) == "SELECT" && strings.Contains(sql, " FROM ")
}

// plain says that a statement is a query of a table that locks nothing.
func plain(sql string) bool { return isData(sql) && !writes(sql) && !locking.MatchString(sql) }

// locking is the locking clause at the end of a query.
var locking = regexp.MustCompile(
	`(?i) FOR (NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)( OF \S+)?( NOWAIT| SKIP LOCKED)?;?\s*$`)

// unlocked cuts the locking clause off a query; false: it has none.
func unlocked(sql string) (string, bool) {
	at := locking.FindStringIndex(sql)
	if at == nil || verb(sql) != "SELECT" {
		return sql, false
	}
	return sql[:at[0]], true
}

// update and remove take the writes of one table apart: the table, what is set, and the condition with its WHERE.
var (
	update = regexp.MustCompile(`(?is)^UPDATE (\S+) SET (.+?)( WHERE .+?)?;?$`)
	remove = regexp.MustCompile(`(?is)^DELETE FROM (\S+)( WHERE .+?)?;?$`)
)

// nested says that a text holds a query, within which a WHERE is not the statement's.
func nested(sql string) bool { return strings.Contains(strings.ToUpper(sql), "SELECT") }

// harmless is a query that tells what a write or a locking read would have answered: counts says that it tells
// the number of rows. It is empty where none is known.
func harmless(sql string) (query string, counts bool) {
	if q, ok := unlocked(sql); ok {
		return q, false
	}
	if nested(sql) {
		return "", false
	}
	if m := update.FindStringSubmatch(sql); m != nil {
		return "SELECT COUNT(*) FROM " + m[1] + m[3], true
	}
	if m := remove.FindStringSubmatch(sql); m != nil {
		return "SELECT COUNT(*) FROM " + m[1] + m[2], true
	}
	return "", false
}

// table is the table that an UPDATE or a DELETE of one table writes; empty where it is another statement.
func table(sql string) string {
	if nested(sql) {
		return ""
	}
	for _, form := range []*regexp.Regexp{update, remove} {
		if m := form.FindStringSubmatch(sql); m != nil {
			return m[1]
		}
	}
	return ""
}

// primaryKey asks for the columns of a table's primary key, one to a row.
func primaryKey(table string) string {
	return "SELECT quote_ident(attname) FROM pg_index " +
		"JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey) " +
		"WHERE indisprimary AND indrelid = to_regclass('" + table + "')"
}

// constant is a value that depends on no row. A join would make text of it.
var constant = regexp.MustCompile(`(?i)^(NULL|DEFAULT|TRUE|FALSE|-?[0-9.]+|'([^']|'')*')$`)

// withoutRecheck makes an UPDATE or a DELETE of a table with a key one that finds its rows, and computes what it
// writes, in a query of its own: the server does not run that again for rows that were changed meanwhile.
func withoutRecheck(sql string, key []string) string {
	on := make([]string, len(key))
	t := table(sql)
	for i, k := range key {
		on[i] = t + "." + k + " = txnfuzz_old." + k
	}
	found := strings.Join(key, ", ")
	const from = "(SELECT %s FROM %s%s OFFSET 0) txnfuzz_old WHERE %s"
	if m := remove.FindStringSubmatch(sql); m != nil {
		return "DELETE FROM " + t + " USING " + fmt.Sprintf(from, found, t, m[2], strings.Join(on, " AND "))
	}
	m := update.FindStringSubmatch(sql)
	sets := topLevel(m[2])
	for i, set := range sets {
		column, value, ok := strings.Cut(set, " = ")
		if !ok {
			return sql
		}
		if !constant.MatchString(value) {
			found += fmt.Sprintf(", %s AS v%d", value, i)
			sets[i] = fmt.Sprintf("%s = txnfuzz_old.v%d", column, i)
		}
	}
	return "UPDATE " + t + " SET " + strings.Join(sets, ", ") + " FROM " +
		fmt.Sprintf(from, found, t, m[3], strings.Join(on, " AND "))
}

// topLevel cuts a list at the commas that stand neither in parentheses nor in quotes.
func topLevel(list string) (out []string) {
	depth, quoted, from := 0, false, 0
	for i, c := range list {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}
