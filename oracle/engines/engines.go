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

// For returns the engine that a profile asks for: what a server's rows of the table say of
// current reads holds at all levels.
func For(p rules.Profile) mvcc.Engine {
	if e, ok := byCurrentRead[p.At(corpus.RepeatableRead)[rules.CurrentRead]]; ok {
		return e
	}
	return unknown{}
}

// unknown is the engine of a server that the rules do not speak of.
type unknown struct{}

// Run implements mvcc.Engine.
func (unknown) Run(r *mvcc.Replay) (*mvcc.Difference, error) {
	return nil, &mvcc.Loss{Slug: "unsupported: a server that no rule speaks of", Detail: string(r.History.Server.DBMS)}
}

// Relevant implements mvcc.Engine.
func (unknown) Relevant(*corpus.Case, *history.History, []*rules.Rule) []*rules.Rule { return nil }

// LeavesPlaces implements mvcc.Engine.
func (unknown) LeavesPlaces() bool { return false }

// New prepares a replay under a profile, on the engine that it asks for. keepGoing makes it
// go on behind the first difference, so that every step has its prediction.
func New(c *corpus.Case, h *history.History, p rules.Profile, keepGoing bool) *mvcc.Replay {
	return mvcc.New(For(p), c, h, p, keepGoing)
}
