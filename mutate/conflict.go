package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// combination is a pair of kinds of statements that conflict, and whether the
// strategies that share a filter (FSF, PSF) apply. CTC applies to all.
type combination struct {
	a, b         []stmt.Kind
	sharedFilter bool
}

// combinations is Table 2 of the Fucci paper, row by row.
var combinations = []combination{
	{[]stmt.Kind{stmt.SelectForShare}, []stmt.Kind{stmt.SelectForShare}, true},
	{[]stmt.Kind{stmt.SelectForUpdate}, []stmt.Kind{stmt.SelectForUpdate}, true},
	{[]stmt.Kind{stmt.Update}, []stmt.Kind{stmt.Update}, true},
	{[]stmt.Kind{stmt.Delete}, []stmt.Kind{stmt.Delete}, true},
	{[]stmt.Kind{stmt.Select}, []stmt.Kind{stmt.Update}, true},
	{[]stmt.Kind{stmt.Select}, []stmt.Kind{stmt.Delete}, true},
	{[]stmt.Kind{stmt.SelectForShare, stmt.SelectForUpdate}, []stmt.Kind{stmt.Update}, true},
	{[]stmt.Kind{stmt.SelectForShare, stmt.SelectForUpdate}, []stmt.Kind{stmt.Delete}, true},
	{[]stmt.Kind{stmt.Update}, []stmt.Kind{stmt.Delete}, true},
	{[]stmt.Kind{stmt.Select}, []stmt.Kind{stmt.Insert}, false},
	{[]stmt.Kind{stmt.SelectForShare, stmt.SelectForUpdate}, []stmt.Kind{stmt.Insert}, false},
	{[]stmt.Kind{stmt.Update}, []stmt.Kind{stmt.Insert}, false},
	{[]stmt.Kind{stmt.Delete}, []stmt.Kind{stmt.Insert}, false},
}

// combining tells whether two kinds stand in the table, in either order, and whether
// in a row with a shared filter.
type combining struct{ any, sharedFilter bool }

// combines is the table by its pairs of kinds.
var combines = func() map[[2]stmt.Kind]combining {
	m := map[[2]stmt.Kind]combining{}
	for _, c := range combinations {
		for _, a := range c.a {
			for _, b := range c.b {
				for _, p := range [][2]stmt.Kind{{a, b}, {b, a}} {
					m[p] = combining{true, m[p].sharedFilter || c.sharedFilter}
				}
			}
		}
	}
	return m
}()

// strategies lists what Mix chooses from.
var strategies = []weighted[Conflict]{{22, None}, {26, FSF}, {26, PSF}, {26, CTC}}

// construct applies the strategy of the options to one pair of statements of
// different sessions and returns the pair; false: no strategy, or no pair. One of them
// is of the given session, if that is not negative.
func (d *draft) construct(c *choices, o *Options, with int) (pair, bool) {
	strategy := o.Conflict
	if strategy == Mix || strategy == Pattern {
		strategy = pick(c, strategies)
	}
	if strategy == None {
		return pair{}, false
	}
	pairs := d.pairs(func(a, b stmt.Kind) bool {
		return combines[[2]stmt.Kind{a, b}].any && (strategy == CTC || combines[[2]stmt.Kind{a, b}].sharedFilter)
	})
	if with >= 0 {
		pairs = slices.DeleteFunc(pairs, func(p pair) bool { return p.a.session != with && p.b.session != with })
	}
	if len(pairs) == 0 {
		return pair{}, false
	}
	p := oneOf(c, pairs[:min(len(pairs), 256)])
	if c.odds(128) {
		p.a, p.b = p.b, p.a
	}
	switch strategy {
	case FSF:
		d.shareFilter(p, func(a, _ ast.ExprNode) ast.ExprNode { return a })
	case PSF:
		d.shareFilter(p, either)
	case CTC:
		d.contain(c, p, o.Solver)
	}
	return p, true
}

// pairs returns the pairs of statements inside transactions of different
// sessions, on the same table, whose kinds satisfy a condition.
func (d *draft) pairs(want func(a, b stmt.Kind) bool) []pair {
	type candidate struct {
		ref
		kind  stmt.Kind
		table *table
	}
	var all []candidate
	for i := range d.sessions {
		for _, r := range d.find(i, func(stmt.Kind) bool { return true }) {
			k, name := KindOf(d.stmt(r))
			all = append(all, candidate{r, k, tableNamed(d.tables, name)})
		}
	}
	var out []pair
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.session != b.session && a.table == b.table && want(a.kind, b.kind) {
				out = append(out, pair{a.ref, b.ref})
			}
		}
	}
	return out
}

// conflicting returns the pairs that can conflict by their kinds.
func (d *draft) conflicting() []pair {
	return d.pairs(func(a, b stmt.Kind) bool {
		return a.Writes() && b.Writes() || a != b && (a.Writes() || b.Writes()) || a == stmt.SelectForUpdate && b == stmt.SelectForUpdate
	})
}

// shareFilter sets the predicate of b to a function of both predicates.
func (d *draft) shareFilter(p pair, f func(a, b ast.ExprNode) ast.ExprNode) {
	a, b := filter(d.stmt(p.a)), filter(d.stmt(p.b))
	d.setFilter(p.b, f(*a, *b))
}

// setFilter replaces the predicate of a statement in a copy of it. The copy
// shares the other parts, which nobody changes.
func (d *draft) setFilter(r ref, where ast.ExprNode) {
	switch s := d.stmt(r).(type) {
	case *ast.SelectStmt:
		t := *s
		t.Where = where
		d.replace(r, &t)
	case *ast.UpdateStmt:
		t := *s
		t.Where = where
		d.replace(r, &t)
	case *ast.DeleteStmt:
		t := *s
		t.Where = where
		d.replace(r, &t)
	}
}

// either is (p1) OR (p2). No predicate is TRUE, and so is its disjunction.
func either(p1, p2 ast.ExprNode) ast.ExprNode {
	if p1 == nil || p2 == nil {
		return nil
	}
	return &ast.BinaryOperationExpr{Op: opcode.LogicOr, L: parenthesis(p1), R: parenthesis(p2)}
}

// Solver evaluates predicates on the rows that INSERT statements add.
type Solver interface {
	// Judge returns the value of a predicate for each row that the INSERTs add
	// to the table, in order. An error means that it cannot tell.
	Judge(create *ast.CreateTableStmt, inserts []*ast.InsertStmt, predicate ast.ExprNode) ([]sqlvalue.Truth, error)
}

// contain makes the predicate of one statement of a pair hold for at least one
// tuple of the other: one that an INSERT adds, or else a row of the set-up.
// Where the solver cannot tell, the predicate stays.
func (d *draft) contain(c *choices, p pair, s Solver) {
	target := p.b
	var inserts []*ast.InsertStmt
	for _, r := range []ref{p.a, p.b} {
		if ins, ok := d.stmt(r).(*ast.InsertStmt); ok {
			inserts = []*ast.InsertStmt{ins}
			target = p.a
			if r == p.a {
				target = p.b
			}
		}
	}
	t := d.tableOf(d.stmt(target))
	if inserts == nil {
		inserts = d.setUps(t)
	}
	where := *filter(d.stmt(target))
	if where == nil || len(inserts) == 0 {
		return
	}
	truths, err := s.Judge(d.creation(t.name), inserts, where)
	if err != nil || len(truths) == 0 {
		return
	}
	if changed := containing(where, chooseOutcome(c, truths)); changed != where {
		d.setFilter(target, changed)
	}
}

// chooseOutcome chooses one of the truth values that occur.
func chooseOutcome(c *choices, truths []sqlvalue.Truth) sqlvalue.Truth {
	var seen []sqlvalue.Truth
	for _, v := range truths {
		if !slices.Contains(seen, v) {
			seen = append(seen, v)
		}
	}
	return oneOf(c, seen)
}

// containing returns a predicate that holds for the tuples on which p has the
// given value.
func containing(p ast.ExprNode, v sqlvalue.Truth) ast.ExprNode {
	switch v {
	case sqlvalue.False:
		return not(p)
	case sqlvalue.Unknown:
		return isNull(parenthesis(p), false)
	default:
		return p
	}
}

// setUps returns the INSERTs of the set-up into a table.
func (d *draft) setUps(t *table) []*ast.InsertStmt {
	var out []*ast.InsertStmt
	for _, l := range d.init {
		if s, ok := l.Stmt.(*ast.InsertStmt); ok {
			if name, ok := soleTable(stmt.Of(s)); ok && tableNamed(d.tables, name) == t {
				out = append(out, s)
			}
		}
	}
	return out
}
