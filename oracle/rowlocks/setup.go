package rowlocks

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// table is what has to be known of a table. Names are in small letters.
type table struct {
	// primary holds the columns of its primary key; nil: it has none, or one of expressions.
	primary []string
	// number says that the primary key is one column of whole numbers.
	number bool
	// unique holds the columns of its unique keys. Unless plain, there may be others, or an UPDATE changes columns that
	// it does not name.
	unique []string
	plain  bool
}

// setUp is what a case makes before its sessions begin.
type setUp struct {
	tables map[string]*table
	// refers says that there are foreign keys: then a write may lock rows of any table.
	refers bool
}

// setUpOf reads the set-up of a case; ok is false if something acts that no statement names: a trigger, a view, a
// function.
func setUpOf(c *corpus.Case) (s setUp, ok bool) {
	s.tables = map[string]*table{}
	for _, l := range c.Init {
		switch n := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			if n.Select != nil || n.ReferTable != nil || n.Partition != nil {
				return s, false
			}
			s.tables[n.Table.Name.L] = tableOf(n)
			s.refers = s.refers || len(stmt.References(n)) > 0
		case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		case *stmt.RawStmt:
			if !n.Defines() {
				return s, false
			}
			s.refers = s.refers || slices.Contains(n.Words(), "references")
			for _, name := range slices.Concat(n.Reads, n.Writes) {
				if t := s.tables[name.Name.L]; t != nil {
					t.plain = false
				}
			}
		default:
			return s, false
		}
	}
	return s, true
}

func tableOf(n *ast.CreateTableStmt) *table {
	t := &table{primary: stmt.PrimaryKey(n), unique: slices.Concat(stmt.UniqueKeys(n)...)}
	t.plain = !slices.ContainsFunc(n.Cols, func(c *ast.ColumnDef) bool {
		return slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool {
			return o.Tp == ast.ColumnOptionGenerated || o.Tp == ast.ColumnOptionOnUpdate
		})
	}) && !slices.ContainsFunc(n.Constraints, func(k *ast.Constraint) bool {
		return (k.Tp == ast.ConstraintPrimaryKey || stmt.IsUnique(k)) && stmt.KeyColumns(k.Keys) == nil
	})
	t.number = len(t.primary) == 1 && slices.ContainsFunc(n.Cols, func(c *ast.ColumnDef) bool {
		return c.Name.Name.L == t.primary[0] && pm.IsIntegerType(c.Tp.GetType())
	})
	return t
}
