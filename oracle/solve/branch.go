package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

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
	if err := c.commonFormsChosen(results); err != nil {
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
