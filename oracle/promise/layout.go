package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// definitions are the tables of a case as the server or, where that was not asked, the set-up
// defines them, by name in small letters.
func definitions(c *corpus.Case, h *history.History) map[string]*ast.CreateTableStmt {
	out := map[string]*ast.CreateTableStmt{}
	for _, l := range c.Init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok && s.ReferTable == nil {
			out[s.Table.Name.L] = s
		}
	}
	for _, t := range h.Initial {
		if t.Create == "" {
			continue
		}
		n, err := corpus.ParseStatement(t.Create)
		if s, ok := n.(*ast.CreateTableStmt); ok && err == nil {
			out[strings.ToLower(t.Name)] = s
		}
	}
	return out
}

// layoutOf reads the keys off the definitions. A table whose definition cannot be read has none.
func layoutOf(defs map[string]*ast.CreateTableStmt, h *history.History) (layout, error) {
	var l layout
	for _, t := range h.Initial {
		sh := shape{name: t.Name, columns: t.Columns}
		if def := defs[strings.ToLower(t.Name)]; def != nil {
			for _, name := range stmt.PrimaryKey(def) {
				i := slices.IndexFunc(t.Columns, func(c string) bool { return strings.EqualFold(c, name) })
				if i < 0 {
					return nil, unjudgedError("a table whose key is not among its columns")
				}
				sh.key = append(sh.key, i)
			}
		}
		l = append(l, sh)
	}
	return l, nil
}

// has says that a column, whose name is in small letters, has an option.
func has(def *ast.CreateTableStmt, column string, option ast.ColumnOptionType) bool {
	return slices.ContainsFunc(def.Cols, func(c *ast.ColumnDef) bool {
		return c.Name.Name.L == column &&
			slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool { return o.Tp == option })
	})
}

// foreignKey is one that a table declares, in indexes of columns.
type foreignKey struct {
	child, parent     int // indexes of tables
	columns, referred []int
}

func (l layout) table(name string) int {
	return slices.IndexFunc(l, func(sh shape) bool { return strings.EqualFold(sh.name, name) })
}

func (sh *shape) indexes(names []*ast.IndexPartSpecification) (out []int) {
	for _, n := range names {
		if n.Column == nil {
			return nil
		}
		i := slices.IndexFunc(sh.columns, func(c string) bool { return strings.EqualFold(c, n.Column.Name.O) })
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// integers says that keys are columns of whole numbers.
func integers(def *ast.CreateTableStmt, keys []*ast.IndexPartSpecification) bool {
	return !slices.ContainsFunc(keys, func(k *ast.IndexPartSpecification) bool {
		return k.Column == nil || !wholeNumbers(def, k.Column.Name.L)
	})
}

// wholeNumbers says that a column, whose name is in small letters, holds whole numbers, which are equal if and
// only if their texts are.
func wholeNumbers(def *ast.CreateTableStmt, column string) bool {
	return slices.ContainsFunc(def.Cols, func(c *ast.ColumnDef) bool {
		return c.Name.Name.L == column && pm.IsIntegerType(c.Tp.GetType()) && !pm.HasZerofillFlag(c.Tp.GetFlag())
	})
}

// foreignKeys returns those of all tables that can be read, of whole numbers. A REFERENCES behind a column is none on
// MySQL before 9.0, so those are left out.
func foreignKeys(l layout, defs map[string]*ast.CreateTableStmt) (out []foreignKey) {
	for i := range l {
		def := defs[strings.ToLower(l[i].name)]
		if def == nil {
			continue
		}
		for _, k := range def.Constraints {
			if k.Tp != ast.ConstraintForeignKey || k.Refer == nil {
				continue
			}
			p := l.table(k.Refer.Table.Name.O)
			if p < 0 {
				continue
			}
			f := foreignKey{child: i, parent: p, columns: l[i].indexes(k.Keys), referred: l[p].indexes(k.Refer.IndexPartSpecifications)}
			parent := defs[strings.ToLower(l[p].name)]
			if len(f.columns) > 0 && len(f.columns) == len(f.referred) && parent != nil &&
				integers(def, k.Keys) && integers(parent, k.Refer.IndexPartSpecifications) {
				out = append(out, f)
			}
		}
	}
	return out
}
