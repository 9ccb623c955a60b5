package conform

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// family says which literals suit a column.
type family uint8

const (
	number family = iota
	text
	moment
)

// column is one column of the generated table.
type column struct {
	name, decl string
	family     family
	// values are boundary values of the type, as SQL.
	values []string
}

// columns is the table that expressions run on: each type that the solver
// computes with, with the ends of its range.
var columns = []column{
	{"ti", "TINYINT", number, []string{"0", "1", "-1", "127", "-128", "5"}},
	{"tu", "TINYINT UNSIGNED", number, []string{"0", "1", "255", "3"}},
	{"i", "INT", number, []string{"0", "1", "2", "-1", "10", "2147483647", "-2147483648"}},
	{"j", "INT", number, []string{"0", "1", "2", "3", "-7"}},
	{"iu", "INT UNSIGNED", number, []string{"0", "1", "2", "4294967295"}},
	{"b", "BIGINT", number, []string{"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993"}},
	{"bu", "BIGINT UNSIGNED", number, []string{"0", "1", "18446744073709551615", "9223372036854775808", "7"}},
	{"v", "VARCHAR(20)", text, []string{"''", "'a'", "'A'", "'b'", "'1'", "'0'", "'-1'", "'1a'", "'ab'", "'a '", "' 2'", "'1.5'", "'1e1'", "'2 '", "'9007199254740993'"}},
	{"w", "VARCHAR(20)", text, []string{"''", "'a'", "'B'", "'1'", "'10'", "'0.5'", "'abc'", "'_'", "'%'", "'3'", "'127'", "'255'", "'-128'"}},
	{"d", "DECIMAL(10,2)", number, []string{"0", "1.00", "-1.50", "0.05", "99999999.99", "2.50", "3.49"}},
	{"e", "DECIMAL(20,6)", number, []string{"0", "1.000001", "-3.5", "12345678901234.123456", "0.333333"}},
	{"f", "DOUBLE", number, []string{"0", "1", "-1.5", "0.1", "1e20", "2.5", "1e-7"}},
}

// stringColumns is a table of the other string types.
var stringColumns = []column{
	{"ch", "CHAR(5)", text, []string{"''", "'a'", "'A '", "'ab'", "'1'", "'0'", "'x  '", "'-2'", "'1a'"}},
	{"ci", "CHAR(3)", text, []string{"'a'", "'b'", "'AB'", "'2'", "' '"}},
	{"tx", "TEXT", text, []string{"''", "'a'", "'a '", "'B'", "'1'", "'10'", "'abc'"}},
	{"vb", "VARBINARY(10)", text, []string{"''", "'a'", "'A'", "'a '", "'1'", "0x32", "'b'"}},
	{"bl", "BLOB", text, []string{"''", "'a'", "'A'", "'1'", "0x3132", "'c'"}},
	{"v", "VARCHAR(20)", text, []string{"''", "'a'", "'A'", "'b'", "'1'", "'0'", "'a '", "'2'"}},
	{"i", "INT", number, []string{"0", "1", "2", "-1", "10"}},
	{"d", "DECIMAL(10,2)", number, []string{"0", "1.00", "-1.50", "0.05"}},
}

// otherColumns is a table of the types beside numbers and plain strings.
var otherColumns = []column{
	{"en", "ENUM('b','a','c')", text, []string{"'a'", "'b'", "'c'", "2"}},
	{"em", "ENUM('x','y','a')", text, []string{"'x'", "'y'", "'a'"}},
	{"st", "SET('a','b','c')", text, []string{"''", "'a'", "'c,a'", "'b'", "7"}},
	{"bi", "BIT(4)", number, []string{"0", "1", "15", "5", "b'11'"}},
	{"bw", "BIT(64)", number, []string{"0", "1", "18446744073709551615", "2"}},
	{"y", "YEAR", number, []string{"1901", "2155", "2024", "0", "1999", "'2024'", "2025"}},
	{"yy", "YEAR", number, []string{"2024", "2000", "1970"}},
	{"fl", "FLOAT", number, []string{"0", "1", "-1.5", "0.1", "2.5", "100000", "3e10"}},
	{"fm", "FLOAT", number, []string{"0", "2", "0.5", "0.1", "-7"}},
	{"da", "DATE", moment, []string{"'2024-02-29'", "'1999-12-31'", "'2024-01-01'", "'1000-01-01'", "'9999-12-31'", "'2024-01-02'"}},
	{"db", "DATE", moment, []string{"'2024-02-29'", "'2024-01-01'", "'2023-03-01'"}},
	{"dt", "DATETIME", moment, []string{"'2024-02-29 12:30:45'", "'1999-12-31 23:59:59'", "'2024-01-01 00:00:00'", "'9999-12-31 23:59:59'"}},
	{"ts", "TIMESTAMP NULL", moment, []string{"'2024-02-29 12:30:45'", "'2001-09-09 01:46:40'", "'2024-01-01 00:00:00'"}},
	{"tm", "TIME", moment, []string{"'00:00:00'", "'12:30:45'", "'23:59:59'", "'838:59:59'", "'-01:00:00'", "'100:00:00'"}},
	{"bn", "BINARY(3)", text, []string{"''", "'a'", "'abc'", "'A'", "'1'"}},
	{"vb", "VARBINARY(6)", text, []string{"''", "'a'", "'a '", "'b'", "'2'"}},
	{"tx", "TEXT", text, []string{"''", "'a'", "'a '", "'B'", "'1'", "'b'"}},
	{"v", "VARCHAR(20)", text, []string{"''", "'a'", "'A'", "'b'", "'c'", "'1'", "'a '"}},
	{"i", "INT", number, []string{"0", "1", "2", "-1", "10", "2024"}},
	{"d", "DECIMAL(10,2)", number, []string{"0", "1.00", "-1.50", "2.50"}},
}

// UseOthers makes the generator work on the types beside numbers and strings.
func (g *Generator) UseOthers() { g.cols, g.stringy, g.momentous = otherColumns, 30, 20 }

// UseStrings makes the generator work on the other string types.
func (g *Generator) UseStrings() { g.cols, g.stringy = stringColumns, 60 }

var literals = map[family][]string{
	number: {"NULL", "0", "1", "2", "-1", "3", "10", "127", "255", "-128", "2147483648", "9223372036854775807", "18446744073709551615", "0.5", "1.5", "-2.5", "0.25", "1.10", "TRUE", "FALSE", "1e0", "2.5e0"},
	moment: {"'2024-01-01'", "'2024-02-29'", "'1999-12-31'", "'2024-02-29 12:30:45'", "'2024-01-01 00:00:00'", "'12:30:45'", "'00:00:00'", "NULL"},
	text:   {"0x31", "''", "'a'", "'A'", "'b'", "'1'", "'0'", "'-1'", "'1a'", "'a '", "'2'", "'1.5'", "'ab'", "'10'"},
}

// Generator makes statements as text; the same seed makes the same statements.
type Generator struct {
	r    *rand.Rand
	cols []column
	// Stringy is the share, in percent, of operands that are text.
	stringy int
	// momentous is the share of dates and times.
	momentous int
}

// NewGenerator returns a generator.
func NewGenerator(seed uint64) *Generator {
	return &Generator{r: rand.New(rand.NewPCG(seed, 1)), cols: columns, stringy: 20}
}

func pick[T any](g *Generator, list []T) T { return list[g.r.IntN(len(list))] }

// Create returns the CREATE TABLE of a table with all columns.
func (g *Generator) Create(name, keys string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (id INT PRIMARY KEY", name)
	for _, c := range g.cols {
		fmt.Fprintf(&b, ", %s %s", c.name, c.decl)
	}
	return b.String() + keys + ")"
}

// Insert returns an INSERT of n rows with ids from 1.
func (g *Generator) Insert(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s VALUES ", name)
	for i := 1; i <= n; i++ {
		if i > 1 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d", i)
		for _, c := range g.cols {
			v := "NULL"
			if g.r.IntN(5) > 0 {
				v = pick(g, c.values)
			}
			b.WriteString(", " + v)
		}
		b.WriteString(")")
	}
	return b.String()
}

func (g *Generator) column(f family) string {
	for {
		if c := pick(g, g.cols); c.family == f {
			return c.name
		}
	}
}

func (g *Generator) family() family {
	if g.momentous > 0 && g.r.IntN(100) < g.momentous {
		return moment
	}
	if g.r.IntN(100) < g.stringy {
		return text
	}
	return number
}

func (g *Generator) atom() string {
	f := g.family()
	if g.r.IntN(3) > 0 {
		return g.column(f)
	}
	return pick(g, literals[f])
}

// Expr returns an expression of at most the given depth.
func (g *Generator) Expr(depth int) string {
	if depth == 0 {
		return g.atom()
	}
	if g.momentous > 0 && g.r.IntN(3) == 0 {
		return g.likes()
	}
	if g.r.IntN(8) == 0 {
		return g.call(depth)
	}
	sub := func() string { return g.Expr(g.r.IntN(depth)) }
	switch g.r.IntN(30) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s %s %s)", sub(), pick(g, []string{"+", "-", "*"}), sub())
	case 4, 5:
		return fmt.Sprintf("(%s %s %s)", sub(), pick(g, []string{"/", "DIV", "%"}), sub())
	case 6:
		return fmt.Sprintf("(%s %s %s)", sub(), pick(g, []string{"&", "|", "^", "<<", ">>"}), sub())
	case 7:
		return fmt.Sprintf("(%s(%s))", pick(g, []string{"-", "~", "+"}), sub())
	case 8, 9, 10, 11, 12:
		return fmt.Sprintf("(%s %s %s)", sub(), pick(g, []string{"=", "<", ">", "<=", ">=", "<>", "<=>"}), sub())
	case 13, 14:
		return fmt.Sprintf("(%s %s %s)", sub(), pick(g, []string{"AND", "OR", "XOR"}), sub())
	case 15:
		return fmt.Sprintf("(%s (%s))", pick(g, []string{"NOT", "!"}), sub())
	case 16, 17:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", sub(), g.not(), sub(), sub())
	case 18, 19:
		list := sub()
		for n := g.r.IntN(3); n > 0; n-- {
			list += ", " + sub()
		}
		return fmt.Sprintf("(%s %sIN (%s))", sub(), g.not(), list)
	case 20, 21:
		return fmt.Sprintf("(%s IS %s%s)", sub(), g.not(), pick(g, []string{"NULL", "NULL", "TRUE", "FALSE", "UNKNOWN"}))
	case 22:
		return fmt.Sprintf("(%s %sLIKE %s)", sub(), g.not(), pick(g, []string{"'a%'", "'%b'", "'_'", "'1%'", "''", "'A'", g.column(text), "'%\\_%'"}))
	case 23:
		return fmt.Sprintf("CAST(%s AS %s)", sub(), pick(g, []string{"SIGNED", "UNSIGNED", "CHAR", "CHAR(2)", "DECIMAL(10,2)", "DECIMAL"}))
	case 24:
		return fmt.Sprintf("IF(%s, %s, %s)", sub(), sub(), sub())
	case 25:
		return fmt.Sprintf("IFNULL(%s, %s)", sub(), sub())
	case 26:
		return fmt.Sprintf("NULLIF(%s, %s)", sub(), sub())
	case 27:
		return fmt.Sprintf("COALESCE(%s, %s, %s)", sub(), sub(), sub())
	case 28:
		return fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s ELSE %s END", sub(), sub(), sub(), sub(), sub())
	}
	return fmt.Sprintf("CASE %s WHEN %s THEN %s ELSE %s END", sub(), sub(), sub(), sub())
}

// call returns a call of a deterministic function.
func (g *Generator) call(depth int) string {
	str := func() string {
		if g.r.IntN(4) == 0 {
			return g.Expr(g.r.IntN(depth))
		}
		if g.r.IntN(3) == 0 {
			return pick(g, literals[text])
		}
		return g.column(text)
	}
	num := func() string {
		if g.r.IntN(3) == 0 {
			return g.Expr(g.r.IntN(depth))
		}
		return g.column(number)
	}
	n := func() string { return pick(g, []string{"0", "1", "2", "3", "-1", "NULL", g.column(number)}) }
	date := func() string {
		if g.momentous == 0 {
			return g.Expr(0)
		}
		return g.column(moment)
	}
	forms := []func() string{
		func() string { return fmt.Sprintf("CONCAT(%s, %s)", str(), str()) },
		func() string { return fmt.Sprintf("CONCAT_WS(%s, %s, %s)", str(), str(), str()) },
		func() string {
			return fmt.Sprintf("%s(%s)", pick(g, []string{"UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM", "REVERSE"}), str())
		},
		func() string {
			return fmt.Sprintf("%s(%s)", pick(g, []string{"LENGTH", "CHAR_LENGTH", "ASCII", "CRC32"}), str())
		},
		func() string {
			return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"LEFT", "RIGHT", "REPEAT"}), str(), n())
		},
		func() string { return fmt.Sprintf("SUBSTRING(%s, %s)", str(), n()) },
		func() string { return fmt.Sprintf("SUBSTRING(%s, %s, %s)", str(), n(), n()) },
		func() string { return fmt.Sprintf("REPLACE(%s, %s, %s)", str(), str(), str()) },
		func() string {
			return fmt.Sprintf("%s(%s, %s, %s)", pick(g, []string{"LPAD", "RPAD"}), str(), n(), str())
		},
		func() string {
			return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"INSTR", "LOCATE", "STRCMP"}), str(), str())
		},
		func() string {
			return fmt.Sprintf("%s(%s)", pick(g, []string{"ABS", "SIGN", "FLOOR", "CEIL", "ROUND", "SQRT", "BIT_COUNT"}), num())
		},
		func() string {
			return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"ROUND", "TRUNCATE"}), num(), pick(g, []string{"0", "1", "2"}))
		},
		func() string { return fmt.Sprintf("MOD(%s, %s)", num(), num()) },
		func() string { return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"GREATEST", "LEAST"}), num(), num()) },
		func() string { return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"GREATEST", "LEAST"}), str(), str()) },
		func() string { return fmt.Sprintf("ISNULL(%s)", num()) },
		func() string {
			return fmt.Sprintf("%s(%s)", pick(g, []string{"YEAR", "QUARTER", "MONTH", "DAYOFMONTH", "DAYOFYEAR", "DAYOFWEEK", "WEEKDAY", "TO_DAYS", "HOUR", "MINUTE", "SECOND", "LAST_DAY", "DATE"}), date())
		},
		func() string { return fmt.Sprintf("DATEDIFF(%s, %s)", date(), date()) },
		func() string {
			return fmt.Sprintf("%s(%s, INTERVAL %s %s)", pick(g, []string{"DATE_ADD", "DATE_SUB"}), date(), pick(g, []string{n(), n(), n(), "8000"}), pick(g, []string{"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "HOUR", "MINUTE", "SECOND"}))
		},
	}
	if g.momentous > 0 && g.r.IntN(2) == 0 {
		return pick(g, forms[len(forms)-3:])()
	}
	return pick(g, forms)()
}

// likes compares operands that suit each other: a column, and values or columns
// of its family.
func (g *Generator) likes() string {
	c := pick(g, g.cols)
	other := func() string {
		switch g.r.IntN(4) {
		case 0:
			return g.column(c.family)
		case 1:
			return pick(g, literals[c.family])
		}
		return pick(g, c.values)
	}
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", c.name, g.not(), other(), other())
	case 1:
		return fmt.Sprintf("(%s %sIN (%s, %s))", c.name, g.not(), other(), other())
	case 2:
		return fmt.Sprintf("IFNULL(%s, %s)", c.name, other())
	}
	return fmt.Sprintf("(%s %s %s)", c.name, pick(g, []string{"=", "<", ">", "<=", ">=", "<>", "<=>"}), other())
}

func (g *Generator) not() string {
	if g.r.IntN(3) == 0 {
		return "NOT "
	}
	return ""
}

// Cond returns an expression as a condition.
func (g *Generator) Cond() string { return g.Expr(1 + g.r.IntN(2)) }

// Update, Delete and Query return whole statements on table name.
func (g *Generator) Update(name string) string {
	sets := ""
	for n := g.r.IntN(2); n >= 0; n-- {
		if sets != "" {
			sets += ", "
		}
		sets += pick(g, g.cols).name + " = " + g.Expr(g.r.IntN(2))
	}
	return "UPDATE " + name + " SET " + sets + g.tail()
}

func (g *Generator) tail() string {
	s := ""
	if g.r.IntN(8) > 0 {
		s = " WHERE " + g.Cond()
	}
	if g.r.IntN(6) == 0 {
		s += " ORDER BY id" + pick(g, []string{"", " DESC"}) + " LIMIT " + pick(g, []string{"1", "2", "3"})
	}
	return s
}

// Delete returns a DELETE.
func (g *Generator) Delete(name string) string { return "DELETE FROM " + name + g.tail() }

// InsertOne returns an INSERT of random values into some columns.
func (g *Generator) InsertOne(name string) string {
	cols, vals := "id", fmt.Sprint(100+g.r.IntN(50))
	for _, c := range g.cols {
		if g.r.IntN(4) == 0 {
			cols += ", " + c.name
			if g.r.IntN(3) == 0 {
				vals += ", " + pick(g, c.values)
			} else {
				vals += ", " + pick(g, literals[g.family()])
			}
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, cols, vals)
}

// Keyed is a table with unique keys, defaults and columns that must be given.
func (g *Generator) Keyed(name string) (create, insert string) {
	create = "CREATE TABLE " + name + " (id INT PRIMARY KEY, v VARCHAR(6) DEFAULT 'q', n INT NOT NULL, m INT DEFAULT 7, o DECIMAL(6,2) NOT NULL DEFAULT 1.5, c CHAR(4), t TEXT, s SMALLINT UNSIGNED NOT NULL DEFAULT '3', UNIQUE KEY (v), UNIQUE KEY (m, s))"
	insert = "INSERT INTO " + name + " VALUES (1, 'a', 1, 1, 1, 'x', 'tx', 1), (2, 'B', 2, NULL, -3.25, NULL, NULL, 2), (3, NULL, 0, NULL, 0, '', '', 0), (4, 'c ', -5, 4, 9999.99, 'ab', 'A b', 65535)"
	return create, insert
}

// KeyedWrite returns an INSERT, with or without ON DUPLICATE KEY UPDATE, or an
// UPDATE on the table of Keyed.
func (g *Generator) KeyedWrite(name string) string {
	values := []string{"NULL", "1", "2", "0", "-1", "7", "70000", "3.5", "1.005", "'a'", "'A'", "'b '", "'c'", "''", "' '", "'5'", "'12345678'", "'ab     '", "'1x'", "DEFAULT", "1e0", "'x' IS NULL", "3 / 2"}
	cols := []string{"v", "n", "m", "o", "c", "t", "s"}
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("UPDATE %s SET %s = %s, %s = %s WHERE id = %d", name, pick(g, cols), pick(g, values), pick(g, cols), pick(g, append(values, "n + 1", "v", "id", "o * 2", "c")), 1+g.r.IntN(4))
	case 1:
		return fmt.Sprintf("INSERT INTO %s (id, n, %s) SELECT id + %d, n, %s FROM %s WHERE id < 4", name, pick(g, []string{"v", "m", "o", "c", "t"}), g.r.IntN(6), pick(g, []string{"v", "m", "o", "c", "t", "s", "NULL", "'k'"}), name)
	case 2:
		return fmt.Sprintf("INSERT INTO %s SET id = %d, %s = %s", name, g.r.IntN(9), pick(g, cols), pick(g, values))
	}
	list, vals := "id", fmt.Sprint(1+g.r.IntN(9))
	for _, c := range cols {
		if c == "n" || g.r.IntN(3) == 0 {
			list += ", " + c
			vals += ", " + pick(g, values)
		}
	}
	if g.r.IntN(3) == 0 {
		return fmt.Sprintf("INSERT IGNORE INTO %s (%s) VALUES (%s)", name, list, vals)
	}
	s := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, list, vals)
	if g.r.IntN(2) == 0 {
		s += fmt.Sprintf(" ON DUPLICATE KEY UPDATE %s = %s, %s = %s", pick(g, cols), pick(g, []string{"1", "VALUES(n)", "n + VALUES(n)", "'dup'", "NULL", "VALUES(v)", "m + 1"}),
			pick(g, cols), pick(g, []string{"n", "m", "VALUES(o)", "9", "v"}))
	}
	return s
}

// Letters returns a table of short texts, and the queries that compare all
// their pairs.
func Letters(name string) (create, insert string, queries []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s VALUES ", name)
	id := 0
	add := func(s string) {
		if id++; id > 1 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d, '%s')", id, strings.NewReplacer("\\", "\\\\", "'", "''", "\t", "\\t", "\n", "\\n").Replace(s))
	}
	for c := ' '; c <= '~'; c++ {
		add(string(c))
	}
	for _, s := range []string{"\t", "\n", "a ", "a  ", "A ", " a", "aa", "aA", "Ab", "a\t", "a!", "a-b", "ab", "a b", "", "  ", "B ", "1 ", "10", "1a"} {
		add(s)
	}
	for _, op := range []string{"=", "<", "<=", "LIKE"} {
		if op == "LIKE" {
			queries = append(queries, fmt.Sprintf("SELECT x.id, y.id FROM %s x, %s y WHERE x.v LIKE y.v ORDER BY x.id, y.id", name, name))
			continue
		}
		queries = append(queries, fmt.Sprintf("SELECT x.id, y.id FROM %s x, %s y WHERE x.v %s y.v ORDER BY x.id, y.id", name, name, op))
	}
	return fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY, v VARCHAR(10))", name), b.String(), queries
}

// Query returns a SELECT with a total order.
func (g *Generator) Query(name string) string {
	switch g.r.IntN(9) {
	case 0:
		return fmt.Sprintf("SELECT %s(%s) FROM %s WHERE %s", pick(g, []string{"COUNT", "MIN", "MAX", "SUM", "AVG"}), g.Expr(g.r.IntN(2)), name, g.Cond())
	case 1:
		return fmt.Sprintf("SELECT id FROM %s WHERE %s IN (SELECT %s FROM %s s WHERE %s) ORDER BY id", name, g.atom(), g.column(g.family()), name, g.Cond())
	case 2:
		return fmt.Sprintf("SELECT id FROM %s x WHERE %sEXISTS (SELECT 1 FROM %s y WHERE x.%s = y.%s AND x.id <> y.id) ORDER BY id", name, g.not(), name, g.column(number), g.column(number))
	case 3:
		return fmt.Sprintf("SELECT id, (SELECT %s(%s) FROM %s s WHERE s.id < x.id) FROM %s x ORDER BY id", pick(g, []string{"COUNT", "MIN", "MAX"}), "s."+g.column(number), name, name)
	case 4:
		c := g.column(number)
		return fmt.Sprintf("SELECT %s, COUNT(*), MIN(id) FROM %s GROUP BY %s ORDER BY %s", c, name, c, c)
	case 5:
		return fmt.Sprintf("SELECT DISTINCT %s FROM %s", g.column(number), name)
	case 6:
		return fmt.Sprintf("SELECT x.id, y.id FROM %s x, %s y WHERE x.%s = y.%s ORDER BY x.id, y.id", name, name, g.column(g.family()), g.column(g.family()))
	case 7:
		return fmt.Sprintf("SELECT id FROM (SELECT id, %s AS z FROM %s) q WHERE z ORDER BY id DESC LIMIT 3", g.Expr(1), name)
	}
	if len(g.cols) == len(stringColumns) && g.r.IntN(2) == 0 {
		c := g.column(text)
		return fmt.Sprintf("SELECT x.id, y.id FROM %s x, %s y WHERE x.%s %s y.%s ORDER BY x.id, y.id", name, name, c, pick(g, []string{"=", "<", "LIKE"}), g.column(text))
	}
	return fmt.Sprintf("SELECT id FROM %s ORDER BY %s%s, id LIMIT 4", name, g.column(g.family()), pick(g, []string{"", " DESC"}))
}

// Systematic returns every operator on every pair of operand kinds, once.
func (g *Generator) Systematic() []string {
	atoms := []string{"NULL", "0", "1", "-1", "3", "255", "9223372036854775807", "18446744073709551615", "1.5", "-0.25", "2.5e0", "TRUE", "'a'", "'1'", "'1a'", "''", "'1.5'"}
	for _, c := range g.cols {
		atoms = append(atoms, c.name)
	}
	binary := []string{"+", "-", "*", "/", "DIV", "%", "=", "<", "<=>", "<>", ">=", "AND", "OR", "XOR", "&", "|", "^", "<<", ">>", "LIKE"}
	var out []string
	for _, a := range atoms {
		for _, u := range []string{"-(%s)", "~(%s)", "NOT (%s)", "!(%s)", "(%s)", "(%s) IS NULL", "(%s) IS TRUE", "(%s) IS NOT FALSE", "(%s) IS UNKNOWN",
			"CAST(%s AS SIGNED)", "CAST(%s AS UNSIGNED)", "CAST(%s AS CHAR)", "CAST(%s AS CHAR(1))", "CAST(%s AS DECIMAL(8,1))", "CAST(%s AS DECIMAL)"} {
			out = append(out, fmt.Sprintf(u, a))
		}
		for _, b := range atoms {
			for _, op := range binary {
				out = append(out, fmt.Sprintf("(%s) %s (%s)", a, op, b))
			}
			out = append(out,
				fmt.Sprintf("(%s) IN (%s, 1)", a, b), fmt.Sprintf("(%s) BETWEEN 0 AND (%s)", a, b), fmt.Sprintf("(%s) NOT BETWEEN (%s) AND 'b'", a, b),
				fmt.Sprintf("IF(ti, %s, %s)", a, b), fmt.Sprintf("IFNULL(%s, %s)", a, b), fmt.Sprintf("NULLIF(%s, %s)", a, b),
				fmt.Sprintf("COALESCE(%s, %s, 1)", a, b), fmt.Sprintf("CASE WHEN ti THEN %s ELSE %s END", a, b), fmt.Sprintf("CASE %s WHEN %s THEN 1 END", a, b))
		}
	}
	return out
}
