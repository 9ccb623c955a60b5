package innodb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// several runs a write of several tables. At every level it reads those that it does not
// write with share locks, so each row as it is newest: InnoDB leaves out the locks of an
// UPDATE's reads below REPEATABLE READ where it names other tables in subqueries only.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) several() (*mvcc.Prediction, error) {
	e, amid := x.e, len(x.e.pending) > 0
	if x.watched() {
		// How far it has come when it waits is the affair of the order in which it joins.
		return nil, &mvcc.Loss{Slug: "unsupported: uncommitted rows amid a write to several tables"}
	}
	x.waitSomewhere()
	switch code := mvcc.ErrCode(x.st); {
	case code == mvcc.ErrRecordChanged && x.someRecordChanged():
		return changedPerhaps(), nil
	case code != 0 && code != mvcc.ErrDup:
		return nil, mvcc.ErrSeveralFails
	case x.waited && (amid || x.overtaken()):
		return nil, &mvcc.Loss{Slug: "unsupported: a write to several tables that waits while others write"}
	}
	rows, err := e.ChosenRows(x.node, versions.View{Tick: versions.Latest, Own: x.tx})
	if err != nil {
		return nil, err
	}
	p := mvcc.SeveralPrediction(x.kind, rows)
	if x.waited {
		p.LeaveOpen("what it had read before it waited")
	}
	e.TouchSeveral(x.i, x.tx, x.start, x.node, rows)
	if err := x.changeSeveral(rows); err != nil {
		return nil, err
	}
	if mvcc.ErrCode(x.st) == mvcc.ErrDup {
		return nil, mvcc.ErrSeveralFails
	}
	return p, nil
}

// watched reports whether another session, while the statement waits, may look at rows that
// are not committed.
func (x *running) watched() bool {
	return x.shows() && slices.ContainsFunc(x.e.History.Stmts, func(o history.Stmt) bool {
		if o.Session == x.st.Session || o.Submit < x.st.Submit || o.Submit > x.st.Return && x.st.Return != 0 {
			return false
		}
		switch s := x.e.Case.Steps[o.Line].Stmt.(type) {
		case *ast.UpdateStmt: // which may pass a row by what is not committed of it
			return mvcc.HasSubquery(s) || x.e.RulesAt(corpus.ReadUncommitted).Of(rules.LockedRow) == rules.PassUncommitted
		case *ast.InsertStmt:
			return s.Select != nil || mvcc.HasSubquery(s)
		default:
			return mvcc.KindOf(s) == stmt.Select || mvcc.HasSubquery(s)
		}
	})
}

// overtaken reports whether another transaction, since the statement began, has written a
// row of its tables that it may have read before that. Below REPEATABLE READ it locks no row
// that does not match. Above, it locks what it reads, but goes on behind the key where it
// waited: a row that came in front of that in some index may be missed.
func (x *running) overtaken() bool {
	f := &mvcc.TableFinder{}
	x.node.Accept(f)
	locks := x.tx.Level >= corpus.RepeatableRead
	return slices.ContainsFunc(f.Names, func(name string) bool {
		t := x.e.Table(name)
		return t != nil && slices.ContainsFunc(t.Chains, func(c *versions.Chain) bool {
			for i := range c.Versions {
				if v := &c.Versions[i]; v.Txn != nil && v.Txn != x.tx && v.Seq > x.seq && !(locks && staysInPlace(t, c, i)) {
					return true
				}
			}
			return false
		})
	})
}

// staysInPlace reports whether a version makes no new entry in any index.
func staysInPlace(t *versions.Table, c *versions.Chain, i int) bool {
	row := c.Versions[i].Row
	if row == nil {
		return true
	}
	return i > 0 && c.Versions[i-1].Row != nil && !slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return !versions.EqualIn(&k, c.Versions[i-1].Row, row) })
}

// overrunsUnwaited notes that the statement acts on what another transaction has changed and
// not committed, without having waited.
func (x *running) overrunsUnwaited(c *versions.Chain) {
	if o := x.e.writer(c, x.tx); o != nil && !x.waited {
		x.overran = o
	}
}

// changeSeveral writes the rows that a write of several tables has chosen.
func (x *running) changeSeveral(rows []mvcc.ChosenRow) error {
	var changed []mvcc.ChosenRow
	for _, w := range rows {
		x.overrunsUnwaited(w.Chain)
		if w.Changed {
			changed = append(changed, w)
		} else if err := x.changeNothing(w); err != nil {
			return err
		}
	}
	return x.applyChosen(changed)
}

// applyChosen deletes rows and changes others.
func (x *running) applyChosen(rows []mvcc.ChosenRow) error {
	var changed []mvcc.ChosenRow
	for _, w := range rows {
		x.images = append(x.images, image{w.Old, w.Row})
		if w.Row == nil {
			x.deleteRow(w.Table, w.Chain)
		} else {
			changed = append(changed, w)
		}
	}
	x.table = soleOf(rows)
	if len(changed) == 1 {
		return x.changeRow(changed[0].Table, hit{changed[0].Chain, changed[0].Old}, changed[0].Row)
	}
	return x.changeAtOnce(changed)
}

// soleOf returns the table that all of the rows are of, nil if there is none.
func soleOf(rows []mvcc.ChosenRow) *versions.Table {
	if len(rows) == 0 || slices.ContainsFunc(rows, func(w mvcc.ChosenRow) bool { return w.Table != rows[0].Table }) {
		return nil
	}
	return rows[0].Table
}

// changeNothing leaves a row as it is, with or without a new version of it.
func (x *running) changeNothing(w mvcc.ChosenRow) error {
	s, ok := x.node.(*ast.UpdateStmt)
	switch x.tx.Rules.Of(rules.NoOpUpdate) {
	case rules.NoOpWrites:
		x.e.write(w.Table, w.Chain, w.Old, x.tx, w.Chain.Last().RowID)
	case rules.NoOpInvisibleIfRead:
		return &mvcc.Loss{Slug: "unsupported: a write to several tables that changes nothing"}
	default:
		if ok && x.e.renewsNull(s, w.Table, w.Old) {
			return &mvcc.Loss{Slug: "unsupported: NULL assigned again by a write to several tables"}
		}
	}
	return nil
}

// changeAtOnce writes rows without regard to keys that they have in common in passing: the
// order in which they are met is the plan's affair, and the statement has succeeded.
func (x *running) changeAtOnce(rows []mvcc.ChosenRow) error {
	e := x.e
	at, rids, moved := make([]*versions.Chain, len(rows)), make([]int, len(rows)), make([]bool, len(rows))
	for k, w := range rows {
		x.overruns(w.Chain)
		at[k], rids[k] = w.Chain, w.Chain.Last().RowID
		moved[k] = w.Table.Clustered != nil && e.Store.ClusteredKeyOf(w.Table, w.Row) != e.Store.ClusteredKeyOf(w.Table, w.Old)
		var row solve.Row
		if !moved[k] {
			row = w.Row
		}
		e.write(w.Table, w.Chain, row, x.tx, rids[k])
	}
	free := func(k int, key *solve.Key) error {
		dup, err := x.duplicate(rows[k].Table, key, rows[k].Row, at[k])
		if err == nil && dup != nil {
			x.meetObstacle(rows[k].Table, rows[k].Row)
			err = errDuplicate
		}
		return err
	}
	for k, w := range rows {
		if !moved[k] {
			continue
		}
		if err := free(k, w.Table.Clustered); err != nil {
			return err
		}
		at[k] = e.insert(w.Table, w.Row, x.tx, rids[k])
	}
	for k, w := range rows {
		for ki := range w.Table.Def.Keys {
			key := &w.Table.Def.Keys[ki]
			if key == w.Table.Clustered || !key.Unique && !key.Primary || versions.EqualIn(key, w.Old, w.Row) {
				continue
			}
			if err := free(k, key); err != nil {
				return err
			}
		}
	}
	return nil
}
