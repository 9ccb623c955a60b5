package load

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ReplicaPromise tells what the manual promises who reads on the replica of a primary at REPEATABLE READ; nil: there is
// no replica, or nothing is promised.
func ReplicaPromise(b harness.Backend) *history.ReplicaPromise {
	r, ok := b.(harness.Replicated)
	if !ok {
		return nil
	}
	t := r.Topology()
	a := promisedAcross(t, b.Server(), corpus.RepeatableRead)
	if len(a.models) == 0 {
		return nil
	}
	return &history.ReplicaPromise{
		Form: t.Form, Ordered: a.order != unorderedStates, Fresh: a.fresh,
		Says: a.says, Quote: a.quote, Cite: a.cite,
	}
}
