package solve

import (
	"cmp"
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// comparator compares two values that are not NULL; each is of the kind of the
// operand that it was made for.
type comparator func(f *frame, a, b sqlvalue.Value) int

// comparison chooses how two types compare: two strings by collation, exact
// numbers exactly, all else as doubles.
// https://dev.mysql.com/doc/refman/9.7/en/type-conversion.html
func (c *compiler) comparison(a, b expr) (comparator, error) {
	switch {
	case a.typ.Class == b.typ.Class && (isMember(a.typ) || a.typ.Class == BitClass):
		return func(_ *frame, x, y sqlvalue.Value) int { return cmp.Compare(x.Uint(), y.Uint()) }, nil
	case a.typ.Class == NullClass || b.typ.Class == NullClass:
		return func(*frame, sqlvalue.Value, sqlvalue.Value) int { return 0 }, nil
	case (isTemporal(a.typ) || isTemporal(b.typ)) && anyUndated([]expr{a, b}):
		return nil, unsupported("date out of a branch between text and others")
	case isTemporal(a.typ) || isTemporal(b.typ):
		return c.temporalComparison(a, b)
	case c.computedBits(a) && b.notNumber || a.notNumber && c.computedBits(b):
		return nil, unsupported("computed bit string beside a branch between text and others")
	case a.typ.Class == StringClass && b.typ.Class == StringClass:
		t, err := combine(a.typ, b.typ)
		if err != nil {
			return nil, err
		}
		col := t.Collation
		trims := col.pads() && c.d.is(padTrims)
		return func(f *frame, x, y sqlvalue.Value) int {
			if trims {
				return col.compareTrimmed(f, x.Str(), y.Str())
			}
			if !col.exact(x.Str()) || !col.exact(y.Str()) {
				f.refuse("comparison of text beyond ASCII")
				return 0
			}
			return col.compare(x.Str(), y.Str())
		}, nil
	case c.joins && c.d.is(hashJoinClips) && (decimalMeetsInt(a, b) || decimalMeetsInt(b, a)):
		return nil, unsupported("join of a decimal with an integer")
	case isExact(a.typ) && isExact(b.typ) && c.d.is(compareRounds) && (a.typ.Class == DecimalClass || b.typ.Class == DecimalClass):
		known := (a.typ.Class == IntClass || b.typ.Class == IntClass) && !c.inList
		return func(f *frame, x, y sqlvalue.Value) int {
			r := sqlvalue.CmpExact(rounded(x, a.typ), rounded(y, b.typ))
			if !known && r != sqlvalue.CmpExact(x, y) {
				f.refuse("comparison of a quotient")
			}
			return r
		}, nil
	case isExact(a.typ) && isExact(b.typ):
		return func(_ *frame, x, y sqlvalue.Value) int { return sqlvalue.CmpExact(x, y) }, nil
	case isNumeric(a.typ) && isNumeric(b.typ):
		if c.d.is(castOverflowUnsure) && (a.castDecimal || b.castDecimal) {
			return nil, unsupported("double of a CAST AS DECIMAL")
		}
		if c.d.is(keyLosesText) && (roundedByKey(a, b) || roundedByKey(b, a)) {
			return nil, unsupported("fractional double for an integer column")
		}
		if a.notNumber || b.notNumber {
			return nil, unsupported("number of a branch between text and others")
		}
		d, ra, rb := c.d, c.literalReading(a), c.literalReading(b)
		for _, e := range [2]expr{a, b} {
			if e.castText && c.d.is(castTextRounds) {
				return nil, unsupported("CAST AS CHAR compared with a number")
			}
			if e.konst && e.lit && e.typ.Class == StringClass {
				if n := sqlvalue.NumericPrefix(e.eval(nil).Str()); n.Rest || n.Empty {
					c.badLiteral = true
				}
			}
		}
		if c.joins && d.is(hashJoinClips) && (a.typ.Class == DecimalClass || b.typ.Class == DecimalClass) && !a.konst && !b.konst {
			return nil, unsupported("join of a decimal with text or a double")
		}
		if c.joins && d.is(keyLosesText) && (textMeetsInt(a, b) || textMeetsInt(b, a)) {
			return nil, unsupported("join of text with an integer column")
		}
		if isExact(a.typ) && b.typ.Class == StringClass {
			return c.textComparison(a, b, ra, rb, 1), nil
		}
		if isExact(b.typ) && a.typ.Class == StringClass {
			return c.textComparison(b, a, rb, ra, -1), nil
		}
		return func(f *frame, x, y sqlvalue.Value) int {
			return cmp.Compare(d.number(f, x, ra), d.number(f, y, rb))
		}, nil
	}
	return nil, unsupported("comparison of a temporal, bit, enum or set")
}

// rounded brings a decimal down to the scale that its type declares.
func rounded(v sqlvalue.Value, t Type) sqlvalue.Value {
	if v.Kind() == sqlvalue.Decimal && v.Scale() > t.Scale {
		return v.Rescale(t.Scale)
	}
	return v
}

// literalReading says how a string operand of a comparison with a number is read.
func (c *compiler) literalReading(e expr) reading {
	if e.konst && e.reading == loud && c.d.is(constUnsure) {
		return vague
	}
	return e.reading
}

// textComparison compares an exact number with a string: as doubles, unless
// the server is known to compare exactly; where it matters and is not known,
// the comparison is refused. sign is -1 where the string stands left.
func (c *compiler) textComparison(num, text expr, rn, rs reading, sign int) comparator {
	d := c.d
	among := c.inList
	rounds := num.typ.Class == DecimalClass && text.konst && d.is(compareRounds) && d.is(constTextRounds)
	folded := num.typ.Class == DecimalClass && text.konst && !text.lit && d.is(foldedComputed)
	if folded {
		c.noteText(text)
	}
	exact := num.typ.Class == IntClass && d.is(textMeetsIntExactly)
	return func(f *frame, x, y sqlvalue.Value) int {
		if sign < 0 {
			x, y = y, x
		}
		if folded && f.strictWrite {
			if n := sqlvalue.NumericPrefix(y.Str()); n.Rest || n.Empty {
				f.refuse("text of a branch or function that is no decimal, in a write")
			}
		}
		if rounds {
			short := rounded(x, num.typ)
			if among && short != x {
				// Other types in the list may make doubles of both.
				f.refuse("comparison of a quotient")
			}
			x = short
		}
		r := cmp.Compare(d.number(f, x, rn), d.number(f, y, rs))
		if i, ok := x.Small(); ok && x.Scale() == 0 && i < 1<<53 && i > -1<<53 {
			return sign * r
		}
		v, ok := sqlvalue.NumericPrefix(y.Str()).Decimal()
		if !ok {
			f.refuse("long decimal in a string")
			return 0
		}
		if e := sqlvalue.CmpExact(x, v); e != r {
			if !exact {
				f.refuse("comparison of a number with text that doubles cannot tell apart")
			}
			r = e
		}
		return sign * r
	}
}

func decimalMeetsInt(a, b expr) bool {
	return a.typ.Class == DecimalClass && b.typ.Class == IntClass && !a.konst && !b.konst
}

// roundedByKey tells whether an index look-up could round b to an integer.
func roundedByKey(a, b expr) bool {
	if !a.column || a.typ.Class != IntClass || b.typ.Class != DoubleClass || !b.lit {
		return false
	}
	x := b.eval(nil).Double()
	return x != math.Trunc(x)
}

// fractionAtKey tells whether b is a constant decimal with a fraction, which an
// index look-up on the integer column a rounds: 0.5 = a finds 1.
func (c *compiler) fractionAtKey(a, b expr) bool {
	if !a.column || a.typ.Class != IntClass || !b.konst || b.typ.Class != DecimalClass {
		return false
	}
	f := frame{views: c.views}
	v := b.eval(&f)
	return f.err != nil || !v.IsNull() && sqlvalue.CmpExact(v, v.Truncate(0)) != 0
}

// textMeetsInt tells whether an index on an integer column could be looked up
// by text that is not constant.
func textMeetsInt(a, b expr) bool {
	return a.column && a.typ.Class == IntClass && b.typ.Class == StringClass && !b.konst
}

func isExact(t Type) bool {
	return t.Class == IntClass || t.Class == DecimalClass || t.Class == YearClass
}

func isNumeric(t Type) bool {
	return isExact(t) || t.Class == DoubleClass || t.Class == FloatClass || t.Class == StringClass
}

// number reads a value as a double, strings with a warning where they are none.
func (d Dialect) number(f *frame, v sqlvalue.Value, r reading) float64 {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		return d.stringToDouble(f, v.Str(), r)
	}
	return v.ToDouble()
}

func (c *compiler) compare(op opcode.Op, a, b expr) (expr, error) {
	both := []expr{a, b}
	if err := c.agree(both); err != nil {
		return expr{}, err
	}
	a, b = both[0], both[1]
	order, err := c.comparison(a, b)
	if err != nil {
		return expr{}, err
	}
	if c.d.is(hugeLiteralRefined) && hugeLiteral(a, []expr{b}) {
		return expr{}, unsupported("comparison with an unsigned literal beyond the signed range")
	}
	if op == opcode.EQ && c.d.is(keyLosesText) && (c.fractionAtKey(a, b) || c.fractionAtKey(b, a)) {
		return expr{}, unsupported("fractional decimal for an integer column")
	}
	x, y := c.besideColumn(a, b), c.besideColumn(b, a)
	unread := c.besideNull(a, b)
	if op == opcode.NullEQ {
		return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
			v, w := x(f), y(f)
			unread(f, v, w)
			if f.strictWrite && mixed(a, b) && v.IsNull() != w.IsNull() {
				f.beside(func(f *frame) sqlvalue.Value {
					c.d.number(f, v, a.reading)
					c.d.number(f, w, b.reading)
					return v
				})
			}
			if v.IsNull() || w.IsNull() {
				return truthOf(v.IsNull() && w.IsNull())
			}
			return truthOf(order(f, v, w) == 0)
		}), nil
	}
	d := c.d
	numeric := mixed(a, b)
	stops := c.d.is(stopsAtNull) && isExact(a.typ) && isExact(b.typ) && !a.konst && !b.konst && !c.joins
	return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if v.IsNull() {
			if stops {
				return sqlvalue.Unknown
			}
			f.beside(y)
			if f.err != nil {
				return sqlvalue.Unknown
			}
		}
		w := y(f)
		unread(f, v, w)
		if isSQL(f.err) && numeric && a.typ.Class == StringClass && !v.IsNull() {
			// The text on the left is read as a number before the right side is
			// evaluated, and its error comes first.
			g := frame{views: f.views, strictWrite: f.strictWrite, strictUnsure: f.strictUnsure}
			if d.number(&g, v, a.reading); g.err != nil {
				f.err = g.err
			}
		}
		if v.IsNull() != w.IsNull() && f.strictWrite && numeric {
			// The side that is not NULL may be converted before the other is seen.
			f.beside(func(f *frame) sqlvalue.Value {
				d.number(f, v, a.reading)
				d.number(f, w, b.reading)
				return v
			})
		}
		if v.IsNull() {
			return sqlvalue.Unknown
		}
		if w.IsNull() {
			return sqlvalue.Unknown
		}
		return truthOf(holds(op, order(f, v, w)))
	}), nil
}

// besideColumn evaluates an operand of a comparison: one that is constant may be
// computed once beforehand, where its error is lost.
func (c *compiler) besideColumn(e expr, others ...expr) func(*frame) sqlvalue.Value {
	all := e.konst && !e.lit
	column := false
	for _, o := range others {
		column = column || o.column
		all = all && o.konst
	}
	x := e.eval
	switch {
	case all && c.d.is(constErrorsLost):
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if isSQL(f.err) {
				f.err = &Unsupported{"error in a comparison of constants"}
			}
			return v
		}
	case e.konst && !e.lit && column && c.d.is(constLosesText):
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if isSQL(f.err) && f.strictWrite {
				f.err = &Unsupported{"error in a constant compared with a column, in a write"}
			}
			return v
		}
	}
	return x
}

// mixed tells whether one of two operands is text that is read as a number.
func mixed(a, b expr) bool {
	if isTemporal(a.typ) || isTemporal(b.typ) {
		return false
	}
	return a.typ.Class != NullClass && b.typ.Class != NullClass && (a.typ.Class == StringClass) != (b.typ.Class == StringClass)
}

func holds(op opcode.Op, order int) bool {
	switch op {
	case opcode.EQ:
		return order == 0
	case opcode.NE:
		return order != 0
	case opcode.LT:
		return order < 0
	case opcode.LE:
		return order <= 0
	case opcode.GT:
		return order > 0
	}
	return order >= 0
}

func (c *compiler) between(n *ast.BetweenExpr) (expr, error) {
	var e [3]expr
	for i, x := range []ast.ExprNode{n.Expr, n.Left, n.Right} {
		var err error
		if e[i], err = c.expr(x); err != nil {
			return expr{}, err
		}
		if e[i].number != nil {
			return expr{}, unsupported("hexadecimal literal in BETWEEN")
		}
	}
	plain := *c
	plain.d.quirks = plain.d.quirks.without(compareRounds)
	plain.among = amongBounds
	alone := plain.eachAlone(e[:])
	plain.ranges = !alone
	if err := plain.agree(e[:]); err != nil {
		return expr{}, err
	}
	if err := c.shareCollation(e[:]); err != nil {
		return expr{}, err
	}
	lo, err := plain.comparison(e[0], e[1])
	if err != nil {
		return expr{}, err
	}
	hi, err := plain.comparison(e[0], e[2])
	if err != nil {
		return expr{}, err
	}
	c.badLiteral = c.badLiteral || plain.badLiteral
	switch {
	case n.Not && e[0].konst && c.d.is(keyLosesText):
		// MariaDB 11.8 loses rows where an upper bound has an index.
		return expr{}, unsupported("constant NOT BETWEEN")
	case sameComparison(e[0].typ, e[1].typ, e[2].typ), alone:
	case (c.d.is(textMeetsIntExactly) && e[0].column || c.isColumn(n.Expr, true)) && e[0].typ.Class == StringClass && (e[1].typ.Class == StringClass) != (e[2].typ.Class == StringClass):
		// An index on the column finds other rows.
		return expr{}, unsupported("BETWEEN on text, a text and a number")
	case e[0].konst && e[0].typ.Class == StringClass && (e[1].typ.Class == StringClass) != (e[2].typ.Class == StringClass) && (c.isColumn(n.Left, true) || c.isColumn(n.Right, true)):
		// So does one on a bound.
		return expr{}, unsupported("BETWEEN on text, a text and a number")
	case isTemporal(e[0].typ) && !isTemporal(e[1].typ) && !isTemporal(e[2].typ):
		// Literals are read as dates, each on its own.
	case isTemporal(e[0].typ) || isTemporal(e[1].typ) || isTemporal(e[2].typ):
		return expr{}, unsupported("BETWEEN on several dates or times")
	case c.d.is(textMeetsIntExactly) && intsAndText(e[:]):
		read := func(at int) comparator {
			p, q := e[0], e[at]
			return func(f *frame, x, y sqlvalue.Value) int {
				return sqlvalue.CmpExact(c.decimalOf(f, p, x), c.decimalOf(f, q, y))
			}
		}
		lo, hi = read(1), read(2)
	case e[0].notNumber || e[1].notNumber || e[2].notNumber:
		return expr{}, unsupported("number of a branch between text and others")
	case c.d.is(textMeetsIntExactly) && (e[1].konst && e[1].typ.Unsigned || e[2].konst && e[2].typ.Unsigned):
		return expr{}, unsupported("unsigned constant beside a double in BETWEEN")
	default:
		// One type for all three: that of doubles, as soon as one is no exact
		// number and not all are strings.
		d := c.d
		read := func(at int) comparator {
			return func(f *frame, x, y sqlvalue.Value) int {
				return cmp.Compare(d.number(f, x, c.literalReading(e[0])), d.number(f, y, c.literalReading(e[at])))
			}
		}
		lo, hi = checkedBetween(e[0].typ, e[1].typ, read(1)), checkedBetween(e[0].typ, e[2].typ, read(2))
	}
	switch {
	case beyondColumn(e[0], e[1]) || beyondColumn(e[0], e[2]):
		return expr{}, unsupported("BETWEEN on a BIGINT column and a large text or double")
	case nullBound(e) && c.d.is(nullBoundIsDouble):
		lo = func(_ *frame, x, y sqlvalue.Value) int { return cmp.Compare(x.ToDouble(), y.ToDouble()) }
		hi = lo
	case nullBound(e):
		lo, hi = apartAsDoubles(lo), apartAsDoubles(hi)
	}
	lazy, d := c.d.is(betweenStops), c.d
	keyed := c.isColumn(n.Expr, true)
	anyMixed := !isTemporal(e[0].typ) && (mixed(e[0], e[1]) || mixed(e[0], e[2]) || mixed(e[1], e[2]))
	x, y, z := c.besideColumn(e[0], e[1], e[2]), e[1].eval, e[2].eval
	unreadLow, unreadHigh := c.besideNull(e[0], e[1]), c.besideNull(e[0], e[2])
	return boolExpr(e[0].konst && e[1].konst && e[2].konst, func(f *frame) sqlvalue.Truth {
		if f.strictWrite && anyMixed {
			for i, get := range [3]func(*frame) sqlvalue.Value{x, y, z} {
				f.beside(func(f *frame) sqlvalue.Value {
					if v := get(f); !v.IsNull() {
						d.number(f, v, c.literalReading(e[i]))
					}
					return sqlvalue.Value{}
				})
			}
		}
		v := x(f)
		if v.IsNull() {
			f.beside(func(f *frame) sqlvalue.Value { return unreadLow(f, v, y(f)) })
			f.beside(func(f *frame) sqlvalue.Value { return unreadHigh(f, v, z(f)) })
			return sqlvalue.Unknown
		}
		l := unreadLow(f, v, y(f))
		t := sqlvalue.Unknown
		if !l.IsNull() {
			t = truthOf(lo(f, v, l) >= 0)
		}
		h := unreadHigh(f, v, z(f))
		u := sqlvalue.Unknown
		if !h.IsNull() {
			u = truthOf(hi(f, v, h) <= 0)
		}
		if lazy && (l.IsNull() || h.IsNull()) && (huge(v) || huge(l) || huge(h)) {
			f.refuse("large unsigned number between NULL and a bound")
		}
		if keyed && isSQL(f.err) && (e[1].konst && t != sqlvalue.True || e[2].konst && u != sqlvalue.True) {
			f.err = &Unsupported{"error on a row that an index excludes"}
		}
		if t != sqlvalue.True && lazy && f.err != nil {
			f.err = &Unsupported{"error in the upper bound of BETWEEN"}
		}
		if e[0].konst && (e[1].konst || e[2].konst) && isSQL(f.err) {
			// The other half is a constant, which may decide.
			f.err = &Unsupported{"error in a bound of BETWEEN beside a constant one"}
		}
		return negateIf(n.Not, and(t, u))
	}), nil
}

// nullBound tells whether a bound of exact numbers is the literal NULL.
func nullBound(e [3]expr) bool {
	for _, x := range e {
		if !isExact(x.typ) && x.typ.Class != NullClass {
			return false
		}
	}
	return e[1].typ.Class == NullClass || e[2].typ.Class == NullClass
}

// apartAsDoubles refuses a decimal and another number that are one double.
func apartAsDoubles(as comparator) comparator {
	return func(f *frame, x, y sqlvalue.Value) int {
		r := as(f, x, y)
		if r != 0 && (x.Kind() == sqlvalue.Decimal || y.Kind() == sqlvalue.Decimal) && x.ToDouble() == y.ToDouble() {
			f.refuse("BETWEEN that doubles cannot tell apart")
		}
		return r
	}
}

// beyondColumn tells whether a constant text or double beyond the signed range may
// be converted to the type of a BIGINT column first.
func beyondColumn(col, bound expr) bool {
	if !col.column || col.typ.Class != IntClass || col.typ.Bits != 64 || !bound.konst || isExact(bound.typ) || !isNumeric(bound.typ) {
		return false
	}
	var f frame
	v := bound.eval(&f)
	x := v.ToDouble()
	if bound.typ.Class == StringClass {
		x, _ = sqlvalue.NumericPrefix(v.Str()).Double()
	}
	return f.err != nil || math.Abs(x) >= 1<<63
}

// checkedBetween refuses what two large exact numbers are as doubles.
func checkedBetween(a, b Type, as comparator) comparator {
	if a.Class == DoubleClass || b.Class == DoubleClass || a.Class == FloatClass || b.Class == FloatClass {
		return as
	}
	return func(f *frame, x, y sqlvalue.Value) int {
		r := as(f, x, y)
		if f.err == nil && r == 0 {
			p, okP := exactOf(x)
			q, okQ := exactOf(y)
			if !okP || !okQ || sqlvalue.CmpExact(p, q) != 0 {
				f.refuse("BETWEEN that doubles cannot tell apart")
			}
		}
		return r
	}
}

func exactOf(v sqlvalue.Value) (sqlvalue.Value, bool) {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		return sqlvalue.NumericPrefix(v.Str()).Decimal()
	}
	return v, true
}

// decimalOf reads a value of e as an exact number.
func (c *compiler) decimalOf(f *frame, e expr, v sqlvalue.Value) sqlvalue.Value {
	if e.typ.Class != StringClass {
		return v
	}
	e.eval = func(*frame) sqlvalue.Value { return v }
	e.reading = c.literalReading(e)
	return c.exact(e)(f)
}

func intsAndText(es []expr) bool {
	for _, e := range es {
		if e.typ.Class != IntClass && e.typ.Class != StringClass {
			return false
		}
	}
	return true
}

// sameComparison tells whether three operands compare alike, pair by pair.
func sameComparison(ts ...Type) bool {
	strings, exact := 0, 0
	for _, t := range ts {
		switch {
		case t.Class == NullClass:
			strings, exact = strings+1, exact+1
		case t.Class == StringClass:
			strings++
		case isExact(t):
			exact++
		}
	}
	return strings == len(ts) || exact == len(ts)
}

func and(a, b sqlvalue.Truth) sqlvalue.Truth {
	switch {
	case a == sqlvalue.False || b == sqlvalue.False:
		return sqlvalue.False
	case a == sqlvalue.True && b == sqlvalue.True:
		return sqlvalue.True
	}
	return sqlvalue.Unknown
}

func negateIf(not bool, t sqlvalue.Truth) sqlvalue.Truth {
	if not && t != sqlvalue.Unknown {
		return truthOf(t == sqlvalue.False)
	}
	return t
}

func (c *compiler) in(n *ast.PatternInExpr) (expr, error) {
	if _, ok := n.Expr.(*ast.RowExpr); ok {
		return expr{}, unsupported("row operand")
	}
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	if n.Sel != nil {
		return c.inSubquery(n, e)
	}
	konst := e.konst
	all := make([]expr, len(n.List)+1)
	all[0] = e
	list := all[1:]
	cmps := make([]comparator, len(n.List))
	for i, x := range n.List {
		if list[i], err = c.expr(x); err != nil {
			return expr{}, err
		}
		if list[i].number != nil || e.number != nil {
			return expr{}, unsupported("hexadecimal literal in IN")
		}
		konst = konst && list[i].konst
	}
	if err := c.agree(all); err != nil {
		return expr{}, err
	}
	if err := c.shareCollation(all); err != nil {
		return expr{}, err
	}
	e = all[0]
	if len(list) > 1 && slices.ContainsFunc(list, func(x expr) bool { return isNumeric(x.typ) }) && slices.ContainsFunc(list, c.computedBits) {
		return expr{}, unsupported("IN of numbers and computed bit strings")
	}
	if err := c.onlyMoments(all); err != nil {
		return expr{}, err
	}
	in := *c
	in.inList, in.among = len(list) > 1, amongList
	for i := range list {
		if cmps[i], err = in.comparison(e, list[i]); err != nil {
			return expr{}, err
		}
	}
	c.badLiteral = c.badLiteral || in.badLiteral
	if c.d.is(inComparesBits) && len(list) > 1 && (!allKonst(list) || !allInts(list)) {
		for i := range list {
			if e.typ.Class == IntClass && list[i].typ.Class == IntClass && e.typ.Unsigned != list[i].typ.Unsigned {
				cmps[i] = func(_ *frame, a, b sqlvalue.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
			}
		}
	}
	if c.d.is(inComparesBits) && e.typ.Class == IntClass && !e.column && (fractionIn(list) || len(list) > 1 && fractionalDouble(list)) {
		return expr{}, unsupported("integer IN a list with a fraction in a text or double")
	}
	if c.d.is(hugeLiteralRefined) && hugeLiteral(e, list) {
		return expr{}, unsupported("IN with an unsigned literal beyond the signed range")
	}
	if c.d.is(hugeLiteralRefined) && e.typ.Unsigned && allKonst(list) && len(list) > 1 && allBelowZero(list) {
		return expr{}, unsupported("unsigned number IN a list of negative ones")
	}
	d := c.d
	whole := c.d.is(betweenStops)
	anyMixed := false
	x := c.besideColumn(e, list...)
	unread := make([]func(*frame, sqlvalue.Value, sqlvalue.Value) sqlvalue.Value, len(list))
	for i := range list {
		anyMixed = anyMixed || mixed(e, list[i])
		unread[i] = c.besideNull(e, list[i])
		list[i].eval = c.besideColumn(list[i], e)
	}
	return boolExpr(konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if f.strictWrite && anyMixed && !v.IsNull() && e.typ.Class == StringClass {
			f.beside(func(f *frame) sqlvalue.Value { d.number(f, v, c.literalReading(e)); return v })
		}
		if v.IsNull() || f.strictWrite && anyMixed {
			for i := range list {
				f.beside(func(f *frame) sqlvalue.Value {
					if w := unread[i](f, v, list[i].eval(f)); f.strictWrite && !w.IsNull() && mixed(e, list[i]) {
						d.number(f, w, c.literalReading(list[i]))
					}
					return sqlvalue.Value{}
				})
			}
		}
		if v.IsNull() {
			return sqlvalue.Unknown
		}
		t := sqlvalue.False
		for i := range list {
			w := unread[i](f, v, list[i].eval(f))
			if w.IsNull() {
				t = sqlvalue.Unknown
				continue
			}
			if cmps[i](f, v, w) == 0 {
				if whole {
					for j := i + 1; j < len(list); j++ {
						f.beside(list[j].eval)
					}
				}
				return truthOf(!n.Not)
			}
		}
		return negateIf(n.Not, t)
	}), nil
}

func allBelowZero(list []expr) bool {
	for _, e := range list {
		f := frame{}
		if v := e.eval(&f); !e.lit || v.IsNull() || v.Kind() != sqlvalue.Int || v.Sign() >= 0 {
			return false
		}
	}
	return true
}

// fractionIn tells whether a literal text of a list holds a number that is no
// integer.
func fractionIn(list []expr) bool {
	for _, e := range list {
		if e.lit && e.typ.Class == StringClass && !sqlvalue.NumericPrefix(e.eval(nil).Str()).Integer {
			return true
		}
	}
	return false
}

// fractionalDouble tells whether a list holds a literal double with a fraction.
func fractionalDouble(list []expr) bool {
	return slices.ContainsFunc(list, func(e expr) bool {
		return e.lit && e.typ.Class == DoubleClass && e.eval(nil).Double() != math.Trunc(e.eval(nil).Double())
	})
}

// shareCollation gives all strings among the operands the one collation in
// which the whole operator compares.
func (c *compiler) shareCollation(es []expr) error {
	var t Type
	found := false
	for _, e := range es {
		if e.typ.Class != StringClass {
			continue
		}
		if !found {
			t, found = e.typ, true
			continue
		}
		var err error
		if t, err = combine(t, e.typ); err != nil {
			return err
		}
	}
	for i := range es {
		if es[i].typ.Class == StringClass {
			es[i].typ.Collation, es[i].typ.Binary, es[i].typ.Explicit = t.Collation, t.Binary, t.Explicit
		}
	}
	return nil
}

// huge tells whether an unsigned number is beyond the signed range.
func huge(v sqlvalue.Value) bool { return v.Kind() == sqlvalue.Uint && v.Int() < 0 }

// allInts tells whether all expressions are integers or NULLs.
func allInts(es []expr) bool {
	for _, e := range es {
		if e.typ.Class != IntClass && e.typ.Class != NullClass {
			return false
		}
	}
	return true
}

func hugeLiteral(e expr, list []expr) bool {
	huge := e.konst && e.typ.Unsigned
	for _, x := range list {
		huge = huge || x.konst && x.typ.Unsigned
	}
	return huge
}

// losesConstant tells whether n is a NULLIF of a constant that is computed, beside
// anything but an integer: under the IS NULL of a query's WHERE it is taken for
// NULL.
func (c *compiler) losesConstant(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.losesConstant(x.Expr)
	case *ast.FuncCallExpr:
		if x.FnName.L != "nullif" || len(x.Args) != 2 || c.write || !c.inWhere || !c.d.is(nullifLosesConstant) {
			return false
		}
		a, err := c.expr(x.Args[0])
		_, literal := x.Args[0].(ast.ValueExpr)
		if err != nil || literal || !a.konst {
			return false
		}
		b, err := c.expr(x.Args[1])
		return err == nil && b.typ.Class != IntClass
	}
	return false
}

func (c *compiler) isNull(n *ast.IsNullExpr) (expr, error) {
	if c.losesConstant(n.Expr) {
		return expr{}, unsupported("IS NULL of a NULLIF of a constant")
	}
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	x := e.eval
	return boolExpr(e.konst, func(f *frame) sqlvalue.Truth {
		null := x(f).IsNull()
		f.underNull()
		return truthOf(null != n.Not)
	}), nil
}

// underNull makes an error under IS NULL uncertain: what cannot be NULL need not
// be evaluated.
func (f *frame) underNull() {
	if isSQL(f.err) {
		f.err = &Unsupported{"error under IS NULL"}
	}
}

func (c *compiler) isTruth(n *ast.IsTruthExpr) (expr, error) {
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	t := c.truth(e)
	want := truthOf(n.True != 0)
	return boolExpr(e.konst, func(f *frame) sqlvalue.Truth { return truthOf((t(f) == want) != n.Not) }), nil
}

// logic compiles AND, OR, XOR. The right side is not evaluated where the left
// one decides.
func (c *compiler) logic(op opcode.Op, a, b expr) (expr, error) {
	a, b = c.numbered(a), c.numbered(b)
	p, q := c.truth(a), c.truth(b)
	if op == opcode.LogicXor && c.d.is(xorByInt) {
		p, q = c.intTruth(a), c.intTruth(b)
	}
	k := a.konst && b.konst
	switch op {
	case opcode.LogicAnd:
		return boolExpr(k, func(f *frame) sqlvalue.Truth {
			t := p(f)
			if t == sqlvalue.False || f.err != nil {
				return sqlvalue.False
			}
			return and(t, q(f))
		}), nil
	case opcode.LogicOr:
		return c.or(b, k, p, q), nil
	}
	return boolExpr(k, func(f *frame) sqlvalue.Truth {
		t := p(f)
		if t == sqlvalue.Unknown {
			f.beside(func(f *frame) sqlvalue.Value { q(f); return sqlvalue.Value{} })
			return t
		}
		u := q(f)
		if u == sqlvalue.Unknown {
			return u
		}
		return truthOf(t != u)
	}), nil
}

// or is OR of p and q, which is the operand b.
func (c *compiler) or(b expr, konst bool, p, q func(*frame) sqlvalue.Truth) expr {
	if c.failsAhead(b, q) {
		decided := p
		p = func(f *frame) sqlvalue.Truth {
			t := decided(f)
			if t == sqlvalue.True {
				f.refuse("constant error beside a true condition")
			}
			return t
		}
	}
	return orExpr(konst, p, q)
}

// failsAhead tells whether a condition of a write is a constant that cannot be
// computed: it may fail before any row is looked at.
func (c *compiler) failsAhead(e expr, truth func(*frame) sqlvalue.Truth) bool {
	if !c.write || !e.konst {
		return false
	}
	f := frame{views: c.views, strictWrite: true}
	truth(&f)
	return isSQL(f.err)
}

// orExpr is OR; q is not evaluated where p is true.
func orExpr(konst bool, p, q func(*frame) sqlvalue.Truth) expr {
	return boolExpr(konst, func(f *frame) sqlvalue.Truth {
		t := p(f)
		if t == sqlvalue.True || f.err != nil {
			if failed := f.err; failed != nil {
				// A side that is always true may have been folded before.
				if f.err = nil; q(f) == sqlvalue.True || f.err != nil {
					failed = &Unsupported{"error beside a true condition"}
				}
				f.err = failed
			}
			return sqlvalue.True
		}
		u := q(f)
		if u == sqlvalue.True || t == sqlvalue.False {
			return u
		}
		return sqlvalue.Unknown
	})
}

// intTruth is truth for an operand that is read as an integer first.
func (c *compiler) intTruth(e expr) func(*frame) sqlvalue.Truth {
	if e.extreme && (e.mixedLarge || e.mixedInt) {
		return func(f *frame) sqlvalue.Truth {
			f.refuse("integer of one of several numbers")
			return sqlvalue.Unknown
		}
	}
	if e.typ.Class == DoubleClass && e.typ.Unsigned {
		// The remainder of a BIT that is negative as a double.
		e.eval = aboveZero(e.eval)
	}
	e = withinSigned(e)
	bits := c.bits(e)
	if !isExact(e.typ) {
		bits = c.shiftCount(e)
	}
	return func(f *frame) sqlvalue.Truth {
		u, null := bits(f)
		if null {
			return sqlvalue.Unknown
		}
		return truthOf(u != 0)
	}
}

// aboveZero makes 0 of what is below it.
func aboveZero(x func(*frame) sqlvalue.Value) func(*frame) sqlvalue.Value {
	return func(f *frame) sqlvalue.Value {
		if v := x(f); v.IsNull() || v.ToDouble() >= 0 {
			return v
		}
		return sqlvalue.NewDouble(0)
	}
}
