package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// printDialects says how statements are written for each family.
var printDialects = map[history.DBMS]corpus.Dialect{
	history.TiDB: corpus.TiDB, history.MySQL: corpus.MySQL, history.MariaDB: corpus.MariaDB,
}

// Case compares each statement of a case alone, on the tables as its set-up
// makes them.
func (c *Checker) Case(ctx context.Context, cs *corpus.Case) error {
	d := printDialects[c.server.DBMS]
	type content struct{ create, inserts []string }
	tables := map[string]*content{}
	var order []string
	for _, l := range cs.Init {
		sql := corpus.SQL(l.Stmt, d)
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			order = append(order, s.Table.Name.L)
			tables[s.Table.Name.L] = &content{create: []string{sql}}
		case *ast.InsertStmt:
			name, err := target(s.Table)
			if err != nil {
				return err
			}
			tables[name].inserts = append(tables[name].inserts, sql)
		}
	}
	for _, name := range order {
		t := tables[name]
		if err := c.Fill(ctx, name, t.create[0], t.inserts...); err != nil {
			if c.refused(err) {
				return nil
			}
			return err
		}
	}
	for _, l := range cs.Steps {
		if err := c.line(ctx, corpus.SQL(l.Stmt, d), l.Stmt); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) line(ctx context.Context, sql string, stmt ast.StmtNode) error {
	var refs *ast.TableRefsClause
	switch s := stmt.(type) {
	case *ast.SelectStmt:
		if s.LockInfo != nil && s.LockInfo.LockType == ast.SelectLockForShare && c.server.DBMS == history.TiDB {
			return nil // an error unless the server is told otherwise
		}
		return c.Query(ctx, sql)
	case *ast.UpdateStmt:
		refs = s.TableRefs
	case *ast.DeleteStmt:
		refs = s.TableRefs
	case *ast.InsertStmt:
		refs = s.Table
	default:
		return nil
	}
	name, err := target(refs)
	if err != nil {
		return err
	}
	return c.Write(ctx, name, sql)
}

func target(refs *ast.TableRefsClause) (string, error) {
	if src, ok := refs.TableRefs.Left.(*ast.TableSource); ok {
		if name, ok := src.Source.(*ast.TableName); ok {
			return name.Name.L, nil
		}
	}
	return "", fmt.Errorf("read the target table: %w", errors.ErrUnsupported)
}
