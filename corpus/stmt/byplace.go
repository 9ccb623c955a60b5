package stmt

import (
	"regexp"
	"slices"
	"strings"
)

var firstPlace = regexp.MustCompile(`(?is)^(.*) where ctid (<= \(select min|>= \(select max)\((\w+)\.ctid\) from (\w+) as (\w+)\)(| returning .*| for .*)$`)

var byPlace = regexp.MustCompile(`(?is)^(.*) where ctid = \(select (\w+)\.ctid from (\w+) as (\w+) where ([^()]*)\)(| returning .*| for .*)$`)

// ByCondition returns a statement of PostgreSQL that finds its row by the place in which that lies,
//
//	UPDATE t SET … WHERE ctid = (SELECT x.ctid FROM t AS x WHERE condition) …
//
// as it would find the row by the condition alone; nil for any other statement. A row that is updated lies elsewhere,
// so the two differ where a statement waits.
// https://www.postgresql.org/docs/current/ddl-system-columns.html
func (r *RawStmt) ByCondition() *RawStmt {
	m := byPlace.FindStringSubmatch(r.SQL)
	if m == nil || m[2] != m[4] {
		return nil
	}
	return r.rephrased(m[3], m[1]+" WHERE "+strings.ReplaceAll(m[5], m[2]+".", "")+m[6])
}

// OfAll returns a statement of PostgreSQL that finds the first or the last row of its table by the place in which
// that lies,
//
//	UPDATE t SET … WHERE ctid <= (SELECT MIN(x.ctid) FROM t AS x) …
//
// as it would find all rows; nil for any other statement.
func (r *RawStmt) OfAll() *RawStmt {
	m := firstPlace.FindStringSubmatch(r.SQL)
	if m == nil || m[3] != m[5] {
		return nil
	}
	return r.rephrased(m[4], m[1]+m[6])
}

// rephrased is another text of a statement of a table; nil if it names another one, or still goes by places.
func (r *RawStmt) rephrased(table, sql string) *RawStmt {
	out := *r
	out.SQL, table = sql, strings.ToLower(table)
	words := out.Words()
	at := slices.IndexFunc(words, func(w string) bool { return w == "update" || w == "from" }) + 1
	if at == 0 || at >= len(words) || words[at] != table ||
		slices.Contains(words[1:], "select") || slices.Contains(words, "ctid") {
		return nil
	}
	return &out
}
