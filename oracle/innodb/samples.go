package innodb

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// maxSamples bounds the rows on which a condition is tried.
const maxSamples = 2000

// samples returns values of a column that tell apart all ranges that the literals
// of an expression can make of it.
func samples(t *versions.Table, col int, x ast.Node) []sqlvalue.Value {
	def := &t.Def.Columns[col]
	f := &literalFinder{}
	x.Accept(f)
	var out []sqlvalue.Value
	if !def.NotNull {
		out = append(out, sqlvalue.Value{})
	}
	switch def.Type.Class {
	case solve.IntClass:
	case solve.DateClass:
		return append(out, moments(time.DateOnly, f.texts)...)
	case solve.DatetimeClass:
		return append(out, moments(time.DateTime, f.texts)...)
	default:
		for _, s := range append(f.texts, "", "0", "1") {
			out = append(out, sqlvalue.NewString(s), sqlvalue.NewString(s+"a"))
		}
		return out
	}
	f.ints = slices.Grow(f.ints, 17)
	for n := int64(-4); n <= 12; n++ {
		f.ints = append(f.ints, n)
	}
	// Some forty values, in which looking costs less than a map.
	seen := make([]int64, 0, 64)
	out = slices.Grow(out, cap(seen))
	for _, n := range f.ints {
		for _, m := range [...]int64{n - 1, n, n + 1, -n - 1, -n, 1 - n} {
			if !slices.Contains(seen, m) && mvcc.Fits(def.Type, m) {
				seen = append(seen, m)
				out = append(out, intValue(def.Type, m))
			}
		}
	}
	return out
}

// moments returns those of some texts that are written in a layout, and the days
// of one week, which functions of a date tell apart.
func moments(layout string, texts []string) []sqlvalue.Value {
	var out []sqlvalue.Value
	for _, s := range texts {
		if _, err := time.Parse(layout, s); err == nil {
			out = append(out, sqlvalue.NewTemporal(s))
		}
	}
	for d := range 7 {
		out = append(out, sqlvalue.NewTemporal(time.Date(2024, time.February, 26+d, d, 0, 0, 0, time.UTC).Format(layout)))
	}
	return out
}

// noneMatches reports whether a condition is true of none of the rows that the
// literals in it tell apart.
func (e *engine) noneMatches(t *versions.Table, where ast.ExprNode) bool {
	used := mvcc.ColumnsIn(t.Def, where)
	row := make(solve.Row, len(t.Def.Columns))
	values := make([][]sqlvalue.Value, len(row))
	total := 1
	for i := range row {
		if used[i] {
			values[i] = samples(t, i, where)
			total = min(total*len(values[i]), maxSamples*maxSamples)
		}
	}
	views := &innodbViews{e: e}
	for k := range min(total, maxSamples) {
		if total > maxSamples {
			// A stride that is prime to most counts spreads what is tried.
			k *= 7919
		}
		for i, vs := range values {
			if len(vs) > 0 {
				row[i] = vs[k%len(vs)]
				k /= len(vs)
			}
		}
		truth, _, err := e.Solver.Where(where, t.Def, row, views)
		if err != nil && errors.As(err, new(*solve.Unsupported)) {
			continue // this row tells nothing
		}
		if err != nil || truth == sqlvalue.True {
			return false
		}
	}
	return true
}

// literalFinder collects the integers in expressions, and the texts.
type literalFinder struct {
	ints  []int64
	texts []string
}

func (f *literalFinder) Enter(n ast.Node) (ast.Node, bool) {
	v, ok := n.(ast.ValueExpr)
	if !ok {
		return n, false
	}
	switch k := v.GetValue().(type) {
	case int64:
		f.ints = append(f.ints, k)
	case uint64:
		f.ints = append(f.ints, int64(min(k, math.MaxInt64)))
	case string:
		f.texts = append(f.texts, k)
		if d, err := strconv.ParseFloat(k, 64); err == nil && math.Abs(d) < 1<<52 {
			f.ints = append(f.ints, int64(d))
		}
	}
	return n, false
}

func (f *literalFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func intValue(t solve.Type, n int64) sqlvalue.Value { return mvcc.AutoValue(t, n) }
