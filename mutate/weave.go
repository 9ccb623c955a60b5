package mutate

import (
	"slices"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// shortPatterns take two transactions, longPatterns three; these are 3,240 and made when
// they are first wanted.
var (
	shortPatterns = slices.Concat(pattern.Of(pattern.TwoItems), pattern.Of(pattern.OneItem), pattern.Of(pattern.Aborts), pattern.Of(pattern.Conditions))
	longPatterns  = sync.OnceValue(func() []pattern.Pattern { return pattern.Of(pattern.ThreeItems) })
)

// Patterns returns those that a number of transactions can follow, two or three; nobody
// may change them.
func Patterns(transactions int) []pattern.Pattern {
	if transactions > 2 {
		return longPatterns()
	}
	return shortPatterns
}

// Out of 256.
const (
	// longOdds is how often three transactions follow a pattern of three.
	longOdds = 150
	// noiseOdds is how often a transaction keeps a statement of its own before an
	// operation of the pattern.
	noiseOdds = 26
	// earlyOdds is how often all transactions begin before the first operation, and not
	// each before its own.
	earlyOdds = 110
	// lockingOdds is how often a read locks, deletingOdds how often a write deletes,
	// sameRowOdds how often two items that could be one row are.
	lockingOdds  = 20
	deletingOdds = 26
	sameRowOdds  = 40
)

const (
	// conditionTries is how many conditions are tried for one that tells rows apart, rowTries
	// how many rows are made for one that a condition chooses, or does not.
	conditionTries = 8
	rowTries       = 12
)

// weave lets the transactions of a draft follow a pattern, in its order: its items become
// rows of the draft's tables, its condition a WHERE clause over one of them, its operations
// statements that find these rows in any way that the generator knows. What a transaction
// did before is gone but for some statements between. It returns the pairs of statements
// that are to depend on each other; false: the draft has no rows, or too few transactions.
func (d *draft) weave(c *choices, o *Options) ([]pair, bool) {
	p := o.Pattern
	switch {
	case p == nil:
		p = d.patternFor(c)
	case !d.carries(p):
		p = nil
	}
	if p == nil {
		return nil, false
	}
	return d.weavePattern(c, o, p)
}

func (d *draft) weavePattern(c *choices, o *Options, p *pattern.Pattern) ([]pair, bool) {
	tries := 1
	if o.Pattern != nil {
		tries = givenTries
	}
	var w *weaver
	var bodies [][]ast.StmtNode
	var at []ref
	for w == nil || w.bent && tries > 0 {
		tries--
		w = &weaver{d: d, c: c, o: o, p: p, items: map[byte]*item{}}
		if !w.choose() {
			return nil, false
		}
		bodies, at = w.bodies()
	}
	turns := make([]int, len(p.Ops)) // statements of the session before the operation's end
	for i := range at {
		turns[i] = at[i].stmt + 1
	}
	before := make([]int, len(d.sessions)) // statements up to the BEGIN
	for i := range bodies {
		s := &d.sessions[i]
		if bodies[i] == nil {
			// A transaction that the pattern leaves out begins first: orders in which it
			// meets no other are refused, and the pattern's is to be kept.
			if sp := s.spans(); o.Pattern != nil && len(sp) > 0 {
				before[i] = sp[0].begin + 1
			}
			continue
		}
		sp := s.spans()[0]
		before[i] = sp.begin + 1
		s.stmts = slices.Concat(s.stmts[:sp.begin+1], bodies[i], s.stmts[min(sp.end+1, len(s.stmts)):])
	}
	m := newMerge(d)
	early := c.odds(earlyOdds)
	for i := range d.sessions {
		if early || bodies[i] == nil {
			m.run(i, before[i])
		}
	}
	for i := range p.Ops {
		m.run(at[i].session, before[at[i].session]+turns[i])
	}
	for i := range d.sessions {
		m.run(i, len(d.sessions[i].stmts))
	}
	for i := range at {
		at[i].stmt += before[at[i].session]
	}
	d.own, d.woven, d.operations, d.bent = m.order, p, at, w.bent
	var pairs []pair
	for _, e := range p.Edges() {
		pairs = append(pairs, pair{at[e.From], at[e.To]})
	}
	return pairs, true
}

// patternFor chooses a pattern for the first transactions of a draft; nil: it carries none.
func (d *draft) patternFor(c *choices) *pattern.Pattern {
	n := d.followers()
	if n < 2 {
		return nil
	}
	list := shortPatterns
	if n > 2 && c.odds(longOdds) {
		list = longPatterns()
	}
	return &list[c.below(len(list))]
}

// carries says that a draft has the transactions and the rows for a pattern.
func (d *draft) carries(p *pattern.Pattern) bool { return d.followers() >= p.Transactions() }

// followers counts the first transactions of a draft that have an end of their own; none
// where there are no rows that they could meet at.
func (d *draft) followers() int {
	if !slices.ContainsFunc(d.tables, func(t *table) bool { return len(t.rows) > 1 }) {
		return 0
	}
	n := 0
	for n < len(d.sessions) {
		s := &d.sessions[n]
		sp := s.spans()
		if len(sp) == 0 || !s.closed(sp[0]) {
			break
		}
		n++
	}
	return n
}

// weaver fills a pattern.
type weaver struct {
	d     *draft
	c     *choices
	o     *Options
	p     *pattern.Pattern
	items map[byte]*item
	// bent says that some write is not known to do what the pattern has it do.
	bent bool
}

// item is a row of a table, or, for the condition, what chooses some of them.
type item struct {
	t     *table
	row   []value
	where ast.ExprNode
	// in and out are rows that the condition chooses and does not choose, coming such as it
	// would choose if they were put in; each is used once.
	in, out, coming [][]value
}

// bodies makes the statements of each session between its BEGIN and what follows its
// transaction, and says which are those of the operations.
func (w *weaver) bodies() (bodies [][]ast.StmtNode, at []ref) {
	bodies, at = make([][]ast.StmtNode, len(w.d.sessions)), make([]ref, len(w.p.Ops))
	for i, op := range w.p.Ops {
		s := op.Txn - 1
		if w.c.odds(noiseOdds) {
			if own := w.d.find(s, func(stmt.Kind) bool { return true }); len(own) > 0 {
				bodies[s] = append(bodies[s], w.d.stmt(oneOf(w.c, own)))
			}
		}
		bodies[s] = append(bodies[s], w.statement(i))
		at[i] = ref{s, len(bodies[s]) - 1}
	}
	return bodies, at
}

// choose finds a row for each item.
func (w *weaver) choose() bool {
	tables := slices.DeleteFunc(slices.Clone(w.d.tables), func(t *table) bool { return len(t.rows) < 2 })
	if len(tables) == 0 {
		return false
	}
	var last *item
	for _, op := range w.p.Ops {
		if op.Item == 0 || w.items[op.Item] != nil {
			continue
		}
		it := &item{t: oneOf(w.c, tables)}
		if op.Item == pattern.Condition {
			w.condition(it)
		} else {
			n := w.c.below(len(it.t.rows))
			if last != nil && last.t == it.t && slices.Equal(last.row, it.t.rows[n]) && !w.c.odds(sameRowOdds) {
				n = (n + 1) % len(it.t.rows)
			}
			if w.o.Pattern != nil && !w.c.odds(sameRowOdds) {
				n = w.unused(it.t, n)
			}
			it.row = it.t.rows[n]
			last = it
		}
		w.items[op.Item] = it
	}
	return true
}

// statement makes that of an operation.
func (w *weaver) statement(op int) ast.StmtNode {
	o := w.p.Ops[op]
	switch o.Do {
	case pattern.Commit:
		return &ast.CommitStmt{}
	case pattern.Abort:
		return &ast.RollbackStmt{}
	}
	it := w.items[o.Item]
	where := it.where
	if o.Item != pattern.Condition {
		where = w.finds(it.t, it.row)
	}
	switch o.Do {
	case pattern.Read:
		lock := ast.SelectLockNone
		if w.c.odds(lockingOdds) {
			lock = ast.SelectLockForUpdate
			if w.o.shareLocks() && w.c.odds(128) {
				lock = ast.SelectLockForShare
			}
		}
		return selectStmt(it.t, nil, where, lock)
	case pattern.Write:
		if w.c.odds(deletingOdds) {
			return deleteStmt(it.t, where)
		}
		list := w.assigned(it)
		if it.t.repeats(list) {
			where = w.byKey(it.t, it.row)
		}
		return updateStmt(it.t, list, where)
	case pattern.Update:
		return updateStmt(it.t, assignments(w.c, it.t), where)
	}
	return w.crosses(it, o.Do)
}

// byKey finds a row by a unique key, or by all of its columns where it has none.
func (w *weaver) byKey(t *table, row []value) ast.ExprNode {
	var keys []key
	for _, k := range t.keys {
		if k.unique && k.prefix == 0 && !slices.ContainsFunc(k.columns, func(i int) bool { return row[i] == null }) {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		return equal(t, row, oneOf(w.c, keys).columns)
	}
	var all []int
	for i := range t.cols {
		if t.cols[i].typ.family != opaque {
			all = append(all, i)
		}
	}
	return equal(t, row, all)
}

// equal compares columns with what a row holds in them; nil where there are none.
func equal(t *table, row []value, columns []int) ast.ExprNode {
	var e ast.ExprNode
	for _, i := range columns {
		var one ast.ExprNode
		if row[i] == null {
			one = isNull(columnRef(t.cols[i].name), false)
		} else {
			one = binaryOp(opcode.EQ, columnRef(t.cols[i].name), row[i].literal())
		}
		if e == nil {
			e = one
		} else {
			e = binaryOp(opcode.LogicAnd, e, one)
		}
	}
	return e
}
