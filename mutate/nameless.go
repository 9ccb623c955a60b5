package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// Out of 256, on a server with a replica.
const (
	// namelessOdds is how often a table has no key that names its rows: a replica that is sent rows then finds them in
	// other ways, and in another order, than its primary did.
	namelessOdds = 96
	// shiftedKeysOdds is how often a case shifts a unique key of all rows, where the order decides whether two are alike
	// meanwhile.
	shiftedKeysOdds = 64
)

// nameless takes from a table, which has no rows yet, what names its rows: it has one unique key, which may be NULL.
func (t *table) nameless() {
	for i := range t.keys {
		t.keys[i].unique = t.keys[i].unique && i == 0
		if !t.keys[i].primary {
			continue
		}
		t.keys[i].primary = false
		for _, j := range t.keys[i].columns {
			t.cols[j].generated = false // which takes a NULL for the next number
		}
		if len(t.keys[i].columns) > 1 || t.keys[i].desc {
			t.keys[i].name = "k1"
		}
	}
	if i := t.countable(); i >= 0 && len(t.keys) == 0 {
		t.keys = append(t.keys, key{unique: true, columns: []int{i}})
	}
	for _, k := range t.keys {
		for _, j := range k.columns {
			t.cols[j].notNull = t.cols[j].notNull && !k.unique
		}
	}
}

// countable returns the first column of whole numbers, or -1.
func (t *table) countable() int {
	return slices.IndexFunc(t.cols, func(c column) bool { return c.typ.family == integers && !c.typ.unkeyed && !c.computed })
}

// shiftable returns the column of a unique key of one whole number, or -1.
func (t *table) shiftable() int {
	for _, k := range t.keys {
		if i := k.columns[0]; k.unique && len(k.columns) == 1 && t.cols[i].typ.family == integers && !t.cols[i].computed {
			return i
		}
	}
	return -1
}

// shiftedKeys has x shift a unique key of all rows of a table that y writes to.
func shiftedKeys(c *choices, d *draft, o *Options, x, y int) (pair, bool) {
	other, ok := d.write(c, o, y, func(t *table) bool { return t.shiftable() >= 0 })
	if !ok {
		return pair{}, false
	}
	t := d.tableOf(d.stmt(other))
	column := t.cols[t.shiftable()].name
	op := opcode.Plus
	if c.odds(128) {
		op = opcode.Minus
	}
	shift := []*ast.Assignment{{Column: columnName(column), Expr: binaryOp(op, columnRef(column), integer(1).literal())}}
	return pair{d.put(x, c.below(5), updateStmt(t, shift, nil), o), other}, true
}
