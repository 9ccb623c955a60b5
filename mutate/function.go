package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// call makes the call of a function.
func call(name string, args ...ast.ExprNode) ast.ExprNode {
	return &ast.FuncCallExpr{FnName: model.NewCIStr(name), Args: args}
}

// A columnForm makes an expression of column i of a table, or nil where it does
// not suit the column's value at hand.
type columnForm func(c *choices, t *table, i int) ast.ExprNode

func small(c *choices, n int) ast.ExprNode { return integer(int64(c.below(n))).literal() }

// unary makes NAME(col).
func unary(name string) columnForm {
	return func(_ *choices, t *table, i int) ast.ExprNode { return call(name, columnRef(t.cols[i].name)) }
}

// compared makes NAME(col) op k for a small k.
func compared(name string, below int) columnForm {
	return func(c *choices, t *table, i int) ast.ExprNode {
		return binaryOp(pick(c, comparisons), call(name, columnRef(t.cols[i].name)), small(c, below))
	}
}

// likened makes NAME(col) op constant, the constant one of the column's.
func likened(name string, more ...ast.ExprNode) columnForm {
	return func(c *choices, t *table, i int) ast.ExprNode {
		args := append([]ast.ExprNode{columnRef(t.cols[i].name)}, more...)
		return binaryOp(pick(c, comparisons), call(name, args...), t.constant(c, i).literal())
	}
}

// replaced makes NAME(col, constant) op constant.
func replaced(name string) columnForm {
	return func(c *choices, t *table, i int) ast.ExprNode {
		if t.cols[i].typ.unsigned {
			// Beside a signed constant its type differs between servers.
			return nil
		}
		return binaryOp(pick(c, comparisons), call(name, columnRef(t.cols[i].name), t.constant(c, i).literal()), t.constant(c, i).literal())
	}
}

var likePatterns = []weighted[string]{{30, "a%"}, {20, "%b"}, {15, "_"}, {15, "%"}, {10, "1%"}, {10, "a_"}}

func like(c *choices, t *table, i int) ast.ExprNode {
	return &ast.PatternLikeOrIlikeExpr{
		Expr: columnRef(t.cols[i].name), Pattern: text(pick(c, likePatterns)).literal(), IsLike: true, Not: c.odds(48), Escape: '\\',
	}
}

// choice makes CASE or IF between two numbers on a comparison of the column.
func choice(c *choices, t *table, i int) ast.ExprNode {
	cond := binaryOp(pick(c, comparisons), columnRef(t.cols[i].name), t.constant(c, i).literal())
	if c.odds(128) {
		return call("IF", cond, small(c, 2), small(c, 3))
	}
	return &ast.CaseExpr{WhenClauses: []*ast.WhenClause{{Expr: cond, Result: small(c, 2)}}, ElseClause: small(c, 3)}
}

// conditions of functions by the family of the column. Servers compute them
// alike, so that a difference tells of the transaction.
var functionConditions = map[family][]weighted[columnForm]{
	integers: {
		{10, likened("ABS")}, {6, compared("SIGN", 2)}, {6, compared("BIT_COUNT", 3)}, {10, replaced("IFNULL")}, {8, replaced("NULLIF")},
		{8, replaced("COALESCE")}, {12, choice}, {6, unary("ISNULL")},
	},
	decimals: {
		{30, compared("FLOOR", 3)}, {23, compared("CEIL", 3)}, {20, compared("ROUND", 3)}, {3, likened("ABS")}, {3, compared("SIGN", 2)},
		{3, replaced("IFNULL")}, {4, choice},
	},
	texts: {
		{30, like}, {10, compared("CHAR_LENGTH", 3)}, {10, compared("LENGTH", 3)}, {8, likened("CONCAT", text("").literal())}, {8, likened("LOWER")},
		{6, likened("REVERSE")}, {6, likened("LEFT", integer(1).literal())}, {6, likened("SUBSTRING", integer(1).literal(), integer(2).literal())},
		{6, replaced("IFNULL")}, {6, choice}, {6, likened("TRIM")},
	},
	times: {
		{16, compared("MONTH", 13)}, {18, compared("DAYOFMONTH", 32)}, {20, compared("WEEKDAY", 7)}, {14, compared("QUARTER", 5)},
		{3, unary("ISNULL")}, {3, choice}, {24, shiftedDay},
	},
	clocks:  {{6, unary("ISNULL")}, {6, choice}},
	members: {{6, unary("ISNULL")}, {6, choice}, {6, compared("CHAR_LENGTH", 3)}},
	years:   {{6, unary("ISNULL")}, {6, choice}},
	floats:  {{6, unary("ISNULL")}, {6, choice}, {6, compared("SIGN", 2)}},
}

// otherDay makes a date or time of the column's some days from it.
func otherDay(c *choices, t *table, i int) ast.ExprNode {
	name := "DATE_ADD"
	if c.odds(160) {
		name = "DATE_SUB"
	}
	return call(name, columnRef(t.cols[i].name), integer(int64(1+c.below(3))).literal(), &ast.TimeUnitExpr{Unit: ast.TimeUnitDay})
}

// noDay makes a date behind the last year that there is: an error in a write.
func noDay(_ *choices, t *table, i int) ast.ExprNode {
	if t.cols[i].typ.family != times {
		return nil
	}
	return call("DATE_ADD", columnRef(t.cols[i].name), integer(9000).literal(), &ast.TimeUnitExpr{Unit: ast.TimeUnitYear})
}

func shiftedDay(c *choices, t *table, i int) ast.ExprNode {
	day := otherDay
	if c.odds(190) {
		day = noDay
	}
	return binaryOp(pick(c, comparisons), day(c, t, i), t.constant(c, i).literal())
}

// functionTest makes a condition of a function of a column.
func functionTest(c *choices, t *table) ast.ExprNode {
	i := t.anyColumn(c)
	for range 5 { // most columns are of integers; the functions of others would be rare
		if t.cols[i].typ.family == integers {
			i = t.anyColumn(c)
		}
	}
	if t.cols[i].typ.family == integers && c.odds(128) {
		return nil
	}
	typ := t.cols[i].typ
	forms := functionConditions[typ.family]
	if forms == nil || typ.binary || typ.tp == mysql.TypeBit {
		return nil
	}
	return pick(c, forms)(c, t, i)
}

// functionValues are what an UPDATE makes of a column by functions of itself.
var functionValues = map[family][]weighted[columnForm]{
	integers: {
		{10, unary("ABS")}, {10, func(c *choices, t *table, i int) ast.ExprNode {
			if t.cols[i].typ.unsigned {
				return nil
			}
			return call("IFNULL", columnRef(t.cols[i].name), small(c, 4))
		}}, {8, func(c *choices, t *table, i int) ast.ExprNode {
			return call("GREATEST", columnRef(t.cols[i].name), columnRef(t.cols[i].name))
		}},
	},
	decimals: {{10, unary("FLOOR")}, {10, unary("ROUND")}, {6, unary("ABS")}},
	texts: {
		{10, unary("UPPER")}, {10, unary("REVERSE")}, {14, func(c *choices, t *table, i int) ast.ExprNode {
			return call("CONCAT", columnRef(t.cols[i].name), text("b").literal())
		}}, {6, func(c *choices, t *table, i int) ast.ExprNode {
			return call("LEFT", columnRef(t.cols[i].name), small(c, 3))
		}},
	},
	times: {{10, otherDay}},
	years: {{10, func(c *choices, t *table, i int) ast.ExprNode {
		return binaryOp(opcode.Plus, columnRef(t.cols[i].name), integer(1).literal())
	}}},
}

// functionValue makes a new value of column i by a function of it; in a unique
// key many rows would get the same.
func functionValue(c *choices, t *table, i int) ast.ExprNode {
	forms := functionValues[t.cols[i].typ.family]
	if _, unique := t.inKey(i); unique || forms == nil || t.cols[i].typ.binary || t.cols[i].typ.tp == mysql.TypeBit {
		return nil
	}
	return pick(c, forms)(c, t, i)
}
