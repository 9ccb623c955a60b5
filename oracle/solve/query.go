package solve

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// item is one column of a select list.
type item struct {
	expr
	name string
	// alias says that the name was given with AS, or is a column's own.
	alias bool
	// as says that it was given with AS.
	as bool
}

// query is a compiled SELECT.
type query struct {
	program
	// inputs holds the sources of FROM with how to get their rows.
	inputs   []input
	on       []func(*frame) sqlvalue.Truth
	items    []item
	aggs     []aggregate
	group    []orderKey
	having   func(*frame) sqlvalue.Truth
	distinct bool
	cmps     []comparator
	d        Dialect
	// budget is the solver's.
	budget *Budget
}

// input is one table or derived table of a FROM clause.
type input struct {
	name  string
	sub   *query
	width int
}

// Select answers a whole query. The order of rows without a total order is the
// scan order of its tables, the first table outermost.
func (s *Solver) Select(stmt *ast.SelectStmt, v Views) (*Result, error) {
	if stmt.From != nil && s.leaves(stmt) {
		switch r, failed, ok := s.askedQuery(stmt, v); {
		case ok:
			return r, failed
		case s.asking.refuses():
			return nil, errToBeAsked
		}
	}
	r, err := s.selected(stmt, v)
	if s.asks(err, stmt) {
		// Also what is refused while rows are computed, which is errors for the most part:
		// where the server alone gives one, or none, and did otherwise in the history, which
		// rows it computed is not known, and nothing is claimed.
		if asked, failed, ok := s.askedQuery(stmt, v); ok {
			return asked, failed
		}
	}
	return r, err
}

// selected is Select by the solver alone.
func (s *Solver) selected(stmt *ast.SelectStmt, v Views) (*Result, error) {
	q, err := s.query(stmt, nil, v)
	if err != nil {
		return nil, err
	}
	f := frame{views: v}
	r, err := q.result(&f)
	if err != nil && (q.limit != nil || q.derived()) {
		return nil, unsupported("error under LIMIT or in a derived table")
	}
	return r, err
}

func (q *query) derived() bool {
	for _, in := range q.inputs {
		if in.sub != nil {
			return true
		}
	}
	return false
}

// Project computes what a single-table SELECT returns for rows that were
// already chosen by its WHERE, ORDER BY and LIMIT (see Matches): select list,
// aggregates, DISTINCT.
func (s *Solver) Project(stmt *ast.SelectStmt, t *Table, rows []Row, v Views) (*Result, error) {
	q, err := s.query(stmt, nil, v)
	if err != nil {
		return nil, err
	}
	if len(q.inputs) > 1 || len(q.inputs) == 1 && q.inputs[0].sub != nil {
		return nil, unsupported("projection of several tables")
	}
	f := frame{views: v}
	bare := *q
	if len(q.aggs) == 0 && len(q.group) == 0 && !q.distinct {
		bare.order = nil
	}
	bare.skip, bare.limit = nil, nil
	out, total := bare.finish(&f, rows)
	if f.err != nil {
		return nil, f.err
	}
	return &Result{q.names(), out, total, false, f.warnings}, nil
}

// query compiles a SELECT, or finds it compiled. A correlated subquery is
// compiled once for each place it stands in, so the node alone is the key.
func (s *Solver) query(stmt *ast.SelectStmt, outer *scope, v Views) (*query, error) {
	if q, ok := s.queries[stmt]; ok {
		return q.query, q.err
	}
	c := &compiler{s: s, d: s.d, views: v, scope: &scope{outer: outer}}
	q, err := c.query(stmt)
	s.queries[stmt] = compiledQuery{q, err}
	return q, err
}

type compiledQuery struct {
	query *query
	err   error
}

func (c *compiler) query(n *ast.SelectStmt) (*query, error) {
	if n.Kind != ast.SelectStmtKindSelect || n.With != nil || n.WindowSpecs != nil || n.SelectIntoOpt != nil {
		return nil, unsupported("VALUES, TABLE, WITH, WINDOW or INTO in a query")
	}
	q := &query{d: c.d}
	if c.s != nil {
		q.budget = c.s.budget
	}
	if n.From != nil {
		if err := c.from(q, n.From.TableRefs); err != nil {
			return nil, err
		}
	}
	c.joins = len(q.inputs) > 1 || c.scope.outer != nil
	aggs := []aggregate{}
	if err := c.choose(&q.program, stmt.View{Where: n.Where, Limit: n.Limit}); err != nil {
		return nil, err
	}
	c.scope.aggs = &aggs
	if err := c.fields(q, n.Fields); err != nil {
		return nil, err
	}
	c.scope.items = q.items
	if n.GroupBy != nil {
		if n.GroupBy.Rollup {
			return nil, unsupported("WITH ROLLUP")
		}
		c.scope.aggs = nil
		if err := c.groupsByColumns(n); err != nil {
			return nil, err
		}
		keys, err := c.orderBy(&ast.OrderByClause{Items: n.GroupBy.Items})
		if err != nil {
			return nil, err
		}
		q.group = keys
		c.scope.aggs = &aggs
	}
	if n.Having != nil {
		c.scope.having = n.Having.Expr
		e, err := c.filter(n.Having.Expr)
		c.scope.having = nil
		if err != nil {
			return nil, err
		}
		q.having = c.soleCondition(n.Having.Expr, e)
	}
	var err error
	if q.order, err = c.orderBy(n.OrderBy); err != nil {
		return nil, err
	}
	q.aggs, q.distinct = aggs, n.Distinct
	if q.having != nil && len(aggs) == 0 && len(q.group) == 0 {
		return nil, unsupported("HAVING of a query without groups")
	}
	if q.distinct && n.OrderBy != nil {
		return nil, unsupported("DISTINCT with ORDER BY")
	}
	if len(q.aggs) > 0 || q.having != nil || len(q.group) > 0 {
		if err := onlyGrouped(n); err != nil {
			return nil, err
		}
	}
	if c.d.is(extremeKeyByText) && len(q.group) == 0 && len(q.aggs) > 0 && c.extremeByKey(n) {
		return nil, unsupported("MIN or MAX of an indexed column beside a text compared with a number")
	}
	for _, it := range q.items {
		if it.fromBits && (c.joins || q.distinct || len(q.aggs) > 0 || len(q.group) > 0) {
			return nil, unsupported("BIT out of a branch in a temporary table")
		}
		cmp, err := c.comparison(it.expr, it.expr)
		if err != nil && q.distinct {
			return nil, err
		}
		q.cmps = append(q.cmps, cmp)
	}
	return q, nil
}

// groupsByColumns refuses a GROUP BY of a name that is also another column of the
// joined tables or the alias of something else.
func (c *compiler) groupsByColumns(n *ast.SelectStmt) error {
	for _, it := range n.GroupBy.Items {
		col, ok := it.Expr.(*ast.ColumnNameExpr)
		if !ok {
			continue
		}
		tables := 0
		for _, src := range c.scope.sources {
			if src.table.ColumnIndex(col.Name.Name.O) >= 0 {
				tables++
			}
		}
		if tables > 1 {
			return unsupported("GROUP BY of a column that several tables have")
		}
		for _, f := range n.Fields.Fields {
			if _, bare := f.Expr.(*ast.ColumnNameExpr); !bare && f.AsName.L == col.Name.Name.L {
				return unsupported("GROUP BY of an alias")
			}
		}
	}
	return nil
}

// onlyGrouped refuses a grouped query that names a column which is neither
// grouped by nor inside an aggregate: with ONLY_FULL_GROUP_BY that is an error
// unless the column depends on the others, without it any row's value will do.
func onlyGrouped(n *ast.SelectStmt) error {
	v := &loneColumns{grouped: map[string]bool{}}
	if n.GroupBy != nil {
		for _, it := range n.GroupBy.Items {
			col, ok := it.Expr.(*ast.ColumnNameExpr)
			if !ok {
				return unsupported("GROUP BY of an expression")
			}
			v.grouped[col.Name.Name.L] = true
		}
	}
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil {
			return unsupported("column beside an aggregate")
		}
		f.Expr.Accept(v)
		if f.AsName.L != "" {
			v.grouped[f.AsName.L] = true
		}
	}
	if n.Having != nil {
		n.Having.Expr.Accept(v)
	}
	if n.OrderBy != nil {
		for _, it := range n.OrderBy.Items {
			it.Expr.Accept(v)
		}
	}
	if v.found {
		return unsupported("column beside an aggregate")
	}
	return nil
}

// loneColumns looks for columns outside aggregates that are not grouped by.
type loneColumns struct {
	grouped map[string]bool
	found   bool
}

func (v *loneColumns) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.AggregateFuncExpr:
		return n, true
	case *ast.ColumnNameExpr:
		v.found = v.found || !v.grouped[n.Name.Name.L]
	}
	return n, false
}

func (v *loneColumns) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// from compiles a FROM clause: tables, derived tables, cross and inner joins.
func (c *compiler) from(q *query, n ast.ResultSetNode) error {
	switch n := n.(type) {
	case *ast.Join:
		if n.Tp != ast.CrossJoin && n.Right != nil || n.NaturalJoin || n.Using != nil || n.StraightJoin {
			return unsupported("outer, natural or USING join")
		}
		if err := c.from(q, n.Left); err != nil {
			return err
		}
		if n.Right == nil {
			return nil
		}
		if err := c.from(q, n.Right); err != nil {
			return err
		}
		if n.On != nil {
			e, err := c.filter(n.On.Expr)
			if err != nil {
				return err
			}
			q.on = append(q.on, c.soleCondition(n.On.Expr, e))
		}
		return nil
	case *ast.TableSource:
		return c.tableSource(q, n)
	}
	return unsupported("%s in FROM", inWords(n))
}

func (c *compiler) tableSource(q *query, n *ast.TableSource) error {
	offset := 0
	for _, in := range q.inputs {
		offset += in.width
	}
	switch src := n.Source.(type) {
	case *ast.TableName:
		t, _, err := c.views.Table(src.Name.O)
		if err != nil {
			return err
		}
		alias := src.Name.O
		if n.AsName.O != "" {
			alias = n.AsName.O
		}
		if slices.ContainsFunc(c.scope.sources, func(s source) bool { return strings.EqualFold(s.alias, alias) }) {
			return &SQLError{1066, fmt.Sprintf("Not unique table/alias: '%s'", alias)}
		}
		q.inputs = append(q.inputs, input{name: src.Name.O, width: len(t.Columns)})
		c.scope.sources = append(c.scope.sources, source{alias, t, offset})
		return nil
	case *ast.SelectStmt:
		if err := plainRead(src); err != nil {
			return err
		}
		// A derived table does not see the scope that it stands in.
		sub, err := c.s.query(src, nil, c.views)
		if err != nil {
			return err
		}
		t := &Table{Name: n.AsName.O, byName: map[string]int{}}
		for i, it := range sub.items {
			t.byName[lower(it.name)] = i
			typ := it.typ
			if it.castText && c.d.is(castTextRounds) {
				return unsupported("CAST AS CHAR in a derived table")
			}
			if typ.Class == DecimalClass && !it.column && c.d.is(divisionKeepsWords) {
				return unsupported("decimal computed in a derived table")
			}
			if it.notNumber {
				return unsupported("branch of text and other types in a derived table")
			}
			if typ.Class == StringClass {
				typ.Explicit = true
			}
			t.Columns = append(t.Columns, Column{Name: it.name, Type: typ})
		}
		q.inputs = append(q.inputs, input{sub: sub, width: len(t.Columns)})
		c.scope.sources = append(c.scope.sources, source{n.AsName.O, t, offset})
		return nil
	}
	return unsupported("%s in FROM", inWords(n.Source))
}

func (c *compiler) fields(q *query, fl *ast.FieldList) error {
	for _, fd := range fl.Fields {
		if fd.WildCard != nil {
			if err := c.wildcard(q, fd.WildCard); err != nil {
				return err
			}
			continue
		}
		e, err := c.expr(fd.Expr)
		if err != nil {
			return err
		}
		it := item{expr: e, name: fd.AsName.O, alias: fd.AsName.O != "", as: fd.AsName.O != ""}
		if col, ok := fd.Expr.(*ast.ColumnNameExpr); ok && !it.alias {
			it.name, it.alias = col.Name.Name.O, true
		} else if !it.alias {
			it.name = strings.TrimSpace(fd.Text())
		}
		q.items = append(q.items, it)
	}
	return nil
}

func (c *compiler) wildcard(q *query, w *ast.WildCardField) error {
	found := false
	for _, src := range c.scope.sources {
		if !src.called(w.Table.L) {
			continue
		}
		found = true
		q.items = slices.Grow(q.items, len(src.table.Columns))
		for i, col := range src.table.Columns {
			q.items = append(q.items, item{expr: columnAt(col.Type, src.offset+i, 0), name: col.Name, alias: true})
		}
	}
	if !found {
		return &SQLError{1051, "Unknown table in a wildcard"}
	}
	return nil
}

func (q *query) names() []string {
	out := make([]string, len(q.items))
	for i, it := range q.items {
		out[i] = it.name
	}
	return out
}

func (q *query) result(f *frame) (*Result, error) {
	rows := q.scan(f)
	if f.err != nil {
		return nil, f.err
	}
	out, total := q.finish(f, rows)
	if f.err != nil {
		return nil, f.err
	}
	return &Result{q.names(), out, total, !total && q.cuts(len(out)), f.warnings}, nil
}

// errUnordered refuses what depends on which rows LIMIT leaves of an order that is
// not total.
var errUnordered = unsupported("LIMIT without a total order")

// cuts tells whether LIMIT may have removed rows, n being left.
func (q *query) cuts(n int) bool {
	return q.skip != nil && q.skip.eval(nil).Uint() > 0 || q.limit != nil && q.limit.eval(nil).Uint() == uint64(n)
}

// joined is what a row of several tables costs in steps: it is made anew.
const joined = 10

// scan returns the joined rows that pass ON and WHERE.
func (q *query) scan(f *frame) []Row {
	if len(q.inputs) == 0 {
		if q.truth != nil && q.truth(f) != sqlvalue.True {
			return nil
		}
		return []Row{nil}
	}
	tables := make([][]Row, len(q.inputs))
	for i, in := range q.inputs {
		if in.sub != nil {
			g := frame{views: f.views}
			r, err := in.sub.result(&g)
			if err != nil {
				f.err = err
				return nil
			}
			if r.Cut {
				f.err = errUnordered
				return nil
			}
			f.warnings += g.warnings
			for _, row := range r.Rows {
				tables[i] = append(tables[i], row)
			}
			continue
		}
		_, rows, err := f.views.Table(in.name)
		if err != nil {
			f.err = err
			return nil
		}
		tables[i] = rows
	}
	cost := 1
	if len(tables) > 1 {
		cost = joined
	}
	var out []Row
	keep := func(r Row) {
		if !q.budget.Spend(cost) {
			f.err = errSpent
			return
		}
		f.row = r
		if q.meets(f) && f.err == nil && (q.truth == nil || q.truth(f) == sqlvalue.True) {
			out = append(out, r)
		}
	}
	if len(tables) == 1 {
		for _, r := range tables[0] {
			keep(r)
			if f.err != nil {
				return nil
			}
		}
		return out
	}
	var join func(i int, prefix Row)
	join = func(i int, prefix Row) {
		if i == len(tables) {
			keep(prefix)
			return
		}
		for _, r := range tables[i] {
			if f.err != nil {
				return
			}
			join(i+1, append(prefix[:len(prefix):len(prefix)], r...))
		}
	}
	if pad(tables, q.inputs) {
		keep = func(r Row) {
			if !q.budget.Spend(cost) {
				f.err = errSpent
				return
			}
			f.row = r
			q.meets(f)
			q.besideJoin(f)
		}
	}
	join(0, nil)
	return out
}

type sorted struct {
	out  []sqlvalue.Value
	keys []sqlvalue.Value
}

// finish groups, projects, removes duplicates, orders and cuts the rows.
func (q *query) finish(f *frame, rows []Row) (out [][]sqlvalue.Value, total bool) {
	var list []sorted
	emit := func() {
		if q.having != nil && q.having(f) != sqlvalue.True {
			return
		}
		s := sorted{out: make([]sqlvalue.Value, len(q.items))}
		for i := range q.items {
			s.out[i] = q.output(&q.items[i].expr, f)
		}
		if len(q.order) > 0 {
			s.keys = q.keys(f)
		}
		list = append(list, s)
	}
	switch {
	case len(q.group) > 0:
		q.groups(f, rows, emit)
	case len(q.aggs) > 0 || q.having != nil:
		q.collect(f, rows)
		f.row = nil
		emit()
	default:
		list = make([]sorted, 0, len(rows))
		for _, r := range rows {
			f.row = r
			emit()
			if f.err != nil {
				return nil, false
			}
		}
	}
	if q.distinct {
		list = q.unique(f, list)
	}
	if len(q.order) > 0 {
		slices.SortStableFunc(list, func(a, b sorted) int { return q.cmpKeys(f, a.keys, b.keys) })
	}
	total = true
	for i := 1; i < len(list) && total; i++ {
		total = q.cmpKeys(f, list[i-1].keys, list[i].keys) != 0 || same(list[i-1].out, list[i].out)
	}
	from, to := q.bounds(len(list))
	out = make([][]sqlvalue.Value, 0, to-from)
	for _, s := range list[from:to] {
		out = append(out, s.out)
	}
	return out, total || len(list) <= 1
}

func same(a, b []sqlvalue.Value) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// unique keeps the first of each set of rows that are equal, NULL equal to NULL.
func (q *query) unique(f *frame, list []sorted) []sorted {
	var out []sorted
next:
	for _, s := range list {
		for _, o := range out {
			equal := true
			for i := range s.out {
				if cmpNullFirst(f, q.cmps[i], s.out[i], o.out[i]) != 0 {
					equal = false
					break
				}
			}
			if equal {
				if !same(s.out, o.out) {
					f.refuse("DISTINCT between equal values of different text")
				}
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// printed returns the value in the form that is turned into text.
func (e *expr) printed(f *frame) sqlvalue.Value {
	if e.print != nil {
		return e.print(f)
	}
	v := e.eval(f)
	if v.Kind() == sqlvalue.Decimal && (v.Scale() > e.typ.Scale || v.Scale() < e.typ.Scale && !e.keepScale) {
		return v.Rescale(e.typ.Scale)
	}
	return v
}

// output returns the value as the text protocol sends it: a decimal at the
// scale that its type declares.
func (q *query) output(e *expr, f *frame) sqlvalue.Value {
	v := e.printed(f)
	if v.Kind() == sqlvalue.Double {
		switch x := v.Double(); {
		case x == 0 && q.d.is(noNegativeZero):
			return sqlvalue.NewDouble(0)
		case q.d.is(plainDoubles) && (x >= 1e15 || x <= -1e15) && x != math.Trunc(x):
			return f.refuse("print of a large fraction")
		}
	}
	return v
}

// plainRead refuses a locking read inside another statement: it reads newest
// rows where the statement around it reads a snapshot, and waits and fails by
// itself; https://dev.mysql.com/doc/refman/9.7/en/innodb-locking-reads.html
func plainRead(sel *ast.SelectStmt) error {
	if stmt.LockOf(sel).Mode != stmt.None {
		return unsupported("locking subquery")
	}
	return nil
}
