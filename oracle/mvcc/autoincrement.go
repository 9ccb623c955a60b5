package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// JudgesGenerated refuses AUTO_INCREMENT values that are not a series from the first
// one on: a given value moves the counter, and that of a row which is not inserted is
// the next one's.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func JudgesGenerated(s *ast.InsertStmt, t *versions.Table, rows []solve.Row, st *history.Stmt) error {
	auto := AutoColumn(t)
	given := func(r solve.Row) bool { return auto < 0 || !r[auto].IsGenerated() }
	switch {
	case !slices.ContainsFunc(rows, func(r solve.Row) bool { return !given(r) }):
	case st.Result.LastID < 0, !Fits(t.Def.Columns[auto].Type, st.Result.LastID+int64(len(rows))-1):
		return &Loss{Slug: "unsupported: AUTO_INCREMENT value beyond its type"}
	case len(rows) > 1 && (len(s.OnDuplicate) > 0 || s.IgnoreErr || slices.ContainsFunc(rows, given)):
		return &Loss{Slug: "unsupported: AUTO_INCREMENT values of several rows, not all inserted with one"}
	}
	return nil
}

// AutoColumn returns the integer column that takes AUTO_INCREMENT values, -1 if
// there is none.
func AutoColumn(t *versions.Table) int {
	return slices.IndexFunc(t.Def.Columns, func(c solve.Column) bool { return c.Auto && c.Type.Class == solve.IntClass })
}

var ErrIdentical = &Loss{Slug: "unsupported: REPLACE of an identical row"}

// Fits reports whether an integer column can hold a value.
func Fits(t solve.Type, n int64) bool {
	if t.Unsigned {
		return n >= 0 && (t.Bits == 64 || n < 1<<t.Bits)
	}
	return t.Bits == 64 || n >= -1<<(t.Bits-1) && n < 1<<(t.Bits-1)
}
