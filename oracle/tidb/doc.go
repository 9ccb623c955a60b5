// Package tidb replays histories on the rules of TiDB's pessimistic transactions. It takes a
// replay of package mvcc and says what each statement had to answer: a statement reads one
// committed state as a whole, and starts again with a newer one where a lock that it waited
// for was released by a commit.
//
// It follows the manual's page on pessimistic transactions, and what the rules table
// (oracle/rules) says beyond it: https://docs.pingcap.com/tidb/stable/pessimistic-transaction
package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Engine replays histories of servers whose current reads have one view and are retried
// (rules.Retry).
type Engine struct{}

// Run implements mvcc.Engine.
func (Engine) Run(r *mvcc.Replay) (*mvcc.Difference, error) {
	return (&engine{Replay: r, transactions: make(map[*versions.Txn]*transaction)}).run()
}

// Relevant implements mvcc.Engine.
func (Engine) Relevant(c *corpus.Case, _ *history.History, candidates []*rules.Rule) []*rules.Rule {
	var shares, derives, kills bool
	for _, l := range c.Steps {
		kind := mvcc.KindOf(l.Stmt)
		shares = shares || kind == stmt.SelectForShare
		kills = kills || kind == stmt.KillQuery
		if s, ok := l.Stmt.(*ast.SelectStmt); ok && kind != stmt.Select {
			derives = derives || mvcc.DerivedOnly(s)
		}
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(r *rules.Rule) bool {
		return r.Dim == rules.ShareNowait && !shares || r.Dim == rules.LockedDerived && !derives || r.Dim == rules.IdleKill && !kills
	})
}

// LeavesPlaces implements mvcc.Engine.
func (Engine) LeavesPlaces() bool { return false }

// engine replays a history along one path of choices.
type engine struct {
	*mvcc.Replay
	// views holds the choices between the views of statements that waited.
	views *mvcc.Choices
	// lookup is how the statement that was predicted last finds its rows, nil where no rule
	// asks.
	lookup *keyLookup
	// rowLocks holds the locks on rows that locking reads returned; keyLocks, under the rule
	// AbsentRemembered, those on keys.
	rowLocks, keyLocks versions.Locks
	transactions       map[*versions.Txn]*transaction
	// subqueriesRead is of the locking SELECT that is being predicted.
	subqueriesRead subqueryData
	// ownKeysOnly limits duplicate checks to the transaction's own rows.
	ownKeysOnly bool
}
