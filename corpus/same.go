package corpus

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// differentMeaning compares two trees up to parentheses, texts and positions. It
// returns "" or the path of the first difference.
func differentMeaning(a, b ast.Node) string {
	if (stmt.KindOf(a) == stmt.BeginSnapshot) != (stmt.KindOf(b) == stmt.BeginSnapshot) {
		return "WITH CONSISTENT SNAPSHOT"
	}
	return differs("", reflect.ValueOf(a), reflect.ValueOf(b))
}

// passed holds the fields that say where something stood, or what the parser
// or a planner found out about it.
var passed = map[string]bool{"Offset": true, "ExplicitParens": true, "IsInBraces": true, "ConsumerCount": true}

// nullOrder tells ORDER BY a from ORDER BY a ASC, which are one and the same. Of
// GROUP BY they are not: MySQL refuses the second, MariaDB sorts by it.
const nullOrder = "NullOrder"

// foldedCase holds the fields with names of functions and hints.
var foldedCase = map[string]bool{"FuncCallExpr.FnName": true, "AggregateFuncExpr.F": true, "WindowFuncExpr.Name": true, "TableOptimizerHint.HintName": true}

func lower(v reflect.Value) reflect.Value {
	switch x := v.Interface().(type) {
	case model.CIStr:
		return reflect.ValueOf(x.L)
	case string:
		return reflect.ValueOf(strings.ToLower(x))
	}
	return v
}

func differs(path string, a, b reflect.Value) string {
	a, b = bare(a), bare(b)
	if a.IsValid() != b.IsValid() {
		return path
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return path
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return where(empty(a) == empty(b), path)
		}
		switch x := a.Interface().(type) {
		case ast.ValueExpr:
			return where(sameLiteral(x, b.Interface().(ast.ValueExpr)), path)
		case *types.FieldType:
			return where(x.Equal(b.Interface().(*types.FieldType)), path)
		}
		return differs(path, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return path
		}
		for i := range a.Len() {
			if p := differs(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); p != "" {
				return p
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if !f.IsExported() || passed[f.Name] || f.Name == nullOrder && !strings.Contains(path, ".GroupBy") {
				continue
			}
			x, y := a.Field(i), b.Field(i)
			if foldedCase[a.Type().Name()+"."+f.Name] {
				x, y = lower(x), lower(y)
			}
			if p := differs(path+"."+f.Name, x, y); p != "" {
				return p
			}
		}
		return ""
	case reflect.Map, reflect.Func, reflect.Chan:
		return where(a.IsNil() == b.IsNil(), path)
	default:
		return where(a.Equal(b), path)
	}
}

// empty reports whether a pointer says nothing: options of an index that are all left at
// their defaults, as by LOCAL or an empty COMMENT, are not printed.
func empty(p reflect.Value) bool {
	if p.IsNil() {
		return true
	}
	o, ok := p.Interface().(*ast.IndexOption)
	return ok && o.IsEmpty()
}

func where(same bool, path string) string {
	if same {
		return ""
	}
	return path
}

// bare looks through interfaces, parentheses, and joins of a single table.
func bare(v reflect.Value) reflect.Value {
	for {
		switch {
		case v.Kind() == reflect.Interface:
			v = v.Elem()
		case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() == reflect.TypeFor[*ast.ParenthesesExpr]():
			v = v.Elem().FieldByName("Expr").Elem()
		case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() == reflect.TypeFor[*ast.Join]() && v.Interface().(*ast.Join).Right == nil:
			v = v.Elem().FieldByName("Left").Elem()
		default:
			return v
		}
	}
}

func sameLiteral(a, b ast.ValueExpr) bool {
	return LiteralOf(a) == LiteralOf(b) &&
		a.GetType().GetCharset() == b.GetType().GetCharset() &&
		a.GetType().GetFlag()&mysql.IsBooleanFlag == b.GetType().GetFlag()&mysql.IsBooleanFlag
}
