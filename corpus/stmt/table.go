package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// SoleSource returns what a FROM clause names if that is one table and nothing else, with
// the name that it is given; else nil.
func SoleSource(from *ast.TableRefsClause) *ast.TableSource {
	if from == nil || from.TableRefs == nil || from.TableRefs.Right != nil {
		return nil
	}
	src, ok := from.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return nil
	}
	if _, ok := src.Source.(*ast.TableName); !ok {
		return nil
	}
	return src
}

// SoleTable returns the table of a FROM clause that names one and nothing else, be it under
// another name; else nil.
func SoleTable(from *ast.TableRefsClause) *ast.TableName {
	src := SoleSource(from)
	if src == nil {
		return nil
	}
	return src.Source.(*ast.TableName)
}
