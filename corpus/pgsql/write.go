package pgsql

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

func (p *printer) insert(s *ast.InsertStmt) string {
	p.hints(s.TableHints)
	p.not(s.IsReplace, "REPLACE")
	p.not(len(s.OnDuplicate) > 0, "ON DUPLICATE KEY UPDATE")
	p.not(len(s.PartitionNames) > 0, "a name with PARTITION")
	sql := "INSERT INTO " + p.from(s.Table.TableRefs)
	if len(s.Columns) > 0 {
		sql += " (" + p.columns(s.Columns) + ")"
	}
	switch {
	case s.Select != nil:
		sql += " " + p.query(s.Select)
	case len(s.Lists) == 1 && len(s.Lists[0]) == 0:
		sql += " DEFAULT VALUES"
	default:
		rows := make([]string, len(s.Lists))
		p.read = nil
		for i, list := range s.Lists {
			p.not(len(list) == 0, "several rows of defaults")
			rows[i] = "(" + p.values(list) + ")"
		}
		p.not(len(p.read) > 0, "VALUES that read columns")
		sql += " VALUES " + strings.Join(rows, ", ")
	}
	if s.IgnoreErr {
		sql += " ON CONFLICT DO NOTHING"
	}
	return sql
}

func (p *printer) update(s *ast.UpdateStmt) string {
	p.hints(s.TableHints)
	p.not(s.IgnoreErr, "UPDATE IGNORE")
	p.not(s.Order != nil || s.Limit != nil, "UPDATE with ORDER BY or LIMIT")
	tables, on := p.flat(s.TableRefs.TableRefs)
	target := ""
	if len(tables) == 1 {
		target = nameOf(tables[0])
	}
	var set []string
	var before []string
	for _, a := range s.List {
		if len(tables) > 1 {
			p.not(a.Column.Table.L == "", "UPDATE of several tables whose SET does not name the table")
			p.not(target != "" && target != a.Column.Table.L, "UPDATE that changes several tables")
			target = a.Column.Table.L
		}
		// MySQL assigns one after the other, and the later ones see what the earlier ones did.
		p.read = nil
		set = append(set, quoted(a.Column.Name.O)+" = "+p.value(a.Expr, bindAny))
		again := slices.ContainsFunc(p.read, func(c string) bool { return slices.Contains(before, c) })
		p.not(again, "SET that reads what it has set")
		before = append(before, a.Column.Name.L)
	}
	own, others := p.split(tables, target)
	sql := p.with(s.With) + "UPDATE " + own + " SET " + strings.Join(set, ", ")
	if others != "" {
		sql += " FROM " + others
	}
	return sql + p.joined(on, s.Where)
}

func (p *printer) delete(s *ast.DeleteStmt) string {
	p.hints(s.TableHints)
	p.not(s.IgnoreErr, "DELETE IGNORE")
	p.not(s.Order != nil || s.Limit != nil, "DELETE with ORDER BY or LIMIT")
	tables, on := p.flat(s.TableRefs.TableRefs)
	target := ""
	switch {
	case s.IsMultiTable && len(s.Tables.Tables) != 1:
		p.no("DELETE from several tables")
	case s.IsMultiTable:
		p.table(s.Tables.Tables[0])
		target = s.Tables.Tables[0].Name.L
	case len(tables) == 1:
		target = nameOf(tables[0])
	}
	own, others := p.split(tables, target)
	sql := p.with(s.With) + "DELETE FROM " + own
	if others != "" {
		sql += " USING " + others
	}
	return sql + p.joined(on, s.Where)
}

// flat returns the tables of inner joins, and what joins them.
func (p *printer) flat(n ast.ResultSetNode) (tables []*ast.TableSource, on []ast.ExprNode) {
	switch r := n.(type) {
	case *ast.TableSource:
		if inner, ok := r.Source.(*ast.Join); ok {
			return p.flat(inner)
		}
		return []*ast.TableSource{r}, nil
	case *ast.Join:
		if r.Right == nil {
			return p.flat(r.Left)
		}
		p.not(r.Tp != ast.CrossJoin || r.NaturalJoin || len(r.Using) > 0, "a write of such a join")
		tables, on = p.flat(r.Left)
		t, o := p.flat(r.Right)
		tables, on = append(tables, t...), append(on, o...)
		if r.On != nil {
			on = append(on, r.On.Expr)
		}
		return tables, on
	}
	p.no("a write of such a join")
	return nil, nil
}

// nameOf returns the name that a statement gives a table, in lower case.
func nameOf(s *ast.TableSource) string {
	if s.AsName.L != "" {
		return s.AsName.L
	}
	if t, ok := s.Source.(*ast.TableName); ok {
		return t.Name.L
	}
	return ""
}

// split writes the table that is changed, and the others.
func (p *printer) split(tables []*ast.TableSource, target string) (own, others string) {
	var list []string
	for _, t := range tables {
		if own == "" && nameOf(t) == target {
			_, plain := t.Source.(*ast.TableName)
			p.not(!plain, "a write of a derived table")
			own = p.source(t)
			continue
		}
		list = append(list, p.source(t))
	}
	p.not(own == "", "a write of a table that the statement does not name")
	return own, strings.Join(list, ", ")
}

// joined writes WHERE with the conditions of the joins before its own.
func (p *printer) joined(on []ast.ExprNode, where ast.ExprNode) string {
	if where != nil {
		on = append(slices.Clip(on), where)
	}
	if len(on) == 1 {
		return p.where(on[0])
	}
	parts := make([]string, len(on))
	for i, e := range on {
		parts[i] = p.condition(e, bindAnd)
	}
	if len(parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(parts, " AND ")
}
