package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// changeRow writes the new version of one row: the clustered record first, then
// each unique index with its duplicate check.
func (x *running) changeRow(t *versions.Table, h hit, row solve.Row) error {
	e := x.e
	x.overruns(h.c)
	moves := t.Clustered != nil && e.Store.ClusteredKeyOf(t, row) != e.Store.ClusteredKeyOf(t, h.row)
	c := h.c
	defer func() { delete(e.pending, h.c); delete(e.pending, c) }()
	delete(e.pending, h.c)
	for ki := range t.Def.Keys {
		if k := &t.Def.Keys[ki]; k != t.Clustered && (moves || !versions.EqualIn(k, h.row, row)) {
			e.pending[h.c] = append(e.pending[h.c], k)
		}
	}
	if moves {
		// The old record is marked deleted before the new key is looked up, so
		// that a reader of uncommitted data may see neither.
		rid := h.c.Last().RowID
		e.write(t, h.c, nil, x.tx, rid)
		dup, err := x.duplicate(t, t.Clustered, row, h.c)
		if err != nil {
			return err
		}
		if dup != nil {
			x.meetObstacle(t, row)
			return errDuplicate
		}
		if ins, ok := x.node.(*ast.InsertStmt); ok && ins.IsReplace {
			rid = 0 // the manual calls it another row, though it is changed in place
		}
		c = e.insert(t, row, x.tx, rid)
	} else {
		e.write(t, c, row, x.tx, c.Last().RowID)
	}
	for left := e.pending[h.c]; len(left) > 0; {
		e.pending[h.c], e.pending[c] = left, left
		k := left[0]
		x.point(spot{t: t, key: k, rows: []solve.Row{h.row}, gap: true}, nil, false, false)
		if (k.Unique || k.Primary) && !versions.EqualIn(k, h.row, row) {
			dup, err := x.duplicate(t, k, row, c)
			if err != nil {
				return err
			}
			if dup != nil {
				x.meetObstacle(t, row)
				return errDuplicate
			}
		}
		left = left[1:]
	}
	return nil
}

// overruns notes that the statement changes what a waiting one has changed.
func (x *running) overruns(c *versions.Chain) {
	if w := x.e.writer(c, x.tx); w != nil && x.e.running[w.Session] != nil {
		x.overran = w
	}
}

// delete runs a DELETE.
func (x *running) delete(s *ast.DeleteStmt, t *versions.Table) (*mvcc.Prediction, error) {
	e := x.e
	p := &mvcc.Prediction{Matched: -1}
	a := x.accessOf(t, s.Where)
	x.table = t
	var images []solve.Row
	apply := func(h hit) error {
		p.Changed++
		p.Read = append(p.Read, h.c)
		images = append(images, h.row)
		x.images = append(x.images, image{h.row, nil})
		x.deleteRow(t, h.c)
		return nil
	}
	var err error
	switch {
	case s.Order == nil && s.Limit == nil:
		err = x.scan(a, versions.Exclusive, apply)
	case x.asItGoes(a, s.Order):
		err = x.scan(a, versions.Exclusive, upTo(s.Limit, s.Order, apply))
	default:
		var hits []hit
		if err = x.scan(a, versions.Exclusive, func(h hit) error { hits = append(hits, h); return nil }); err == nil {
			hits, err = x.chosen(s, t, hits)
		}
		for _, h := range hits {
			if err == nil {
				err = apply(h)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	e.touchInnoDB(x, t, s.Where, len(images) > 0, images)
	return p, nil
}

// deleteRow marks a clustered record deleted, then its entry in each other index.
func (x *running) deleteRow(t *versions.Table, c *versions.Chain) {
	e, was := x.e, c.Last().Row
	x.overruns(c)
	e.write(t, c, nil, x.tx, c.Last().RowID)
	defer delete(e.pending, c)
	var left []*solve.Key
	for ki := range t.Def.Keys {
		if k := &t.Def.Keys[ki]; k != t.Clustered {
			left = append(left, k)
		}
	}
	for ; len(left) > 0; left = left[1:] {
		e.pending[c] = left
		x.point(spot{t: t, key: left[0], rows: []solve.Row{was}}, nil, false, false)
	}
}
