package postgres

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
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

// mode is the mode in which a statement locks a row that it found. An UPDATE takes the stronger mode of its two only where
// it changes a key, or where it is not known whether; and it locks by what it would have made of the version that it found
// first, before it takes the newest one.
// https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
func (run *running) mode(hit *hit) versions.Mode {
	raw, isRaw := run.node.(*stmt.RawStmt)
	switch {
	case isRaw && run.kind.LocksRead():
		return rawMode(raw)
	case run.kind == stmt.SelectForShare:
		return versions.Share
	case run.kind != stmt.Update, hit.after == nil && hit.first == 0, hit.after != nil && changesKey(run.table, hit.row, hit.after):
		return versions.Exclusive
	case hit.after == nil:
		return hit.first
	}
	return max(hit.first, versions.NoKeyExclusive)
}
