package conform

import (
	"context"
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Exprs compares expressions on each row of a table, many in one query. Where
// a query fails, its expressions run one row at a time.
func (c *Checker) Exprs(ctx context.Context, name string, list []string) error {
	const batch = 40
	t := c.tables[name]
	type pending struct {
		sql  string
		want []string
	}
	var todo []pending
	flush := func() error {
		if len(todo) == 0 {
			return nil
		}
		texts := make([]string, len(todo))
		for i, p := range todo {
			texts[i] = p.sql
		}
		q := "SELECT " + strings.Join(texts, ", ") + " FROM " + name + " ORDER BY id"
		rows, err := c.query(ctx, q)
		if err != nil {
			for _, p := range todo {
				if err := c.byRow(ctx, name, p.sql, p.want); err != nil {
					return err
				}
			}
			todo = todo[:0]
			return nil
		}
		for i, p := range todo {
			c.Report.Compared++
			c.covers(p.sql, len(rows))
			for k := range rows {
				c.Report.Values++
				got, _ := observed([][]history.Cell{{rows[k][i]}}, nil)
				if got != p.want[k] {
					c.differ(p.sql, c.rowText(t, k, p.sql), p.want[k], got)
					break
				}
			}
		}
		todo = todo[:0]
		return nil
	}
	for _, e := range list {
		stmt, err := corpus.ParseStatement("SELECT " + e + " FROM " + name)
		if err != nil {
			return fmt.Errorf("parse %s: %w", e, err)
		}
		want := make([]string, len(t.rows))
		failed, refused := false, false
		for k, row := range t.rows {
			r, err := c.solver.Project(stmt.(*ast.SelectStmt), t.def, []solve.Row{row}, c)
			var rows [][]sqlvalue.Value
			if r != nil {
				rows = r.Rows
			}
			if want[k], err = predicted(rows, err); err != nil {
				refused = c.refused(err)
				if !refused {
					return fmt.Errorf("%s: %w", e, err)
				}
				break
			}
			failed = failed || strings.HasPrefix(want[k], "error")
		}
		switch {
		case refused:
			if l := c.label[e]; l != "" {
				c.Report.PairsRefused[l]++
			}
		case failed:
			if err := c.byRow(ctx, name, e, want); err != nil {
				return err
			}
		default:
			if todo = append(todo, pending{e, want}); len(todo) == batch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

func (c *Checker) byRow(ctx context.Context, name, e string, want []string) error {
	t := c.tables[name]
	c.Report.Compared++
	c.covers(e, len(t.rows))
	for k := range t.rows {
		id, _ := t.rows[k][0].Text()
		got, err := observed(c.query(ctx, "SELECT "+e+" FROM "+name+" WHERE id = "+id))
		if err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		c.Report.Values++
		if got != want[k] {
			c.differ(e, c.rowText(t, k, e), want[k], got)
			return nil
		}
	}
	return nil
}

// covers counts the values of an expression that are compared.
func (c *Checker) covers(e string, n int) {
	if l := c.label[e]; l != "" {
		c.Report.Pairs[l] += n
	}
}

// rowText prints the columns of a row that an expression mentions.
func (c *Checker) rowText(t *table, k int, e string) string {
	var out []string
	for i, col := range t.def.Columns {
		if mentions(e, col.Name) {
			out = append(out, col.Name+"="+show(t.rows[k][i]))
		}
	}
	return strings.Join(out, " ")
}

func mentions(e, name string) bool {
	for i := 0; i+len(name) <= len(e); i++ {
		if e[i:i+len(name)] == name && (i == 0 || !letter(e[i-1])) && (i+len(name) == len(e) || !letter(e[i+len(name)])) {
			return true
		}
	}
	return false
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '\'' || b == '_' || b >= '0' && b <= '9'
}
