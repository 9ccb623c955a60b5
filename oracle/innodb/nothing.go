package innodb

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// A statement whose condition the optimiser finds to be impossible opens no table: it takes
// no snapshot and no lock. Which conditions these are is the server's affair, who says it in
// the statement's plan. That is asked for only where the history does not fit without.
// https://dev.mysql.com/doc/refman/en/explain-output.html ("Impossible WHERE", "Impossible
// HAVING", "Zero limit", "no matching row in const table")
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/analyze-and-explain-statements/explain

// errUnplanned is the loss of a path on which a statement opens no table, while its plan is
// not known.
var errUnplanned = &mvcc.Loss{Slug: "unsupported: a condition that may be found impossible"}

// readsNothing reports whether a query is answered without opening a table.
func (x *running) readsNothing(s *ast.SelectStmt) (bool, error) {
	switch {
	case s.Limit != nil && mvcc.LiteralZero(s.Limit.Count) && s.Limit.Offset != nil && !mvcc.LiteralZero(s.Limit.Offset):
		// MySQL runs it, MariaDB does not.
		return x.e.choices.Choose(2) == 0, nil
	case s.From == nil && !mvcc.HasSubquery(s), s.Limit != nil && mvcc.LiteralZero(s.Limit.Count):
		return true, nil
	case !x.e.unmet(s, x.soleTable(s.From), s.Where) && s.Having == nil:
		return false, nil
	}
	return x.opensNothing(x.e.pinsSomeKey(s))
}

// skips reports whether a write or a locking read is over before it opens its table.
func (x *running) skips(t *versions.Table, where ast.ExprNode) (bool, error) {
	if where == nil || x.due || !x.e.unmet(where, t, where) || x.e.exploring {
		return false, nil // no answer tells whether it has locked rows that do not match
	}
	return x.opensNothing(true)
}

// opensNothing reports whether the plan of a statement says that it opens no table. EXPLAIN
// words a condition found to be impossible only after a look-up of a unique key in the
// same way as one whose ranges are empty; then either is tried, the look-up first if some
// key is pinned.
func (x *running) opensNothing(pinned bool) (bool, error) {
	p, ch := x.plan(), x.e.choices
	switch {
	case p != nil:
	case ch.Choose(2) == 0:
		return false, nil
	case x.e.exploring:
		return true, nil
	default:
		return false, errUnplanned
	}
	switch openingOf(p) {
	case opensNone:
		return true, nil
	case opensOrNot:
		return (ch.Choose(2) == 0) != pinned, nil
	}
	return false, nil
}

// opening is what a plan says of whether its statement opens a table.
type opening uint8

const (
	opensSome opening = iota
	opensNone
	// opensOrNot: the words say either.
	opensOrNot
)

// openingOf reads a plan. Where one query block opens a table and another one none, as with a
// subquery, it depends on which of them is run.
func openingOf(p plan.Plan) opening {
	says, tables := opensSome, 0
	for _, st := range p {
		switch {
		case st.Table != "" && st.Table != "NULL":
			tables++
		case st.Extra == "Impossible WHERE", st.Extra == "Impossible HAVING", st.Extra == "Zero limit":
			says = max(says, opensNone)
		case strings.Contains(st.Extra, "Impossible WHERE"), strings.Contains(st.Extra, "no matching row"):
			says = opensOrNot
		}
	}
	if says == opensNone && tables > 0 {
		return opensOrNot
	}
	return says
}

// plan returns the statement's plan, if that was told, or answered to a question; nil if not.
func (x *running) plan() plan.Plan {
	if p := x.e.plans[x.i]; p != nil {
		return p
	}
	f := &mvcc.TableFinder{}
	x.node.Accept(f)
	var on []solve.Found
	views := &innodbViews{e: x.e, view: versions.View{Tick: x.start, Own: x.tx}}
	for _, name := range f.Names {
		t, rows, err := views.Table(name)
		if err != nil {
			return nil
		}
		on = append(on, solve.Found{Table: t, Rows: rows})
	}
	if r := x.e.Solver.AskedPlan(x.node, on); r != nil {
		return plan.Parse(plan.Text(r))
	}
	return nil
}

// soleTable returns the only table of a FROM clause, nil if there are several.
func (x *running) soleTable(from *ast.TableRefsClause) *versions.Table {
	if name := stmt.SoleTable(from); name != nil {
		return x.e.Table(name.Name.O)
	}
	return nil
}

// unmet reports whether no row is known that meets a condition on a table, whatever else
// says so: only then can an optimiser find it impossible. It holds of several tables, and of
// subqueries, of which that is not looked into. of is what the answer is kept by.
func (e *engine) unmet(of ast.Node, t *versions.Table, where ast.ExprNode) bool {
	is, known := e.kept.unmet[of]
	if !known {
		is = t == nil || where != nil && mvcc.HasSubquery(where)
		if !is && where != nil {
			e.Solver.Silently(func() { is = e.noneMatches(t, where) })
		}
		e.kept.unmet[of] = is
	}
	return is
}
