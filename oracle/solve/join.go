package solve

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// meets reports whether the joined row at hand passes each ON. On a row that does not,
// an error of ON or of WHERE is left as uncertain.
func (q *query) meets(f *frame) bool {
	for _, on := range q.on {
		if on(f) != sqlvalue.True {
			q.besideJoin(f)
			return false
		}
	}
	return true
}

// besideJoin makes an error uncertain that a condition gives on a row which the join
// does not return: the ON of an inner join and the WHERE are one condition to servers,
// and what of it reads one table only may be evaluated before a row of the next table
// is looked for.
// https://dev.mysql.com/doc/refman/9.7/en/nested-join-optimization.html
func (q *query) besideJoin(f *frame) {
	if q.truth != nil && f.err == nil {
		warnings := f.warnings
		q.truth(f)
		f.warnings = warnings
	}
	if isSQL(f.err) {
		f.err = &Unsupported{"error of a condition on rows that the join does not return"}
	}
}

// pad gives each table without a row one of NULLs, if another has rows, and reports
// whether it did: then the join is empty, and its rows serve only to try the
// conditions on the other tables.
func pad(tables [][]Row, inputs []input) bool {
	empty := func(rows []Row) bool { return len(rows) == 0 }
	filled := func(rows []Row) bool { return len(rows) > 0 }
	if !slices.ContainsFunc(tables, empty) || !slices.ContainsFunc(tables, filled) {
		return false
	}
	for i, rows := range tables {
		if empty(rows) {
			tables[i] = []Row{make(Row, inputs[i].width)}
		}
	}
	return true
}
