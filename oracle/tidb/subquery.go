package tidb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// subqueryViews gives what a statement, sent at the given tick, and its subqueries read. Under
// the rule SnapshotSubquery some subqueries of one that writes or locks are evaluated with its
// plan, on older data; under the rule NewestCommitted those that read the snapshot, and scan an
// index backwards, find newer data.
func (r *engine) subqueryViews(node ast.StmtNode, view versions.View, sent history.Tick) solve.Views {
	now := &mvcc.Stored{Store: &r.Store, View: view}
	if view.Own == nil {
		return now
	}
	of := view.Own.Rules
	snapshot := of.Of(rules.ConsistentRead) == rules.Snapshot
	backwards := snapshot && of.Of(rules.ReverseScan) == rules.NewestCommitted
	kind := stmt.KindOf(node)
	reads := kind == stmt.Select
	planned := kind.Writes() && of.Of(rules.SubqueryView) == rules.SnapshotSubquery
	older := planned || r.subqueriesRead != allNewest
	if !(backwards && reads) && !older || !mvcc.HasSubquery(node) {
		return now
	}
	newest := &mvcc.Stored{Store: &r.Store, View: versions.View{Tick: sent, Own: view.Own}}
	old := newest
	if snapshot {
		old = &mvcc.Stored{Store: &r.Store, View: versions.View{Tick: view.Own.Snapshot, Own: view.Own}}
	}
	split := &splitViews{now, map[*ast.SelectStmt]*mvcc.Stored{}}
	for _, q := range r.apart(node, planned) {
		switch {
		case backwards && scansBackwards(q):
			split.other[q] = newest
		case older:
			split.other[q] = old
		}
	}
	if len(split.other) == 0 {
		return now
	}
	return split
}

// subqueryData is what the subqueries of a locking SELECT read: the newest data or the
// transaction's snapshot.
type subqueryData uint8

const (
	// allNewest: the newest, as the statement around them does.
	allNewest subqueryData = iota
	// snapshotOutside: the snapshot, if they are evaluated with the plan or stand outside of the
	// conditions that choose what is locked: the rows are locked below them.
	// https://github.com/pingcap/tidb/blob/master/pkg/executor/builder.go
	snapshotOutside
	// allSnapshot: the snapshot.
	allSnapshot
)

// lockingRead is read where subqueries may be read in two ways. A locking clause does not
// reach into them, so that they are plain reads; that a locking read works on the newest data
// is said of the statement as a whole. Neither manual decides between the two.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html
// https://docs.pingcap.com/tidb/stable/pessimistic-transaction
func (r *engine) lockingRead(i int, tx *versions.Txn, s *ast.SelectStmt, view versions.View, kind stmt.Kind) (*mvcc.Prediction, error) {
	defer func() { r.subqueriesRead = allNewest }()
	promised, err := r.read(i, tx, s, view, kind)
	if err != nil || !mvcc.HasSubquery(s) || r.Compare(i, kind, promised) == nil {
		return promised, err
	}
	for _, r.subqueriesRead = range []subqueryData{snapshotOutside, allSnapshot} {
		if p, err := r.read(i, tx, s, view, kind); err != nil || r.Compare(i, kind, p) == nil {
			return p, err
		}
	}
	return promised, nil
}

// apart returns the subqueries of a statement that read something else than it does.
func (r *engine) apart(node ast.StmtNode, planned bool) []*ast.SelectStmt {
	s, ok := node.(*ast.SelectStmt)
	if !ok || r.subqueriesRead != snapshotOutside {
		return r.subqueries(node, planned)
	}
	within := map[*ast.SelectStmt]bool{}
	note := func(n ast.Node) {
		for _, q := range r.subqueries(n, false) {
			within[q] = true
		}
		for _, q := range r.subqueries(n, true) {
			within[q] = false
		}
	}
	if s.From != nil {
		note(s.From)
	}
	if s.Where != nil {
		note(s.Where)
	}
	return slices.DeleteFunc(r.subqueries(node, false), func(q *ast.SelectStmt) bool { return within[q] })
}

// splitViews gives some subqueries other versions than the statement around them.
type splitViews struct {
	*mvcc.Stored
	other map[*ast.SelectStmt]*mvcc.Stored
}

// Within implements solve.SubqueryViews.
func (v *splitViews) Within(sub *ast.SelectStmt) solve.Views {
	if other, ok := v.other[sub]; ok {
		return other
	}
	return v
}

// subqueries returns the subqueries of a statement's expressions, wherever they stand; planned
// leaves those that TiDB evaluates when it plans the statement: scalar ones and those of
// EXISTS, if they are closed.
func (r *engine) subqueries(node ast.Node, planned bool) (list []*ast.SelectStmt) {
	joined := map[ast.Node]bool{}
	corpus.Contains(node, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.PatternInExpr:
			joined[x.Sel] = true
		case *ast.CompareSubqueryExpr:
			joined[x.R] = true
		case *ast.SubqueryExpr:
			if q, ok := x.Query.(*ast.SelectStmt); ok && (!planned || !joined[x] && r.closed(q)) {
				list = append(list, q)
			}
		}
		return false, false
	})
	return list
}

// closed reports whether neither a query nor one within it names a column of a query around
// it, be that one within it, too.
func (r *engine) closed(q *ast.SelectStmt) bool {
	own := &sources{}
	if q.From != nil {
		own.add(r, q.From.TableRefs)
	}
	open := func(n ast.Node, named *ast.FieldList) bool {
		return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
			switch x := n.(type) {
			case *ast.SubqueryExpr:
				sel, ok := x.Query.(*ast.SelectStmt)
				return !ok || !r.closed(sel), true
			case *ast.SelectStmt:
				return !r.closed(x), true
			case *ast.SetOprStmt:
				return true, true
			case *ast.ColumnName:
				return !own.has(x) && !names(named, x), false
			}
			return false, false
		})
	}
	if open(q.Fields, nil) || q.From != nil && open(q.From, nil) || q.Where != nil && open(q.Where, nil) {
		return false
	}
	// These may also name what is selected.
	return !(q.GroupBy != nil && open(q.GroupBy, q.Fields) || q.Having != nil && open(q.Having, q.Fields) || q.OrderBy != nil && open(q.OrderBy, q.Fields))
}

// names reports whether a column's name is one that a query gives to what it selects.
func names(fields *ast.FieldList, c *ast.ColumnName) bool {
	if fields == nil || c.Table.L != "" {
		return false
	}
	for _, f := range fields.Fields {
		if f.AsName.L == c.Name.L {
			return true
		}
	}
	return false
}

// sources are the tables of a FROM clause: their names there, and their columns.
type sources struct {
	names, columns map[string]bool
	// any says that one has columns that are not known.
	any bool
}

func (s *sources) has(c *ast.ColumnName) bool {
	if c.Table.L != "" {
		return s.names[c.Table.L]
	}
	return s.any || s.columns[c.Name.L]
}

func (s *sources) add(r *engine, n ast.ResultSetNode) {
	if s.names == nil {
		s.names, s.columns = map[string]bool{}, map[string]bool{}
	}
	switch x := n.(type) {
	case *ast.Join:
		s.add(r, x.Left)
		if x.Right != nil {
			s.add(r, x.Right)
		}
	case *ast.TableSource:
		s.names[x.AsName.L] = true
		switch of := x.Source.(type) {
		case *ast.TableName:
			if x.AsName.L == "" {
				s.names[of.Name.L] = true
			}
			t := r.Table(of.Name.O)
			if t == nil {
				s.any = true
				return
			}
			for i := range t.Def.Columns {
				s.columns[strings.ToLower(t.Def.Columns[i].Name)] = true
			}
		case *ast.SelectStmt:
			for _, f := range of.Fields.Fields {
				c, column := f.Expr.(*ast.ColumnNameExpr)
				switch {
				case f.WildCard != nil:
					s.any = true
				case f.AsName.L != "":
					s.columns[f.AsName.L] = true
				case column:
					s.columns[c.Name.Name.L] = true
				}
			}
		default:
			s.any = true
		}
	}
}
