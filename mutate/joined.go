package mutate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// joined has an UPDATE or a DELETE go by the rows of another table that have the same value in some column, if there is
// one. Else it answers with its rows. sql is the statement as it was.
// https://www.postgresql.org/docs/current/sql-update.html
func (w *ownWords) joined(t *ownTable, update bool, sql string) ast.StmtNode {
	if !w.c.odds(partnerOdds) {
		return w.returning(t, sql)
	}
	var others []*ownTable
	for _, name := range slices.Sorted(maps.Keys(w.tables)) {
		if o := w.tables[name]; o != t {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return w.returning(t, sql)
	}
	other := oneOf(w.c, others)
	mine, theirs, ok := w.alike(t, other, t.key)
	if !ok {
		return w.returning(t, sql)
	}
	on := fmt.Sprintf("%s.%s = s.%s", t.name, mine, theirs)
	set, from, found := w.alike(t, other, slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool { return slices.Contains(t.key, c) }))
	switch {
	case !update:
		sql = fmt.Sprintf("DELETE FROM %s USING %s AS s WHERE %s", t.name, other.name, on)
	case !found:
		return w.returning(t, sql)
	default:
		sql = fmt.Sprintf("UPDATE %s SET %s = s.%s FROM %s AS s WHERE %s", t.name, set, from, other.name, on)
	}
	if w.c.odds(60) {
		sql += fmt.Sprintf(" RETURNING %s.*", t.name)
	}
	s := &stmt.RawStmt{SQL: sql}
	s.Touch(s.Words(), map[string]bool{t.name: true, other.name: true})
	return s
}

// alike returns one of some columns of a table and a column of the same type of another one.
func (w *ownWords) alike(t, other *ownTable, of []string) (mine, theirs string, ok bool) {
	var pairs [][2]string
	for i, a := range t.columns {
		for k, b := range other.columns {
			if slices.Contains(of, a) && t.types[i] == other.types[k] {
				pairs = append(pairs, [2]string{pgsql.Name(a), pgsql.Name(b)})
			}
		}
	}
	if len(pairs) == 0 {
		return "", "", false
	}
	pair := oneOf(w.c, pairs)
	return pair[0], pair[1], true
}
