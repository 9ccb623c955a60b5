package solve

import (
	"sort"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

type orderKey struct {
	expr
	desc bool
	cmp  comparator
}

// New returns a solver for one server's dialect.
func New(d Dialect) *Solver {
	return &Solver{d: d, queries: map[*ast.SelectStmt]compiledQuery{}, compiled: map[compiledKey]*program{}}
}

// Within makes the solver stop when a budget is spent; nil: never. It returns the
// solver. Call it before the first statement.
func (s *Solver) Within(b *Budget) *Solver {
	s.budget = b
	return s
}

// compile returns the compiled form of a node for a table, from the cache if
// it was compiled before; build fills the program in.
func (s *Solver) compile(n ast.Node, t *Table, v Views, build func(*compiler, *program) error) (*program, error) {
	k := compiledKey{n, t}
	p, ok := s.compiled[k]
	if !ok {
		made := &struct { // one allocation for what lives as long
			program  program
			compiler compiler
			scope    scope
			table    [1]source
		}{}
		p = &made.program
		c := &made.compiler
		*c = compiler{s: s, d: s.d, views: v, scope: &made.scope}
		if t != nil {
			made.table[0] = source{t.Name, t, 0}
			made.scope.sources = made.table[:]
		}
		p.err = build(c, p)
		s.compiled[k] = p
	}
	return p, p.err
}

// Where evaluates a condition on one row as a query does; a nil condition is
// True. It also returns the number of warnings that the evaluation raises, a
// lower bound: servers may evaluate an expression more than once.
func (s *Solver) Where(cond ast.ExprNode, t *Table, row Row, v Views) (sqlvalue.Truth, int, error) {
	if cond == nil {
		return sqlvalue.True, 0, nil
	}
	p, err := s.compile(cond, t, v, func(c *compiler, p *program) error {
		c.scope.sources[0].alias = "" // the condition does not tell what its statement calls the table
		var err error
		p.truth, err = c.condition(cond)
		p.truth = c.askedWhereRefused(cond, p.truth)
		return err
	})
	if err != nil {
		return sqlvalue.Unknown, 0, err
	}
	if p.truth == nil {
		return sqlvalue.True, 0, nil
	}
	f := s.frame()
	defer s.release(f)
	f.row, f.views = row, v
	truth := p.truth(f)
	return truth, f.warnings, f.err
}

// frame returns an empty frame for one evaluation. They are used again, since a
// condition is tried on thousands of rows.
func (s *Solver) frame() *frame {
	n := len(s.frames)
	if n == 0 {
		return &frame{}
	}
	f := s.frames[n-1]
	s.frames = s.frames[:n-1]
	return f
}

// release gives back a frame that nothing refers to any more.
func (s *Solver) release(f *frame) {
	*f = frame{}
	s.frames = append(s.frames, f)
}

// chooser compiles the clauses of a single-table statement.
func (s *Solver) chooser(n ast.StmtNode, t *Table, v Views) (*program, error) {
	return s.compile(n, t, v, func(c *compiler, p *program) error {
		of := stmt.Of(n)
		if !of.Kind.Reads() && of.Kind != stmt.Update && of.Kind != stmt.Delete {
			return unsupported("rows chosen by %s", inWords(n))
		}
		if of.From != nil {
			name, ok := singleTable(of.From)
			if !ok {
				return unsupported("rows chosen from several tables")
			}
			c.scope.sources[0].alias = name
		}
		if c.write = of.Kind.Writes(); c.write {
			c.stmt = n
		}
		p.strict, p.unsure = s.strictness(of)
		err := c.choose(p, of)
		p.truth = c.askedWhereRefused(of.Where, p.truth)
		p.badLiteral = c.badLiteral
		return err
	})
}

// singleTable returns the alias of a FROM clause's only base table.
func singleTable(from *ast.TableRefsClause) (string, bool) {
	src := stmt.SoleSource(from)
	switch {
	case src == nil:
		return "", false
	case src.AsName.O != "":
		return src.AsName.O, true
	}
	return src.Source.(*ast.TableName).Name.O, true
}

// strictness tells whether a loss in the WHERE clause of a statement is an
// error, or cannot be told without the access path.
func (s *Solver) strictness(of stmt.View) (strict, unsure bool) {
	switch {
	case s.d.Mode&Strict == 0 || of.Ignore:
		return false, false
	case of.Kind == stmt.Delete:
		return !s.d.is(deleteIsLenient), false
	case of.Kind != stmt.Update:
		return false, false
	}
	return true, s.d.is(updateLenience)
}

func (p *program) frame(v Views) frame {
	return frame{views: v, strictWrite: p.strict, strictUnsure: p.unsure}
}

// Test evaluates the WHERE clause of a single-table SELECT, UPDATE or DELETE
// on one row, with the errors that the statement has.
func (s *Solver) Test(stmt ast.StmtNode, t *Table, row Row, v Views) (sqlvalue.Truth, error) {
	p, err := s.chooser(stmt, t, v)
	if err != nil {
		return sqlvalue.Unknown, err
	}
	if p.truth == nil {
		return sqlvalue.True, nil
	}
	f := p.frame(v)
	f.row = row
	return p.truth(&f), f.err
}

func (c *compiler) choose(p *program, of stmt.View) error {
	var err error
	if p.truth, err = c.condition(of.Where); err != nil {
		return err
	}
	if p.order, err = c.orderBy(of.Order); err != nil {
		return err
	}
	p.skip, p.limit, err = c.limits(of.Limit)
	return err
}

func (c *compiler) orderBy(o *ast.OrderByClause) ([]orderKey, error) {
	if o == nil {
		return nil, nil
	}
	out := make([]orderKey, 0, len(o.Items))
	for _, it := range o.Items {
		e, err := c.orderItem(it.Expr)
		if err != nil {
			return nil, err
		}
		cmp, err := c.comparison(e, e)
		if err != nil {
			return nil, err
		}
		out = append(out, orderKey{e, it.Desc, cmp})
	}
	return out, nil
}

func (c *compiler) orderItem(n ast.ExprNode) (expr, error) {
	if pos, ok := n.(*ast.PositionExpr); ok {
		if pos.P != nil || pos.N < 1 || pos.N > len(c.scope.items) {
			return expr{}, &SQLError{1054, "Unknown column in 'order clause'"}
		}
		return c.scope.items[pos.N-1].expr, nil
	}
	if col, ok := n.(*ast.ColumnNameExpr); ok && col.Name.Table.L == "" {
		for i := range c.scope.items {
			if it := &c.scope.items[i]; it.alias && lower(it.name) == col.Name.Name.L {
				return it.expr, nil
			}
		}
	}
	return c.expr(n)
}

// limits compiles LIMIT; skip or limit is nil where it is absent.
func (c *compiler) limits(l *ast.Limit) (skip, limit *expr, err error) {
	if l == nil {
		return nil, nil, nil
	}
	if skip, err = c.limit(l.Offset); err != nil {
		return nil, nil, err
	}
	if limit, err = c.limit(l.Count); err != nil {
		return nil, nil, err
	}
	return skip, limit, nil
}

func (c *compiler) limit(n ast.ExprNode) (*expr, error) {
	if n == nil {
		return nil, nil
	}
	e, err := c.expr(n)
	if err != nil {
		return nil, err
	}
	if !e.konst || e.typ.Class != IntClass {
		return nil, unsupported("LIMIT of an expression")
	}
	return &e, nil
}

func (p *program) bounds(n int) (from, to int) {
	to = n
	if p.skip != nil {
		from = int(min(p.skip.eval(nil).Uint(), uint64(n)))
	}
	if p.limit != nil {
		to = from + int(min(p.limit.eval(nil).Uint(), uint64(n-from)))
	}
	return from, to
}

// Matches returns the indexes into rows, in the order in which the statement
// handles them, of the rows that a single-table SELECT, UPDATE or DELETE
// chooses by WHERE, ORDER BY and LIMIT; ties keep the order of rows. The first
// row whose evaluation fails fails the statement.
func (s *Solver) Matches(stmt ast.StmtNode, t *Table, rows []Row, v Views) ([]int, error) {
	p, err := s.chooser(stmt, t, v)
	if err != nil {
		return nil, err
	}
	f := s.frame()
	defer s.release(f)
	*f = p.frame(v)
	idx, err := p.matches(f, rows)
	if p.badLiteral && p.strict {
		err = badLiteralError(err)
	}
	if isSQL(err) && p.order != nil && p.failsFirst(f, rows) {
		return nil, err
	}
	if err != nil && (len(p.order) > 0 || p.limit != nil) {
		// Which rows are evaluated before the limit is reached, and in which
		// order, is the access path's affair.
		return nil, unsupported("error under ORDER BY or LIMIT")
	}
	return idx, err
}

// Unlimited returns an UPDATE or DELETE without its order and its limit, the same one
// each time; other statements as they are.
func (s *Solver) Unlimited(n ast.StmtNode) ast.StmtNode {
	if whole, ok := s.unlimited[n]; ok {
		return whole
	}
	whole := n
	switch w := n.(type) {
	case *ast.UpdateStmt:
		c := *w
		c.Order, c.Limit = nil, nil
		whole = &c
	case *ast.DeleteStmt:
		c := *w
		c.Order, c.Limit = nil, nil
		whole = &c
	}
	if s.unlimited == nil {
		s.unlimited = map[ast.StmtNode]ast.StmtNode{}
	}
	s.unlimited[n] = whole
	return whole
}

// failsFirst tells whether a row fails that no order of evaluation leaves out: it
// comes, in the statement's order, before as many rows as the limit asks for.
func (p *program) failsFirst(f *frame, rows []Row) bool {
	f.err = nil
	at := make([]int, len(rows))
	keys := make([][]sqlvalue.Value, len(rows))
	for i := range rows {
		at[i], f.row = i, rows[i]
		keys[i] = p.keys(f)
	}
	ties := false
	sort.SliceStable(at, func(a, b int) bool {
		r := p.cmpKeys(f, keys[at[a]], keys[at[b]])
		ties = ties || r == 0
		return r < 0
	})
	_, to := p.bounds(len(rows))
	if f.err != nil || ties || p.truth == nil {
		return false
	}
	found := 0
	for _, i := range at {
		f.row = rows[i]
		truth := p.truth(f)
		if f.err != nil {
			return isSQL(f.err)
		}
		if truth == sqlvalue.True {
			if found++; found >= to {
				return false
			}
		}
	}
	return false
}

// badLiteralError is the outcome of a strict write that compares a number with
// a literal that is none: error 1292, unless something else comes first.
func badLiteralError(err error) error {
	if e, ok := err.(*SQLError); ok && e.Code == 1292 {
		return err
	}
	return unsupported("text literal for a number in a write")
}

func (p *program) matches(f *frame, rows []Row) ([]int, error) {
	out := make([]int, 0, len(rows))
	var first error
	for i, r := range rows {
		if p.truth != nil {
			f.row = r
			truth := p.truth(f)
			if f.err != nil {
				if first = firstError(first, f.err); !isSQL(first) {
					return nil, first
				}
				f.err = nil
				continue
			}
			if truth != sqlvalue.True {
				continue
			}
		}
		out = append(out, i)
		if p.order == nil && p.limit != nil {
			if _, to := p.bounds(len(rows)); len(out) >= to {
				break
			}
		}
	}
	if first != nil {
		return nil, first
	}
	if len(p.order) > 0 {
		keys := make([][]sqlvalue.Value, len(rows))
		for _, i := range out {
			f.row = rows[i]
			keys[i] = p.keys(f)
		}
		if f.err != nil {
			return nil, f.err
		}
		sort.SliceStable(out, func(a, b int) bool { return p.cmpKeys(f, keys[out[a]], keys[out[b]]) < 0 })
		if f.err != nil {
			return nil, f.err
		}
	}
	from, to := p.bounds(len(out))
	return out[from:to], nil
}

func (p *program) keys(f *frame) []sqlvalue.Value {
	k := make([]sqlvalue.Value, len(p.order))
	for i := range p.order {
		k[i] = p.order[i].eval(f)
	}
	return k
}

// cmpKeys orders two rows by their sort keys; NULL sorts first.
func (p *program) cmpKeys(f *frame, a, b []sqlvalue.Value) int {
	for i := range p.order {
		if r := cmpNullFirst(f, p.order[i].cmp, a[i], b[i]); r != 0 {
			if p.order[i].desc {
				return -r
			}
			return r
		}
	}
	return 0
}

func cmpNullFirst(f *frame, cmp comparator, a, b sqlvalue.Value) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	}
	return cmp(f, a, b)
}
