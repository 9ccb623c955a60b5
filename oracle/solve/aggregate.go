package solve

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// aggregate is one aggregate function of a query.
type aggregate struct {
	name     string
	arg      expr
	typ      Type
	distinct bool
	cmp      comparator
	// unseen says that a COUNT does not evaluate its argument, unsure that it may
	// not.
	unseen, unsure bool
	// rounds says that the sum is printed without what is behind its point.
	rounds bool
	exact  func(*frame) sqlvalue.Value
	double func(*frame) (float64, bool)
}

// aggregate compiles COUNT, MIN, MAX, SUM or AVG; its value is read from the
// frame while a group is emitted.
// https://dev.mysql.com/doc/refman/9.7/en/aggregate-functions.html
func (c *compiler) aggregate(n *ast.AggregateFuncExpr) (expr, error) {
	list := c.scope.aggs
	if list == nil {
		return expr{}, &SQLError{1111, "Invalid use of group function"}
	}
	if len(n.Args) != 1 || n.Order != nil {
		return expr{}, unsupported("aggregate of several arguments")
	}
	c.scope.aggs = nil
	arg, err := c.expr(n.Args[0])
	c.scope.aggs = list
	if err != nil {
		return expr{}, err
	}
	switch name := lower(n.F); {
	case name == ast.AggFuncCount:
	case arg.number != nil:
		return expr{}, unsupported("%s of a hexadecimal literal", n.F)
	case arg.typ.Class == BitClass || arg.typ.Class == FloatClass || isMember(arg.typ):
		return expr{}, unsupported("%s of a BIT, FLOAT, ENUM or SET", n.F)
	case arg.typ.Class == YearClass && name != ast.AggFuncMin && name != ast.AggFuncMax:
		arg = c.numbered(arg)
	}
	a := aggregate{name: lower(n.F), arg: arg, distinct: n.Distinct}
	switch a.name {
	case ast.AggFuncCount:
		a.typ = bigInt
		if c.d.is(countsUnseen) && !n.Distinct {
			null := c.nullness(n.Args[0])
			a.unseen, a.unsure = null == neverNull, null == nullUnknown
		}
	case ast.AggFuncMin, ast.AggFuncMax:
		if arg.readDay {
			// MariaDB answers 0000-00-00 where none is a date.
			return expr{}, unsupported("MIN or MAX of a date out of a number or text")
		}
		if arg.fromBits {
			return expr{}, unsupported("BIT out of a branch in a temporary table")
		}
		a.typ = arg.typ
	case ast.AggFuncSum, ast.AggFuncAvg:
		if isTemporal(arg.typ) {
			return expr{}, unsupported("sum of dates or times")
		}
		if arg.notNumber {
			return expr{}, unsupported("number of a branch between text and others")
		}
		a.typ = double
		if isExact(arg.typ) || arg.typ.Class == NullClass {
			a.typ = Type{Class: DecimalClass, Scale: arg.typ.Scale, Prec: arg.typ.Prec + 22}
			a.exact = c.exact(arg)
			if a.name == ast.AggFuncAvg && n.Distinct && !arg.column && c.d.is(divisionKeepsWords) {
				return expr{}, unsupported("AVG(DISTINCT) of a computed decimal")
			}
			if a.name == ast.AggFuncAvg {
				a.typ.Scale = min(a.typ.Scale+divPrecision, c.d.maxScale())
			}
		} else {
			if a.name == ast.AggFuncAvg {
				return expr{}, unsupported("AVG of a double or string")
			}
			a.typ = computedDouble(arg)
			a.double, a.rounds = c.double(arg), arg.castText && c.d.is(castTextRounds)
		}
	default:
		return expr{}, unsupported("aggregate %s", n.F)
	}
	if a.cmp, err = c.comparison(arg, arg); err != nil {
		return expr{}, err
	}
	at := len(*list)
	*list = append(*list, a)
	return expr{typ: a.typ, eval: func(f *frame) sqlvalue.Value { return f.aggs[at] }}, nil
}

// collect computes the aggregates of one group into the frame.
func (q *query) collect(f *frame, rows []Row) {
	f.aggs = make([]sqlvalue.Value, len(q.aggs))
	for i := range q.aggs {
		f.aggs[i] = q.aggs[i].over(f, rows)
	}
}

func (a *aggregate) over(f *frame, rows []Row) sqlvalue.Value {
	if a.unseen {
		return sqlvalue.NewInt(int64(len(rows)))
	}
	var vals []sqlvalue.Value
next:
	for _, r := range rows {
		f.row = r
		v := a.arg.eval(f)
		if f.err != nil {
			if a.unsure && isSQL(f.err) {
				f.err = &Unsupported{"error in COUNT"}
			}
			return v
		}
		if v.IsNull() {
			continue
		}
		if a.distinct {
			for _, o := range vals {
				if a.cmp(f, v, o) == 0 {
					continue next
				}
			}
		}
		vals = append(vals, v)
	}
	if a.name == ast.AggFuncCount {
		return sqlvalue.NewInt(int64(len(vals)))
	}
	if len(vals) == 0 {
		return sqlvalue.Value{}
	}
	switch a.name {
	case ast.AggFuncMin, ast.AggFuncMax:
		best := vals[0]
		for _, v := range vals[1:] {
			r := a.cmp(f, v, best)
			if r == 0 && v != best {
				return f.refuse("MIN or MAX between equal values of different text")
			}
			if (r < 0) == (a.name == ast.AggFuncMin) && r != 0 {
				best = v
			}
		}
		return best
	}
	if a.exact == nil {
		sum := 0.0
		g := frame{strictWrite: f.strictWrite}
		for _, v := range vals {
			x := v.ToDouble()
			if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
				n := sqlvalue.NumericPrefix(v.Str())
				x, _ = n.Double()
				if n.Rest {
					g.truncated("DOUBLE", v.Str())
				}
			}
			sum += x
		}
		f.warnings += g.warnings
		if g.err != nil {
			f.err = g.err
		}
		if len(vals) > 2 && sum != float64(int64(sum)) {
			return f.refuse("sum of doubles in unknown order")
		}
		if a.rounds && sum != math.Trunc(sum) {
			return f.refuse("fraction in a sum of CAST AS CHAR")
		}
		return f.finite(sum)
	}
	sum := vals[0].ToDecimal()
	for _, v := range vals[1:] {
		sum = sqlvalue.AddExact(sum, v.ToDecimal())
	}
	if a.name == ast.AggFuncAvg {
		n := sqlvalue.NewInt(int64(len(vals)))
		return sqlvalue.DivTrunc(sum, n, quotientDigits(sum.Scale(), 0)).Rescale(a.typ.Scale)
	}
	return sum
}

// groups splits rows by GROUP BY in order of first appearance and emits each.
func (q *query) groups(f *frame, rows []Row, emit func()) {
	type group struct {
		keys []sqlvalue.Value
		rows []Row
	}
	var gs []*group
next:
	for _, r := range rows {
		f.row = r
		keys := make([]sqlvalue.Value, len(q.group))
		for i := range q.group {
			keys[i] = q.group[i].eval(f)
		}
		for _, g := range gs {
			equal := true
			for i := range keys {
				equal = equal && cmpNullFirst(f, q.group[i].cmp, keys[i], g.keys[i]) == 0
			}
			if equal {
				if !same(keys, g.keys) {
					f.refuse("GROUP BY between equal values of different text")
				}
				g.rows = append(g.rows, r)
				continue next
			}
		}
		gs = append(gs, &group{keys, []Row{r}})
	}
	for _, g := range gs {
		q.collect(f, g.rows)
		// Every row of a group gives the same items: see onlyGrouped.
		f.row = g.rows[0]
		emit()
		if f.err != nil {
			return
		}
	}
}
