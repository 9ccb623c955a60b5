package postgres

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// holders returns the other sessions whose locks on a row stand against a mode.
func (w *world) holders(own int, c *versions.Chain, mode versions.Mode) []int {
	var out []int
	for n, s := range w.sessions {
		if n != own && slices.ContainsFunc(s.locks, func(l versions.Lock) bool { return l.Blocks(c, mode) }) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// mode is the mode in which a statement locks a row that it found. An UPDATE takes the
// stronger mode of its two only where it changes a key, or where it is not known whether.
func (run *running) mode(hit *hit) versions.Mode {
	raw, isRaw := run.node.(*stmt.RawStmt)
	switch {
	case isRaw && run.kind.LocksRead():
		return rawMode(raw)
	case run.kind == stmt.SelectForShare:
		return versions.Share
	case run.kind == stmt.Update && (!run.setsKey() || hit.after != nil && !changesKey(run.table, hit.row, hit.after)):
		return versions.NoKeyExclusive
	}
	return versions.Exclusive
}

// setsKey reports whether an UPDATE gives a column of a unique key a value. If it does not, it locks in the weaker of
// its modes even a row that it leaves alone in the end.
// https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
func (run *running) setsKey() bool {
	if run.generates {
		return true
	}
	var set []string
	switch s := run.node.(type) {
	case *ast.UpdateStmt:
		for _, a := range s.List {
			set = append(set, a.Column.Name.L)
		}
	case *stmt.RawStmt:
		words := s.Words()
		for i := 1; i < len(words)-1; i++ {
			if words[i+1] == "=" && (words[i-1] == "set" || words[i-1] == ",") {
				set = append(set, words[i])
			}
		}
	}
	def := run.table.Def
	return slices.ContainsFunc(def.Keys, func(k solve.Key) bool {
		return (k.Unique || k.Primary) && slices.ContainsFunc(k.Columns, func(c int) bool {
			return slices.Contains(set, strings.ToLower(def.Columns[c].Name))
		})
	})
}
