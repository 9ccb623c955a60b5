package solve

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

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
		if err := c.commonFormsChosen(args[1:]); err != nil {
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
		if err := c.commonForms(args); err != nil {
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
