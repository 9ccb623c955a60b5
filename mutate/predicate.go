package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// A predicateMaker makes one form of predicate over a table, or nil where the
// table has no column for it.
type predicateMaker func(c *choices, t *table) ast.ExprNode

// whereClauses are the forms of a whole WHERE clause.
var whereClauses = []weighted[predicateMaker]{
	{9, func(*choices, *table) ast.ExprNode { return nil }},
	{24, pointPredicate},
	{42, leaf},
	{18, func(c *choices, t *table) ast.ExprNode { return compound(c, t, 1) }},
	{7, func(c *choices, t *table) ast.ExprNode { return compound(c, t, 2) }},
}

// leaves are the predicates without a logical operator.
var leaves = []weighted[predicateMaker]{
	{34, comparison},
	{9, between},
	{9, inList},
	{8, nullTest},
	{6, bareColumn},
	{5, truthTest},
	{6, columnComparison},
	{9, arithmeticComparison},
	{7, bitTest},
	{5, castComparison},
	{1, mixedComparison},
	{12, functionTest},
}

var (
	comparisons = []weighted[opcode.Op]{
		{30, opcode.EQ}, {20, opcode.GT}, {18, opcode.LT}, {10, opcode.GE}, {10, opcode.LE}, {10, opcode.NE}, {2, opcode.NullEQ},
	}
	connectives = []weighted[opcode.Op]{{46, opcode.LogicAnd}, {46, opcode.LogicOr}, {8, opcode.LogicXor}}
)

// Out of 256.
const (
	negationOdds      = 24
	presentValueOdds  = 180
	neighbourOdds     = 26
	limitConstantOdds = 4
	// mixedOdds is how often a comparison of text with a number, once chosen, is
	// made: in an UPDATE of MariaDB's its outcome depends on the plan.
	mixedOdds = 80
	// hugeConstantOdds is for numbers that no signed type holds: what servers
	// make of them depends on the plan, so that few such predicates can be
	// judged.
	hugeConstantOdds = 8
)

// where makes a WHERE clause; nil is none.
func where(c *choices, t *table) ast.ExprNode { return pick(c, whereClauses)(c, t) }

// compound makes a predicate of logical operators, depth levels of them.
func compound(c *choices, t *table, depth int) ast.ExprNode {
	if depth == 0 {
		e := leaf(c, t)
		if c.odds(negationOdds) {
			e = not(e)
		}
		return e
	}
	op := pick(c, connectives)
	l := compound(c, t, depth-1)
	r := leaf(c, t)
	if c.odds(64) {
		l, r = r, l
	}
	e := binaryOp(op, l, r)
	switch c.below(16) {
	case 15:
		return not(e)
	case 14:
		return isNull(e, false)
	case 13:
		return &ast.IsTruthExpr{Expr: parenthesis(e), Not: c.odds(64), True: 1}
	}
	return e
}

func leaf(c *choices, t *table) ast.ExprNode {
	if e := pick(c, leaves)(c, t); e != nil {
		return e
	}
	return comparison(c, t)
}

// pointPredicate pins every column of a unique key, or else one column.
func pointPredicate(c *choices, t *table) ast.ExprNode {
	for _, k := range t.keys {
		if !k.unique || c.odds(50) {
			continue
		}
		// The values of one row, so that the point is likely to exist.
		var row []value
		if len(t.rows) > 0 && c.odds(220) {
			row = oneOf(c, t.rows)
		}
		var e ast.ExprNode
		for _, i := range k.columns {
			v := t.constant(c, i)
			if row != nil && row[i] != null {
				v = row[i]
			}
			eq := binaryOp(opcode.EQ, columnRef(t.cols[i].name), v.literal())
			if e == nil {
				e = eq
			} else {
				e = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: e, R: eq}
			}
		}
		return e
	}
	return comparison(c, t)
}

func comparison(c *choices, t *table) ast.ExprNode {
	i := t.anyColumn(c)
	if t.cols[i].typ.family == opaque {
		return isNull(columnRef(t.cols[i].name), c.odds(128))
	}
	op := pick(c, comparisons)
	l, r := columnRef(t.cols[i].name), t.constant(c, i).literal()
	if c.odds(16) {
		l, r = r, l
	}
	return binaryOp(op, l, r)
}

func between(c *choices, t *table) ast.ExprNode {
	i := t.anyColumn(c)
	if t.cols[i].typ.family == opaque {
		return nil
	}
	lo, hi := t.constant(c, i), t.constant(c, i)
	if hi.less(lo) && !c.odds(8) {
		lo, hi = hi, lo
	}
	return &ast.BetweenExpr{Expr: columnRef(t.cols[i].name), Left: lo.literal(), Right: hi.literal(), Not: c.odds(32)}
}

func inList(c *choices, t *table) ast.ExprNode {
	i := t.anyColumn(c)
	if t.cols[i].typ.family == opaque {
		return nil
	}
	e := &ast.PatternInExpr{Expr: columnRef(t.cols[i].name)}
	var in []value
	for range 2 + c.below(2) {
		if v := t.constant(c, i); !slices.Contains(in, v) || c.odds(12) {
			in = append(in, v)
			e.List = append(e.List, v.literal())
		}
	}
	if c.odds(12) {
		e.List = append(e.List, null.literal())
	}
	e.Not = c.odds(32)
	return e
}

// nullTest prefers columns that can be NULL.
func nullTest(c *choices, t *table) ast.ExprNode {
	i := c.below(len(t.cols))
	for j := range t.cols {
		if at := (i + j) % len(t.cols); !t.cols[at].notNull {
			i = at
			break
		}
	}
	return isNull(columnRef(t.cols[i].name), c.odds(110))
}

func bareColumn(c *choices, t *table) ast.ExprNode {
	i := t.columnOf(c, integers)
	if i < 0 {
		return nil
	}
	return columnRef(t.cols[i].name)
}

func truthTest(c *choices, t *table) ast.ExprNode {
	var e ast.ExprNode
	if i := t.columnOf(c, integers); i >= 0 && c.odds(140) {
		e = columnRef(t.cols[i].name)
	} else {
		e = parenthesis(comparison(c, t))
	}
	return &ast.IsTruthExpr{Expr: e, Not: c.odds(100), True: int64(1 - c.below(2))}
}

func columnComparison(c *choices, t *table) ast.ExprNode {
	i := t.anyColumn(c)
	j := t.otherColumn(c, i)
	if j < 0 {
		return nil
	}
	return binaryOp(pick(c, comparisons), columnRef(t.cols[i].name), columnRef(t.cols[j].name))
}

// arithmeticForm is an integer expression over a column with a small constant
// k; shift maps a value of the column to one of the expression, so that the
// constant it is compared with splits the rows.
type arithmeticForm struct {
	op    opcode.Op
	shift func(v value, k int64) value
}

var arithmeticForms = []weighted[arithmeticForm]{
	{40, arithmeticForm{opcode.Plus, value.plus}},
	{20, arithmeticForm{opcode.Minus, func(v value, k int64) value { return v.plus(-k) }}},
	{15, arithmeticForm{opcode.Mul, func(v value, _ int64) value { return v }}},
	{15, arithmeticForm{opcode.Mod, func(value, int64) value { return integer(1) }}},
	{10, arithmeticForm{opcode.IntDiv, func(v value, _ int64) value { return v }}},
}

func arithmeticComparison(c *choices, t *table) ast.ExprNode {
	i := t.columnOf(c, integers)
	if i < 0 {
		return nil
	}
	form := pick(c, arithmeticForms)
	if form.op == opcode.Minus && t.cols[i].typ.unsigned {
		form = arithmeticForms[0].value // a negative result is error 1690
	}
	k := int64(1 + c.below(3))
	if form.op != opcode.Plus && form.op != opcode.Minus {
		k++ // by one, there is nothing to see
	}
	e := binaryOp(form.op, columnRef(t.cols[i].name), integer(k).literal())
	return binaryOp(pick(c, comparisons), e, form.shift(t.constant(c, i), k).literal())
}

var bitForms = []weighted[opcode.Op]{
	{50, opcode.And}, {18, opcode.Or}, {14, opcode.Xor}, {9, opcode.RightShift}, {9, opcode.LeftShift},
}

func bitTest(c *choices, t *table) ast.ExprNode {
	i := t.columnOf(c, integers)
	if i < 0 {
		return nil
	}
	op := pick(c, bitForms)
	e := binaryOp(op, columnRef(t.cols[i].name), integer(int64(1+c.below(3))).literal())
	switch c.below(8) {
	case 7:
		inverted := &ast.UnaryOperationExpr{Op: opcode.BitNeg, V: columnRef(t.cols[i].name)}
		e = binaryOp(opcode.And, inverted, integer(int64(1+c.below(3))).literal())
		fallthrough
	case 4, 5, 6:
		return e
	}
	return binaryOp(pick(c, comparisons), e, integer(int64(c.below(4))).literal())
}

// castTypes are the targets of CAST that are exact for integers.
var castTypes = []weighted[func() *types.FieldType]{
	{60, func() *types.FieldType { return castType(0) }},
	{40, func() *types.FieldType { return castType(mysql.UnsignedFlag) }},
}

func castType(flags uint) *types.FieldType {
	t := types.NewFieldType(mysql.TypeLonglong)
	t.SetCharset(charset.CharsetBin)
	t.SetCollate(charset.CollationBin)
	t.AddFlag(mysql.BinaryFlag | flags)
	return t
}

func castComparison(c *choices, t *table) ast.ExprNode {
	i := t.columnOf(c, integers)
	if i < 0 {
		return nil
	}
	e := &ast.FuncCastExpr{Expr: columnRef(t.cols[i].name), Tp: pick(c, castTypes)(), FunctionType: ast.CastFunction}
	return binaryOp(pick(c, comparisons), e, t.constant(c, i).literal())
}

// mixedComparison compares text with a number. Servers make an error of a text
// that is no number where the statement writes, so this stays rare.
func mixedComparison(c *choices, t *table) ast.ExprNode {
	i := t.columnOf(c, texts)
	if i < 0 || !c.odds(mixedOdds) {
		return nil
	}
	return binaryOp(pick(c, comparisons), columnRef(t.cols[i].name), oneOf(c, signedPool).literal())
}

// anyColumn chooses a column that can be compared, key columns a little more
// often; the first one where none can.
func (t *table) anyColumn(c *choices) int {
	at := c.below(len(t.cols))
	for j := range t.cols {
		if i := (at + j) % len(t.cols); t.cols[i].typ.family != opaque {
			return i
		}
	}
	return 0
}

// columnOf chooses a column of a family, -1 if there is none.
func (t *table) columnOf(c *choices, f family) int {
	at := c.below(len(t.cols))
	for j := range t.cols {
		if i := (at + j) % len(t.cols); t.cols[i].typ.family == f {
			return i
		}
	}
	return -1
}

// otherColumn chooses a column of the same family as column i, -1 if there is
// no other.
func (t *table) otherColumn(c *choices, i int) int {
	at := c.below(len(t.cols))
	for j := range t.cols {
		if k := (at + j) % len(t.cols); k != i && t.cols[k].typ.family == t.cols[i].typ.family {
			return k
		}
	}
	return -1
}

// constant chooses a value to compare a column with: mostly one that some row
// holds, so that predicates select some of the rows. It is never NULL.
func (t *table) constant(c *choices, i int) value {
	typ := t.cols[i].typ
	if len(t.rows) > 0 && !c.odds(256-presentValueOdds) {
		at := c.below(len(t.rows))
		for j := range t.rows {
			v := t.rows[(at+j)%len(t.rows)][i]
			if v == null || v.beyondSigned() && !c.odds(hugeConstantOdds) {
				continue
			}
			if c.odds(neighbourOdds) {
				v = v.plus(1)
			}
			return v
		}
	}
	if len(typ.limits) > 0 && c.odds(limitConstantOdds) {
		if v := oneOf(c, typ.limits); !v.beyondSigned() {
			return v
		}
	}
	if len(typ.pool) == 0 {
		return integer(1)
	}
	return oneOf(c, typ.pool)
}
