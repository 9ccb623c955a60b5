package tidb

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// touch notes what a statement read and wrote. images holds the rows that it
// wrote, before and after.
func (r *engine) touch(i int, tx *versions.Txn, t *versions.Table, where ast.ExprNode, write bool, images []solve.Row) {
	st := &r.History.Stmts[i]
	r.Touched = append(r.Touched, mvcc.Touch{Stmt: i, Session: st.Session, Txn: tx, At: st.Submit, Table: t, Where: where, Insert: mvcc.KindOf(r.Case.Steps[st.Line].Stmt) == stmt.Insert, Write: write, Images: images})
}

// missingWait reports a statement that returned although another transaction
// surely held a lock that the statement surely needed. It claims only what
// cannot be doubted; servers may lock more.
func (r *engine) missingWait(i int, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode, mark int, p *mvcc.Prediction) (*mvcc.Difference, error) {
	st := &r.History.Stmts[i]
	where, table, ok := needsLocks(kind, node)
	if !ok || kind == stmt.SelectForUpdate && tx.Auto && tx.Rules.Of(rules.AutocommitLock) == rules.AutocommitPasses {
		return nil, nil
	}
	t := r.Table(table)
	if t == nil {
		return nil, nil
	}
	for _, o := range r.OpenTxns(tx) {
		if r.endSubmitted(o, st.Return) || r.missesLock(o, st.Return, false) {
			continue
		}
		chain, what, err := r.collision(t, tx, o, kind, where, r.Steps[i].View, mark)
		if err != nil {
			return nil, err
		}
		if chain == nil {
			continue
		}
		return &mvcc.Difference{Stmt: i, Kind: "missing-wait",
			Expected: fmt.Sprintf("waits for tx%d", o.Session), Actual: "returned at once: " + history.Describe(kind, &st.Result),
			Reason: fmt.Sprintf("tx%d %s and had not ended, yet tx%d's %s, which needs a lock on that row, did not wait", o.Session, what, st.Session, kind)}, nil
	}
	return nil, nil
}

// endSubmitted reports whether the transaction's COMMIT, ROLLBACK or next BEGIN,
// or a statement that a deadlock made end it, was submitted before the tick,
// though it may not have been answered yet.
func (r *engine) endSubmitted(o *versions.Txn, before history.Tick) bool {
	for i := range r.History.Stmts {
		st := &r.History.Stmts[i]
		if st.Session != o.Session || st.Submit <= o.Begin || st.Submit >= before {
			continue
		}
		switch mvcc.KindOf(r.Case.Steps[st.Line].Stmt) {
		case stmt.Commit, stmt.Rollback, stmt.Begin, stmt.BeginSnapshot, stmt.SetVariable:
			return true
		}
		if mvcc.ErrCode(st) == mvcc.ErrDeadlock {
			return true
		}
	}
	return false
}

// needsLocks returns the filter and table of a statement that must lock every
// row which it matches; ok is false where that is not certain.
func needsLocks(kind stmt.Kind, node ast.StmtNode) (where ast.ExprNode, table string, ok bool) {
	v := stmt.Of(node)
	if v.Kind != stmt.Insert && !mvcc.LocksAllItMeets(v, kind, node) {
		return nil, "", false
	}
	name := v.Table()
	if name == nil {
		return nil, "", false
	}
	return v.Where, name.Name.O, true
}

// collision returns a row of t that o surely holds locked and that the
// statement surely needs, with what o did to it.
func (r *engine) collision(t *versions.Table, tx, o *versions.Txn, kind stmt.Kind, where ast.ExprNode, view versions.View, mark int) (*versions.Chain, string, error) {
	if kind == stmt.Insert {
		return r.keyCollision(t, tx, o, mark)
	}
	mode := modeOf(kind)
	views := &mvcc.Stored{Store: &r.Store, View: view}
	for _, c := range t.Chains {
		what := r.locked(o, c, mode)
		if what == "" {
			continue
		}
		ver := view.Seen(c)
		if ver == nil || ver.Txn == o || r.forgot(tx, t, c, ver.Row) || r.forgot(o, t, c, ver.Row) || r.lookup != nil && r.takesForAbsent(r.lookup, r.lookup.filter.key, c, ver.Row, view) {
			continue
		}
		truth, _, err := r.Solver.Where(where, t.Def, ver.Row, views)
		if err != nil {
			if _, err := mvcc.SQLErrorOf(err); err != nil {
				return nil, "", err
			}
			continue
		}
		if truth == sqlvalue.True {
			return c, what, nil
		}
	}
	return nil, "", nil
}

// modeOf is the mode in which a write or a locking read locks the rows that it finds.
func modeOf(kind stmt.Kind) versions.Mode {
	if kind == stmt.SelectForShare {
		return versions.Share
	}
	return versions.Exclusive
}

// locked says how a transaction came to hold a lock on a row that stands
// against the wanted one, or returns "".
func (r *engine) locked(t *versions.Txn, c *versions.Chain, mode versions.Mode) string {
	for i := range c.Versions {
		ver := &c.Versions[i]
		if ver.Txn != t {
			continue
		}
		if ver.Row == nil {
			return "deleted a row"
		}
		if i > 0 && c.Versions[i-1].Row != nil && versions.EqualRows(c.Versions[i-1].Row, ver.Row) {
			// An UPDATE that changed nothing: not surely locked.
			continue
		}
		return "wrote a row"
	}
	if r.rowLocks.Blocked(t, c, mode) {
		return "locked a row by a locking read"
	}
	return ""
}

// keyCollision finds a row that the statement inserted although another open
// transaction wrote the same tuple of a unique key.
func (r *engine) keyCollision(t *versions.Table, tx, o *versions.Txn, mark int) (*versions.Chain, string, error) {
	for _, c := range tx.Writes[mark:] {
		row := c.Last().Row
		if row == nil || r.Store.TableOf(c) != t {
			continue
		}
		for ki := range t.Def.Keys {
			k := &t.Def.Keys[ki]
			if !k.Unique && !k.Primary {
				continue
			}
			tuple, null := r.Store.KeyOf(t.Def, k, row)
			if null {
				continue
			}
			for _, other := range o.Writes {
				if r.Store.TableOf(other) != t {
					continue
				}
				for vi := range other.Versions {
					ver := &other.Versions[vi]
					if ver.Txn != o || ver.Row == nil {
						continue
					}
					if k == t.Clustered && (r.forgot(tx, t, other, row) || r.forgot(o, t, other, row)) || r.forgotEntry(tx, k, tuple) || r.forgotEntry(o, k, tuple) {
						continue
					}
					if tu, null := r.Store.KeyOf(t.Def, k, ver.Row); !null && tu == tuple {
						return other, "wrote the same tuple of a unique key", nil
					}
				}
			}
		}
	}
	return nil, "", nil
}
