package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// several runs a write of several tables. At every level it reads those that it does not
// write with share locks, so each row as it is newest: InnoDB leaves out the locks of an
// UPDATE's reads below REPEATABLE READ where it names other tables in subqueries only.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) several() (*Prediction, error) {
	e, amid := x.e, len(x.e.pending) > 0
	if x.watched() {
		// How far it has come when it waits is the affair of the order in which it joins.
		return nil, &Loss{Slug: "unsupported: uncommitted rows amid a write to several tables"}
	}
	x.waitSomewhere()
	switch code := errCode(x.st); {
	case code == errRecordChanged && x.someRecordChanged():
		return changedPerhaps(), nil
	case code != 0 && code != errDup:
		return nil, errSeveralFails
	case x.waited && (amid || x.overtaken()):
		return nil, &Loss{Slug: "unsupported: a write to several tables that waits while others write"}
	}
	rows, err := e.chosenRows(x.node, View{Tick: latest, Own: x.tx})
	if err != nil {
		return nil, err
	}
	p := severalPrediction(x.kind, rows)
	if x.waited {
		p.leaveOpen("what it had read before it waited")
	}
	e.touchSeveral(x.i, x.tx, x.start, x.node, rows)
	if err := x.changeSeveral(rows); err != nil {
		return nil, err
	}
	if errCode(x.st) == errDup {
		return nil, errSeveralFails
	}
	return p, nil
}

// watched reports whether another session, while the statement waits, may look at rows that
// are not committed.
func (x *running) watched() bool {
	return x.shows() && slices.ContainsFunc(x.e.h.Stmts, func(o history.Stmt) bool {
		if o.Session == x.st.Session || o.Submit < x.st.Submit || o.Submit > x.st.Return && x.st.Return != 0 {
			return false
		}
		switch s := x.e.c.Steps[o.Line].Stmt.(type) {
		case *ast.UpdateStmt: // which may pass a row by what is not committed of it
			return HasSubquery(s) || x.e.rulesAt(corpus.ReadUncommitted).of(rules.LockedRow) == rules.PassUncommitted
		case *ast.InsertStmt:
			return s.Select != nil || HasSubquery(s)
		default:
			return KindOf(s) == stmt.Select || HasSubquery(s)
		}
	})
}

// overtaken reports whether another transaction, since the statement began, has written a
// row of its tables that it may have read before that. Below REPEATABLE READ it locks no row
// that does not match. Above, it locks what it reads, but goes on behind the key where it
// waited: a row that came in front of that in some index may be missed.
func (x *running) overtaken() bool {
	f := &tableFinder{}
	x.node.Accept(f)
	locks := x.tx.Level >= corpus.RepeatableRead
	return slices.ContainsFunc(f.names, func(name string) bool {
		t := x.e.table(name)
		return t != nil && slices.ContainsFunc(t.Chains, func(c *Chain) bool {
			for i := range c.Versions {
				if v := &c.Versions[i]; v.Txn != nil && v.Txn != x.tx && v.seq > x.seq && !(locks && staysInPlace(t, c, i)) {
					return true
				}
			}
			return false
		})
	})
}

// staysInPlace reports whether a version makes no new entry in any index.
func staysInPlace(t *Table, c *Chain, i int) bool {
	row := c.Versions[i].Row
	if row == nil {
		return true
	}
	return i > 0 && c.Versions[i-1].Row != nil && !slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return !equalIn(&k, c.Versions[i-1].Row, row) })
}

// overrunsUnwaited notes that the statement acts on what another transaction has changed and
// not committed, without having waited.
func (x *running) overrunsUnwaited(c *Chain) {
	if o := x.e.writer(c, x.tx); o != nil && !x.waited {
		x.overran = o
	}
}

// changeSeveral writes the rows that a write of several tables has chosen.
func (x *running) changeSeveral(rows []chosenRow) error {
	var changed []chosenRow
	for _, w := range rows {
		x.overrunsUnwaited(w.c)
		if w.changed {
			changed = append(changed, w)
		} else if err := x.changeNothing(w); err != nil {
			return err
		}
	}
	return x.applyChosen(changed)
}

// applyChosen deletes rows and changes others.
func (x *running) applyChosen(rows []chosenRow) error {
	var changed []chosenRow
	for _, w := range rows {
		x.images = append(x.images, image{w.old, w.row})
		if w.row == nil {
			x.deleteRow(w.t, w.c)
		} else {
			changed = append(changed, w)
		}
	}
	x.table = soleOf(rows)
	if len(changed) == 1 {
		return x.changeRow(changed[0].t, hit{changed[0].c, changed[0].old}, changed[0].row)
	}
	return x.changeAtOnce(changed)
}

// soleOf returns the table that all of the rows are of, nil if there is none.
func soleOf(rows []chosenRow) *Table {
	if len(rows) == 0 || slices.ContainsFunc(rows, func(w chosenRow) bool { return w.t != rows[0].t }) {
		return nil
	}
	return rows[0].t
}

// changeNothing leaves a row as it is, with or without a new version of it.
func (x *running) changeNothing(w chosenRow) error {
	s, ok := x.node.(*ast.UpdateStmt)
	switch x.tx.Rules.of(rules.NoOpUpdate) {
	case rules.NoOpWrites:
		x.e.write(w.t, w.c, w.old, x.tx, w.c.last().rid)
	case rules.NoOpInvisibleIfRead:
		return &Loss{Slug: "unsupported: a write to several tables that changes nothing"}
	default:
		if ok && x.e.renewsNull(s, w.t, w.old) {
			return &Loss{Slug: "unsupported: NULL assigned again by a write to several tables"}
		}
	}
	return nil
}

// changeAtOnce writes rows without regard to keys that they have in common in passing: the
// order in which they are met is the plan's affair, and the statement has succeeded.
func (x *running) changeAtOnce(rows []chosenRow) error {
	e := x.e
	at, rids, moved := make([]*Chain, len(rows)), make([]int, len(rows)), make([]bool, len(rows))
	for k, w := range rows {
		x.overruns(w.c)
		at[k], rids[k] = w.c, w.c.last().rid
		moved[k] = w.t.Clustered != nil && e.store.clusteredKeyOf(w.t, w.row) != e.store.clusteredKeyOf(w.t, w.old)
		var row solve.Row
		if !moved[k] {
			row = w.row
		}
		e.write(w.t, w.c, row, x.tx, rids[k])
	}
	free := func(k int, key *solve.Key) error {
		dup, err := x.duplicate(rows[k].t, key, rows[k].row, at[k])
		if err == nil && dup != nil {
			x.meetObstacle(rows[k].t, rows[k].row)
			err = errDuplicate
		}
		return err
	}
	for k, w := range rows {
		if !moved[k] {
			continue
		}
		if err := free(k, w.t.Clustered); err != nil {
			return err
		}
		at[k] = e.insert(w.t, w.row, x.tx, rids[k])
	}
	for k, w := range rows {
		for ki := range w.t.Def.Keys {
			key := &w.t.Def.Keys[ki]
			if key == w.t.Clustered || !key.Unique && !key.Primary || equalIn(key, w.old, w.row) {
				continue
			}
			if err := free(k, key); err != nil {
				return err
			}
		}
	}
	return nil
}
