package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Touch is what one statement read or wrote.
type Touch struct {
	// Stmt is an index into the history's statements.
	Stmt    int
	Session int
	Txn     *versions.Txn
	At      history.Tick
	Table   *versions.Table
	Where   ast.ExprNode
	Insert  bool
	Write   bool
	Images  []solve.Row
	// Tried holds the rows that an INSERT was to add, those among them that it
	// left out because another was in the way.
	Tried []solve.Row
	// Wide says that the statement reads several tables, all rows of this one as
	// far as is known: Conflicting claims nothing of it.
	Wide bool
}

// TouchJoined notes the tables of a join.
func (r *Replay) TouchJoined(i int, tx *versions.Txn, at history.Tick, from *ast.TableRefsClause) {
	if from == nil {
		return
	}
	f := &TableFinder{}
	from.Accept(f)
	for _, name := range f.Names {
		if t := r.Table(name); t != nil {
			r.Touched = append(r.Touched, Touch{Stmt: i, Session: r.History.Stmts[i].Session, Txn: tx, At: at, Table: t, Wide: true})
		}
	}
}

// Conflicting reports whether two transactions of different sessions that
// overlapped in time touched overlapping rows or predicates, at least one of
// them writing: a row image that one wrote satisfies a predicate of the other.
func (r *Replay) Conflicting() bool {
	for a := range r.Touched {
		w := &r.Touched[a]
		if len(w.Images) == 0 {
			continue
		}
		for b := range r.Touched {
			o := &r.Touched[b]
			if o.Session == w.Session || o.Table != w.Table || o.Wide || !overlap(w.Txn, o.Txn) {
				continue
			}
			if r.MatchesAny(o, w.Images) {
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
	out := make([]bool, len(r.History.Stmts))
	for a := range r.Touched {
		w := &r.Touched[a]
		if len(w.Images) == 0 {
			continue
		}
		for b := range r.Touched {
			o := &r.Touched[b]
			if o.Session == w.Session || o.Table != w.Table || out[w.Stmt] && out[o.Stmt] {
				continue
			}
			at := max(w.At, o.At)
			if open := func(t *versions.Txn) bool { return t.Ended == 0 || t.Ended > at }; open(w.Txn) && open(o.Txn) && (r.MatchesAny(o, w.Images) || r.triedAny(o, w.Images)) {
				out[w.Stmt], out[o.Stmt] = true, true
			}
		}
	}
	return out
}

func overlap(a, b *versions.Txn) bool {
	return (a.Ended == 0 || a.Ended > b.Begin) && (b.Ended == 0 || b.Ended > a.Begin)
}

func (r *Replay) MatchesAny(o *Touch, images []solve.Row) bool {
	if o.Insert {
		for _, own := range o.Images {
			for _, other := range images {
				if r.sharesUnique(o.Table, own, other) {
					return true
				}
			}
		}
		return false
	}
	views := &Stored{&r.Store, versions.View{Tick: versions.Latest}}
	for _, row := range images {
		if truth, _, err := r.Solver.Where(o.Where, o.Table.Def, row, views); err == nil && truth == sqlvalue.True {
			return true
		}
	}
	return false
}

// triedAny reports whether a row that an INSERT was to add shares a unique key
// with one of images.
func (r *Replay) triedAny(o *Touch, images []solve.Row) bool {
	for _, own := range o.Tried {
		for _, other := range images {
			if r.sharesUnique(o.Table, own, other) {
				return true
			}
		}
	}
	return false
}

func (r *Replay) sharesUnique(t *versions.Table, a, b solve.Row) bool {
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		ta, na := r.Store.KeyOf(t.Def, k, a)
		tb, nb := r.Store.KeyOf(t.Def, k, b)
		if !na && !nb && ta == tb {
			return true
		}
	}
	return false
}
