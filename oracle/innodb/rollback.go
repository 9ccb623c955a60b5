package innodb

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// A rollback undoes the newest change first, and whoever waits for a row that it
// takes away goes on at once, while older changes are still to be undone. Only
// who tests uncommitted versions can notice.

// undoGradually takes back what a transaction did behind its n-th change, and notes for
// each statement that waits for a row which this takes away what is then still to
// be undone.
func (e *engine) undoGradually(t *versions.Txn, n int) {
	e.releaseGradually(t, n)
	e.undo(t, n)
}

func (e *engine) releaseGradually(t *versions.Txn, from int) {
	for _, n := range e.sessionNumbers() {
		x := e.running[n]
		if x.holder != t || x.at == nil || len(x.at.Versions) == 0 || x.kind != stmt.Update || x.tx.Rules.Of(rules.LockedRow) != rules.PassUncommitted || x.at.Versions[0].Txn != t {
			continue
		}
		x.stillToUndo = nil
		var amid []written
		made := map[*versions.Chain]int{}
		for i, c := range t.Writes {
			if c == x.at {
				if i >= from {
					x.stillToUndo = amid
				}
				break
			}
			if v := nth(c, t, made[c]); v != nil && i >= from {
				amid = append(amid, written{c, *v})
			}
			made[c]++
		}
	}
}

// keepLocksOf notes that the rows stay locked which a transaction changed or deleted behind its
// n-th change, to be undone by ROLLBACK TO SAVEPOINT: only the lock on a row that it inserted
// goes with the row.
// https://dev.mysql.com/doc/refman/en/savepoint.html
func (e *engine) keepLocksOf(tx *versions.Txn, n int) {
	locks := map[*versions.Table]*predicateLock{}
	for _, c := range tx.Writes[n:] {
		before := e.committed(c, nil)
		if before == nil || before.Row == nil || c.Last().Row != nil && versions.EqualRows(before.Row, c.Last().Row) {
			continue // of an UPDATE that changed nothing it depends on the rules what there is to undo
		}
		t := e.Store.TableOf(c)
		l := locks[t]
		if l == nil {
			l = &predicateLock{table: t, kind: stmt.SelectForUpdate, undone: true}
			locks[t] = l
			e.of(tx).predicates = append(e.of(tx).predicates, l)
		}
		if !slices.Contains(l.rows, c) {
			l.rows = append(l.rows, c)
		}
	}
}

// nth returns the version of a record that a transaction wrote as its n-th.
func nth(c *versions.Chain, t *versions.Txn, n int) *versions.Version {
	for i := range c.Versions {
		if c.Versions[i].Txn != t {
			continue
		}
		if n == 0 {
			return &c.Versions[i]
		}
		n--
	}
	return nil
}

// resumeDuringRollback chooses how far the rollback has come when the statement goes on.
func (x *running) resumeDuringRollback() {
	if len(x.stillToUndo) == 0 {
		return
	}
	x.stillToUndo = x.stillToUndo[:chooseFixed(x.e.choices, len(x.stillToUndo)+1)]
}

// versionDuringRollback returns the version of a record that a rollback has not yet undone,
// nil if there is none.
func (x *running) versionDuringRollback(c *versions.Chain) *versions.Version {
	for i := len(x.stillToUndo) - 1; i >= 0; i-- {
		if x.stillToUndo[i].c == c {
			return &x.stillToUndo[i].version
		}
	}
	return nil
}
