package versions

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Mode is the mode of a lock, weakest first. InnoDB and TiDB have two of them, S and X.
type Mode uint8

const (
	KeyShare       Mode = iota // FOR KEY SHARE
	Share                      // FOR SHARE, LOCK IN SHARE MODE, S
	NoKeyExclusive             // FOR NO KEY UPDATE
	Exclusive                  // FOR UPDATE, X
)

// conflicting says which modes stand against each other.
// https://www.postgresql.org/docs/current/explicit-locking.html#ROW-LOCK-COMPATIBILITY
// https://dev.mysql.com/doc/refman/en/innodb-locking.html#innodb-shared-exclusive-locks
var conflicting = [...][4]bool{
	KeyShare:       {Exclusive: true},
	Share:          {NoKeyExclusive: true, Exclusive: true},
	NoKeyExclusive: {Share: true, NoKeyExclusive: true, Exclusive: true},
	Exclusive:      {KeyShare: true, Share: true, NoKeyExclusive: true, Exclusive: true},
}

func (m Mode) Conflicts(other Mode) bool { return conflicting[m][other] }

// Lock is what a transaction holds on a row, or, with Key, on the row's entry of a key,
// until it ends. A version that is not committed locks its row without one.
type Lock struct {
	Txn  *Txn
	Row  *Chain
	Key  *solve.Key
	Mode Mode
}

// covers reports whether who holds l gains nothing by holding other.
func (l Lock) covers(other Lock) bool {
	return l.Txn == other.Txn && l.Row == other.Row && l.Key == other.Key && l.Mode >= other.Mode
}

// Blocks reports whether l keeps others from locking a row in a mode.
func (l Lock) Blocks(row *Chain, mode Mode) bool { return l.Row == row && l.Mode.Conflicts(mode) }

// Locks holds locks in the order in which they were taken; those of transactions that have
// ended count as given back.
type Locks []Lock

// Take adds a lock unless one that the transaction has covers it.
func (ls *Locks) Take(l Lock) {
	if !ls.Held(l) {
		*ls = append(*ls, l)
	}
}

// Held reports whether a transaction has a lock, or one that covers it.
func (ls Locks) Held(l Lock) bool {
	return slices.ContainsFunc(ls, func(h Lock) bool { return h.covers(l) })
}

// Holder returns the transaction that a row wanted in a mode has to be waited for, the
// first that locked it if there are several, nil if there is none.
func (ls Locks) Holder(tx *Txn, row *Chain, mode Mode) *Txn {
	for _, l := range ls {
		if l.Blocks(row, mode) && l.Txn != tx && l.Txn.Ended == 0 {
			return l.Txn
		}
	}
	return nil
}

// Blocked reports whether a lock of one transaction keeps others from locking a row in a mode.
func (ls Locks) Blocked(by *Txn, row *Chain, mode Mode) bool {
	return slices.ContainsFunc(ls, func(l Lock) bool { return l.Txn == by && l.Blocks(row, mode) })
}
