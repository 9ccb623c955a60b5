package promise

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// stampsNull says that a statement may write NULL into a column of the type TIMESTAMP that has none: it then holds the time
// of the statement. MySQL does so where explicit_defaults_for_timestamp is off, MariaDB always.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp
// https://dev.mysql.com/doc/refman/en/server-system-variables.html#sysvar_explicit_defaults_for_timestamp
func (j *judge) stampsNull(n ast.StmtNode) bool {
	if j.h.Server.DBMS != history.MySQL && j.h.Server.DBMS != history.MariaDB {
		return false
	}
	switch s := n.(type) {
	case *ast.InsertStmt:
		def := j.target(s.Table)
		if def == nil || len(s.OnDuplicate) > 0 && j.assignsStamp(def, s.OnDuplicate) {
			return def != nil
		}
		for _, list := range s.Lists {
			for i, v := range list {
				if stamped := givenTo(def, s.Columns, i); stamped && !isValue(v) {
					return true
				}
			}
		}
		return s.Select != nil && slices.ContainsFunc(def.Cols, stamped)
	case *ast.UpdateStmt:
		for _, def := range j.defs {
			if j.assignsStamp(def, s.List) {
				return true
			}
		}
	case *stmt.RawStmt:
		for _, t := range s.Writes {
			if def := j.defs[t.Name.L]; def != nil && slices.ContainsFunc(def.Cols, stamped) {
				return true
			}
		}
	}
	return false
}

// target is the definition of the table that an INSERT names.
func (j *judge) target(refs *ast.TableRefsClause) *ast.CreateTableStmt {
	if name := stmt.SoleTable(refs); name != nil {
		return j.defs[name.Name.L]
	}
	return nil
}

// givenTo says that the i-th value of a row of an INSERT is for a column that holds the time in place of NULL.
func givenTo(def *ast.CreateTableStmt, columns []*ast.ColumnName, i int) bool {
	if columns == nil {
		return i < len(def.Cols) && stamped(def.Cols[i])
	}
	return i < len(columns) && slices.ContainsFunc(def.Cols, func(d *ast.ColumnDef) bool {
		return d.Name.Name.L == columns[i].Name.L && stamped(d)
	})
}

// assignsStamp says that an assignment may give NULL to such a column of a table.
func (j *judge) assignsStamp(def *ast.CreateTableStmt, list []*ast.Assignment) bool {
	return slices.ContainsFunc(list, func(a *ast.Assignment) bool {
		return !isValue(a.Expr) && slices.ContainsFunc(def.Cols, func(d *ast.ColumnDef) bool {
			return d.Name.Name.L == a.Column.Name.L && stamped(d)
		})
	})
}

// stamped says that a column is a TIMESTAMP that is not told to take NULL: before MariaDB 10.10 it takes none then, either.
func stamped(d *ast.ColumnDef) bool {
	return d.Tp.GetType() == pm.TypeTimestamp && !slices.ContainsFunc(d.Options, func(o *ast.ColumnOption) bool {
		return o.Tp == ast.ColumnOptionNull
	})
}

// isValue says that an expression is a literal, and not NULL.
func isValue(e ast.ExprNode) bool {
	v, ok := e.(ast.ValueExpr)
	return ok && v.GetValue() != nil
}
