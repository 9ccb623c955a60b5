package pgsql

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// aggregates are those that both have, by MySQL's names.
var aggregates = []string{"count", "sum", "min", "max", "avg"}

func (p *printer) aggregate(n *ast.AggregateFuncExpr) term {
	name := strings.ToLower(n.F)
	if !slices.Contains(aggregates, name) || n.Order != nil {
		return term{sql: p.no("the function " + strings.ToUpper(n.F))}
	}
	p.groups = true
	p.not(len(n.Args) != 1, "the number of different values of several columns")
	return term{strings.ToUpper(name) + "(" + p.aggregated(name, n.Args, n.Distinct) + ")", bindPrimary, value}
}

// aggregated writes what a function is of; COUNT(*) is one of the literal 1.
func (p *printer) aggregated(name string, args []ast.ExprNode, distinct bool) string {
	if distinct {
		return "DISTINCT " + p.values(args)
	}
	if name == "count" && len(args) == 1 && atLeast(args[0], 1) {
		return "*"
	}
	return p.values(args)
}

var windowFunctions = []string{
	"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
	"nth_value",
}

func (p *printer) window(n *ast.WindowFuncExpr) term {
	p.groups = true
	name := strings.ToLower(n.Name)
	known := slices.Contains(windowFunctions, name) || slices.Contains(aggregates, name)
	p.not(!known, "the function "+strings.ToUpper(name))
	p.not(n.IgnoreNull || n.FromLast || n.Distinct, "this form of a window function")
	sql := strings.ToUpper(name) + "(" + p.aggregated(name, n.Args, false) + ") OVER " + p.windowSpec(&n.Spec)
	return term{sql, bindPrimary, value}
}

// windowSpec writes what stands behind OVER, or behind a name and AS.
func (p *printer) windowSpec(s *ast.WindowSpec) string {
	if s.OnlyAlias {
		return quoted(s.Name.O)
	}
	var parts []string
	if s.Ref.O != "" {
		parts = append(parts, quoted(s.Ref.O))
	}
	if s.PartitionBy != nil {
		parts = append(parts, "PARTITION BY "+p.items(s.PartitionBy.Items, inWindow))
	}
	if s.OrderBy != nil {
		parts = append(parts, "ORDER BY "+p.items(s.OrderBy.Items, inWindow|ordering))
	}
	if f := s.Frame; f != nil {
		kind := map[ast.FrameType]string{ast.Rows: "ROWS", ast.Ranges: "RANGE"}[f.Type]
		p.not(kind == "", "this frame of a window")
		parts = append(parts, kind+" BETWEEN "+p.bound(&f.Extent.Start)+" AND "+p.bound(&f.Extent.End))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (p *printer) bound(b *ast.FrameBound) string {
	p.not(b.Unit != ast.TimeUnitInvalid, "an INTERVAL of this kind")
	if b.Type == ast.CurrentRow {
		return "CURRENT ROW"
	}
	from := "UNBOUNDED"
	if !b.UnBounded {
		from = p.value(b.Expr, bindAny)
	}
	if b.Type == ast.Preceding {
		return from + " PRECEDING"
	}
	return from + " FOLLOWING"
}
