package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// An edit changes the structure of a draft. It returns false where it does not
// apply. Transaction control stays in place, so a session's statements form the
// same transactions before and after.
type edit func(c *choices, d *draft, e *editing) bool

// editing is what edits draw on.
type editing struct {
	others  []*corpus.Case
	options *Options
}

func linking(l link) edit {
	return func(c *choices, d *draft, e *editing) bool { return d.link(c, e.options, l) }
}

// edits is the table of structural mutations; the first changes nothing, so
// that zero bytes leave the case as it is.
var edits = []weighted[edit]{
	{10, func(*choices, *draft, *editing) bool { return false }},
	{12, changeConstant},
	{10, dropStatement},
	{10, swapStatements},
	{8, duplicateStatement},
	{12, addStatement},
	{10, replaceStatement},
	{8, changeLevel},
	{12, splice},
	{8, linking(echoWrite)},
	{5, linking(readFirst)},
	{6, linking(readAgain)},
	{5, linking(crossReads)},
	{4, linking(readRangeInsert)},
}

var editCounts = []weighted[int]{{20, 0}, {36, 1}, {26, 2}, {12, 3}, {6, 4}}

const editBytes = 12

// joinedOdds is how often a case of one session gets a second one, out of 256.
const joinedOdds = 224

// edit applies a few structural mutations. Statements made anew read the lane
// of the first transaction, which a stored case does not use.
func (d *draft) edit(src Source, others []*corpus.Case, o *Options) {
	e := &editing{others: others, options: o}
	if len(d.sessions) == 1 && len(d.tables) > 0 && window(src, Tx2Lane, 1).odds(joinedOdds) {
		d.join(src, o)
	}
	d.widen(src, o)
	for range pick(on(src, EditLane), editCounts) {
		c := window(src, EditLane, editBytes)
		tail := window(src, Tx1Lane, statementBytes)
		long := &choices{next: chained(c, tail, editBytes)}
		pick(long, edits)(long, d, e)
	}
	d.end()
	if len(d.levels) == 0 || !d.allowed(o) {
		d.chooseLevels(on(src, LevelLane), o)
	}
}

// join adds a second transaction to a case of one session: what the case shows
// alone, it may show while others write. The case's own order means nothing for two
// sessions.
func (d *draft) join(src Source, o *Options) {
	first := d.sessions[0].number
	n := first%3 + 1
	d.sessions = append(d.sessions, session{number: n, stmts: transaction(src, Tx2Lane, d.tables, o)})
	if l, ok := d.levels[first]; ok {
		d.levels[n] = l
	}
	d.own = nil
}

// chained reads n bytes of a and then b.
func chained(a, b *choices, n int) func() byte {
	return func() byte {
		if n > 0 {
			n--
			return a.next()
		}
		return b.next()
	}
}

// end commits the transactions that no statement ends: whoever waited for one would
// wait until the server gives up.
func (d *draft) end() {
	for i := range d.sessions {
		s := &d.sessions[i]
		if spans := s.spans(); len(spans) > 0 && spans[len(spans)-1].end == len(s.stmts) {
			s.stmts = append(s.stmts, &ast.CommitStmt{})
		}
	}
}

// allowed says that every session has a level among those of the options.
func (d *draft) allowed(o *Options) bool {
	for _, s := range d.sessions {
		if !slices.Contains(o.Levels, d.levels[s.number]) {
			return false
		}
	}
	return true
}

// all returns the statements inside transactions that edits may move.
func (d *draft) all() []ref {
	var out []ref
	for i := range d.sessions {
		out = append(out, d.find(i, func(stmt.Kind) bool { return true })...)
	}
	return out
}

func dropStatement(c *choices, d *draft, _ *editing) bool {
	all := d.all()
	if len(all) < 2 {
		return false
	}
	r := oneOf(c, all)
	s := &d.sessions[r.session]
	s.stmts = slices.Delete(s.stmts, r.stmt, r.stmt+1)
	return true
}

// swapStatements exchanges two statements of one transaction.
func swapStatements(c *choices, d *draft, _ *editing) bool {
	x, _, ok := d.two(c)
	if !ok {
		return false
	}
	in := d.find(x, func(stmt.Kind) bool { return true })
	if len(in) < 2 {
		return false
	}
	at := c.below(len(in))
	a, b := in[at], in[(at+1+c.below(len(in)-1))%len(in)]
	sa, sb := d.stmt(a), d.stmt(b)
	d.replace(a, sb)
	d.replace(b, sa)
	return true
}

func duplicateStatement(c *choices, d *draft, e *editing) bool {
	all := d.all()
	x, _, ok := d.two(c)
	if !ok || len(all) == 0 {
		return false
	}
	d.put(x, c.below(5), d.stmt(oneOf(c, all)), e.options)
	return true
}

func addStatement(c *choices, d *draft, e *editing) bool {
	x, _, ok := d.two(c)
	if !ok || len(d.tables) == 0 {
		return false
	}
	part := c.below(5)
	d.put(x, part, statement(c, oneOf(c, d.tables), balanced, e.options), e.options)
	return true
}

func replaceStatement(c *choices, d *draft, e *editing) bool {
	all := d.all()
	if len(all) == 0 {
		return false
	}
	r := oneOf(c, all)
	d.replace(r, statement(c, d.tableOf(d.stmt(r)), balanced, e.options))
	return true
}

func changeLevel(c *choices, d *draft, e *editing) bool {
	d.chooseLevels(c, e.options)
	return true
}

// changeConstant replaces one literal of a statement by another that suits a
// column of the statement's table.
func changeConstant(c *choices, d *draft, _ *editing) bool {
	all := d.all()
	if len(all) == 0 {
		return false
	}
	r := oneOf(c, all)
	t := d.tableOf(d.stmt(r))
	stmt := corpus.CloneStmt(d.stmt(r))
	counter := &literalVisitor{target: -1}
	stmt.Accept(counter)
	if counter.seen == 0 {
		return false
	}
	v := &literalVisitor{target: c.below(min(counter.seen, 256)), with: func(old value) value { return t.substitute(c, old) }}
	stmt.Accept(v)
	d.replace(r, stmt)
	return true
}

// substitute chooses a value in the place of a literal: one that suits a column
// of its family, and in the place of NULL a number, if there is a column for it.
func (t *table) substitute(c *choices, old value) value {
	f := old.family()
	i := t.columnOf(c, f)
	if i < 0 {
		return old
	}
	return t.constant(c, i)
}

// literalVisitor counts the literals of a tree and replaces the target-th.
type literalVisitor struct {
	seen, target int
	with         func(value) value
}

// Enter implements ast.Visitor. A literal with its sign is one literal, and so
// skipped as a whole.
func (v *literalVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.Limit, *ast.OrderByClause, *ast.GroupByClause:
		return n, true // numbers mean something else there
	}
	e, ok := n.(ast.ExprNode)
	if !ok {
		return n, false
	}
	old, ok := valueOf(e)
	if !ok {
		return n, false
	}
	if v.seen == v.target {
		n = v.with(old).literal()
	}
	v.seen++
	return n, true
}

// Leave implements ast.Visitor.
func (v *literalVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// splice replaces the first transaction of a session by one of another case
// over the same tables.
func splice(c *choices, d *draft, e *editing) bool {
	if len(e.others) == 0 || len(d.tables) == 0 {
		return false
	}
	x, _, ok := d.two(c)
	if !ok {
		return false
	}
	at := c.below(min(len(e.others), 1<<16))
	for n := range min(len(e.others), maxSpliceTries) {
		other := draftOf(e.others[(at+n)%len(e.others)])
		y, _, ok := other.two(c)
		if !ok || !d.accommodates(other) {
			continue
		}
		from, to := other.sessions[y].spans()[0], d.sessions[x].spans()[0]
		if !other.sessions[y].closed(from) || !d.sessions[x].closed(to) {
			continue
		}
		s := &d.sessions[x]
		s.stmts = slices.Concat(s.stmts[:to.begin], other.sessions[y].stmts[from.begin:from.end+1], s.stmts[to.end+1:])
		return true
	}
	return false
}

// maxSpliceTries bounds the search for a case over the same tables.
const maxSpliceTries = 16

// accommodates says that the tables of other exist here with columns of the
// same names and families, so that its statements make sense.
func (d *draft) accommodates(other *draft) bool {
	for _, t := range other.tables {
		mine := tableNamed(d.tables, t.name)
		if mine == nil || !slices.EqualFunc(mine.cols, t.cols, func(a, b column) bool {
			return a.name == b.name && a.typ.family == b.typ.family && a.generated == b.generated
		}) {
			return false
		}
	}
	return true
}
