package stmt

import (
	"regexp"
	"slices"
)

var counts = regexp.MustCompile(`(?is)^with (\w+) as \(((?:insert|update|delete)\b.*)\) select count\(\*\) from (\w+)$`)

// Counted returns the write of which a statement of PostgreSQL only counts the rows,
//
//	WITH w AS (UPDATE … RETURNING …) SELECT COUNT(*) FROM w
//
// nil for any other. Such a write does what it does alone.
// https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-MODIFYING
func (r *RawStmt) Counted() *RawStmt {
	m := counts.FindStringSubmatch(r.SQL)
	if m == nil || m[1] != m[3] {
		return nil
	}
	write := *r
	write.SQL = m[2]
	words := write.Words()
	if !slices.Contains(words, "returning") {
		return nil
	}
	depth := 0
	for _, w := range words {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth < 0 { // it ends before, and there are several
			return nil
		}
	}
	return &write
}
