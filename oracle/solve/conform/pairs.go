package conform

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// pairColumns is a table with a column of each type, the second of a pair of
// operands among them too.
var pairColumns = func() []column {
	names := map[string]bool{
		"ti": true, "iu": true, "b": true, "bu": true, "d": true, "f": true, "v": true, "ch": true, "tx": true, "vb": true, "bl": true,
		"en": true, "st": true, "bi": true, "y": true, "fl": true, "da": true, "dt": true, "ts": true, "tm": true, "bn": true,
	}
	var out []column
	for _, set := range [][]column{columns, stringColumns, otherColumns} {
		for _, c := range set {
			if names[c.name] {
				names[c.name] = false
				out = append(out, c)
			}
		}
	}
	return out
}()

// pairForms holds each operator of two operands, and the functions that compare.
var pairForms = []struct{ name, form string }{
	{"+", "(%s + %s)"}, {"-", "(%s - %s)"}, {"*", "(%s * %s)"}, {"/", "(%s / %s)"}, {"DIV", "(%s DIV %s)"}, {"%", "(%s %% %s)"},
	{"=", "(%s = %s)"}, {"<", "(%s < %s)"}, {">", "(%s > %s)"}, {"<=", "(%s <= %s)"}, {">=", "(%s >= %s)"}, {"<>", "(%s <> %s)"}, {"<=>", "(%s <=> %s)"},
	{"AND", "(%s AND %s)"}, {"OR", "(%s OR %s)"}, {"XOR", "(%s XOR %s)"},
	{"&", "(%s & %s)"}, {"|", "(%s | %s)"}, {"^", "(%s ^ %s)"}, {"<<", "(%s << %s)"}, {">>", "(%s >> %s)"},
	{"LIKE", "(%s LIKE %s)"}, {"IN", "(%s IN (%s, NULL))"}, {"IN", "(%s IN (%s))"},
	{"BETWEEN", "(%s BETWEEN %s AND NULL)"}, {"BETWEEN", "(%s BETWEEN %[2]s AND %[2]s)"},
	{"IF", "IF(ti, %s, %s)"}, {"IFNULL", "IFNULL(%s, %s)"}, {"NULLIF", "NULLIF(%s, %s)"}, {"COALESCE", "COALESCE(%s, %s)"}, {"CASE", "CASE WHEN ti THEN %s ELSE %s END"},
	{"CONCAT", "CONCAT(%s, %s)"}, {"GREATEST", "GREATEST(%s, %s)"},
}

// Pairs evaluates each operator on each pair of column types, NULL and the ends
// of the types' ranges among the values, rounds times on fresh tables. The
// report's Pairs counts the evaluations.
func Pairs(ctx context.Context, c *Checker, seed uint64, rounds int) error {
	c.label = map[string]string{}
	if c.Report.Pairs == nil {
		c.Report.Pairs, c.Report.PairsRefused = map[string]int{}, map[string]int{}
	}
	var list []string
	for _, f := range pairForms {
		for _, a := range pairColumns {
			for _, b := range pairColumns {
				e := fmt.Sprintf(f.form, a.name, b.name)
				list = append(list, e)
				c.label[e] = fmt.Sprintf("%s: %s, %s", f.name, a.decl, b.decl)
			}
		}
	}
	defer func() { c.label = nil }()
	for round := range uint64(rounds) {
		g := NewGenerator(seed + round)
		g.cols = pairColumns
		if err := c.Fill(ctx, tableName, g.Create(tableName, ""), g.Insert(tableName, 14)); err != nil {
			return err
		}
		if err := c.Exprs(ctx, tableName, list); err != nil {
			return err
		}
	}
	return nil
}

// PairCoverage tells how many operators on pairs of types were compared at least
// atLeast times, how many less often, and which operators were refused on how
// many pairs, the most first.
func (r *Report) PairCoverage(atLeast int) (enough, few int, refused []string) {
	for _, n := range r.Pairs {
		if n >= atLeast {
			enough++
		} else {
			few++
		}
	}
	ops := map[string]int{}
	for p := range r.PairsRefused {
		if r.Pairs[p] > 0 {
			continue
		}
		for i := range p {
			if p[i] == ':' {
				ops[p[:i]]++
				break
			}
		}
	}
	for op := range ops {
		refused = append(refused, op)
	}
	sort.Slice(refused, func(i, j int) bool {
		a, b := refused[i], refused[j]
		return ops[a] > ops[b] || ops[a] == ops[b] && a < b
	})
	for i, op := range refused {
		refused[i] = fmt.Sprintf("%s %d", op, ops[op])
	}
	return enough, few, refused
}

// RarestOperand returns the operator and type, on whichever side, that were compared
// least often, and how often.
func (r *Report) RarestOperand() (name string, times int) {
	sum := map[string]int{}
	for p, n := range r.Pairs {
		op, types, _ := strings.Cut(p, ": ")
		a, b := cutTypes(types)
		sum[op+" of "+a] += n
		if a != b {
			sum[op+" of "+b] += n
		}
	}
	for s, n := range sum {
		if name == "" || n < times || n == times && s < name {
			name, times = s, n
		}
	}
	return name, times
}

// cutTypes splits "a, b"; a type may hold commas in parentheses.
func cutTypes(s string) (a, b string) {
	depth := 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return s[:i], s[i+2:]
		}
	}
	return s, ""
}

// ShortPairs lists the operators on pairs of types that were compared less than
// atLeast times, with how often they were.
func (r *Report) ShortPairs(atLeast int) []string {
	var out []string
	for _, of := range []map[string]int{r.Pairs, r.PairsRefused} {
		for p := range of {
			if n := r.Pairs[p]; n < atLeast {
				out = append(out, fmt.Sprintf("%s: %d", p, n))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
