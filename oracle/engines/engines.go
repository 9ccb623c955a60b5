package engines

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/innodb"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/tidb"
)

// byCurrentRead holds the engine for each answer to rules.CurrentRead.
var byCurrentRead = map[rules.Variant]mvcc.Engine{
	rules.Retry:  tidb.Engine{},
	rules.Cursor: innodb.Engine{},
}

// For returns the engine that a profile asks for.
func For(p rules.Profile) mvcc.Engine {
	return byCurrentRead[p.At(corpus.RepeatableRead)[rules.CurrentRead]]
}

// New prepares a replay under a profile, on the engine that it asks for. keepGoing makes it
// go on behind the first difference, so that every step has its prediction.
func New(c *corpus.Case, h *history.History, p rules.Profile, keepGoing bool) *mvcc.Replay {
	return mvcc.New(For(p), c, h, p, keepGoing)
}
