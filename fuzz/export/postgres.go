package export

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// postgresTypes are the column types that PostgreSQL has under another name, or
// under the same with a meaning near enough to hold a case's values. Types that
// are missing have none.
// https://www.postgresql.org/docs/current/datatype.html
var postgresTypes = map[byte]string{
	mysql.TypeTiny: "SMALLINT", mysql.TypeShort: "SMALLINT", mysql.TypeInt24: "INT", mysql.TypeLong: "INT", mysql.TypeLonglong: "BIGINT",
	mysql.TypeFloat: "REAL", mysql.TypeDouble: "DOUBLE PRECISION", mysql.TypeNewDecimal: "DECIMAL",
	mysql.TypeDate: "DATE", mysql.TypeDuration: "INTERVAL", mysql.TypeDatetime: "TIMESTAMP", mysql.TypeTimestamp: "TIMESTAMPTZ", mysql.TypeYear: "SMALLINT",
	mysql.TypeVarchar: "VARCHAR", mysql.TypeString: "CHAR",
	mysql.TypeBlob: "TEXT", mysql.TypeTinyBlob: "TEXT", mysql.TypeMediumBlob: "TEXT", mysql.TypeLongBlob: "TEXT",
}

// wider hold the values of the unsigned types.
var wider = map[string]string{"SMALLINT": "INT", "INT": "BIGINT", "BIGINT": "DECIMAL(20)"}

// postgres writes a statement for PostgreSQL, as one or several, or says why that
// cannot be.
func postgres(stmt ast.StmtNode) ([]string, error) {
	if create, ok := stmt.(*ast.CreateTableStmt); ok {
		return postgresTable(create)
	}
	v := &unparsable{}
	stmt.Accept(v)
	if v.what != "" {
		return nil, fmt.Errorf("PostgreSQL does not know %s: %s", v.what, corpus.SQL(stmt, corpus.Text))
	}
	sql := respell(corpus.SQL(stmt, corpus.MySQL))
	for _, r := range [][2]string{
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "BEGIN"},
		{"SET SESSION TRANSACTION ISOLATION LEVEL", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL"},
	} {
		if rest, ok := strings.CutPrefix(sql, r[0]); ok {
			sql = r[1] + rest
		}
	}
	return []string{sql}, nil
}

// unparsable finds the first part of a statement that PostgreSQL's parser refuses.
type unparsable struct{ what string }

func (v *unparsable) Enter(n ast.Node) (ast.Node, bool) {
	say := func(bad bool, what string) {
		if bad && v.what == "" {
			v.what = what
		}
	}
	switch x := n.(type) {
	case *stmt.RawStmt:
		say(true, "a raw statement")
	case *ast.InsertStmt:
		say(x.IsReplace, "REPLACE")
		say(x.IgnoreErr, "INSERT IGNORE")
		say(len(x.OnDuplicate) > 0, "ON DUPLICATE KEY UPDATE")
		say(len(x.Lists) == 1 && len(x.Lists[0]) == 0, "VALUES ()")
	case *ast.UpdateStmt:
		say(x.Order != nil || x.Limit != nil, "UPDATE with ORDER BY or LIMIT")
		say(x.IgnoreErr, "UPDATE IGNORE")
	case *ast.DeleteStmt:
		say(x.Order != nil || x.Limit != nil, "DELETE with ORDER BY or LIMIT")
		say(x.IsMultiTable || x.IgnoreErr, "DELETE of several tables or with IGNORE")
	case *ast.Limit:
		say(x.Offset != nil, "LIMIT with two numbers")
	case *ast.TableName:
		say(len(x.IndexHints) > 0, "an index hint")
	case *ast.BinaryOperationExpr:
		say(x.Op == opcode.IntDiv || x.Op == opcode.LogicXor || x.Op == opcode.NullEQ, "the operator "+x.Op.String())
	case *ast.FuncCastExpr:
		say(x.FunctionType != ast.CastFunction, "BINARY and CONVERT")
		say(x.Tp.EvalType() == types.ETInt, "CAST to SIGNED and UNSIGNED")
	case *ast.PatternRegexpExpr:
		say(true, "REGEXP")
	case *ast.TimeUnitExpr:
		say(true, "an INTERVAL without quotes")
	case *ast.SetStmt:
		for _, a := range x.Variables {
			say(!strings.HasPrefix(strings.ToLower(a.Name), "tx_") && !strings.HasPrefix(strings.ToLower(a.Name), "transaction_"), "the variable "+a.Name)
		}
	}
	return n, v.what != ""
}

func (v *unparsable) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// postgresTable writes a table and its indexes.
func postgresTable(t *ast.CreateTableStmt) ([]string, error) {
	name := quotePostgres(t.Table.Name.O)
	if t.Select != nil || t.Partition != nil {
		return nil, fmt.Errorf("table %s: partitions and CREATE TABLE … SELECT are not written for PostgreSQL", name)
	}
	var parts, indexes []string
	for _, c := range t.Cols {
		column, err := postgresColumn(c)
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s: %w", name, c.Name.Name.O, err)
		}
		parts = append(parts, column)
	}
	for i, c := range t.Constraints {
		var keys []string
		for _, k := range c.Keys {
			if k.Expr != nil {
				return nil, fmt.Errorf("table %s: keys of expressions are not written for PostgreSQL", name)
			}
			keys = append(keys, quotePostgres(k.Column.Name.O))
		}
		list := "(" + strings.Join(keys, ", ") + ")"
		switch c.Tp {
		case ast.ConstraintPrimaryKey:
			parts = append(parts, "PRIMARY KEY "+list)
		case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
			parts = append(parts, "UNIQUE "+list)
		case ast.ConstraintKey, ast.ConstraintIndex:
			indexes = append(indexes, fmt.Sprintf("CREATE INDEX %s_%d ON %s %s", strings.Trim(name, `"`), i+1, name, list))
		default:
			return nil, fmt.Errorf("table %s: this sort of constraint is not written for PostgreSQL", name)
		}
	}
	return append([]string{"CREATE TABLE " + name + " (" + strings.Join(parts, ", ") + ")"}, indexes...), nil
}

func postgresColumn(c *ast.ColumnDef) (string, error) {
	kind, ok := postgresTypes[c.Tp.GetType()]
	if !ok {
		return "", fmt.Errorf("PostgreSQL has no type %s", c.Tp)
	}
	binary := c.Tp.GetCharset() == "binary"
	switch {
	case binary && (kind == "TEXT" || kind == "VARCHAR" || kind == "CHAR"):
		kind = "BYTEA"
	case kind == "VARCHAR" || kind == "CHAR":
		if n := c.Tp.GetFlen(); n != types.UnspecifiedLength && n > 0 {
			kind += fmt.Sprintf("(%d)", n)
		}
	case kind == "DECIMAL":
		if n := c.Tp.GetFlen(); n != types.UnspecifiedLength && n > 0 {
			kind += fmt.Sprintf("(%d, %d)", n, max(c.Tp.GetDecimal(), 0))
		}
	}
	if w, ok := wider[kind]; ok && mysql.HasUnsignedFlag(c.Tp.GetFlag()) {
		kind = w
	}
	out := quotePostgres(c.Name.Name.O) + " " + kind
	for _, o := range c.Options {
		switch o.Tp {
		case ast.ColumnOptionPrimaryKey:
			out += " PRIMARY KEY"
		case ast.ColumnOptionUniqKey:
			out += " UNIQUE"
		case ast.ColumnOptionNotNull:
			out += " NOT NULL"
		case ast.ColumnOptionNull:
		case ast.ColumnOptionAutoIncrement:
			out += " GENERATED BY DEFAULT AS IDENTITY"
		case ast.ColumnOptionDefaultValue:
			out += " DEFAULT " + respell(restored(o.Expr))
		case ast.ColumnOptionComment, ast.ColumnOptionCollate:
		default:
			return "", fmt.Errorf("an option of the column is not written for PostgreSQL")
		}
	}
	return out, nil
}

// restored prints an expression.
func restored(n ast.Node) string {
	var b strings.Builder
	flags := format.RestoreStringSingleQuotes | format.RestoreStringWithoutDefaultCharset | format.RestoreKeyWordUppercase | format.RestoreNameBackQuotes
	if err := n.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return "NULL"
	}
	return b.String()
}

func quotePostgres(name string) string {
	return respell("`" + strings.ReplaceAll(name, "`", "``") + "`")
}

// respell turns MySQL's quotes around names, and its escapes in strings, into
// PostgreSQL's. Names are folded to lower case, as both treat those of columns.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html
func respell(sql string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		q := sql[i]
		if q != '\'' && q != '`' {
			b.WriteByte(q)
			i++
			continue
		}
		end, escaped := i+1, false
		for end < len(sql) && sql[end] != q {
			if sql[end] == '\\' && q == '\'' {
				escaped = true
				end++
			}
			end++
			if end < len(sql)-1 && sql[end] == q && sql[end+1] == q {
				end += 2
			}
		}
		end = min(end, len(sql)-1)
		inner := sql[i+1 : end]
		switch {
		case q == '`':
			b.WriteString(`"` + strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(inner, "``", "`")), `"`, `""`) + `"`)
		case escaped:
			b.WriteString("E'" + inner + "'")
		default:
			b.WriteString("'" + inner + "'")
		}
		i = end + 1
	}
	return b.String()
}
