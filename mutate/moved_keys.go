package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// spareKey is a key that no row has at first: that of a row while others change theirs.
var spareKey = integer(99)

// numbered reports whether rows are told by one whole number, of which there are two.
func numbered(t *table) bool {
	k := t.primaryKey()
	return k != nil && len(k.columns) == 1 && t.cols[k.columns[0]].typ.family == integers && len(t.rows) > 1 &&
		!slices.ContainsFunc(t.rows, func(r []value) bool { return r[k.columns[0]].kind != integerValue })
}

func (t *table) primaryKey() *key {
	if i := slices.IndexFunc(t.keys, func(k key) bool { return k.primary }); i >= 0 {
		return &t.keys[i]
	}
	return nil
}

// movedKeys lets x rotate the primary keys of two or three rows, or shift all of them, while y writes
// such a row and then reads the table: which row a key stands for then depends on the snapshot.
func movedKeys(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	other, ok := d.write(c, o, y, numbered)
	if !ok {
		return pair{}, false
	}
	t := d.tableOf(d.stmt(other))
	name := t.cols[t.primaryKey().columns[0]].name
	moves := t.rotation(c, name)
	if c.odds(96) && d.mayGoBackward(x, o) {
		up := updateStmt(t, assign(name, binaryOp(opcode.Plus, columnRef(name), integer(1).literal())), nil)
		up.Order = &ast.OrderByClause{Items: []*ast.ByItem{{Expr: columnRef(name), NullOrder: true, Desc: true}}}
		moves = []*ast.UpdateStmt{up}
	}
	s := &d.sessions[x]
	lo, hi, _ := s.body()
	if hi-lo+len(moves) > o.MaxStatements {
		return pair{}, false
	}
	at := lo + (hi-lo)*c.below(5)/4
	for i, m := range moves {
		s.insert(at+i, m)
	}
	reader := &d.sessions[y]
	if lo, hi, _ := reader.body(); hi-lo < o.MaxStatements {
		reader.insert(other.stmt+1, selectStmt(t, nil, nil, ast.SelectLockNone))
	}
	return pair{ref{x, at + len(moves) - 1}, other}, true
}

// rotation gives each of two or three rows the primary key of the next one.
func (t *table) rotation(c *choices, name string) []*ast.UpdateStmt {
	k := t.primaryKey().columns[0]
	n := min(2+c.below(2), len(t.rows))
	first := c.below(len(t.rows))
	var out []*ast.UpdateStmt
	move := func(from, to value) {
		out = append(out, updateStmt(t, assign(name, to.literal()), binaryOp(opcode.EQ, columnRef(name), from.literal())))
	}
	at := func(i int) value { return t.rows[(first+i)%len(t.rows)][k] }
	move(at(0), spareKey)
	for i := range n - 1 {
		move(at(i+1), at(i))
	}
	move(spareKey, at(n-1))
	return out
}

func assign(column string, to ast.ExprNode) []*ast.Assignment {
	return []*ast.Assignment{{Column: columnName(column), Expr: to}}
}
