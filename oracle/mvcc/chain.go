package mvcc

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Txn is one transaction, an autocommit statement included.
type Txn struct {
	Session int
	Level   corpus.Level
	Rules   ruleset
	// Begin is when it began; Snapshot is the point of its read view, 0 while
	// it has none; Commit is when its versions became visible to others, 0
	// while it is open or if it was rolled back.
	Begin, Snapshot, Commit history.Tick
	// Ended is when COMMIT, ROLLBACK or an error ended it, 0 while it is open.
	Ended history.Tick
	// auto says that it is a single statement outside of BEGIN and COMMIT.
	auto bool
	// implicit says that no BEGIN began it, under autocommit = 0; shown, that an
	// answer has shown it since.
	implicit, shown bool
	// readOnly is its access mode; own says that its level or access was set for
	// it alone.
	readOnly, own bool
	// failedUpdate says that one of its UPDATEs failed.
	failedUpdate bool
	// gaveUp says that one of its statements ended with a lock time-out or because
	// it was not to wait: what it had locked before, it holds on InnoDB.
	gaveUp bool
	// forgotten holds the locks that it takes for its own although it has given them
	// back, under the rule LocksForgotten.
	forgotten []forgottenLock
	// expected holds what COMMIT expects to be locked although it is not, under the
	// rule LocksExpected.
	expected []expectedLock
	// writes holds the chains that it wrote, in order, once for each version.
	writes []*Chain
	// locked holds the rows that it returned FOR UPDATE or FOR SHARE.
	locked []RowLock
	// missed says that one of its statements, on InnoDB, missed what another transaction
	// committed before, or read what one rolled back, under a deviation that lets it.
	missed bool
	// claims holds what its statements surely hold locked, on InnoDB; stmts
	// the statements whose answers count if it commits.
	claims []*claim
	stmts  []int
	// entered says that InnoDB is in it since BEGIN: WITH CONSISTENT SNAPSHOT does that
	// at every level, also where it takes no snapshot.
	entered bool
	// savepoints holds positions in writes by name, in order of creation.
	savepoints []savepoint
	// cache and held are what it takes to be absent and has locked, under the
	// rule AbsentRemembered.
	cache *absentCache
	held  map[heldKey]bool
}

type savepoint struct {
	name   string
	writes int
	cache  *absentCache
	// idle says that the transaction had touched no table, and InnoDB was not in it.
	idle bool
}

// RowLock is a lock that a transaction surely holds on a row because the
// server returned the row to a locking read.
type RowLock struct {
	Chain     *Chain
	Exclusive bool
}

// Version is one version of one row.
type Version struct {
	// Txn wrote it, at the history's statement Stmt; nil for the rows that the
	// set-up made.
	Txn  *Txn
	Stmt int
	// Row is nil for a deletion.
	Row solve.Row
	// Key is the clustered key's tuple of Row, of a deletion that of the row
	// which it deleted; empty for tables without one.
	Key string
	// rid numbers the logical row, which InnoDB's change of key moves from one
	// chain to another; seq orders the versions of all chains.
	rid, seq int
}

// Chain is the version chain of one row, oldest version first.
type Chain struct {
	ID       int
	Versions []Version
}

func (c *Chain) last() *Version { return &c.Versions[len(c.Versions)-1] }

// Table is the version chains of one table in order of insertion.
type Table struct {
	Def       *solve.Table
	Chains    []*Chain
	Clustered *solve.Key
}

// View says which versions a read sees.
type View struct {
	// Tick: versions committed before it are visible.
	Tick history.Tick
	// Own is the transaction whose own versions are visible, nil for none.
	Own *Txn
	// Uncommitted makes every newest version visible, as READ UNCOMMITTED does.
	Uncommitted bool
	// Without, if not 0, hides what the statement Without-1 wrote.
	Without int
	// WithoutTxn, if not nil, hides what that transaction wrote.
	WithoutTxn *Txn
	// Current, if not 0, hides what the statement Current-1 wrote: it is the
	// one that reads.
	Current int
}

// Seen returns the version that a view sees of a chain, nil if none or if what
// it sees is a deletion.
func (v View) Seen(c *Chain) *Version {
	ver := v.version(c)
	if ver == nil || ver.Row == nil {
		return nil
	}
	return ver
}

func (v View) version(c *Chain) *Version {
	for i := len(c.Versions) - 1; i >= 0; i-- {
		ver := &c.Versions[i]
		t := ver.Txn
		if t != nil && (t == v.WithoutTxn || v.Without != 0 && ver.Stmt == v.Without-1 || v.Current != 0 && ver.Stmt == v.Current-1) {
			continue
		}
		if v.Uncommitted || t == nil || t == v.Own || t.Commit > 0 && t.Commit < v.Tick {
			return ver
		}
	}
	return nil
}

// Rows returns what a view sees of a table, in order of insertion, with the
// chain of each row. Where the view's own transaction wrote a key, versions of
// that key in other chains are hidden: a read consults the transaction's own
// writes by key first.
func (t *Table) Rows(v View) ([]solve.Row, []*Chain) {
	rows := make([]solve.Row, 0, len(t.Chains))
	chains := make([]*Chain, 0, len(t.Chains))
	var own map[string]*Chain
	if t.Clustered != nil && v.Own != nil && len(v.Own.writes) > 0 {
		for _, c := range t.Chains {
			for i := range c.Versions {
				if ver := &c.Versions[i]; ver.Txn == v.Own {
					if own == nil {
						own = make(map[string]*Chain)
					}
					own[ver.Key] = c
				}
			}
		}
	}
	for _, c := range t.Chains {
		ver := v.Seen(c)
		if ver == nil {
			continue
		}
		if o, ok := own[ver.Key]; ok && o != c && ver.Txn != v.Own {
			continue
		}
		rows = append(rows, ver.Row)
		chains = append(chains, c)
	}
	return rows, chains
}

// Store is all tables of a case.
type Store struct {
	Tables  map[string]*Table
	Order   []string
	solver  *solve.Solver
	nextRow int
	// stmt is the statement that is being replayed.
	stmt int
	// err is the first refusal of the solver to build a key.
	err error
	// undone holds rolled-back versions, each transaction's newest first, to
	// recognise a rollback that a server did not carry out.
	undone []undone
}

type undone struct {
	tx      *Txn
	table   *Table
	chain   *Chain
	version Version
}

// NewTable adds a table. clustered is the key that identifies its rows, nil
// for a hidden row id.
func (s *Store) NewTable(def *solve.Table, clustered *solve.Key) *Table {
	if s.Tables == nil {
		s.Tables = make(map[string]*Table)
	}
	t := &Table{Def: def, Clustered: clustered}
	s.Tables[def.Name] = t
	s.Order = append(s.Order, def.Name)
	return t
}

func (s *Store) clusteredKeyOf(t *Table, row solve.Row) string {
	if t.Clustered == nil || row == nil {
		return ""
	}
	tuple, _ := s.keyOf(t.Def, t.Clustered, row)
	return tuple
}

// keyOf returns a row's tuple in a key and whether a part of it is NULL.
func (s *Store) keyOf(t *solve.Table, k *solve.Key, row solve.Row) (tuple string, null bool) {
	tuple, null, err := s.solver.KeyOf(t, k, row)
	if err != nil && s.err == nil {
		s.err = err
	}
	return tuple, null
}

// Insert adds a row. A row whose clustered key was deleted goes on with the
// chain of that key: that is where a server puts it too.
func (s *Store) Insert(t *Table, row solve.Row, tx *Txn) *Chain {
	key := s.clusteredKeyOf(t, row)
	if t.Clustered != nil {
		for _, c := range t.Chains {
			if l := c.last(); l.Row == nil && l.Key == key {
				s.push(c, Version{Txn: tx, Row: row, Key: key})
				return c
			}
		}
	}
	s.nextRow++
	c := &Chain{ID: s.nextRow}
	t.Chains = append(t.Chains, c)
	s.push(c, Version{Txn: tx, Row: row, Key: key})
	return c
}

// Delete adds a deletion to a row's chain.
func (s *Store) Delete(t *Table, c *Chain, tx *Txn) {
	s.push(c, Version{Txn: tx, Key: c.last().Key})
}

// Update adds a version. Under the rule DeleteInsert a row whose clustered key
// changes is deleted and inserted anew. It returns the chain of the new row.
func (s *Store) Update(t *Table, c *Chain, row solve.Row, tx *Txn) *Chain {
	key := s.clusteredKeyOf(t, row)
	if t.Clustered != nil && key != c.last().Key && tx.Rules.of(rules.KeyChange) == rules.DeleteInsert {
		s.Delete(t, c, tx)
		return s.Insert(t, row, tx)
	}
	s.push(c, Version{Txn: tx, Row: row, Key: key})
	return c
}

func (s *Store) push(c *Chain, v Version) {
	v.Stmt = s.stmt
	c.Versions = append(c.Versions, v)
	if v.Txn != nil {
		v.Txn.writes = append(v.Txn.writes, c)
	}
}

// undo removes the transaction's versions written behind position n of its
// writes.
func (s *Store) undo(tx *Txn, n int) {
	for i := len(tx.writes) - 1; i >= n; i-- {
		c := tx.writes[i]
		for j := len(c.Versions) - 1; j >= 0; j-- {
			if c.Versions[j].Txn == tx {
				s.undone = append(s.undone, undone{tx, s.tableOf(c), c, c.Versions[j]})
				c.Versions = append(c.Versions[:j], c.Versions[j+1:]...)
				break
			}
		}
	}
	tx.writes = tx.writes[:n]
	for _, name := range s.Order {
		t := s.Tables[name]
		kept := t.Chains[:0]
		for _, c := range t.Chains {
			if len(c.Versions) > 0 {
				kept = append(kept, c)
			}
		}
		t.Chains = kept
	}
}

func (s *Store) tableOf(c *Chain) *Table {
	for _, t := range s.Tables {
		for _, o := range t.Chains {
			if o == c {
				return t
			}
		}
	}
	return nil
}

// String prints a chain for people: oldest first, who wrote each version.
func (c *Chain) String() string {
	s := fmt.Sprintf("row %d:", c.ID)
	for _, v := range c.Versions {
		who := "init"
		if v.Txn != nil {
			who = fmt.Sprintf("tx%d", v.Txn.Session)
			if v.Txn.Commit == 0 {
				who += " uncommitted"
			}
		}
		if v.Row == nil {
			s += fmt.Sprintf(" deleted by %s", who)
			continue
		}
		s += fmt.Sprintf(" %s by %s", FormatRow(v.Row), who)
	}
	return s
}

// FormatRow prints a row as (1,NULL,abc).
func FormatRow(r solve.Row) string {
	s := "("
	for i, v := range r {
		if i > 0 {
			s += ","
		}
		text, null := v.Text()
		if null {
			text = "NULL"
		}
		s += text
	}
	return s + ")"
}
