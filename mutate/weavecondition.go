package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// finds makes a WHERE clause that chooses a row, and perhaps others: by a key, by a column,
// or any one, made to hold for it as the strategy CTC does.
func (w *weaver) finds(t *table, row []value) ast.ExprNode {
	if w.o.Pattern != nil && w.c.odds(keyedOdds) {
		return w.byKey(t, row)
	}
	switch w.c.below(5) {
	case 0, 1:
		return w.byKey(t, row)
	case 2:
		if i := w.c.below(len(t.cols)); t.cols[i].typ.family != opaque {
			return equal(t, row, []int{i})
		}
		return w.byKey(t, row)
	}
	e := where(w.c, t)
	if e == nil {
		return nil
	}
	truths, err := w.judge(t, [][]value{row}, e)
	if err != nil {
		return w.byKey(t, row)
	}
	return containing(e, truths[0])
}

func (w *weaver) judge(t *table, rows [][]value, e ast.ExprNode) ([]sqlvalue.Truth, error) {
	lists := make([][]ast.ExprNode, len(rows))
	for i, row := range rows {
		for _, v := range row {
			lists[i] = append(lists[i], v.literal())
		}
	}
	return w.o.Solver.Judge(w.d.creation(t.name), []*ast.InsertStmt{insertStmt(t, nil, lists)}, e)
}

// condition chooses one for the pattern, which tells some rows of the table from others. Where
// keys are to be moved, it is one on a key.
func (w *weaver) condition(it *item) {
	for range conditionTries {
		e := where(w.c, it.t)
		if w.movesKeys() {
			e = w.onKey(it.t)
		}
		if e == nil {
			continue
		}
		truths, err := w.judge(it.t, it.t.rows, e)
		if err != nil {
			continue
		}
		it.where, it.in, it.out, it.coming = e, nil, nil, nil
		for i, v := range truths {
			if v == sqlvalue.True {
				it.in = append(it.in, it.t.rows[i])
			} else {
				it.out = append(it.out, it.t.rows[i])
			}
		}
		inserts := slices.ContainsFunc(w.p.Ops, func(o pattern.Op) bool { return o.Do == pattern.Insert })
		if inserts {
			w.findComing(it)
		}
		leaving, entering := w.crossing()
		if len(it.in) >= leaving && len(it.out) >= entering && (!inserts || len(it.coming) > 1) {
			return
		}
	}
}

// findComing looks for new rows that the condition chooses: any, and such as differ from a
// row that it chooses in unique columns only.
func (w *weaver) findComing(it *item) {
	var rows [][]value
	for k := range rowTries {
		row := make([]value, len(it.t.cols))
		if len(it.in) > 0 && k%2 == 1 {
			row = slices.Clone(oneOf(w.c, it.in))
		}
		for i := range it.t.cols {
			if _, unique := it.t.inKey(i); unique || k%2 == 0 || len(it.in) == 0 {
				row[i] = it.t.inserted(w.c, i, k%4)
			}
		}
		rows = append(rows, row)
	}
	truths, err := w.judge(it.t, rows, it.where)
	if err != nil {
		return
	}
	for i, v := range truths {
		if v == sqlvalue.True {
			it.coming = append(it.coming, rows[i])
		}
	}
}

func (w *weaver) movesKeys() bool {
	return slices.ContainsFunc(w.p.Ops, func(o pattern.Op) bool { return o.Do == pattern.MoveIn || o.Do == pattern.MoveOut })
}

// onKey compares a column of the first unique key with a value that a row has; nil if the
// table has no such key.
func (w *weaver) onKey(t *table) ast.ExprNode {
	i := keyColumn(t)
	if i < 0 {
		return nil
	}
	v := oneOf(w.c, t.rows)[i]
	if v == null {
		return nil
	}
	return binaryOp(pick(w.c, comparisons), columnRef(t.cols[i].name), v.literal())
}

// keyColumn is the first column of the first unique key, -1 if there is none.
func keyColumn(t *table) int {
	for _, k := range t.keys {
		if k.unique && t.cols[k.columns[0]].typ.family != opaque {
			return k.columns[0]
		}
	}
	return -1
}

// crosses makes a write after which the condition chooses other rows than before. Where no
// row and no values are found that do so, it is any write.
func (w *weaver) crosses(it *item, do pattern.Action) ast.StmtNode {
	leaves := do == pattern.Delete || do == pattern.Leave || do == pattern.MoveOut
	from := &it.out
	if leaves {
		from = &it.in
	}
	if do == pattern.Insert {
		return w.insertsChosen(it)
	}
	if len(*from) == 0 {
		w.bent = true
		return updateStmt(it.t, assignments(w.c, it.t), nil)
	}
	n := w.c.below(len(*from))
	row := (*from)[n]
	*from = slices.Delete(slices.Clone(*from), n, n+1)
	if do == pattern.Delete {
		return deleteStmt(it.t, w.byKey(it.t, row))
	}
	keyed := do == pattern.MoveIn || do == pattern.MoveOut
	var tries [][]value
	for k := range rowTries {
		next := slices.Clone(row)
		like := w.model(it, leaves, k)
		for i := range it.t.cols {
			col := &it.t.cols[i]
			_, unique := it.t.inKey(i)
			if col.generated || col.typ.family == opaque || unique != keyed || !w.c.odds(128) {
				continue
			}
			if next[i] = it.t.inserted(w.c, i, w.c.below(4)); like != nil && !unique {
				next[i] = like[i]
			}
		}
		tries = append(tries, next)
	}
	truths, err := w.judge(it.t, tries, it.where)
	if err != nil {
		w.bent = true
		return updateStmt(it.t, assignments(w.c, it.t), w.byKey(it.t, row))
	}
	for k, v := range truths {
		if (v == sqlvalue.True) == leaves {
			continue
		}
		var list []*ast.Assignment
		for i := range row {
			if tries[k][i] != row[i] {
				list = append(list, &ast.Assignment{Column: columnName(it.t.cols[i].name), Expr: tries[k][i].literal()})
			}
		}
		if list != nil {
			return updateStmt(it.t, list, w.byKey(it.t, row))
		}
	}
	w.bent = true
	return updateStmt(it.t, assignments(w.c, it.t), w.byKey(it.t, row))
}

// insertsChosen makes an INSERT of a row that the condition chooses.
func (w *weaver) insertsChosen(it *item) ast.StmtNode {
	var row []value
	if len(it.coming) > 0 {
		row, it.coming = it.coming[0], it.coming[1:]
	} else {
		w.bent = true
		for i := range it.t.cols {
			row = append(row, it.t.inserted(w.c, i, w.c.below(4)))
		}
	}
	var columns []int
	list := []ast.ExprNode{}
	omitted := false
	for i := range it.t.cols {
		if it.t.cols[i].generated {
			omitted = true
			continue
		}
		columns, list = append(columns, i), append(list, row[i].literal())
	}
	if len(columns) == 0 {
		return insert(w.c, it.t)
	}
	if !omitted {
		columns = nil
	}
	return insertStmt(it.t, columns, [][]ast.ExprNode{list})
}
