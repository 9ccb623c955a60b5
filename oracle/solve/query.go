package solve

import (
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
	node *ast.SelectStmt
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
	q := &query{node: n, d: c.d}
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
	if c.d.is(minMaxKeyByText) && len(q.group) == 0 && len(q.aggs) > 0 && c.minMaxByKey(n) {
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

// plainRead refuses a locking read inside another statement: it reads newest
// rows where the statement around it reads a snapshot, and waits and fails by
// itself; https://dev.mysql.com/doc/refman/9.7/en/innodb-locking-reads.html
func plainRead(sel *ast.SelectStmt) error {
	if stmt.LockOf(sel).Mode != stmt.None {
		return unsupported("locking subquery")
	}
	return nil
}
