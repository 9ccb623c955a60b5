package judging

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/replicaread"
)

// ReplicaReads judges what was read on a replica while a case ran. If something is wrong the history holds it as its
// Replica, and the verdict of that is returned.
func ReplicaReads(h *history.History) (r replicaread.Ruling, v *oracle.Verdict) {
	r = replicaread.Judge(h)
	if r.Wrong == nil {
		return r, nil
	}
	if h.Replica != nil && h.Replica.Read == nil {
		return r, nil // what it holds behind the case is wrong, which says more
	}
	p := &h.Reads.Promise
	h.Replica = &history.ReplicaTrouble{Form: p.Form, Read: r.Wrong, Own: true}
	found := OfServer(oracle.ReplicaRead, h.Replica.Expected(), oneLine(h.Replica.Actual()),
		p.Says+" ("+p.Form+"): \""+p.Quote+"\" ("+p.Cite+")",
		strings.Join([]string{string(oracle.ReplicaRead), SentAs(h.Replica), r.Wrong.Shape}, "/"))
	return r, &found
}

// SentAs names for a fingerprint in which form a replica is sent changes.
func SentAs(r *history.ReplicaTrouble) string {
	if format := r.BinlogFormat(); format != "" {
		return strings.ToLower(format)
	}
	return "standby"
}
