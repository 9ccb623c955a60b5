package reduce

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// origin is the table column that a name stands for; empty for a name that
// stands for an expression, or for nothing known.
type origin struct{ table, column string }

// source is one item of a FROM clause, seen through its name.
type source struct {
	name string
	// table is the table behind a plain table source.
	table   string
	columns map[string]origin
	// open says that the columns cannot be told, so any name may be one.
	open bool
}

// scope is what column names are looked up in, innermost first.
type scope struct {
	sources []source
	aliases map[string]bool
	// shared says that a join makes equal names one (USING, NATURAL).
	shared bool
	parent *scope
}

// binder walks a statement and says what each name stands for. It follows SQL
// scoping: inner queries first, then outward; derived tables hand the origin of
// their columns on.
type binder struct {
	schema *schema
	scope  *scope
	owners []ast.Node
	ctes   map[string]bool
	// column is called with what a column name stands for, and a fault or "".
	column func(n *ast.ColumnName, o origin, fault string)
	// table is called for each name of a real table.
	table func(n *ast.TableName)
	// clash, if not nil, is called for a FROM clause with two equal names.
	clash func(name string)
	// wildcard is called for each T.*, with the table behind T or "".
	wildcard func(n *ast.WildCardField, table string)
}

func bind(n ast.Node, b *binder) {
	b.ctes = map[string]bool{}
	n.Accept(b)
}

func (b *binder) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.CommonTableExpression:
		b.ctes[n.Name.L] = true
	case *ast.SelectStmt:
		b.push(n, b.sourcesOf(n.From), aliasesOf(n.Fields), n.From)
	case *ast.UpdateStmt:
		b.push(n, b.sourcesOf(n.TableRefs), nil, n.TableRefs)
	case *ast.DeleteStmt:
		b.push(n, b.sourcesOf(n.TableRefs), nil, n.TableRefs)
	case *ast.InsertStmt:
		b.push(n, b.sourcesOf(n.Table), nil, nil)
	case *ast.CreateTableStmt:
		b.push(n, []source{b.plain(n.Table.Name.L, "")}, nil, nil)
	case *ast.CreateIndexStmt:
		b.push(n, []source{b.plain(n.Table.Name.L, "")}, nil, nil)
	case *ast.ReferenceDef:
		if n.Table != nil {
			b.push(n, []source{b.plain(n.Table.Name.L, "")}, nil, nil)
		}
	case *ast.TableName:
		if !b.ctes[n.Name.L] && b.table != nil {
			b.table(n)
		}
	case *ast.WildCardField:
		if b.wildcard != nil && n.Table.L != "" {
			b.wildcard(n, b.sourceTable(n.Table.L))
		}
	case *ast.ColumnName:
		o, fault := b.resolve(n)
		if b.column != nil {
			b.column(n, o, fault)
		}
	}
	return n, false
}

func (b *binder) Leave(n ast.Node) (ast.Node, bool) {
	if k := len(b.owners); k > 0 && b.owners[k-1] == n {
		b.owners = b.owners[:k-1]
		b.scope = b.scope.parent
	}
	return n, true
}

func (b *binder) push(owner ast.Node, sources []source, aliases map[string]bool, from *ast.TableRefsClause) {
	for i, s := range sources {
		for _, t := range sources[:i] {
			if b.clash != nil && s.name == t.name {
				b.clash(s.name)
			}
		}
	}
	b.owners = append(b.owners, owner)
	b.scope = &scope{
		sources: sources,
		aliases: aliases,
		shared:  from != nil && sharesNames(from.TableRefs),
		parent:  b.scope,
	}
}

func sharesNames(n ast.ResultSetNode) bool {
	j, ok := n.(*ast.Join)
	return ok && j != nil && (j.NaturalJoin || len(j.Using) > 0 || sharesNames(j.Left) || sharesNames(j.Right))
}

func aliasesOf(f *ast.FieldList) map[string]bool {
	if f == nil {
		return nil
	}
	out := map[string]bool{}
	for _, x := range f.Fields {
		if x.AsName.L != "" {
			out[x.AsName.L] = true
		}
	}
	return out
}

// plain is the source of a table under its own name or an alias.
func (b *binder) plain(table, alias string) source {
	s := source{name: table, table: table}
	if alias != "" {
		s.name = alias
	}
	t := b.schema.byName[table]
	if t == nil || b.ctes[table] {
		s.open = true
		return s
	}
	s.columns = make(map[string]origin, len(t.columns))
	for _, c := range t.columns {
		s.columns[c.name] = origin{table, c.name}
	}
	return s
}

func (b *binder) sourcesOf(from *ast.TableRefsClause) []source {
	if from == nil {
		return nil
	}
	return b.joined(from.TableRefs, nil)
}

func (b *binder) joined(n ast.ResultSetNode, out []source) []source {
	switch n := n.(type) {
	case *ast.Join:
		if n == nil {
			return out
		}
		out = b.joined(n.Left, out)
		if n.Right != nil {
			out = b.joined(n.Right, out)
		}
	case *ast.TableSource:
		switch s := n.Source.(type) {
		case *ast.TableName:
			out = append(out, b.plain(s.Name.L, n.AsName.L))
		case *ast.SelectStmt:
			out = append(out, b.derived(s, n.AsName.L))
		case *ast.Join:
			out = b.joined(s, out)
		default:
			out = append(out, source{name: n.AsName.L, open: true})
		}
	}
	return out
}

// derived is the source that a query in a FROM clause makes.
func (b *binder) derived(n *ast.SelectStmt, name string) source {
	out := source{name: name, columns: map[string]origin{}}
	if n.Fields == nil {
		out.open = true
		return out
	}
	inner := &scope{sources: b.sourcesOf(n.From)}
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil {
			for _, s := range inner.sources {
				if f.WildCard.Table.L != "" && f.WildCard.Table.L != s.name {
					continue
				}
				out.open = out.open || s.open
				for k, o := range s.columns {
					out.columns[k] = o
				}
			}
			continue
		}
		var o origin
		c, isColumn := f.Expr.(*ast.ColumnNameExpr)
		if isColumn {
			o, _, _ = inner.find(c.Name.Table.L, c.Name.Name.L)
		}
		switch {
		case f.AsName.L != "":
			// An alias hides the column's own name, so renaming stops here.
			out.columns[f.AsName.L] = origin{}
		case isColumn:
			out.columns[c.Name.Name.L] = o
		default:
			out.open = true
		}
	}
	return out
}

// find looks a name up in one scope. hits counts the sources that have it.
func (s *scope) find(qualifier, name string) (o origin, hits int, open bool) {
	for _, src := range s.sources {
		if qualifier != "" && qualifier != src.name {
			continue
		}
		if found, ok := src.columns[name]; ok {
			o = found
			hits++
		}
		open = open || src.open
	}
	return o, hits, open
}

// resolve says what a column name stands for.
func (b *binder) resolve(n *ast.ColumnName) (origin, string) {
	for s := b.scope; s != nil; s = s.parent {
		o, hits, open := s.find(n.Table.L, n.Name.L)
		switch {
		case hits > 1 && !s.shared:
			return origin{}, "ambiguous column " + n.Name.L
		case hits > 0:
			return o, ""
		case open, n.Table.L == "" && s.aliases[n.Name.L]:
			return origin{}, ""
		}
	}
	return origin{}, "unknown column " + n.Table.L + "." + n.Name.L
}

// sourceTable returns the table behind a source's own name, "" for an alias or
// a derived table.
func (b *binder) sourceTable(name string) string {
	for s := b.scope; s != nil; s = s.parent {
		for _, src := range s.sources {
			if src.name == name {
				if src.table == name {
					return name
				}
				return ""
			}
		}
	}
	return ""
}
