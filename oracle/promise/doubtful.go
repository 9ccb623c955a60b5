package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// undetermined says why the rows of the tables alone do not determine what a statement answers or does; ""
// where they do. Rows of a table without a primary key stand in the copy in another order.
func (j *judge) undetermined(e *event) string {
	if why := undetermined(e.node, j.limited(e.node)); why != "" {
		return why
	}
	raw, isRaw := e.node.(*stmt.RawStmt)
	switch {
	case j.stampsNull(e.node):
		return "a value that is not one of the rows"
	case isRaw && j.t.aborts && undeterminedHere(raw) != "":
		return undeterminedHere(raw)
	case !isRaw && j.t.aborts && stmt.NamesSystemColumn(e.node):
		return "a value that is not one of the rows"
	case j.t.aborts && j.sumsFloats(e.node):
		return "a sum of floating-point numbers, which depends on the order of rows"
	case j.t.aborts && (keepsFirst(e.node) || j.takesEqual(e.node)):
		return "the order of rows"
	}
	// PostgreSQL groups by all that it shows, and takes single rows of a group nowhere.
	if byOrder(e) && (isRaw || !j.t.aborts) && !(isRaw && j.t.aborts && !rawByOrder(raw)) && slices.ContainsFunc(j.layout, func(sh shape) bool { return len(sh.key) == 0 && corpus.Names(e.node, sh.name) }) {
		return "the order of rows in a table without a primary key"
	}
	return ""
}

// byOrder says that what a statement answers or does may depend on the order in which it comes to rows.
func byOrder(e *event) bool {
	switch s := e.node.(type) {
	case *ast.InsertStmt:
		return s.Select != nil
	case *ast.UpdateStmt:
		return stmt.Of(s).Several || s.IgnoreErr
	case *ast.DeleteStmt:
		return stmt.Of(s).Several || s.IgnoreErr
	case *stmt.RawStmt:
		return true
	}
	return corpus.Contains(e.node, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.SelectStmt:
			return x.GroupBy != nil || x.Distinct, false
		case *ast.SetOprStmt:
			return true, false // UNION drops one of two equal rows
		case *ast.AggregateFuncExpr:
			return !slices.Contains([]string{"count", "sum", "avg"}, strings.ToLower(x.F)), false
		}
		return false, false
	})
}

// subquery says that a statement has a query within, which a view may hide: that may read other rows than the
// statement itself is to see, or lock, and no single state shows both.
func (j *judge) subquery(e *event) bool { return subquery(e.node) || j.viewed(e) }

func (j *judge) viewed(e *event) bool {
	return slices.ContainsFunc(j.h.Views, func(v history.View) bool { return corpus.Names(e.node, v.Name) })
}

// inexact says that a table holds values that their text does not tell, so that the copy may hold others:
// six digits of a FLOAT, the type of a value within JSON, the empty member of an ENUM or the lack of one.
func (j *judge) inexact() bool {
	return j.hasColumn(func(c *ast.ColumnDef) bool {
		switch c.Tp.GetType() {
		case pm.TypeFloat, pm.TypeJSON:
			return true
		case pm.TypeEnum, pm.TypeSet:
			return slices.Contains(c.Tp.GetElems(), "")
		}
		return false
	})
}

// generated says that some table has a generated column.
func (j *judge) generated() bool {
	return j.hasColumn(func(c *ast.ColumnDef) bool {
		return slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionGenerated })
	})
}

func (j *judge) hasColumn(is func(*ast.ColumnDef) bool) bool {
	for _, def := range j.defs {
		if slices.ContainsFunc(def.Cols, is) {
			return true
		}
	}
	return false
}

// queue says that three or more statements waited at the same time: in which order they went on was not seen.
func (j *judge) queue() bool {
	for _, e := range j.t.events {
		n := 0
		for _, o := range j.t.events {
			if e.waited() && o.waited() && o.st.Session != e.st.Session && o.st.Submit < e.to && e.st.Submit < o.to {
				n++
			}
		}
		if n >= 2 {
			return true
		}
	}
	return false
}

// counters says that transactions took AUTO_INCREMENT values that they need not take one after the other:
// the counter is no part of the rows, and a statement that does not say how many rows it makes may leave some out.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func (j *judge) counters() bool {
	taking, bulk := 0, false
	for _, u := range j.t.units {
		takes := false
		for _, e := range u.events {
			if e.writes() && e.st.Result.LastID != 0 {
				ins, ok := e.node.(*ast.InsertStmt)
				takes, bulk = true, bulk || !ok || ins.Select != nil
			}
		}
		if takes {
			taking++
		}
	}
	return taking > 1 && (bulk || j.serial())
}

// doubt is why a promise that seems to be broken is not said to be. A constraint, an unjustified abort and a lost
// transaction do not rest on what statements answer alone.
func (j *judge) doubt() string {
	switch {
	case j.t.odd != nil, slices.Contains([]string{Orphan, DuplicateKey, BrokenCheck, disagreement, "unjustified-abort", "lost-transaction"}, j.ruling.Kind):
		return ""
	case j.t.aborts && slices.ContainsFunc(j.t.events, func(e *event) bool {
		return e.index == j.ruling.Stmt && e.unit != nil && e.refers() && e.unit.wroteBefore(e)
	}):
		return "a foreign key that is checked again for what its own transaction has written"
	case j.inexact():
		return "a value that its text does not tell"
	case j.queue():
		return "several statements that waited at the same time"
	case j.counters():
		return "AUTO_INCREMENT values of several transactions"
	}
	return ""
}
