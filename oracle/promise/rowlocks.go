package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// locksRows says that a statement's locks count: it is one of PostgreSQL's READ COMMITTED, or of TiDB, beside one that
// was held. Without a hold the rules know them, and on a snapshot of PostgreSQL's two that write the same row are found
// when they commit.
func (j *judge) locksRows(e *event) bool {
	return j.h.Held() && (e.unit.promise.Rechecked || j.h.Server.Declared == nil && j.h.Server.DBMS == history.TiDB)
}

// passesLocks says that a write cannot have done what it does on some commits: "UPDATE, DELETE … will wait" for who
// has changed a row, and the row then stays locked "until the end of the transaction". So no commit behind these may
// have changed a row that it changes, and no transaction that was open all the while.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func (j *judge) passesLocks(e *event, w *world, commits int, did write) bool {
	if !j.locksRows(e) || !e.writes() {
		return false
	}
	if slices.ContainsFunc(w.wrote[commits:], func(wrote write) bool { return j.layout.overlap(wrote, did) != "" }) {
		return true
	}
	return slices.ContainsFunc(j.t.units, func(u *unit) bool {
		o, open := w.own[u]
		return open && u != e.unit && (u.end == nil || u.end.st.Submit > e.to) && j.layout.overlap(o.write, did) != "" &&
			!slices.ContainsFunc(u.events, func(x *event) bool { return x.writes() && x.to > e.st.Submit && x.st.Submit < e.to })
	})
}

// pinned says that a statement finds one row, by a number that its primary key is, and that all others only change
// columns outside of that key: then the newest version of the row decides, whenever it was found.
func (j *judge) pinned(e *event) bool {
	if !j.locksRows(e) || j.hidden.keys || len(j.hidden.triggers) > 0 || j.subquery(e) || !j.byKey(e) {
		return false
	}
	return !slices.ContainsFunc(j.t.events, func(o *event) bool {
		return o.writes() && o != e && o.st.Result.Err == nil && !j.outsideKey(o)
	})
}

// byKey says that a statement of one table asks for one number of its primary key, and for nothing else.
func (j *judge) byKey(e *event) bool {
	v, named := stmt.Of(e.node), j.named(e)
	if len(named) != 1 || v.Several || v.Limit != nil || v.With != nil || len(j.layout[named[0]].key) != 1 {
		return false
	}
	is, ok := v.Where.(*ast.BinaryOperationExpr)
	if !ok || is.Op != opcode.EQ {
		return false
	}
	column, ok := is.L.(*ast.ColumnNameExpr)
	_, number := is.R.(ast.ValueExpr)
	sh := &j.layout[named[0]]
	return ok && number && strings.EqualFold(column.Name.Name.O, sh.columns[sh.key[0]])
}

// outsideKey says that a write is an UPDATE of one table that gives no column of the primary key a value.
func (j *judge) outsideKey(e *event) bool {
	s, ok := e.node.(*ast.UpdateStmt)
	named := j.named(e)
	if !ok || len(named) != 1 || stmt.Of(s).Several {
		return false
	}
	sh := &j.layout[named[0]]
	return !slices.ContainsFunc(s.List, func(a *ast.Assignment) bool {
		return slices.ContainsFunc(sh.key, func(c int) bool { return strings.EqualFold(sh.columns[c], a.Column.Name.O) })
	})
}
