package mvcc

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// UnknownHint reports whether a table's index hint names a key that it has not. A
// key may be named by a prefix of its name that no other key's name has.
// https://dev.mysql.com/doc/refman/en/index-hints.html
func (r *Replay) UnknownHint(from *ast.TableRefsClause) bool {
	name := stmt.SoleTable(from)
	if name == nil || r.Table(name.Name.O) == nil {
		return false
	}
	t := r.Table(name.Name.O).Def
	for _, h := range name.IndexHints {
		for _, n := range h.IndexNames {
			exact, prefixed := false, 0
			for i := range t.Keys {
				key := hintName(t, &t.Keys[i])
				exact = exact || key == n.L
				if strings.HasPrefix(key, n.L) {
					prefixed++
				}
			}
			if !exact && prefixed != 1 {
				return true
			}
		}
	}
	return false
}

// hintName returns what a hint calls a key, in small letters. One without a name takes that
// of its first column.
func hintName(t *solve.Table, k *solve.Key) string {
	switch {
	case k.Primary:
		return "primary"
	case k.Name == "":
		return strings.ToLower(t.Columns[k.Columns[0]].Name)
	}
	return strings.ToLower(k.Name)
}

// ScanOrder sorts by the clustered key, as a full scan meets the rows; a table
// without one is met in order of insertion.
func (r *Replay) ScanOrder(t *versions.Table, rows []solve.Row, chains []*versions.Chain) {
	if t.Clustered == nil {
		return
	}
	type pair struct {
		row   solve.Row
		chain *versions.Chain
	}
	ps := make([]pair, len(rows))
	for i := range rows {
		ps[i] = pair{rows[i], chains[i]}
	}
	slices.SortStableFunc(ps, func(a, b pair) int { return versions.CompareKey(t.Clustered, a.row, b.row) })
	for i := range ps {
		rows[i], chains[i] = ps[i].row, ps[i].chain
	}
}

func (r *Replay) Target(from *ast.TableRefsClause) (*versions.Table, error) {
	name := stmt.SoleTable(from)
	if name == nil {
		return nil, &Loss{Slug: "unsupported: a write to several tables"}
	}
	t := r.Table(name.Name.O)
	if t == nil {
		return nil, &Loss{Slug: "unsupported: a table that no set-up line creates"}
	}
	return t, nil
}

// Generated fills in AUTO_INCREMENT values, which the manual documents to be
// outside of transactions: they are taken from the answer.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func (r *Replay) Generated(t *versions.Table, rows []solve.Row, st *history.Stmt) {
	next := st.Result.LastID
	for _, row := range rows {
		for c := range row {
			if row[c].IsGenerated() {
				row[c] = AutoValue(t.Def.Columns[c].Type, next)
				next++
			}
		}
	}
}

func AutoValue(typ solve.Type, n int64) sqlvalue.Value {
	if typ.Unsigned {
		return sqlvalue.NewUint(uint64(n))
	}
	return sqlvalue.NewInt(n)
}

func BoolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
