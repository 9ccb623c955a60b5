package pgsql

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// literal writes a literal of either of the parser's drivers.
func (p *printer) literal(e ast.ValueExpr) term {
	switch v := e.GetValue().(type) {
	case nil:
		return term{"NULL", bindPrimary, null}
	case int64:
		if e.GetType().GetFlag()&mysql.IsBooleanFlag == 0 {
			return numeric(strconv.FormatInt(v, 10))
		}
		if v != 0 {
			return term{sqlTrue, bindPrimary, boolean}
		}
		return term{sqlFalse, bindPrimary, boolean}
	case uint64:
		return numeric(strconv.FormatUint(v, 10))
	case float32:
		return p.double(float64(v), 32)
	case float64:
		return p.double(v, 64)
	case string:
		return p.textOf(v, e.GetType().GetCharset())
	case []byte:
		return p.textOf(string(v), e.GetType().GetCharset())
	case fmt.Stringer:
		// TiDB's binary literals have a String method too: tell by the kind.
		if reflect.ValueOf(v).Kind() != reflect.Slice {
			return numeric(v.String())
		}
	}
	return term{sql: p.no("a hexadecimal or bit literal")}
}

func numeric(sql string) term {
	if strings.HasPrefix(sql, "-") {
		return term{sql, bindSign, number}
	}
	return term{sql, bindPrimary, number}
}

// double casts a number with an exponent, which is exact in PostgreSQL.
func (p *printer) double(f float64, size int) term {
	t := numeric(strconv.FormatFloat(f, 'e', -1, size))
	return term{t.in(bindPrimary) + "::double precision", bindCast, value}
}

func (p *printer) textOf(s, charset string) term {
	p.not(charset == "binary", "a string of bytes")
	return term{p.str(s), bindPrimary, text}
}

var leadingNumber = regexp.MustCompile(`^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

// truthOfText returns what a string means as a condition: whether the number that it begins with
// is another than 0.
func truthOfText(e ast.ExprNode) term {
	s := stmt.Bare(e).(ast.ValueExpr).GetString()
	if f, _ := strconv.ParseFloat(strings.TrimSpace(leadingNumber.FindString(s)), 64); f != 0 {
		return term{sqlTrue, bindPrimary, boolean}
	}
	return term{sqlFalse, bindPrimary, boolean}
}
