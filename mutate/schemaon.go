package mutate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// On returns what of the tables can be made on a family of servers, and says what is left out. On PostgreSQL that is what
// its words say; and no sequence gives values there, since no session can choose the next one.
func (s *Schema) On(dbms history.DBMS) (on *Schema, left []string) {
	if dbms != history.PostgreSQL {
		return s, nil
	}
	var creates []*ast.CreateTableStmt
	var counted []string
	for _, t := range s.tables {
		c := *t.create
		if uncounted(&c) {
			counted = append(counted, c.Table.Name.O)
		}
		all := c.Constraints
		c.Constraints = nil
		if why := unsaid(&c); why != "" {
			left = append(left, fmt.Sprintf("table %s: %s", c.Table.Name.O, why))
			continue
		}
		for _, x := range all {
			c.Constraints = append(c.Constraints, x)
			if why := unsaid(&c); why != "" {
				c.Constraints = c.Constraints[:len(c.Constraints)-1]
				left = append(left, fmt.Sprintf("a key or constraint of table %s: %s", c.Table.Name.O, why))
			}
		}
		creates = append(creates, &c)
	}
	if len(counted) > 0 {
		left = append(left, "what sequences give to columns of "+spelling.Some(counted))
	}
	on, more := NewSchema(creates)
	return on, append(left, more...)
}

// uncounted gives a table a copy of its columns of which none counts, and reports whether one did.
func uncounted(c *ast.CreateTableStmt) (counted bool) {
	c.Cols = slices.Clone(c.Cols)
	for i, d := range c.Cols {
		d := *d
		d.Options = slices.DeleteFunc(slices.Clone(d.Options), func(o *ast.ColumnOption) bool {
			if o.Tp != ast.ColumnOptionAutoIncrement {
				return false
			}
			counted = true
			return true
		})
		c.Cols[i] = &d
	}
	return counted
}

// unsaid says for what of a table PostgreSQL has no words, "" for nothing.
func unsaid(c *ast.CreateTableStmt) string {
	_, err := corpus.Format(c, corpus.PostgreSQL)
	var e *pgsql.UnsayableError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Error()
	}
	return err.Error()
}
