package solve

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// unify returns the type that holds all of several branches.
// https://dev.mysql.com/doc/refman/9.7/en/flow-control-functions.html
func (c *compiler) unify(es []expr) (Type, error) {
	for _, e := range es {
		if e.nullDouble && c.d.is(nullIsDouble) {
			// Its declared digits behind the point differ by operator.
			return Type{}, unsupported("branch of arithmetic on NULL")
		}
	}
	if t, ok := commonClass(es); ok {
		t.Chosen = true
		return t, nil
	}
	out := Type{Class: NullClass}
	digits := 0
	unsigned, signed, wide, literalNull := false, false, false, false
	positive := c.d.is(branchesKeepUnsigned)
	for _, e := range es {
		t := e.typ
		switch t.Class {
		case NullClass:
			literalNull = true
			continue
		case StringClass:
			if out.Class == StringClass {
				var err error
				if out, err = combine(out, t); err != nil {
					return out, err
				}
			} else {
				out = t
			}
			continue
		case IntClass:
			unsigned, signed = unsigned || t.Unsigned, signed || !t.Unsigned
			wide = wide || t.Unsigned && (t.Bits == 64 || c.d.is(mixedIsDecimal))
		case DecimalClass, DoubleClass:
		case EnumClass, SetClass, DateClass, DatetimeClass, TimestampClass, TimeClass:
			return textBranch(c, es)
		default:
			return out, unsupported("branches of type other than integer, decimal, double, string")
		}
		positive = positive && t.Unsigned
		if out.Class == StringClass {
			continue
		}
		digits = max(digits, intDigits(t))
		cls, scale := max(out.Class, t.Class), max(out.Scale, t.Scale)
		out = Type{Class: cls, Scale: scale, Bits: 64, Unsigned: unsigned && !signed}
		if cls == IntClass && wide && signed {
			out.Class = DecimalClass
		}
		out.Prec = digits + scale
	}
	if out.Class == StringClass && c.d.is(branchCasts) {
		for _, e := range es {
			if e.typ.Class != StringClass && e.typ.Class != NullClass {
				out.Collation = unknownCollation
			}
		}
	}
	if out.Class == DoubleClass {
		out.Origin = computedDouble(es...).Origin
	}
	if out.Class != IntClass {
		out.Unsigned = positive && out.Class == DecimalClass
	}
	if c.d.is(branchCasts) && (unsigned && signed || out.Class == DoubleClass && out.Scale > 0) {
		return out, unsupported("branches of different numbers")
	}
	if literalNull && (unsigned || out.Unsigned) && c.d.is(mixedIsDecimal) {
		return out, unsupported("NULL beside an unsigned branch")
	}
	return out, nil
}

// commonClass returns the type of branches that are all of one temporal type or
// all years, NULLs aside.
func commonClass(es []expr) (t Type, ok bool) {
	for _, e := range es {
		switch {
		case e.typ.Class == NullClass:
		case !isTemporal(e.typ) && e.typ.Class != YearClass && e.typ.Class != FloatClass:
			return t, false
		case !ok:
			t, ok = e.typ, true
		case hasDate(e.typ) && hasDate(t) && e.typ.Scale == 0 && t.Scale == 0 && e.typ.Class != t.Class:
			t.Class = DatetimeClass
		case e.typ.Class != t.Class || e.typ.Scale != t.Scale:
			return t, false
		}
	}
	return t, ok
}

// textBranch returns the type of branches that are text, members or temporal.
func textBranch(c *compiler, es []expr) (Type, error) {
	out := Type{Class: NullClass}
	if c.write && c.d.is(branchCasts) && slices.ContainsFunc(es, func(e expr) bool { return e.typ.Class == StringClass }) && slices.ContainsFunc(es, func(e expr) bool { return isMember(e.typ) }) {
		return out, unsupported("ENUM or SET beside text in a branch, in a write")
	}
	for _, e := range es {
		t := e.typ
		switch {
		case t.Class == NullClass:
			continue
		case isTemporal(t) && (c.d.is(branchCasts) || clocks(es)):
			return out, unsupported("branches of text and a date or time")
		case t.Class != StringClass && !isMember(t) && !isTemporal(t) && (c.d.is(branchCasts) || t.Class != IntClass && t.Class != DecimalClass && t.Class != DoubleClass):
			return out, unsupported("branches of numbers and an ENUM, SET, date or time")
		}
		t = c.textType(t)
		if out.Class == NullClass {
			out = t
			continue
		}
		var err error
		if out, err = combine(out, t); err != nil {
			return out, err
		}
	}
	return out, nil
}

// clocks tells whether a TIME stands beside a date: the former then gets the
// date of today.
func clocks(es []expr) bool {
	date, clock := false, false
	for _, e := range es {
		date = date || hasDate(e.typ)
		clock = clock || e.typ.Class == TimeClass
	}
	return date && clock
}

// mixesText tells whether branches that make a text are not all text, or those
// that make a DATETIME not all of that type.
func mixesText(t Type, es []expr) bool {
	for _, e := range es {
		if t.Class == StringClass && (isMember(e.typ) || isTemporal(e.typ) || e.notNumber) || t.Class == DatetimeClass && e.typ.Class != DatetimeClass {
			return true
		}
	}
	return false
}

func anyWorded(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.worded })
}

// anyUndated tells whether one of several operands is not known as a date.
func anyUndated(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.worded || e.mixedDate })
}

// anyBits tells whether one of several branches is a BIT.
func anyBits(es []expr) bool {
	return slices.ContainsFunc(es, func(e expr) bool { return e.bits || e.fromBits })
}

// allBits tells whether all branches, NULLs aside, are of type BIT.
func allBits(es []expr) bool {
	some := false
	for _, e := range es {
		if some = some || e.bits; !e.bits && e.typ.Class != NullClass {
			return false
		}
	}
	return some
}

// convert returns an evaluation of e as a value of a type made by unify.
func (c *compiler) convert(e expr, t Type, keepScale bool) func(*frame) sqlvalue.Value {
	x := e.eval
	if e.typ.Class == t.Class && t.Class != DecimalClass {
		return x
	}
	// Only a CAST really pads; elsewhere the value keeps its own digits, and
	// print pads it unless the expression says keepScale.
	pads := c.d.is(branchCasts) && !keepScale && e.typ.Scale != t.Scale
	if e.castDecimal && t.Class == DoubleClass && c.d.is(castOverflowUnsure) {
		return func(f *frame) sqlvalue.Value { return f.refuse("double of a CAST AS DECIMAL") }
	}
	switch t.Class {
	case DatetimeClass:
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			w, ok := t.temporal(v.Str())
			if !ok {
				return f.refuse("date in a branch")
			}
			return w
		}
	case DecimalClass:
		if e.keepScale && c.d.is(branchCasts) {
			// Folding decides whether an inner COALESCE is cast.
			return func(f *frame) sqlvalue.Value {
				v := x(f)
				if !v.IsNull() && v.Scale() != t.Scale {
					return f.refuse("branch inside a branch")
				}
				return v.ToDecimal()
			}
		}
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if c.d.is(branchCasts) && v.Kind() == sqlvalue.Decimal && v.Scale() > e.typ.Scale {
				return f.refuse("quotient in a branch")
			}
			if v.IsNull() || !pads || v.Scale() >= t.Scale {
				return v.ToDecimal()
			}
			return v.Rescale(t.Scale)
		}
	case DoubleClass:
		return func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			return sqlvalue.NewDouble(v.ToDouble())
		}
	case StringClass:
		p := c.text(e)
		return func(f *frame) sqlvalue.Value {
			s, null := p(f)
			if null {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewString(s)
		}
	}
	return x
}

// doubleOrigin says of a double that it came out of FLOOR or CEIL, where its text
// has no exponent, or that it was computed with such a one, or by negating a date
// or time, and the digits of it depend on the other operands.
type doubleOrigin uint8

const (
	anyDouble doubleOrigin = iota
	wholeDouble
	madeOfWhole
)

// computedDouble is the type of a double computed with others.
func computedDouble(es ...expr) Type {
	t := double
	for _, e := range es {
		if e.typ.Class == DoubleClass && e.typ.Origin != anyDouble {
			t.Origin = madeOfWhole
		}
	}
	return t
}

func (c *compiler) exprs(ns []ast.ExprNode) ([]expr, error) {
	out := make([]expr, len(ns))
	for i, n := range ns {
		var err error
		if out[i], err = c.expr(n); err != nil {
			return nil, err
		}
		if out[i].number != nil {
			return nil, unsupported("hexadecimal literal as an argument")
		}
	}
	return out, nil
}

func allKonst(es []expr) bool {
	for _, e := range es {
		if !e.konst {
			return false
		}
	}
	return true
}

// spoilsColumn refuses a choice by a constant between a binary string and a text
// column. TiDB folds it to the column and leaves the binary collation there, with
// which all else in the statement then compares the column:
//
//	SELECT CASE 2 WHEN 10 THEN blob ELSE text END, 'a ' = text
func (c *compiler) spoilsColumn(constant bool, results []expr) error {
	binary, text := false, false
	for _, r := range results {
		binary = binary || r.typ.Binary
		text = text || r.column && r.typ.Class == StringClass && !r.typ.Binary
	}
	if constant && binary && text && c.d.is(branchCasts) {
		return unsupported("choice by a constant between a binary string and a text column")
	}
	return nil
}

func (c *compiler) caseExpr(n *ast.CaseExpr) (expr, error) {
	var conds []func(*frame) sqlvalue.Truth
	var results []expr
	konst, texts, constant := true, false, false
	for _, w := range n.WhenClauses {
		cond, err := c.expr(w.Expr)
		if err != nil {
			return expr{}, err
		}
		if cond.number != nil {
			return expr{}, unsupported("hexadecimal literal in CASE")
		}
		if n.Value != nil {
			v, err := c.expr(n.Value)
			if err != nil {
				return expr{}, err
			}
			if v.number != nil {
				return expr{}, unsupported("hexadecimal literal in CASE")
			}
			texts = texts || v.typ.Class == StringClass && cond.typ.Class == StringClass && !v.typ.Binary && !cond.typ.Binary
			if cond, err = c.caseEquals(v, cond); err != nil {
				return expr{}, err
			}
		}
		constant = constant || cond.konst
		r, err := c.result(w.Result)
		if err != nil {
			return expr{}, err
		}
		conds, results, konst = append(conds, c.truth(cond)), append(results, r), konst && cond.konst
	}
	if n.ElseClause != nil {
		r, err := c.result(n.ElseClause)
		if err != nil {
			return expr{}, err
		}
		results = append(results, r)
	}
	if texts && c.d.is(binaryCase) && slices.ContainsFunc(results, func(r expr) bool { return r.typ.Binary }) {
		return expr{}, unsupported("CASE on texts with a binary result")
	}
	if err := c.spoilsColumn(constant, results); err != nil {
		return expr{}, err
	}
	if err := c.alikeChosen(results); err != nil {
		return expr{}, err
	}
	t, err := c.unify(results)
	if err != nil {
		return expr{}, err
	}
	evals := make([]func(*frame) sqlvalue.Value, len(results))
	for i, r := range results {
		evals[i] = c.convert(r, t, false)
	}
	choose := func(f *frame) int {
		for i, cond := range conds {
			if t := cond(f); f.err != nil {
				break
			} else if t == sqlvalue.True {
				return i
			}
		}
		return len(conds)
	}
	return c.branch(t, konst && allKonst(results), choose, results, evals), nil
}

// result compiles what a branch gives.
func (c *compiler) result(n ast.ExprNode) (expr, error) {
	e, err := c.expr(n)
	if err == nil && e.number != nil {
		err = unsupported("hexadecimal literal in CASE")
	}
	return e, err
}

// caseEquals compares CASE's value with that of a WHEN.
func (c *compiler) caseEquals(a, b expr) (expr, error) {
	if b.typ.Class == NullClass {
		return boolExpr(a.konst, func(f *frame) sqlvalue.Truth {
			f.beside(a.eval)
			return sqlvalue.Unknown
		}), nil
	}
	if c.d.is(compareRounds) {
		d := *c
		d.d.quirks = d.d.quirks.without(compareRounds)
		return d.compare(opcode.EQ, a, b)
	}
	if c.d.is(caseReadsMoments) && a.lit && a.typ.Class == StringClass && isTemporal(b.typ) &&
		(len(a.eval(nil).Str()) == len(dateForm)) != (b.typ.Class == DateClass) {
		return expr{}, unsupported("CASE of a text WHEN a date or time of another form")
	}
	if isTemporal(a.typ) || isTemporal(b.typ) {
		d := *c
		d.among = amongCases
		return d.compare(opcode.EQ, a, b)
	}
	if a.typ.Class == BitClass && b.typ.Class != StringClass {
		a = c.numbered(a)
	}
	if b.typ.Class == BitClass && a.typ.Class != StringClass {
		b = c.numbered(b)
	}
	if !c.d.is(inComparesBits) || a.typ.Class != IntClass || b.typ.Class != IntClass || a.typ.Unsigned == b.typ.Unsigned {
		return c.compare(opcode.EQ, a, b)
	}
	x, y := a.eval, b.eval
	return boolExpr(a.konst && b.konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if v.IsNull() {
			f.beside(y)
			return sqlvalue.Unknown
		}
		w := y(f)
		if w.IsNull() {
			return sqlvalue.Unknown
		}
		return truthOf(v.Uint() == w.Uint())
	}), nil
}

// branch makes IF or CASE: choose returns the index of the result; beyond the
// last it is NULL.
func (c *compiler) branch(t Type, konst bool, choose func(*frame) int, results []expr, evals []func(*frame) sqlvalue.Value) expr {
	e := expr{typ: t, konst: konst, eval: func(f *frame) sqlvalue.Value {
		if i := choose(f); i < len(evals) && f.err == nil {
			return evals[i](f)
		}
		return sqlvalue.Value{}
	}}
	for _, r := range results {
		if r.reading != loud {
			e.reading = vague
		}
	}
	e.notNumber, e.worded = mixesText(t, results), anyWorded(results)
	e.keepScale = c.d.is(branchCasts)
	e.mixedText = t.Class == DoubleClass && c.d.is(branchKeepsScale)
	for _, r := range results {
		e.mixedInt = e.mixedInt || t.Class == StringClass && r.typ.Class != StringClass && c.d.is(branchKeepsScale)
	}
	if c.d.is(branchKeepsScale) {
		e.mixedLarge = t.Class == DecimalClass
		for _, r := range results {
			e.mixedDate = e.mixedDate || r.mixedDate || r.print != nil || r.bits || r.fromBits ||
				r.typ.Class != t.Class && r.typ.Class != NullClass && !(isTemporal(r.typ) && isTemporal(t))
		}
	}
	for _, r := range results {
		// As a text a BIT is its bytes.
		e.mixedText = e.mixedText || (r.bits || r.fromBits) && t.Class != StringClass && c.d.is(branchKeepsScale)
	}
	e.bits, e.fromBits = allBits(results), anyBits(results)
	if (t.Class == DecimalClass || e.bits) && c.d.is(branchKeepsScale) {
		e.print = func(f *frame) sqlvalue.Value {
			if i := choose(f); i < len(results) {
				return results[i].printed(f)
			}
			return sqlvalue.Value{}
		}
	}
	return e
}

func (c *compiler) call(n *ast.FuncCallExpr) (expr, error) {
	switch n.FnName.L {
	case "date_add", "adddate":
		if len(n.Args) == 3 {
			return c.dateAdd(n, 1)
		}
	case "date_sub", "subdate":
		if len(n.Args) == 3 {
			return c.dateAdd(n, -1)
		}
	}
	args, err := c.exprs(n.Args)
	if err != nil {
		return expr{}, err
	}
	if n.FnName.L == "if" && len(args) == 3 && connects(n.Args[0]) {
		if args[0], err = c.filter(n.Args[0]); err != nil {
			return expr{}, err
		}
	}
	k := allKonst(args)
	switch name := n.FnName.L; {
	case name == "if" && len(args) == 3:
		if err := c.spoilsColumn(args[0].konst, args[1:]); err != nil {
			return expr{}, err
		}
		if err := c.alikeChosen(args[1:]); err != nil {
			return expr{}, err
		}
		t, err := c.unify(args[1:])
		if err != nil {
			return expr{}, err
		}
		cond, results := c.truth(args[0]), args[1:]
		evals := []func(*frame) sqlvalue.Value{c.convert(args[1], t, false), c.convert(args[2], t, false)}
		choose := func(f *frame) int {
			if cond(f) == sqlvalue.True {
				return 0
			}
			return 1
		}
		return c.branch(t, k, choose, results, evals), nil
	case (name == "ifnull" && len(args) == 2) || (name == "coalesce" && len(args) > 0):
		if err := c.alike(args); err != nil {
			return expr{}, err
		}
		t, err := c.unify(args)
		if err != nil {
			return expr{}, err
		}
		if name == "coalesce" && c.d.is(coalesceKeepsScale) && t.Class == DecimalClass {
			for _, a := range args {
				if a.typ.Class != NullClass && a.typ.Scale != t.Scale {
					return expr{}, unsupported("COALESCE of different scales")
				}
			}
		}
		keep := name == "coalesce" && c.d.is(coalesceKeepsScale) && !k
		raw := c.d.is(branchCasts)
		evals := make([]func(*frame) sqlvalue.Value, len(args))
		for i, a := range args {
			if evals[i] = c.convert(a, t, keep); t.Class == DatetimeClass && name == "coalesce" && c.d.is(coalesceKeepsScale) {
				evals[i] = a.eval
			}
		}
		how := loud
		if t.Class == StringClass && c.d.is(silentText) {
			how = silent
		}
		return expr{typ: t, konst: k, reading: how, keepScale: raw, notNumber: mixesText(t, args), worded: anyWorded(args), bits: allBits(args), fromBits: anyBits(args), eval: func(f *frame) sqlvalue.Value {
			for _, x := range evals {
				if v := x(f); !v.IsNull() || f.err != nil {
					return v
				}
			}
			return sqlvalue.Value{}
		}}, nil
	case name == "nullif" && len(args) == 2:
		eq, err := c.compare(opcode.EQ, args[0], args[1])
		if err != nil {
			return expr{}, err
		}
		t := c.truth(eq)
		if c.d.is(branchCasts) && !args[0].column && args[0].typ.Class == DecimalClass {
			return expr{}, unsupported("NULLIF of a computed decimal")
		}
		switch {
		case args[0].typ.Class == BitClass && c.d.is(branchesCountBits):
			args[0] = c.numbered(args[0])
		case isMember(args[0].typ):
			args[0] = args[0].named()
			args[0].notNumber = true
		}
		if args[0].konst && args[1].column && c.d.is(nullifCutsConstant) && cutsConstant(args[0].typ, args[1].typ) {
			return expr{}, unsupported("NULLIF of a constant beside a column of another type")
		}
		if a, b := args[0].typ, args[1].typ; a.Class == StringClass {
			switch {
			case b.Class == StringClass && c.d.is(branchCasts):
				plain, one, other := t, args[0].eval, args[1].eval
				t = func(f *frame) sqlvalue.Truth {
					v, w := one(f), other(f)
					if !w.IsNull() && v.Str() != w.Str() && strings.TrimRight(v.Str(), " ") == strings.TrimRight(w.Str(), " ") {
						f.refuse("NULLIF of texts that differ in spaces")
					}
					return plain(f)
				}
			case args[0].lit && (isMember(b) || b.Class == StringClass && b.Collation != a.Collation) && c.d.is(nullifMovesCollation):
				args[0].typ.Collation = unknownCollation
			}
		}
		if args[0].typ.Class == NullClass && c.d.is(branchCasts) {
			return expr{}, unsupported("NULLIF of NULL")
		}
		args[0].typ.Chosen = true
		x := args[0].eval
		e := expr{typ: args[0].typ, konst: k, reading: args[0].reading, keepScale: args[0].keepScale, notNumber: args[0].notNumber, eval: func(f *frame) sqlvalue.Value {
			if t(f) == sqlvalue.True {
				return sqlvalue.Value{}
			}
			return x(f)
		}}
		if args[0].print != nil {
			e.print = func(f *frame) sqlvalue.Value {
				if t(f) == sqlvalue.True {
					return sqlvalue.Value{}
				}
				x(f)
				return args[0].print(f)
			}
		}
		return e, nil
	case name == "mod" && len(args) == 2:
		return c.modulo(args[0], args[1])
	case name == "isnull" && len(args) == 1:
		return c.isNull(&ast.IsNullExpr{Expr: n.Args[0]})
	}
	if fn, ok := functions[n.FnName.L]; ok && len(args) >= fn.min && len(args) <= fn.max {
		return fn.compile(c, args)
	}
	if e, ok, err := c.dateCall(n.FnName.L, args); ok {
		return e, err
	}
	return expr{}, unsupported("function %s", n.FnName.O)
}

// cutsConstant tells whether a constant of one type beside a column of another may
// be put into the column's type.
func cutsConstant(k, column Type) bool {
	switch k.Class {
	case StringClass:
		return column.Class == IntClass && column.Bits == 64 || isTemporal(column)
	case DoubleClass, DecimalClass:
		return column.Class == IntClass
	}
	return false
}
