package mvcc

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// asked is what the subqueries of a write or a locking read were answered from that
// lock nothing: a read view, opened for the first of them, and of uncommitted data
// what it held then.
type asked struct {
	x *running
	// at is when the read view was opened, 0 before; behind says that it is opened
	// when the first row was waited for.
	at     history.Tick
	behind bool
	rows   map[*Table][]solve.Row
}

// asksUnlocked reports whether the subqueries of a statement are consistent reads:
// those of a write below REPEATABLE READ, those of a locking read below SERIALIZABLE.
// Others lock what they read, so that it does not change any more.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) asksUnlocked() bool {
	if x.kind == Select || !hasSubquery(x.node) {
		return false
	}
	if x.tx.Level == corpus.RepeatableRead {
		return x.kind == SelectForUpdate || x.kind == SelectForShare
	}
	return x.tx.Level < corpus.RepeatableRead
}

// ask prepares the answers of subqueries. When they are evaluated is the plan's
// affair: when it is made, or with the first row, before its lock or behind it.
func (x *running) ask() {
	x.asked = &asked{x: x, rows: map[*Table][]solve.Row{}}
	if len(x.st.Waits) == 0 {
		return
	}
	x.e.branched = true
	switch x.e.choices.choose(3) {
	case 0:
		f := &tableFinder{}
		x.node.Accept(f)
		for _, name := range f.names {
			// A table that is missing is told where it is read.
			_, _, _ = x.views(nil, nil).Table(name)
		}
	case 1:
		x.asked.behind = true
	}
}

// table returns the rows of a table as subqueries see them.
func (a *asked) table(t *Table, v *innodbViews) []solve.Row {
	if rows, ok := a.rows[t]; ok {
		return rows
	}
	tx, at := a.x.tx, a.at
	if at == 0 {
		at = a.x.e.now()
	}
	early := a.behind && !a.x.waited
	if tx.Level == corpus.RepeatableRead && tx.Snapshot != 0 {
		at, early = tx.Snapshot, false
	}
	if tx.Level != corpus.ReadUncommitted {
		v.view.Tick = at
	}
	rows := v.e.snapshotRows(t, v, v.rule)
	if early {
		return rows
	}
	a.at, a.rows[t] = at, rows
	if tx.Level == corpus.RepeatableRead {
		tx.Snapshot = at
	}
	return rows
}
