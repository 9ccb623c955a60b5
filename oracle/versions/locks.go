package versions

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// ExpectedLock is a row that a failed UPDATE had changed in the transaction's buffer
// before it failed. From the transaction's next write that succeeds, at since, COMMIT
// expects a lock on it, which nobody holds; 0 before.
type ExpectedLock struct {
	Table *Table
	Chain *Chain
	Since history.Tick
}

// ForgottenLock is a lock that a transaction has given back and still counts as its own:
// it does not ask for it again, others get it, and COMMIT fails because it is missing.
type ForgottenLock struct {
	Table *Table
	Chain *Chain
	// Key is the clustered key's tuple, which is what is locked where there is one.
	Key string
}

// Claim is what a successful statement surely holds locked until its
// transaction ends.
type Claim struct {
	Table *Table
	Kind  stmt.Kind
	Where ast.ExprNode
	// Rows holds the records that a locking read returned.
	Rows []*Chain
	// Cols holds the columns that the statement returns or tests; nil for all.
	Cols map[int]bool
	// Gaps says that rows cannot come to match it either (RR and SERIALIZABLE).
	Gaps bool
}

// A TiDB transaction caches the values of the keys that its locking look-ups met,
// since nobody else can change a key that it has locked. At READ COMMITTED a
// look-up of one key that is absent locks nothing, but the absence is cached all
// the same, and then answers
//   - look-ups of several keys, which ask the cache first (batch_point_get.go);
//   - look-ups of one key that the transaction has locked by other means since,
//     because a lock that is held already returns no value (point_get.go).
// The first ROLLBACK TO of a savepoint takes back what the cache learnt since it,
// but the savepoint and the transaction share the cache from then on, so that
// later ones take back nothing; the locks stay. What the transaction itself wrote
// is found before the cache is asked.

// AbsentKey is a key that a transaction takes to be absent: that of the rows for
// which the conditions hold.
type AbsentKey struct {
	Key    *solve.Key
	Pinned []ast.ExprNode
}

// AbsentCache is what a transaction takes to be absent. A nil cache is empty.
type AbsentCache struct{ Keys []AbsentKey }

func (c *AbsentCache) Clone() *AbsentCache {
	out := &AbsentCache{}
	if c != nil {
		out.Keys = slices.Clone(c.Keys)
	}
	return out
}

// HeldKey is the key of a row that a transaction has locked.
type HeldKey struct {
	Chain *Chain
	Key   *solve.Key
}
