package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// TakesEqual reports whether a statement, or a query within, gives one row, or value, for several that are equal: by
// DISTINCT, GROUP BY, UNION and the like, MIN or MAX.
func TakesEqual(n ast.Node) bool {
	f := equalFinder{}
	n.Accept(&f)
	return f.takes
}

// NamesLooseType reports whether a statement names a number with a decimal point, or, if it is raw, a type: of some types
// equal values may be written differently, as 1.0 and 1.00, 'a' and 'a ' of CHAR, or 1 day and 24 hours.
func NamesLooseType(n ast.Node) bool {
	f := equalFinder{}
	n.Accept(&f)
	return f.loose
}

type equalFinder struct{ takes, loose bool }

// typeWords stand beside the names of types in a raw statement.
var typeWords = []string{":", "cast", "interval"}

// equalWords are words of a raw statement that make it take one of several equal values.
var equalWords = []string{"distinct", "group", "union", "intersect", "except", "min", "max", "greatest", "least"}

// ofOne says that words are a column twice between parentheses, as those of GREATEST(a, a), which takes the same of both.
func ofOne(words []string) bool {
	return len(words) >= 5 && words[0] == "(" && words[2] == "," && words[4] == ")" && words[1] == words[3] && words[1] != "'"
}

// Enter implements ast.Visitor.
func (f *equalFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *RawStmt:
		words := x.Words()
		for i, w := range words {
			isDistinct := w == "distinct" && i+1 < len(words) && words[i+1] == "from"
			f.takes = f.takes || slices.Contains(equalWords, w) && !isDistinct && !ofOne(words[i+1:])
			f.loose = f.loose || isDigit(w[0]) && strings.Contains(w, ".") || slices.Contains(typeWords, w)
		}
	case *ast.SelectStmt:
		f.takes = f.takes || x.Distinct || x.GroupBy != nil
	case *ast.SetOprStmt:
		f.takes = true
	case *ast.AggregateFuncExpr:
		f.takes = f.takes || x.Distinct || strings.EqualFold(x.F, ast.AggFuncMax) || strings.EqualFold(x.F, ast.AggFuncMin)
	case ast.ValueExpr:
		f.loose = f.loose || x.GetType().GetType() == mysql.TypeNewDecimal
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *equalFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
