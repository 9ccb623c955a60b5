package solve

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// frame is what a compiled expression reads when it runs: the current row, the
// frames around a subquery, and where warnings and the first error go.
type frame struct {
	row   Row
	other Row // the row that VALUES(col) reads
	outer *frame
	views Views
	// strictWrite says that conversions that lose something are errors, as in
	// an UPDATE, DELETE or INSERT in strict mode.
	strictWrite bool
	// strictUnsure says that whether a loss is an error cannot be told.
	strictUnsure bool
	// castsStored says that a stored value is converted with the errors of CAST.
	castsStored bool
	// castsFirst says that before that it may go through CAST as an expression
	// does, without the checks of a column.
	castsFirst bool
	// overflows says that a value that does not fit its column is error 1690,
	// not 1264.
	overflows bool
	// lenient says that a value that does not fit is stored as the nearest that
	// does, with a warning, as under IGNORE.
	lenient bool
	// emptied says that a TEXT or BLOB was assigned the empty string.
	emptied bool
	// nullsLater says that NULLs in NOT NULL columns are looked for later.
	nullsLater bool
	warnings   int
	err        error
	// aggs holds the results of aggregates for the group at hand.
	aggs []sqlvalue.Value
}

func (f *frame) fail(code uint16, format string, args ...any) sqlvalue.Value {
	if f.err == nil {
		f.err = &SQLError{code, fmt.Sprintf(format, args...)}
	}
	return sqlvalue.Value{}
}

// expr is a compiled expression. eval returns a value of the kind that typ
// stands for, or NULL.
type expr struct {
	typ  Type
	eval func(*frame) sqlvalue.Value
	// konst says that the value is the same for each row; lit that it is a literal.
	konst, lit bool
	// column says that the expression is a bare column, keyed that a key holds it.
	column, keyed bool
	// reading says how a string that is no number is taken where one is wanted.
	reading reading
	// castDecimal says CAST AS DECIMAL.
	castDecimal bool
	// mixedInt says that what a string is as an integer depends on the branch
	// chosen.
	mixedInt bool
	// mixedLarge says that the bits of a large double depend on which of several
	// numbers was chosen.
	mixedLarge bool
	// extreme says GREATEST or LEAST.
	extreme bool
	// mixedDate says that a number or text chosen among other types is read as a date
	// for itself.
	mixedDate bool
	// mixedText says that the text of a double depends on the branch chosen.
	mixedText bool
	// notNumber says that a text came out of a branch beside other types, which
	// servers read as a number in ways of their own.
	notNumber bool
	// worded says that a BIT, YEAR or FLOAT was made a text beside others.
	worded bool
	// bits says that the number is a BIT's; moment that it is a date's or
	// time's, stamp that it is a TIMESTAMP's.
	bits, moment, stamp bool
	// stampColumn says that it is a bare column's.
	stampColumn bool
	// fromBits says that a BIT may have been chosen, which is printed otherwise out
	// of a temporary table.
	fromBits bool
	// signLost says that what reads it as an integer drops the sign.
	signLost bool
	// ofBits says that an operand of the arithmetic is a BIT, date or time.
	ofBits bool
	// nullDouble says that the type is double for a literal NULL's sake.
	nullDouble bool
	// yearOf says that it is YEAR() on a server where that is unsigned, and a
	// year beside a date.
	yearOf bool
	// readDay says that the value is a date read out of a number or text.
	readDay bool
	// arithmetic says that the value was computed from columns by an operator of
	// arithmetic or, a double, by a function of numbers.
	arithmetic bool
	// computed says that the value came out of a function.
	computed bool
	// castText says CAST AS CHAR.
	castText bool
	// number, if not nil, is what a hexadecimal or bit literal means where a
	// number is wanted.
	number *expr
	// print, if not nil, gives the value as it is sent or turned into text,
	// where that differs from eval's.
	print func(*frame) sqlvalue.Value
	// keepScale says that print does not pad a decimal to the type's scale.
	keepScale bool
}

// reading says what a string does that is read as a number and is none.
type reading uint8

const (
	// loud warns, or fails in a strict write.
	loud reading = iota
	// silent does nothing.
	silent
	// vague warns in a query; in a strict write the answer is not known.
	vague
)

// program holds the compiled parts of one statement.
type program struct {
	truth func(*frame) sqlvalue.Truth
	order []orderKey
	skip  *expr
	limit *expr
	sets  []assignment
	// badLiteral says that a literal string compared with a number is none: a
	// strict write may fail even where it evaluates no row.
	badLiteral bool
	// strict says that a loss in WHERE is an error, unsure that this depends on
	// the access path.
	strict, unsure bool
	// point says that the rows may be looked up by a whole unique key.
	point bool
	// compiler is what sets were compiled with; nil before that.
	compiler *compiler
	err      error
}

// source is one table of a FROM clause; its columns start at offset of the row.
type source struct {
	alias  string // "": whatever the statement calls it
	table  *Table
	offset int
}

// called tells whether the qualifier of a column, in lower case, may mean the source.
func (s *source) called(qualifier string) bool {
	return qualifier == "" || s.alias == "" || qualifier == lower(s.alias)
}

// scope resolves column names; outer is the scope around a subquery.
type scope struct {
	sources []source
	outer   *scope
	// items holds the select list once it is compiled: ORDER BY and GROUP BY
	// may name its columns.
	items []item
	// aggs collects aggregates while a select list is compiled; nil where
	// aggregates are not allowed.
	aggs *[]aggregate
	// having is set while a HAVING clause is compiled, whose names may be those of
	// the select list.
	having ast.ExprNode
}

type compiler struct {
	s     *Solver
	d     Dialect
	views Views
	scope *scope
	// values says that VALUES(col) is allowed, and which table it reads.
	values *Table
	// badLiteral collects program.badLiteral.
	badLiteral bool
	// joins says that rows of several tables meet, in a join or a subquery.
	joins bool
	// inList says that a comparison is one of several of an IN.
	inList bool
	// ranges says that a comparison is one of a BETWEEN.
	ranges bool
	// among says that a comparison is one of several.
	among among
	// write says that the statement changes rows.
	write bool
	// stmt is the write whose condition is compiled, nil for a query's.
	stmt ast.StmtNode
	// inWhere says that a WHERE is compiled.
	inWhere bool
}

func unsupported(format string, args ...any) error {
	return &Unsupported{fmt.Sprintf(format, args...)}
}

// expr compiles one expression.
func (c *compiler) expr(n ast.ExprNode) (expr, error) {
	switch n := n.(type) {
	case ast.ValueExpr:
		return c.literal(n)
	case *ast.ColumnNameExpr:
		return c.column(n.Name)
	case *ast.ParenthesesExpr:
		return c.expr(n.Expr)
	case *ast.BinaryOperationExpr:
		return c.binary(n)
	case *ast.UnaryOperationExpr:
		return c.unary(n)
	case *ast.BetweenExpr:
		return c.between(n)
	case *ast.PatternInExpr:
		return c.in(n)
	case *ast.IsNullExpr:
		return c.isNull(n)
	case *ast.IsTruthExpr:
		return c.isTruth(n)
	case *ast.PatternLikeOrIlikeExpr:
		return c.like(n)
	case *ast.CaseExpr:
		return c.caseExpr(n)
	case *ast.FuncCallExpr:
		return c.call(n)
	case *ast.FuncCastExpr:
		return c.cast(n)
	case *ast.SubqueryExpr:
		return c.scalarSubquery(n)
	case *ast.ExistsSubqueryExpr:
		return c.exists(n)
	case *ast.ValuesExpr:
		return c.valuesOf(n)
	case *ast.AggregateFuncExpr:
		return c.aggregate(n)
	}
	return expr{}, unsupported("%s", inWords(n))
}

func konst(t Type, v sqlvalue.Value) expr {
	return expr{typ: t, konst: true, lit: true, eval: func(*frame) sqlvalue.Value { return v }}
}

// column resolves a column name, innermost scope first.
func (c *compiler) column(n *ast.ColumnName) (expr, error) {
	depth := 0
	for sc := c.scope; sc != nil; sc, depth = sc.outer, depth+1 {
		found, at, keyed := false, 0, false
		var col *Column
		for _, src := range sc.sources {
			if !src.called(n.Table.L) {
				continue
			}
			i := src.table.ColumnIndex(n.Name.O)
			if i < 0 {
				continue
			}
			if found {
				return expr{}, &SQLError{1052, fmt.Sprintf("Column '%s' in field list is ambiguous", n.Name.O)}
			}
			found, at, col, keyed = true, src.offset+i, &src.table.Columns[i], src.table.inKey(i)
		}
		if it, err := sc.alias(n, found); it != nil || err != nil {
			if err == nil && depth > 0 {
				err = unsupported("alias of a select list in a subquery of its HAVING")
			}
			if err != nil {
				return expr{}, err
			}
			return it.expr, nil
		}
		if !found {
			continue
		}
		if col.Type.Class == JSONClass {
			return expr{}, unsupported("a JSON column in an expression")
		}
		e := columnAt(col.Type, at, depth)
		e.keyed = keyed
		if col.Type.Blob && c.d.is(blobsAreSilent) {
			e.reading = silent
		}
		return e, nil
	}
	return expr{}, &SQLError{1054, fmt.Sprintf("Unknown column '%s' in 'where clause'", n.String())}
}

// alias returns the item of the select list that a name in HAVING means, nil for
// none. Where it is a column's name, too, the servers choose by rules of their own.
// https://dev.mysql.com/doc/refman/9.7/en/select.html
func (sc *scope) alias(n *ast.ColumnName, column bool) (*item, error) {
	if sc.having == nil || n.Table.L != "" {
		return nil, nil
	}
	var out *item
	for i := range sc.items {
		it := &sc.items[i]
		if !it.alias || !strings.EqualFold(it.name, n.Name.O) {
			continue
		}
		if out != nil {
			return nil, unsupported("alias in HAVING that two columns have")
		}
		out = it
	}
	switch {
	case out == nil || !out.as:
		return nil, nil
	case column:
		return nil, unsupported("name in HAVING that is an alias and a column")
	case sc.aggs == nil:
		return nil, unsupported("alias inside an aggregate")
	}
	return out, nil
}

// ownColumn returns the column of the innermost query that a name means, nil if
// it has none.
func (c *compiler) ownColumn(n *ast.ColumnName) *Column {
	if c.scope == nil {
		return nil
	}
	for _, s := range c.scope.sources {
		if i := s.table.ColumnIndex(n.Name.O); i >= 0 && s.called(n.Table.L) {
			return &s.table.Columns[i]
		}
	}
	return nil
}

// ownColumns read the first columns of a row. They are made once, since every
// expression reads some.
var ownColumns = func() (out [16]func(*frame) sqlvalue.Value) {
	for i := range out {
		out[i] = func(f *frame) sqlvalue.Value { return f.row[i] }
	}
	return out
}()

func columnAt(t Type, at, depth int) expr {
	e := expr{typ: t, column: true}
	switch {
	case depth == 0 && at < len(ownColumns):
		e.eval = ownColumns[at]
	case depth == 0:
		e.eval = func(f *frame) sqlvalue.Value { return f.row[at] }
	case depth == 1:
		e.eval = func(f *frame) sqlvalue.Value { return f.outer.row[at] }
	default:
		e.eval = func(f *frame) sqlvalue.Value {
			for i := 0; i < depth; i++ {
				f = f.outer
			}
			return f.row[at]
		}
	}
	return e
}

func (c *compiler) unary(n *ast.UnaryOperationExpr) (expr, error) {
	if x := exclusive(n.V); x != nil && isNot(n.Op) && c.d.is(xorByInt) {
		// The parser makes it (NOT a) XOR b, and NOT reads a as other operators do.
		return c.expr(&ast.BinaryOperationExpr{Op: x.Op, L: &ast.UnaryOperationExpr{Op: opcode.Not, V: x.L}, R: x.R})
	}
	e, err := c.expr(n.V)
	if err != nil {
		return expr{}, err
	}
	if e.number != nil && !isNot(n.Op) {
		return expr{}, unsupported("operator on a hexadecimal literal")
	}
	switch n.Op {
	case opcode.Plus:
		return e, nil
	case opcode.Minus:
		return c.negate(e)
	case opcode.Not, opcode.Not2:
		t := c.truth(e)
		return boolExpr(e.konst, func(f *frame) sqlvalue.Truth {
			switch t(f) {
			case sqlvalue.True:
				return sqlvalue.False
			case sqlvalue.False:
				return sqlvalue.True
			}
			return sqlvalue.Unknown
		}), nil
	case opcode.BitNeg:
		return c.bitNot(e)
	}
	return expr{}, unsupported("operator %s", n.Op)
}

// exclusive returns n without parentheses if it is an XOR.
func exclusive(n ast.ExprNode) *ast.BinaryOperationExpr {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return exclusive(x.Expr)
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicXor {
			return x
		}
	}
	return nil
}

var (
	bigInt  = Type{Class: IntClass, Bits: 64, Prec: 19}
	bigUint = Type{Class: IntClass, Bits: 64, Unsigned: true, Prec: 20}
	boolInt = Type{Class: IntClass, Bits: 64, Prec: 1}
	double  = Type{Class: DoubleClass}
)

func boolExpr(konst bool, truth func(*frame) sqlvalue.Truth) expr {
	return expr{typ: boolInt, konst: konst, eval: func(f *frame) sqlvalue.Value {
		switch truth(f) {
		case sqlvalue.True:
			return sqlvalue.NewInt(1)
		case sqlvalue.False:
			return sqlvalue.NewInt(0)
		}
		return sqlvalue.Value{}
	}}
}

// binary compiles an operator of two operands.
func (c *compiler) binary(n *ast.BinaryOperationExpr) (expr, error) {
	if row, ok := n.L.(*ast.RowExpr); ok && len(row.Values) > 0 {
		return expr{}, unsupported("a row of several values")
	}
	a, err := c.expr(n.L)
	if err != nil {
		return expr{}, err
	}
	b, err := c.expr(n.R)
	if err != nil {
		return expr{}, err
	}
	switch logical := n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr; {
	case a.number == nil && b.number == nil || logical:
	case isMember(a.typ) || isMember(b.typ):
		return expr{}, unsupported("operator on a hexadecimal literal")
	case a.number != nil && b.number != nil || !isComparison(n.Op),
		a.number != nil && b.typ.Class == StringClass && !b.typ.Binary, b.number != nil && a.typ.Class == StringClass && !a.typ.Binary:
		return expr{}, unsupported("operator on a hexadecimal literal")
	case a.number != nil && b.typ.Class != StringClass:
		a = *a.number
	case b.number != nil && a.typ.Class != StringClass:
		b = *b.number
	}
	switch n.Op {
	case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
		return c.logic(n.Op, a, b)
	case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
		return c.compare(n.Op, a, b)
	case opcode.And, opcode.Or, opcode.Xor, opcode.LeftShift, opcode.RightShift:
		return c.bitwise(n.Op, a, b)
	case opcode.Plus, opcode.Minus, opcode.Mul:
		return c.arith(n.Op, a, b)
	case opcode.Div:
		return c.divide(a, b)
	case opcode.IntDiv:
		return c.intDivide(a, b)
	case opcode.Mod:
		return c.modulo(a, b)
	}
	return expr{}, unsupported("operator %s", n.Op)
}

func isComparison(op opcode.Op) bool {
	switch op {
	case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
		return true
	}
	return false
}

// literal compiles a literal value.
func (c *compiler) literal(n ast.ValueExpr) (expr, error) {
	l := corpus.LiteralOf(n)
	switch l.Kind {
	case corpus.KindNull:
		return konst(Type{Class: NullClass}, sqlvalue.Value{}), nil
	case corpus.KindInt:
		i, err := strconv.ParseInt(l.Text, 10, 64)
		if err != nil {
			return expr{}, fmt.Errorf("read literal %s: %w", l.Text, err)
		}
		return intLiteral(i), nil
	case corpus.KindUint:
		u, err := strconv.ParseUint(l.Text, 10, 64)
		if err != nil {
			return expr{}, fmt.Errorf("read literal %s: %w", l.Text, err)
		}
		return konst(bigUint, sqlvalue.NewUint(u)), nil
	case corpus.KindFloat:
		f, _ := sqlvalue.NumericPrefix(l.Text).Double()
		return konst(double, sqlvalue.NewDouble(f)), nil
	case corpus.KindString:
		return konst(Type{Class: StringClass, Length: utf8.RuneCountInString(l.Text), Collation: c.d.connection()}, sqlvalue.NewString(l.Text)), nil
	case corpus.KindDecimal:
		d, ok := sqlvalue.NumericPrefix(l.Text).Decimal()
		if !ok {
			return expr{}, unsupported("decimal literal")
		}
		return konst(decimalType(d), d), nil
	}
	e := konst(Type{Class: StringClass, Binary: true, Length: len(l.Text), Collation: Binary}, sqlvalue.NewBytes(l.Text))
	if len(l.Text) > 8 {
		return expr{}, unsupported("hexadecimal literal of more than 64 bits")
	}
	var u uint64
	for i := 0; i < len(l.Text); i++ {
		u = u<<8 | uint64(l.Text[i])
	}
	num := konst(bigUint, sqlvalue.NewUint(u))
	e.number = &num
	return e, nil
}

func intLiteral(i int64) expr {
	t := bigInt
	t.Prec = max(1, sqlvalue.NewInt(i).Digits())
	return konst(t, sqlvalue.NewInt(i))
}

func decimalType(d sqlvalue.Value) Type {
	return Type{Class: DecimalClass, Prec: max(d.Digits(), d.Scale()), Scale: d.Scale()}
}
