package pgsql

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

func (p *printer) cast(n *ast.FuncCastExpr) term {
	if n.FunctionType == ast.CastBinaryOperator {
		return term{sql: p.no("BINARY")}
	}
	if n.Tp.GetType() == mysql.TypeLonglong && mysql.HasUnsignedFlag(n.Tp.GetFlag()) {
		// Of a negative integer it makes one of 64 bits.
		const size = "18446744073709551616"
		return term{"MOD(" + p.castTo(n.Expr, "numeric(20)") + " + " + size + ", " + size + ")", bindPrimary, value}
	}
	return term{p.castTo(n.Expr, p.castType(n.Tp)), bindCast, value}
}

func (p *printer) castType(t *types.FieldType) string {
	p.not(t.IsArray(), "an array of JSON")
	switch t.GetType() {
	case mysql.TypeLonglong:
		return "bigint"
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		p.not(t.GetCharset() == "binary", "CAST to BINARY")
		if n := t.GetFlen(); n != types.UnspecifiedLength {
			return fmt.Sprintf("varchar(%d)", n)
		}
		return "text"
	case mysql.TypeNewDecimal:
		// MySQL has 10 digits and none behind the point where nothing is said.
		return decimalType(t)
	case mysql.TypeDate:
		return "date"
	case mysql.TypeDatetime:
		return timestampType(t)
	case mysql.TypeFloat:
		return "real"
	case mysql.TypeDouble:
		return "double precision"
	}
	return p.no("CAST to " + types.TypeToStr(t.GetType(), t.GetCharset()))
}

// timestampType keeps no part of a second where nothing is said.
func timestampType(t *types.FieldType) string {
	return fmt.Sprintf("timestamp(%d)", max(t.GetDecimal(), 0))
}

func decimalType(t *types.FieldType) string {
	length := t.GetFlen()
	if length == types.UnspecifiedLength || length == 0 {
		length = 10
	}
	return fmt.Sprintf("numeric(%d, %d)", length, max(t.GetDecimal(), 0))
}
