package versions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Txn is one transaction, an autocommit statement included.
type Txn struct {
	Session int
	Level   corpus.Level
	Rules   Ruleset
	// Begin is when it began; Snapshot is the point of its read view, 0 while
	// it has none; Commit is when its versions became visible to others, 0
	// while it is open or if it was rolled back.
	Begin, Snapshot, Commit history.Tick
	// Ended is when COMMIT, ROLLBACK or an error ended it, 0 while it is open.
	Ended history.Tick
	// Auto says that it is a single statement outside of BEGIN and COMMIT.
	Auto bool
	// Implicit says that no BEGIN began it, under autocommit = 0; Shown, that an
	// answer has shown it since.
	Implicit, Shown bool
	// ReadOnly is its access mode; OwnLevel says that its level or access was set for
	// it alone.
	ReadOnly, OwnLevel bool
	// Writes holds the chains that it wrote, in order, once for each version.
	Writes []*Chain
	// Stmts holds the statements whose answers count if it commits.
	Stmts []int
	// Savepoints holds positions in writes by name, in order of creation.
	Savepoints []Savepoint
}

// Savepoint is a position in a transaction's writes.
type Savepoint struct {
	Name   string
	Writes int
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
	// RowID numbers the logical row, which InnoDB's change of key moves from one
	// chain to another; Seq orders the versions of all chains.
	RowID, Seq int
}

// Chain is the version chain of one row, oldest version first.
type Chain struct {
	ID       int
	Versions []Version
}

func (c *Chain) Last() *Version { return &c.Versions[len(c.Versions)-1] }

// Table is the version chains of one table in order of insertion.
type Table struct {
	Def       *solve.Table
	Chains    []*Chain
	Clustered *solve.Key
	// Moves says that the clustered key of some row has changed, be it undone since: else each
	// chain is one row and one key.
	Moves bool
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
	// ByKey tells rows by their clustered keys alone; see Table.See.
	ByKey bool
}

// Seen returns the version that a view sees of a chain, nil if none or if what
// it sees is a deletion.
func (v View) Seen(c *Chain) *Version {
	ver := v.Version(c)
	if ver == nil || ver.Row == nil {
		return nil
	}
	return ver
}

func (v View) Version(c *Chain) *Version {
	for i := len(c.Versions) - 1; i >= 0; i-- {
		if ver := &c.Versions[i]; v.sees(ver) {
			return ver
		}
	}
	return nil
}

// sees reports whether a version is visible, be it the newest or not.
func (v View) sees(ver *Version) bool {
	t := ver.Txn
	if t != nil && (t == v.WithoutTxn || v.Without != 0 && ver.Stmt == v.Without-1 || v.Current != 0 && ver.Stmt == v.Current-1) {
		return false
	}
	return v.Uncommitted || t == nil || t == v.Own || t.Commit > 0 && t.Commit < v.Tick
}

// Store is all tables of a case.
type Store struct {
	Tables  map[string]*Table
	Order   []string
	Solver  *solve.Solver
	NextRow int
	// Stmt is the statement that is being replayed.
	Stmt int
	// Err is the first refusal of the solver to build a key.
	Err error
	// Undone holds rolled-back versions, each transaction's newest first, to
	// recognise a rollback that a server did not carry out.
	Undone []Undone
}

type Undone struct {
	Tx      *Txn
	Table   *Table
	Chain   *Chain
	Version Version
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

func (s *Store) ClusteredKeyOf(t *Table, row solve.Row) string {
	if t.Clustered == nil || row == nil {
		return ""
	}
	tuple, _ := s.KeyOf(t.Def, t.Clustered, row)
	return tuple
}

// KeyOf returns a row's tuple in a key and whether a part of it is NULL.
func (s *Store) KeyOf(t *solve.Table, k *solve.Key, row solve.Row) (tuple string, null bool) {
	tuple, null, err := s.Solver.KeyOf(t, k, row)
	if err != nil && s.Err == nil {
		s.Err = err
	}
	return tuple, null
}

// Insert adds a row. A row whose clustered key was deleted goes on with the
// chain of that key: that is where a server puts it too.
func (s *Store) Insert(t *Table, row solve.Row, tx *Txn) *Chain {
	key := s.ClusteredKeyOf(t, row)
	if t.Clustered != nil {
		for _, c := range t.Chains {
			if l := c.Last(); l.Row == nil && l.Key == key {
				s.Push(c, Version{Txn: tx, Row: row, Key: key})
				return c
			}
		}
	}
	s.NextRow++
	c := &Chain{ID: s.NextRow}
	t.Chains = append(t.Chains, c)
	s.Push(c, Version{Txn: tx, Row: row, Key: key})
	return c
}

// Delete adds a deletion to a row's chain.
func (s *Store) Delete(t *Table, c *Chain, tx *Txn) {
	s.Push(c, Version{Txn: tx, Key: c.Last().Key})
}

// Update adds a version. Under the rule DeleteInsert a row whose clustered key
// changes is deleted and inserted anew. It returns the chain of the new row.
func (s *Store) Update(t *Table, c *Chain, row solve.Row, tx *Txn) *Chain {
	key := s.ClusteredKeyOf(t, row)
	if t.Clustered != nil && key != c.Last().Key {
		if tx.Rules.Of(rules.KeyChange) == rules.DeleteInsert {
			s.Delete(t, c, tx)
			return s.Insert(t, row, tx)
		}
		t.Moves = true
	}
	s.Push(c, Version{Txn: tx, Row: row, Key: key})
	return c
}

func (s *Store) Push(c *Chain, v Version) {
	v.Stmt = s.Stmt
	c.Versions = append(c.Versions, v)
	if v.Txn != nil {
		v.Txn.Writes = append(v.Txn.Writes, c)
	}
}

// Undo removes the transaction's versions written behind position n of its
// writes.
func (s *Store) Undo(tx *Txn, n int) {
	for i := len(tx.Writes) - 1; i >= n; i-- {
		c := tx.Writes[i]
		for j := len(c.Versions) - 1; j >= 0; j-- {
			if c.Versions[j].Txn == tx {
				s.Undone = append(s.Undone, Undone{tx, s.TableOf(c), c, c.Versions[j]})
				c.Versions = append(c.Versions[:j], c.Versions[j+1:]...)
				break
			}
		}
	}
	tx.Writes = tx.Writes[:n]
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

func (s *Store) TableOf(c *Chain) *Table {
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
		s += fmt.Sprintf(" %s by %s", ShowRow(v.Row), who)
	}
	return s
}

// FormatRow gives a row as a text that tells it from others, such as (1,NULL,abc).
func FormatRow(r solve.Row) string { return history.RowText(r.Cells(), history.Cell.Key) }

// ShowRow is FormatRow for people.
func ShowRow(r solve.Row) string { return history.RowText(r.Cells(), history.Cell.String) }

// Has reports whether a row has a version that a statement of a transaction wrote.
func (c *Chain) Has(tx *Txn, stmt int) bool {
	return slices.ContainsFunc(c.Versions, func(v Version) bool { return v.Txn == tx && v.Stmt == stmt })
}

// Latest is behind every tick of a history.
const Latest history.Tick = 1 << 60

// CompareKey orders rows as an index on the key does.
func CompareKey(k *solve.Key, a, b solve.Row) int { return k.Compare(a, b) }

// EqualIn reports whether two rows are equal in every column of a key.
func EqualIn(k *solve.Key, a, b []sqlvalue.Value) bool {
	for _, c := range k.Columns {
		if a[c] != b[c] {
			return false
		}
	}
	return true
}

func (t *Txn) Savepoint(name string) int {
	return slices.IndexFunc(t.Savepoints, func(s Savepoint) bool { return s.Name == strings.ToLower(name) })
}

func (t *Txn) DropSavepoint(name string) {
	if j := t.Savepoint(name); j >= 0 {
		t.Savepoints = slices.Delete(t.Savepoints, j, j+1)
	}
}

func EqualRows(a, b []sqlvalue.Value) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}
