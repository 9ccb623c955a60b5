package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/notify"
)

// Notifications asks who had to get which of PostgreSQL's notifications, as Verdict.Oracle names it. They are the same
// at all levels.
const Notifications = "notifications"

// notified makes a violation of a history whose notifications its transactions do not explain.
func (v *Verdict) notified(c *corpus.Case, h *history.History) {
	if v.Outcome == Violation || h.Server.DBMS != history.PostgreSQL {
		return
	}
	if d := notify.Check(c, h); d != nil {
		v.Rules, v.World = nil, 0
		v.violates(h, Notifications, Kind(d.Kind), d.Stmt)
		v.Expected, v.Actual, v.Reason = d.Expected, d.Actual, d.Reason
	}
}
