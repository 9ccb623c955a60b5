package foreign

import (
	"fmt"
	"slices"
	"strconv"
)

// longestSeries is how many rows of generate_series are written out.
const longestSeries = 100

// withSeries writes generate_series behind FROM out as a UNION ALL, if it is short, has constant ends and another name.
// Otherwise it returns the statement.
func (s statement) withSeries() statement {
	for i := range s {
		if !s.is(i, "from", "generate_series", "(") || i+7 >= len(s) || !s.is(i+4, ",") || !s.is(i+6, ")") {
			continue
		}
		from, err := strconv.Atoi(s[i+3].sql)
		to, err2 := strconv.Atoi(s[i+5].sql)
		if err != nil || err2 != nil || to < from || to-from >= longestSeries {
			return s
		}
		at := i + 7
		if s.is(at, "as") {
			at++
		}
		if at >= len(s) || s[at].kind != word {
			return s
		}
		alias, column, behind := s[at].low, s[at].low, at+1
		if s.is(behind, "(") && s.is(behind+2, ")") {
			column, behind = s[behind+1].low, behind+3
		}
		var sql string
		for n := from; n <= to; n++ {
			if n == from {
				sql = fmt.Sprintf("(SELECT %d AS %s", n, column)
			} else {
				sql += fmt.Sprintf(" UNION ALL SELECT %d", n)
			}
		}
		rows, err := statements(sql + ") AS " + alias)
		if err != nil || len(rows) != 1 {
			return s
		}
		return slices.Concat(s[:i+1], rows[0], s[behind:])
	}
	return s
}
