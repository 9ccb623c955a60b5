//go:build postgres

package postgres

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// lockMode is a mode of a lock on a row, weakest first.
type lockMode uint8

const (
	keyShare lockMode = iota
	share
	noKeyUpdate
	update
)

// conflicting holds which modes stand against each other.
// https://www.postgresql.org/docs/current/explicit-locking.html#ROW-LOCK-COMPATIBILITY
var conflicting = [...][4]bool{
	keyShare:    {update: true},
	share:       {noKeyUpdate: true, update: true},
	noKeyUpdate: {share: true, noKeyUpdate: true, update: true},
	update:      {keyShare: true, share: true, noKeyUpdate: true, update: true},
}

// rowLock is what a session's transaction holds on a row. Locks are held in the order in which
// they were taken, so that those behind a savepoint can be given back.
type rowLock struct {
	chain *versions.Chain
	mode  lockMode
}

// holders returns the other sessions whose locks on a row stand against a mode.
func (w *world) holders(own int, c *versions.Chain, mode lockMode) []int {
	var out []int
	for n, s := range w.sessions {
		if n != own && slices.ContainsFunc(s.locks, func(l rowLock) bool { return l.chain == c && conflicting[mode][l.mode] }) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// modeOf is the mode in which a statement locks a row that it found. An UPDATE takes the
// stronger mode of its two only where it changes a key, or where it is not known whether.
func modeOf(kind stmt.Kind, t *versions.Table, hit *hit) lockMode {
	switch kind {
	case stmt.SelectForShare:
		return share
	case stmt.Update:
		if hit.after != nil && !changesKey(t, hit.row, hit.after) {
			return noKeyUpdate
		}
	}
	return update
}
