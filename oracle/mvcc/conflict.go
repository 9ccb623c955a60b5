package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// touch notes what a statement read and wrote. images holds the rows that it
// wrote, before and after.
func (r *Replay) touch(i int, tx *Txn, t *Table, where ast.ExprNode, write bool, images []solve.Row) {
	st := &r.h.Stmts[i]
	r.touched = append(r.touched, touch{stmt: i, session: st.Session, txn: tx, at: st.Submit, table: t, where: where, insert: KindOf(r.c.Steps[st.Line].Stmt) == stmt.Insert, write: write, images: images})
}

// touch is what one statement read or wrote.
type touch struct {
	// stmt is an index into the history's statements.
	stmt    int
	session int
	txn     *Txn
	at      history.Tick
	table   *Table
	where   ast.ExprNode
	insert  bool
	write   bool
	images  []solve.Row
	// tried holds the rows that an INSERT was to add, those among them that it
	// left out because another was in the way.
	tried []solve.Row
	// wide says that the statement reads several tables, all rows of this one as
	// far as is known: Conflicting claims nothing of it.
	wide bool
}

// touchJoined notes the tables of a join.
func (r *Replay) touchJoined(i int, tx *Txn, at history.Tick, from *ast.TableRefsClause) {
	if from == nil {
		return
	}
	f := &tableFinder{}
	from.Accept(f)
	for _, name := range f.names {
		if t := r.table(name); t != nil {
			r.touched = append(r.touched, touch{stmt: i, session: r.h.Stmts[i].Session, txn: tx, at: at, table: t, wide: true})
		}
	}
}

// Conflicting reports whether two transactions of different sessions that
// overlapped in time touched overlapping rows or predicates, at least one of
// them writing: a row image that one wrote satisfies a predicate of the other.
func (r *Replay) Conflicting() bool {
	for a := range r.touched {
		w := &r.touched[a]
		if len(w.images) == 0 {
			continue
		}
		for b := range r.touched {
			o := &r.touched[b]
			if o.session == w.session || o.table != w.table || o.wide || !overlap(w.txn, o.txn) {
				continue
			}
			if r.matchesAny(o, w.images) {
				return true
			}
		}
	}
	return false
}

// Meeting tells of each statement of the history whether it touched rows or
// predicates that a statement of another session's transaction touched, too, one
// of the two writing, while both transactions were open. Costs a replay.
func (r *Replay) Meeting() []bool {
	out := make([]bool, len(r.h.Stmts))
	for a := range r.touched {
		w := &r.touched[a]
		if len(w.images) == 0 {
			continue
		}
		for b := range r.touched {
			o := &r.touched[b]
			if o.session == w.session || o.table != w.table || out[w.stmt] && out[o.stmt] {
				continue
			}
			at := max(w.at, o.at)
			if open := func(t *Txn) bool { return t.Ended == 0 || t.Ended > at }; open(w.txn) && open(o.txn) && (r.matchesAny(o, w.images) || r.triedAny(o, w.images)) {
				out[w.stmt], out[o.stmt] = true, true
			}
		}
	}
	return out
}

func overlap(a, b *Txn) bool {
	return (a.Ended == 0 || a.Ended > b.Begin) && (b.Ended == 0 || b.Ended > a.Begin)
}

func (r *Replay) matchesAny(o *touch, images []solve.Row) bool {
	if o.insert {
		for _, own := range o.images {
			for _, other := range images {
				if r.sharesUnique(o.table, own, other) {
					return true
				}
			}
		}
		return false
	}
	views := &stored{&r.store, View{Tick: latest}}
	for _, row := range images {
		if truth, _, err := r.solver.Where(o.where, o.table.Def, row, views); err == nil && truth == sqlvalue.True {
			return true
		}
	}
	return false
}

// triedAny reports whether a row that an INSERT was to add shares a unique key
// with one of images.
func (r *Replay) triedAny(o *touch, images []solve.Row) bool {
	for _, own := range o.tried {
		for _, other := range images {
			if r.sharesUnique(o.table, own, other) {
				return true
			}
		}
	}
	return false
}

func (r *Replay) sharesUnique(t *Table, a, b solve.Row) bool {
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		ta, na := r.store.keyOf(t.Def, k, a)
		tb, nb := r.store.keyOf(t.Def, k, b)
		if !na && !nb && ta == tb {
			return true
		}
	}
	return false
}
