package innodb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// lockingRead answers SELECT … FOR SHARE or FOR UPDATE, and at SERIALIZABLE a
// plain SELECT.
func (x *running) lockingRead(s *ast.SelectStmt) (*mvcc.Prediction, error) {
	e := x.e
	p := &mvcc.Prediction{Matched: -1, Changed: -1}
	var (
		views solve.Views
		t     *versions.Table
		hits  []hit
	)
	name := stmt.SoleTable(s.From)
	weak := x.tx.Level < corpus.RepeatableRead
	switch {
	case s.LockInfo != nil && len(s.LockInfo.Tables) > 0:
		return nil, &mvcc.Loss{Slug: "unsupported: a locking read OF some of its tables"}
	case s.With != nil:
		return nil, &mvcc.Loss{Slug: "unsupported: a common table expression (WITH)"}
	case name == nil && s.From != nil && x.tx.Level != corpus.Serializable && hasDerivedTable(s.From):
		// It takes a snapshot or not.
		return nil, &mvcc.Loss{Slug: "unsupported: derived table in a locking read"}
	case name == nil && weak && mvcc.HasSubquery(s):
		return nil, &mvcc.Loss{Slug: "unsupported: subquery in a locking read of several tables"}
	case name == nil && weak && len(x.st.Waits) > 0:
		// What it has read of one table before the wait is not locked where it does
		// not match, and may be out of date behind it.
		return nil, &mvcc.Loss{Slug: "unsupported: locking read of several tables that waits"}
	case x.waitsBackward(s.OrderBy):
		return nil, &mvcc.Loss{Slug: "unsupported: locking read that waits while it goes backward"}
	case stmt.LockOf(s).Wait == stmt.Skips && name != nil && !mvcc.HasSubquery(s) && e.Table(name.Name.O) != nil:
		return x.skippingRead(s, e.Table(name.Name.O))
	case stmt.LockOf(s).Wait == stmt.Skips && len(x.othersNow(nil)) > 0:
		return nil, &mvcc.Loss{Slug: "unsupported: SKIP LOCKED of several tables or with a subquery"}
	}
	if name == nil {
		x.waitSomewhere()
		if x.waited {
			p.LeaveOpen("what it had read before it waited")
		}
		e.TouchJoined(x.i, x.tx, x.start, s.From)
		own := &innodbViews{e: e, asked: x.asked, joined: map[*versions.Table]bool{}, view: versions.View{Tick: versions.Latest, Own: x.tx}}
		f := &mvcc.TableFinder{}
		if s.From != nil {
			s.From.Accept(f)
		}
		for _, n := range f.Names {
			own.joined[e.Table(n)] = true
		}
		if x.asked != nil {
			for n := range x.asked.names {
				if own.joined[e.Table(n)] {
					return nil, &mvcc.Loss{Slug: "unsupported: subquery on a table of a locking join"}
				}
			}
		}
		views = own
	} else {
		if t = e.Table(name.Name.O); t == nil {
			return nil, &solve.SQLError{Code: 1146, Message: "no such table"}
		}
		buffered := x.asked != nil && x.asked.buffered
		where := s.Where
		if buffered {
			bare := outer(s)
			x.node, where = bare, bare.Where
		}
		x.mayStop = s.Limit != nil && s.OrderBy == nil
		err := x.scan(x.accessOf(t, where), x.mode(), func(h hit) error {
			if hits = append(hits, h); x.mayStop {
				x.meetsTaken(t, h)
			}
			return nil
		})
		if err != nil {
			return nil, x.underLimit(s, err)
		}
		e.touchInnoDB(x, t, where, false, nil)
		p.Read, views = chainsOf(hits), x.views(t, foundIn(hits))
		if buffered {
			x.node = s
		} else if s, err = x.listed(s); err != nil {
			return nil, err
		}
	}
	res, err := e.Solver.Select(s, views)
	switch {
	case err != nil:
		return nil, err
	case res.Cut && x.mayStop:
		return x.cutRead(s, t, hits)
	case res.Cut:
		return nil, mvcc.ErrUnordered
	case x.mayStop: // and has not
		x.lockAll(p.Read)
	}
	p.Rows, p.Ordered = res.Rows, res.TotalOrder
	return p, nil
}

// waitsBackward says that a statement waits below REPEATABLE READ while it may go backward:
// rows that it has passed are not locked then, and others come in front of it.
func (x *running) waitsBackward(o *ast.OrderByClause) bool {
	return x.tx.Level < corpus.RepeatableRead && len(x.st.Waits) > 0 && backward(o)
}

// backward reports whether an index may be read from its end for an ORDER BY.
func backward(o *ast.OrderByClause) bool {
	return o != nil && slices.ContainsFunc(o.Items, func(it *ast.ByItem) bool { return it.Desc })
}
