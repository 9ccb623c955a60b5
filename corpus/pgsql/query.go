package pgsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// query writes a SELECT, TABLE, VALUES or UNION without parentheses around.
func (p *printer) query(n ast.Node) string {
	switch s := n.(type) {
	case *ast.SelectStmt:
		return p.selection(s)
	case *ast.SetOprStmt:
		return p.with(s.With) + p.operations(s.SelectList.Selects) + p.tail(s.OrderBy, s.Limit)
	case *ast.SetOprSelectList:
		return p.with(s.With) + p.operations(s.Selects) + p.tail(s.OrderBy, s.Limit)
	}
	return p.no(fmt.Sprintf("a query of the kind %T", n))
}

func (p *printer) operations(parts []ast.Node) string {
	var b strings.Builder
	for i, n := range parts {
		var op *ast.SetOprType
		inner, braces := p.query(n), true
		switch s := n.(type) {
		case *ast.SelectStmt:
			op = s.AfterSetOperator
			p.not(s.LockInfo != nil && s.LockInfo.LockType != ast.SelectLockNone, "locks within a UNION")
			braces = s.OrderBy != nil || s.Limit != nil || s.With != nil
		case *ast.SetOprSelectList:
			op = s.AfterSetOperator
			// Of one query in parentheses the parser makes a list, too.
			braces = len(s.Selects) > 1 || s.With != nil || s.OrderBy != nil || s.Limit != nil || !strings.HasPrefix(inner, "(")
		}
		if i > 0 {
			b.WriteString(" " + op.String() + " ")
		}
		if braces {
			inner = "(" + inner + ")"
		}
		b.WriteString(inner)
	}
	return b.String()
}

func (p *printer) with(w *ast.WithClause) string {
	if w == nil {
		return ""
	}
	list := make([]string, len(w.CTEs))
	for i, c := range w.CTEs {
		columns := ""
		if len(c.ColNameList) > 0 {
			names := make([]string, len(c.ColNameList))
			for j, n := range c.ColNameList {
				names[j] = quoted(n.O)
			}
			columns = " (" + strings.Join(names, ", ") + ")"
		}
		list[i] = quoted(c.Name.O) + columns + " AS (" + p.query(c.Query.Query) + ")"
	}
	recursive := ""
	if w.IsRecursive {
		recursive = "RECURSIVE "
	}
	return "WITH " + recursive + strings.Join(list, ", ") + " "
}

// resultHints are the hints that change what a statement does, rather than how.
var resultHints = []string{"set_var", "max_execution_time", "resource_group", "time_range"}

func (p *printer) hints(list []*ast.TableOptimizerHint) {
	for _, h := range list {
		p.not(slices.Contains(resultHints, h.HintName.L), "the hint "+strings.ToUpper(h.HintName.O))
	}
}

func (p *printer) selection(s *ast.SelectStmt) string {
	p.hints(s.TableHints)
	p.not(s.SelectIntoOpt != nil, "INTO OUTFILE")
	p.not(s.SelectStmtOpts != nil && s.CalcFoundRows, "SQL_CALC_FOUND_ROWS")
	defer func(before bool) { p.groups = before }(p.groups)
	p.groups = false
	var b strings.Builder
	b.WriteString(p.with(s.With))
	switch s.Kind {
	case ast.SelectStmtKindTable:
		b.WriteString("TABLE " + p.from(s.From.TableRefs))
	case ast.SelectStmtKindValues:
		rows := make([]string, len(s.Lists))
		for i, r := range s.Lists {
			rows[i] = "(" + p.values(r.Values) + ")"
		}
		b.WriteString("VALUES " + strings.Join(rows, ", "))
	default:
		b.WriteString("SELECT ")
		if s.Distinct {
			b.WriteString("DISTINCT ")
		}
		versions := p.versions
		p.versions = ""
		fields := make([]string, len(s.Fields.Fields))
		for i, f := range s.Fields.Fields {
			fields[i] = p.field(f)
		}
		switch {
		case p.groups:
			p.versions = versions
		case versions != "":
			fields = append(fields, versions)
		}
		b.WriteString(strings.Join(fields, ", "))
		if s.From != nil {
			b.WriteString(" FROM " + p.from(s.From.TableRefs))
		}
	}
	b.WriteString(p.where(s.Where))
	if s.GroupBy != nil {
		items := p.items(s.GroupBy.Items, 0)
		if s.GroupBy.Rollup {
			items = "ROLLUP (" + items + ")"
		}
		b.WriteString(" GROUP BY " + items)
	}
	if s.Having != nil {
		b.WriteString(" HAVING " + p.condition(s.Having.Expr, bindAny))
	}
	for i := range s.WindowSpecs {
		word := ", "
		if i == 0 {
			word = " WINDOW "
		}
		b.WriteString(word + quoted(s.WindowSpecs[i].Name.O) + " AS " + p.windowSpec(&s.WindowSpecs[i]))
	}
	b.WriteString(p.tail(s.OrderBy, s.Limit))
	b.WriteString(p.lock(s))
	return b.String()
}

func (p *printer) field(f *ast.SelectField) string {
	if w := f.WildCard; w != nil {
		p.not(w.Schema.O != "", "a name with a database")
		if w.Table.O != "" {
			return quoted(w.Table.O) + ".*"
		}
		return "*"
	}
	sql := p.value(f.Expr, bindAny)
	if f.AsName.O != "" {
		sql += " AS " + quoted(f.AsName.O)
	}
	return sql
}

func (p *printer) where(e ast.ExprNode) string {
	if e == nil {
		return ""
	}
	return " WHERE " + p.condition(e, bindAny)
}

func (p *printer) tail(order *ast.OrderByClause, limit *ast.Limit) string {
	sql := ""
	if order != nil {
		if items := p.items(order.Items, ordering); items != "" {
			sql += " ORDER BY " + items
		}
	}
	if limit != nil {
		sql += " LIMIT " + p.value(limit.Count, bindAny)
		if limit.Offset != nil {
			sql += " OFFSET " + p.value(limit.Offset, bindAny)
		}
	}
	return sql
}

// listing says what a list of expressions is for; 0 is GROUP BY.
type listing uint8

const (
	ordering listing = 1 << iota
	// inWindow is a list where numbers are no places in the result.
	inWindow
)

// items writes what is ordered, or grouped, by. MySQL sorts NULL before all values, PostgreSQL
// behind them unless it is told.
func (p *printer) items(list []*ast.ByItem, of listing) string {
	var out []string
	for _, it := range list {
		t := p.term(it.Expr)
		if of&inWindow == 0 && constant(t) {
			p.not(of&ordering == 0, "GROUP BY with a constant")
			continue // it orders nothing, and PostgreSQL refuses it
		}
		t = t.number()
		switch {
		case of&ordering == 0:
			p.not(it.Desc, "GROUP BY with DESC")
		case it.Desc:
			t.sql += " DESC NULLS LAST"
		default:
			t.sql += " NULLS FIRST"
		}
		out = append(out, t.sql)
	}
	return strings.Join(out, ", ")
}

// constant reports whether a term is a literal and no place in the result.
func constant(t term) bool {
	switch t.is {
	case null, text:
		return true
	case boolean:
		return t.sql == sqlTrue || t.sql == sqlFalse
	case number:
		return strings.Trim(t.sql, "0123456789") != ""
	}
	return false
}

// from writes the tables that rows are read of.
func (p *printer) from(n ast.ResultSetNode) string {
	switch r := n.(type) {
	case *ast.Join:
		return p.join(r)
	case *ast.TableSource:
		return p.source(r)
	case *ast.TableName:
		return p.table(r)
	}
	return "(" + p.query(n) + ")"
}

func (p *printer) join(j *ast.Join) string {
	if j.Right == nil {
		return p.from(j.Left)
	}
	left, right := p.from(j.Left), p.from(j.Right)
	if r, ok := j.Right.(*ast.Join); ok && r.Right != nil {
		right = "(" + right + ")"
	}
	word := map[ast.JoinType]string{ast.LeftJoin: "LEFT JOIN", ast.RightJoin: "RIGHT JOIN"}[j.Tp]
	if word == "" {
		word = "JOIN"
	}
	switch {
	case j.NaturalJoin:
		return left + " NATURAL " + word + " " + right
	case j.On != nil:
		return left + " " + word + " " + right + " ON " + p.condition(j.On.Expr, bindAny)
	case len(j.Using) > 0:
		return left + " " + word + " " + right + " USING (" + p.columns(j.Using) + ")"
	}
	return left + " CROSS JOIN " + right
}

func (p *printer) columns(list []*ast.ColumnName) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = quoted(c.Name.O)
	}
	return strings.Join(names, ", ")
}

func (p *printer) source(s *ast.TableSource) string {
	sql := p.from(s.Source)
	if _, ok := s.Source.(*ast.Join); ok {
		sql = "(" + sql + ")"
	}
	if s.AsName.O != "" {
		sql += " AS " + quoted(s.AsName.O)
	}
	return sql
}

// table writes the name of a table. Hints that name indexes change no result.
func (p *printer) table(t *ast.TableName) string {
	p.not(t.Schema.O != "", "a name with a database")
	p.not(len(t.PartitionNames) > 0, "a name with PARTITION")
	p.not(t.AsOf != nil, "AS OF TIMESTAMP")
	p.not(t.TableSample != nil, "TABLESAMPLE of TiDB's own")
	return quoted(t.Name.O)
}

var locks = map[ast.SelectLockType]struct{ mode, wait string }{
	ast.SelectLockForUpdate:           {" FOR UPDATE", ""},
	ast.SelectLockForShare:            {" FOR SHARE", ""},
	ast.SelectLockForUpdateNoWait:     {" FOR UPDATE", " NOWAIT"},
	ast.SelectLockForShareNoWait:      {" FOR SHARE", " NOWAIT"},
	ast.SelectLockForUpdateSkipLocked: {" FOR UPDATE", " SKIP LOCKED"},
	ast.SelectLockForShareSkipLocked:  {" FOR SHARE", " SKIP LOCKED"},
}

// lock writes the locking clause. PostgreSQL has none where a row of the result is not one of
// each table.
func (p *printer) lock(s *ast.SelectStmt) string {
	if s.LockInfo == nil || s.LockInfo.LockType == ast.SelectLockNone {
		return ""
	}
	l, ok := locks[s.LockInfo.LockType]
	p.not(!ok, "FOR UPDATE with a time to wait")
	p.not(s.Distinct || s.GroupBy != nil || s.Having != nil || s.Kind == ast.SelectStmtKindValues || p.groups,
		"locks of a query that makes one row of several")
	of := ""
	if tables := s.LockInfo.Tables; len(tables) > 0 {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = p.table(t)
		}
		of = " OF " + strings.Join(names, ", ")
	} else if s.From != nil {
		p.not(outer(s.From.TableRefs), "locks of the rows of an outer join")
		if names, derived := sources(s.From.TableRefs); derived {
			// MySQL does not lock the rows that a derived table reads, PostgreSQL would.
			if len(names) == 0 {
				return ""
			}
			of = " OF " + strings.Join(names, ", ")
		}
	}
	return l.mode + of + l.wait
}

func outer(n ast.ResultSetNode) bool {
	j, ok := n.(*ast.Join)
	return ok && (j.Right != nil && j.Tp != ast.CrossJoin || outer(j.Left) || outer(j.Right))
}

// sources returns the names of the tables of a FROM clause, and whether it has derived ones, too.
func sources(n ast.ResultSetNode) (names []string, derived bool) {
	switch r := n.(type) {
	case *ast.Join:
		names, derived = sources(r.Left)
		if r.Right != nil {
			more, too := sources(r.Right)
			names, derived = append(names, more...), derived || too
		}
	case *ast.TableSource:
		switch inner := r.Source.(type) {
		case *ast.TableName:
			return []string{quoted(nameOf(r))}, false
		case *ast.Join:
			return sources(inner)
		}
		return nil, true
	}
	return names, derived
}
