package plainsql

import (
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// table is what is known of one.
type table struct {
	columns []column
	// unique holds the indexes of the columns of each unique key.
	unique [][]int
	// fixed says that rows of the table are only read here: what else a write of it does is not known.
	fixed bool
}

type column struct {
	name string // in lower case
	kind kind
	// least and most bound a number, in units of 10 to the power of -scale, most the characters of a text.
	least, most int64
	scale       int
	required    bool // NOT NULL
	// fallback is the value of a column that an INSERT leaves out; nil: none is known.
	fallback *value
}

type kind uint8

const (
	opaque kind = iota // of which only whether it is NULL is known
	number
	text
)

// numbers holds the bounds of the types whose columns are numbers. What is written in the corpus as TINYINT is a
// smallint of PostgreSQL; its narrower bounds do for both.
var numbers = map[byte][2]int64{
	mysql.TypeTiny:     {math.MinInt8, math.MaxInt8},
	mysql.TypeShort:    {math.MinInt16, math.MaxInt16},
	mysql.TypeInt24:    {-1 << 23, 1<<23 - 1},
	mysql.TypeLong:     {math.MinInt32, math.MaxInt32},
	mysql.TypeLonglong: {math.MinInt64, math.MaxInt64},
}

// small says that a column's numbers are of a type that arithmetic does not leave.
func (c *column) small() bool { return c.kind == number && c.scale == 0 && c.most <= math.MaxInt16 }

// changing holds the first words of statements behind which a table may be another one.
var changing = []string{
	"create", "alter", "drop", "truncate", "reindex", "cluster", "refresh", "vacuum", "comment", "grant",
}

// schemaOf reads the tables of a case; nil if something of its set-up or steps may do more than statements say.
func schemaOf(c *corpus.Case) map[string]*table {
	tables := map[string]*table{}
	foreign := false
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			t := tableOf(s)
			if t == nil || tables[s.Table.Name.L] != nil {
				return nil
			}
			foreign = foreign || len(stmt.References(s)) > 0
			tables[s.Table.Name.L] = t
		case *ast.InsertStmt:
		case *ast.CreateIndexStmt:
			if t := tables[s.Table.Name.L]; t != nil {
				t.fixed = t.fixed || s.KeyType == ast.IndexKeyTypeUnique || stmt.KeyColumns(s.IndexPartSpecifications) == nil
			}
		default:
			return nil
		}
	}
	for _, l := range c.Steps {
		switch s := l.Stmt.(type) {
		case ast.DDLNode:
			return nil
		case *stmt.RawStmt:
			if words := s.Words(); len(words) == 0 || slices.Contains(changing, words[0]) {
				return nil
			}
		}
	}
	if foreign {
		for _, t := range tables {
			t.fixed = true
		}
	}
	return tables
}

func tableOf(s *ast.CreateTableStmt) *table {
	if s.ReferTable != nil || s.Select != nil || s.Partition != nil || s.TemporaryKeyword != ast.TemporaryNone {
		return nil
	}
	t := &table{}
	for _, def := range s.Cols {
		t.columns = append(t.columns, t.columnOf(def))
	}
	for _, c := range s.Constraints {
		switch {
		case c.Tp == ast.ConstraintPrimaryKey, stmt.IsUnique(c), c.Tp == ast.ConstraintIndex, c.Tp == ast.ConstraintKey:
			t.fixed = t.fixed || stmt.KeyColumns(c.Keys) == nil
		default:
			t.fixed = true
		}
	}
	for _, key := range stmt.UniqueKeys(s) {
		var at []int
		for _, name := range key {
			i := t.column(name)
			if i < 0 {
				return nil
			}
			at = append(at, i)
		}
		t.unique = append(t.unique, at)
	}
	for _, name := range stmt.PrimaryKey(s) {
		t.columns[t.column(name)].required = true
	}
	return t
}

// columnOf reads a column; what it is not known to be makes its table fixed.
func (t *table) columnOf(def *ast.ColumnDef) column {
	c := column{name: def.Name.Name.L, fallback: &value{null: true}}
	bounds, numeric := numbers[def.Tp.GetType()]
	switch {
	case numeric && !mysql.HasUnsignedFlag(def.Tp.GetFlag()):
		c.kind, c.least, c.most = number, bounds[0], bounds[1]
	case def.Tp.GetType() == mysql.TypeNewDecimal && !mysql.HasUnsignedFlag(def.Tp.GetFlag()) &&
		def.Tp.GetDecimal() > 0 && def.Tp.GetDecimal() <= mostScale && def.Tp.GetFlen() <= mostDigits:
		c.kind, c.scale, c.most = number, def.Tp.GetDecimal(), int64(math.Pow10(def.Tp.GetFlen()))-1
		c.least = -c.most
	case def.Tp.GetType() == mysql.TypeVarchar && def.Tp.GetCharset() != "binary":
		c.kind, c.most = text, int64(def.Tp.GetFlen())
	}
	for _, o := range def.Options {
		switch o.Tp {
		case ast.ColumnOptionNotNull, ast.ColumnOptionPrimaryKey:
			c.required = true
		case ast.ColumnOptionNull, ast.ColumnOptionUniqKey, ast.ColumnOptionComment:
		case ast.ColumnOptionDefaultValue:
			c.fallback = nil
			if v, ok := literal(o.Expr); ok {
				c.fallback = &v
			}
		default:
			t.fixed = true
		}
	}
	return c
}

func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
}
