package mutate

import (
	"encoding/binary"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

var (
	transactionLengths = []weighted[int]{{6, 1}, {12, 2}, {18, 3}, {18, 4}, {16, 5}, {11, 6}, {8, 7}, {5, 8}, {4, 9}, {2, 10}}
	beginForms         = []weighted[func() *ast.BeginStmt]{{88, corpus.Begin}, {12, corpus.BeginSnapshot}}
	endForms           = []weighted[func() ast.StmtNode]{
		{86, func() ast.StmtNode { return &ast.CommitStmt{} }},
		{14, func() ast.StmtNode { return &ast.RollbackStmt{} }},
	}
)

const (
	// headBytes and statementBytes are the windows of a transaction's lane
	// that hold its frame and each of its statements; a statement that needs
	// more bytes ends in simplest choices.
	headBytes      = 8
	statementBytes = 23
	// strategyBytes is the window that conflict construction reads, before the
	// links, which take what they need.
	strategyBytes = 8

	// Out of 256.
	secondTableOdds = 100
	autocommitOdds  = 14
	mixedLevelsOdds = 51
	// anyPairOdds is how often an order may bring together any pair of statements
	// that can conflict, not just the constructed one: it is worth seeing, too, what
	// happens when a transaction runs as a whole between a read and a write of
	// another.
	anyPairOdds = 110
)

// Generate makes a fresh case from choices. It never fails; zero bytes give
// the simplest case.
func Generate(src Source, opts Options) *corpus.Case {
	o := opts.withDefaults()
	d := fresh(src, o)
	return d.ordered(src, o, 1)[0]
}

// fresh makes tables, rows, and transactions.
func fresh(src Source, o *Options) *draft {
	d := &draft{}
	if o.Schema != nil {
		d.tables, d.init = o.Schema.draw(src, o)
	} else {
		d.tables, d.init = randomTables(src, o)
	}
	for _, t := range d.tables {
		if len(t.rows) > 0 {
			d.init = append(d.init, corpus.Line{Stmt: t.setUp()})
		}
	}
	transactions := o.NumTx
	if n := transactionsOf(src.Input()); n > 0 {
		transactions = n
	}
	for n := range transactions {
		d.sessions = append(d.sessions, session{number: n + 1, stmts: transaction(src, laneOfSession(n), d.tables, o)})
	}
	d.chooseLevels(on(src, LevelLane), o)
	return d
}

// randomTables makes one table or two, and their rows.
func randomTables(src Source, o *Options) (tables []*table, init []corpus.Line) {
	schema := on(src, SchemaLane)
	count := 1
	if o.Tables > 1 && schema.odds(secondTableOdds) {
		count = o.Tables
	}
	for n := range count {
		t := newTable(schema, n, o.dataTypes())
		nameless := o.Replicated && schema.odds(namelessOdds)
		if nameless {
			t.nameless()
		}
		t.fill(src, o.MaxRows)
		if nameless && schema.odds(128) {
			slices.Reverse(t.rows)
		}
		tables = append(tables, t)
		init = append(init, corpus.Line{Stmt: t.definition()})
	}
	return tables, init
}

// setUp returns the INSERT that makes the table's rows.
func (t *table) setUp() *ast.InsertStmt {
	var columns, given []int
	for i := range t.cols {
		if !t.cols[i].computed {
			given = append(given, i)
		}
	}
	if len(given) < len(t.cols) {
		columns = given
	}
	lists := make([][]ast.ExprNode, len(t.rows))
	for k, row := range t.rows {
		for _, i := range given {
			lists[k] = append(lists[k], row[i].literal())
		}
	}
	return insertStmt(t, columns, lists)
}

// transaction makes the statements of one session: a transaction, now and then
// with an autocommit statement before or behind it.
func transaction(src Source, l Lane, tables []*table, o *Options) []ast.StmtNode {
	head := window(src, l, headBytes)
	length := min(pick(head, transactionLengths), o.MaxStatements)
	begin, end := pick(head, beginForms)(), pick(head, endForms)()
	mix := pick(head, kindMixes)
	alone, before := head.odds(autocommitOdds), head.odds(128)

	next := func() ast.StmtNode {
		c := window(src, l, statementBytes)
		return statement(c, oneOf(c, tables), mix, o)
	}
	stmts := make([]ast.StmtNode, 0, length+3)
	stmts = append(stmts, begin)
	for range length {
		stmts = append(stmts, next())
	}
	stmts = append(stmts, end)
	switch {
	case alone && before:
		return append([]ast.StmtNode{next()}, stmts...)
	case alone:
		return append(stmts, next())
	}
	return stmts
}

// chooseLevels gives every session the same level, or in a fifth of the cases
// the second one another than the first, and each further one any.
func (d *draft) chooseLevels(c *choices, o *Options) {
	d.levels = map[int]corpus.Level{}
	mixed := c.odds(mixedLevelsOdds)
	n := len(o.Levels)
	first := c.below(n)
	for i, s := range d.sessions {
		at := first
		switch {
		case !mixed || i == 0:
		case i == 1:
			at = (first + 1 + c.below(n-1)) % n
		default:
			at = c.below(n)
		}
		d.levels[s.number] = o.Levels[at]
	}
}

// ordered applies links, conflict construction and features to a draft and returns up to
// k cases that differ in their submitted order, at least one.
func (d *draft) ordered(src Source, o *Options, k int) []*corpus.Case {
	if o.Conflict == Pattern {
		// Many small decisions, for which an input has no room: it seeds them.
		seed := splitMix(binary.LittleEndian.Uint64(src.Bytes(ConflictLane, strategyBytes)))
		if pairs, ok := d.weave(random(&seed), o); ok {
			return d.orders(src, k, pairs)
		}
	}
	strategy := window(src, ConflictLane, strategyBytes)
	var further []*choices // one for each transaction beyond the second of a wide input
	for range max(0, transactionsOf(src.Input())-2) {
		further = append(further, window(src, ConflictLane, strategyBytes))
	}
	c := on(src, ConflictLane)
	for range 1 + len(further) {
		d.link(c, o, pick(c, links))
	}
	var pairs []pair
	if p, ok := d.construct(strategy, o, -1); ok && !strategy.odds(anyPairOdds) {
		pairs = []pair{p}
	}
	for i, strategy := range further {
		if p, ok := d.construct(strategy, o, 2+i); ok && len(pairs) > 0 {
			pairs = append(pairs, p)
		}
	}
	if made, p := d.feature(src, o); made {
		pairs = p
	}
	return d.orders(src, k, pairs)
}
