package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/advisory"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/notify"
	"github.com/txnfuzz/txnfuzz/oracle/rowlocks"
	"github.com/txnfuzz/txnfuzz/oracle/rowversions"
	"github.com/txnfuzz/txnfuzz/oracle/sequence"
)

// The judges of PostgreSQL that look at no values of rows, as Verdict.Oracle names them. The first three are about what
// no level promises anything of; the judges of levels take what such statements answer for right.
const (
	// Advisory asks who has which advisory locks.
	Advisory = "advisory locks"
	// Notifications asks who had to get which notifications.
	Notifications = "notifications"
	// Sequences asks who drew what from the sequences.
	Sequences = "sequences"
	// RowLocks asks who can have locked which rows. It is for what no rules judge: these know the rows, too.
	RowLocks = "row locks"
	// RowVersions asks who read and replaced which versions of rows, where the server was asked to tell them.
	RowVersions = "row versions"
)

// besideRows makes a violation of a history whose advisory locks, notifications, sequences or versions of rows nothing
// explains.
func (v *Verdict) besideRows(c *corpus.Case, h *history.History) {
	v.unlessExplained(c, h, Advisory, advisory.Check)
	v.unlessExplained(c, h, Notifications, notify.Check)
	v.unlessExplained(c, h, Sequences, sequence.Check)
	v.unlessExplained(c, h, RowVersions, rowversions.Check)
}

// rowLocks makes a violation of a history that row locks do not explain.
func (v *Verdict) rowLocks(c *corpus.Case, h *history.History) {
	v.unlessExplained(c, h, RowLocks, rowlocks.Check)
}

// unlessExplained makes a violation of a history in which a judge of PostgreSQL finds a difference.
func (v *Verdict) unlessExplained(
	c *corpus.Case, h *history.History, judge string, check func(*corpus.Case, *history.History) *history.Difference,
) {
	if v.Outcome == Violation || h.Server.DBMS != history.PostgreSQL {
		return
	}
	if d := check(c, h); d != nil {
		v.Rules, v.World, v.Unpromised = nil, 0, ""
		v.violates(h, judge, Kind(d.Kind), d.Stmt)
		v.Expected, v.Actual, v.Reason = d.Expected, d.Actual, d.Reason
	}
}
