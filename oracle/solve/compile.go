package solve

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
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
	// greatest says GREATEST or LEAST.
	greatest bool
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

var (
	bigInt  = Type{Class: IntClass, Bits: 64, Prec: 19}
	bigUint = Type{Class: IntClass, Bits: 64, Unsigned: true, Prec: 20}
	boolInt = Type{Class: IntClass, Bits: 64, Prec: 1}
	double  = Type{Class: DoubleClass}
)

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
