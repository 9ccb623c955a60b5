package solve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Table is the definition of one table.
type Table struct {
	Name    string
	Columns []Column
	Keys    []Key
	// Given holds what the set-up may have stored in FLOAT columns.
	Given Floats
	// Made says by what of the definition the server alone knows which row a write makes,
	// such as a generated column; empty: by nothing.
	Made   string
	byName map[string]int
}

// leavesRows refuses to make a row where the server alone knows which one it is.
func (t *Table) leavesRows() error {
	if t.Made == "" {
		return nil
	}
	return unsupported("a row made beside %s", t.Made)
}

// Column is one column of a table.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
	// Auto says AUTO_INCREMENT.
	Auto bool
	// HasDefault says that a missing value is Default; a nullable column has
	// the default NULL. Without it a missing value is error 1364 in strict mode.
	HasDefault bool
	Default    sqlvalue.Value
}

// Key is one index of a table.
type Key struct {
	Name    string
	Primary bool
	Unique  bool
	// Columns holds indexes into Table.Columns, in the key's order.
	Columns []int
	// Prefix holds the number of leading characters that each column is
	// indexed with, 0 for all.
	Prefix []int
	// Desc holds whether each column is indexed in descending order. MariaDB
	// before 10.8 and TiDB read the word and ignore it.
	// https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes/descending-indexes
	Desc []bool
	// nullable says that a column might hold NULL when the server put the keys into
	// their order: the columns of a PRIMARY KEY that is declared behind might.
	nullable bool
	// ofColumn says that it is declared with its column, and not as a part of the table.
	ofColumn bool
}

// ColumnIndex returns the position of a column by name (case-insensitive), or -1.
func (t *Table) ColumnIndex(name string) int {
	if i, ok := t.byName[lower(name)]; ok {
		return i
	}
	return -1
}

// inKey tells whether a key holds the column at position i.
func (t *Table) inKey(i int) bool {
	return slices.ContainsFunc(t.Keys, func(k Key) bool { return slices.Contains(k.Columns, i) })
}

// NewTable reads the definition of a table. It fails with *Unsupported where
// the definition holds something that the solver cannot compute with, and with
// *SQLError where the server refuses it.
func NewTable(stmt *ast.CreateTableStmt, d Dialect) (*Table, error) {
	t, err := asDefined(stmt, d)
	if err == nil {
		slices.SortStableFunc(t.Keys, func(a, b Key) int { return t.place(&a, d) - t.place(&b, d) })
	}
	return t, err
}

// asDefined reads a definition; the keys keep its order.
func asDefined(stmt *ast.CreateTableStmt, d Dialect) (*Table, error) {
	if stmt.Select != nil || stmt.ReferTable != nil || stmt.Partition != nil {
		return nil, unsupported("CREATE TABLE from another table, or partitioned")
	}
	t := &Table{Name: stmt.Table.Name.O, byName: map[string]int{}}
	collation, charset := unknownCollation, "utf8mb4"
	collated := false
	for _, o := range stmt.Options {
		switch o.Tp {
		case ast.TableOptionCollate:
			collation, collated = collationOf(o.StrValue), true
		case ast.TableOptionCharset:
			charset = lower(o.StrValue)
		default:
			if !harmlessOptions[o.Tp] {
				return nil, unsupported("a table option beside ENGINE, AUTO_INCREMENT, COLLATE, COMMENT and those of storage")
			}
		}
	}
	switch {
	case collated:
	case charset == "utf8mb4":
		collation = d.Database
	default:
		collation = charsetCollation(charset, d)
	}
	for i, def := range stmt.Cols {
		text, unknown := textCollation(def, collation, d)
		typ, err := columnType(def.Tp, text, unknown)
		if typ.Class == FloatClass && d.DBMS != history.TiDB {
			typ.Digits = floatDigits
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", def.Name.Name.O, err)
		}
		if _, twice := t.byName[def.Name.Name.L]; twice {
			return nil, &SQLError{1060, fmt.Sprintf("Duplicate column name '%s'", def.Name.Name.O)}
		}
		t.byName[def.Name.Name.L] = i
		if typ.Class == JSONClass {
			t.Made = "a JSON column"
		}
		t.Columns = append(t.Columns, Column{Name: def.Name.Name.O, Type: typ})
		if err := t.columnOptions(i, def.Options, d); err != nil {
			return nil, fmt.Errorf("column %s: %w", def.Name.Name.O, err)
		}
	}
	for _, con := range stmt.Constraints {
		if err := t.constraint(con, d); err != nil {
			return nil, err
		}
	}
	for ki := range t.Keys {
		k := &t.Keys[ki]
		if k.Primary {
			for _, i := range k.Columns {
				t.Columns[i].NotNull = true
				if t.Columns[i].HasDefault && t.Columns[i].Default.IsNull() {
					t.Columns[i].HasDefault = false
				}
			}
		}
		k.nullable = slices.ContainsFunc(k.Columns, func(i int) bool { return !t.Columns[i].NotNull })
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.NotNull && !c.HasDefault {
			c.HasDefault = true
		}
	}
	return t, nil
}

// place says where a key comes among those of its table, which decides what a row that
// is in the way of several of them is found by: the primary key first, then the UNIQUE
// keys without columns that may be NULL, then the other ones; of two that are alike in
// that, one of a column's first characters comes behind. TiDB looks for the row's handle
// before it looks at any index, and at those in the order of the definition, but puts those
// that are declared with a column behind the others.
// https://github.com/pingcap/tidb/blob/v8.1.0/pkg/ddl/ddl_api.go (buildColumnsAndConstraints)
// https://dev.mysql.com/doc/refman/en/create-table.html (PRIMARY KEY "is placed first,
// followed by all UNIQUE indexes, and then the nonunique indexes")
func (t *Table) place(k *Key, d Dialect) int {
	switch {
	case k.Primary:
		return 0
	case d.DBMS == history.TiDB && k.ofColumn:
		return 2
	case d.DBMS == history.TiDB:
		return 1
	case !k.Unique:
		return 5
	}
	place := 1
	if k.nullable {
		place += 2
	}
	if t.Partial(k) {
		place++
	}
	return place
}

// Partial reports whether a part of a key holds only a column's first characters.
func (t *Table) Partial(k *Key) bool {
	for i, c := range k.Columns {
		if n := k.Prefix[i]; n > 0 && (t.Columns[c].Type.Blob || n < t.Columns[c].Type.Length) {
			return true
		}
	}
	return false
}

func (t *Table) columnOptions(i int, opts []*ast.ColumnOption, d Dialect) error {
	c := &t.Columns[i]
	if d.DBMS != history.TiDB {
		// It may hold NULL then; only what is missing or 0 is generated.
		// https://dev.mysql.com/doc/refman/9.7/en/example-auto-increment.html
		defer func() {
			null := slices.ContainsFunc(opts, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionNull })
			c.NotNull = c.NotNull && !(c.Auto && null)
		}()
	}
	for _, o := range opts {
		switch o.Tp {
		case ast.ColumnOptionPrimaryKey:
			c.NotNull = true
			k := Key{Name: "PRIMARY", Unique: true, Columns: []int{i}, Prefix: []int{0}, Desc: []bool{false}}
			k.Primary = !d.secondary(o.PrimaryKeyTp)
			t.Keys = append(t.Keys, k)
		case ast.ColumnOptionUniqKey:
			t.Keys = append(t.Keys, Key{Name: c.Name, Unique: true, Columns: []int{i}, Prefix: []int{0}, Desc: []bool{false}, ofColumn: true})
		case ast.ColumnOptionNotNull:
			c.NotNull = true
		case ast.ColumnOptionNull:
		case ast.ColumnOptionAutoIncrement:
			c.Auto, c.NotNull = true, true
		case ast.ColumnOptionComment:
		case ast.ColumnOptionCollate: // of the type
		case ast.ColumnOptionDefaultValue:
			if err := c.setDefault(o.Expr, d); err != nil {
				var u *Unsupported
				if !errors.As(err, &u) || !repeatable(o.Expr) {
					return err
				}
				c.HasDefault, t.Made = true, "DEFAULT of an expression"
			}
		case ast.ColumnOptionGenerated, ast.ColumnOptionCheck:
			t.Made = optionWord(o.Tp)
		default:
			return unsupported("%s", optionWord(o.Tp))
		}
	}
	return nil
}

// optionWord names a column's option as SQL does.
func optionWord(o ast.ColumnOptionType) string {
	switch o {
	case ast.ColumnOptionGenerated:
		return "a generated column"
	case ast.ColumnOptionReference:
		return "a foreign key"
	case ast.ColumnOptionCheck:
		return "a CHECK constraint"
	case ast.ColumnOptionOnUpdate:
		return "ON UPDATE of a column"
	case ast.ColumnOptionFulltext:
		return "a FULLTEXT key"
	case ast.ColumnOptionAutoRandom:
		return "AUTO_RANDOM"
	}
	return "a column's option beside NOT NULL, DEFAULT, AUTO_INCREMENT, COLLATE, COMMENT and keys"
}

func constraintWord(t ast.ConstraintType) string {
	switch t {
	case ast.ConstraintForeignKey:
		return "a foreign key"
	case ast.ConstraintFulltext:
		return "a FULLTEXT key"
	case ast.ConstraintCheck:
		return "a CHECK constraint"
	}
	return "a constraint that is neither a key nor CHECK"
}

func (c *Column) setDefault(n ast.ExprNode, d Dialect) error {
	comp := &compiler{d: d}
	e, err := comp.expr(n)
	if err != nil {
		return err
	}
	if !e.konst {
		return unsupported("DEFAULT of an expression")
	}
	f := &frame{strictWrite: true}
	v := comp.store(f, c, e.forColumn(c).eval(f), e.typ)
	if f.err != nil {
		return f.err
	}
	c.HasDefault, c.Default = true, v
	return nil
}

// secondary reports whether a primary key is one more unique key beside a hidden row id.
// https://docs.pingcap.com/tidb/stable/clustered-indexes
func (d Dialect) secondary(k model.PrimaryKeyType) bool {
	return d.DBMS == history.TiDB && k == model.PrimaryKeyTypeNonClustered
}

func (t *Table) constraint(con *ast.Constraint, d Dialect) error {
	k := Key{Name: con.Name}
	switch con.Tp {
	case ast.ConstraintPrimaryKey:
		k.Name, k.Primary, k.Unique = "PRIMARY", con.Option == nil || !d.secondary(con.Option.PrimaryKeyTp), true
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		k.Unique = true
	case ast.ConstraintKey, ast.ConstraintIndex:
	case ast.ConstraintCheck:
		t.Made = constraintWord(con.Tp)
		return nil
	default:
		return unsupported("%s", constraintWord(con.Tp))
	}
	for _, p := range con.Keys {
		if p.Expr != nil {
			return unsupported("key on an expression")
		}
		i := t.ColumnIndex(p.Column.Name.O)
		if i < 0 {
			return &SQLError{1072, fmt.Sprintf("Key column '%s' doesn't exist in table", p.Column.Name.O)}
		}
		k.Columns = append(k.Columns, i)
		k.Prefix = append(k.Prefix, max(p.Length, 0))
		k.Desc = append(k.Desc, p.Desc && !d.is(ignoresDesc))
	}
	if k.Name == "" {
		k.Name = t.Columns[k.Columns[0]].Name
	}
	t.Keys = append(t.Keys, k)
	return nil
}
