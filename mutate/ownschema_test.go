package mutate

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/schemadump"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func schemaOf(t *testing.T, text string) (*Schema, []string) {
	t.Helper()
	dump, err := schemadump.Read("x.sql", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return NewSchema(dump.Tables)
}

// TestSchemaLeavesOut: what no case can be made on is left out, and said.
func TestSchemaLeavesOut(t *testing.T) {
	for _, x := range []struct{ text, tables, left string }{
		{"CREATE TABLE t (a INT PRIMARY KEY COMMENT 'x') ENGINE=InnoDB AUTO_INCREMENT=7 COMMENT='y' CHARSET=latin1", "t", ""},
		{"CREATE TABLE t (a INT, c DATETIME DEFAULT NOW() ON UPDATE NOW())", "t", "what the clock gives to columns of t"},
		{"CREATE TABLE t (a INT, u CHAR(36) DEFAULT (UUID()))", "t", "what the clock gives to columns of t"},
		{"CREATE TABLE t (a INT) PARTITION BY HASH (a) PARTITIONS 2", "", "table t: it has partitions"},
		{"CREATE TABLE t (a VARCHAR(50), UNIQUE (a(3)))", "", "table t: a unique key of it is on a short prefix"},
		{"CREATE TABLE t (a VARCHAR(50), UNIQUE (a(20)))", "t", ""},
		{"CREATE TABLE t (a INT(5) ZEROFILL NOT NULL)", "", "table t: no values are known of its column a"},
		{"CREATE TABLE t (a INT(5) ZEROFILL)", "t", ""},
		{"CREATE TABLE t (a INT, g INT AS (a + 1) UNIQUE)", "t", ""},
	} {
		s, left := schemaOf(t, x.text)
		if got := strings.Join(s.Names(), " "); got != x.tables {
			t.Errorf("%s: tables %s, want %s", x.text, got, x.tables)
		}
		if got := strings.Join(left, "; "); got != x.left {
			t.Errorf("%s: left out %q, want %q", x.text, got, x.left)
		}
	}
}

// TestSchemaCases makes cases on the tables of a dump: they are those tables, whole but for what was left out, and their
// rows are such as the tables take.
func TestSchemaCases(t *testing.T) {
	for _, dump := range []string{"shop.sql", "shop-postgresql.sql"} {
		t.Run(dump, func(t *testing.T) {
			text, err := os.ReadFile("../docs/schema/" + dump)
			if err != nil {
				t.Fatal(err)
			}
			casesOnSchema(t, string(text))
		})
	}
}

func casesOnSchema(t *testing.T, text string) {
	s, _ := schemaOf(t, text)
	parents, rows := 0, 0
	used := map[string]bool{}
	for n := range uint64(600) {
		for _, c := range FromInput(InputOf(n, InputLen), nil, Options{Schema: s}) {
			if again, err := corpus.Parse("x", corpus.Print(c, corpus.Text)); err != nil || !again.Equal(c) {
				t.Fatalf("%v\n%s", err, corpus.Print(c, corpus.Text))
			}
			made := readTables(c)
			for _, table := range made {
				used[table.name] = true
				rows += len(table.rows)
				for i, row := range table.rows {
					if k := table.clash(table.rows[:i], row); k != nil {
						t.Fatalf("row %d of %s breaks key %s\n%s", i, table.name, k.name, corpus.Print(c, corpus.Text))
					}
					for j, col := range table.cols {
						if col.notNull && row[j] == null && !col.computed {
							t.Fatalf("row %d of %s has no %s\n%s", i, table.name, col.name, corpus.Print(c, corpus.Text))
						}
					}
				}
			}
			parents += referring(t, c, made)
		}
	}
	if len(used) != 4 || parents < 100 || rows < 3000 {
		t.Errorf("tables %v, %d rows, %d of them refer to others", used, rows, parents)
	}
}

// referring counts the rows that refer to others, which must be there.
func referring(t *testing.T, c *corpus.Case, made []*table) (n int) {
	t.Helper()
	for _, l := range c.Init {
		create, ok := l.Stmt.(*ast.CreateTableStmt)
		if !ok {
			continue
		}
		child := tableNamed(made, create.Table.Name.O)
		for _, k := range create.Constraints {
			if k.Tp != ast.ConstraintForeignKey {
				continue
			}
			parent := tableNamed(made, k.Refer.Table.Name.O)
			if parent == nil {
				t.Fatalf("a foreign key to a table that is not there\n%s", corpus.Print(c, corpus.Text))
			}
			from, to := child.column(k.Keys[0].Column.Name.O), parent.column(k.Refer.IndexPartSpecifications[0].Column.Name.O)
			for _, row := range child.rows {
				if row[from] == null {
					continue
				}
				n++
				if !slices.ContainsFunc(parent.rows, func(p []value) bool { return p[to] == row[from] }) {
					t.Fatalf("a row refers to nobody\n%s", corpus.Print(c, corpus.Text))
				}
			}
		}
	}
	return n
}

// TestSchemaSharedColumns: a row fits foreign keys that share a column, too.
func TestSchemaSharedColumns(t *testing.T) {
	s, _ := schemaOf(t, "CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE q (a INT, b INT, PRIMARY KEY (a, b)); "+
		"CREATE TABLE c (a INT PRIMARY KEY, x INT, y INT NOT NULL, z INT NOT NULL, FOREIGN KEY (x, y) REFERENCES p (a, b), FOREIGN KEY (x, z) REFERENCES q (a, b))")
	both := 0
	for n := range uint64(600) {
		for _, c := range FromInput(InputOf(n, InputLen), nil, Options{Schema: s}) {
			made := readTables(c)
			child, p, q := tableNamed(made, "c"), tableNamed(made, "p"), tableNamed(made, "q")
			if child == nil || p == nil || q == nil {
				continue
			}
			for _, row := range child.rows {
				among := func(parent *table, second int) bool {
					return slices.ContainsFunc(parent.rows, func(r []value) bool { return r[0] == row[1] && r[1] == row[second] })
				}
				if row[1] == null {
					continue
				}
				if both++; !among(p, 2) || !among(q, 3) {
					t.Fatalf("a row refers to nobody\n%s", corpus.Print(c, corpus.Text))
				}
			}
		}
	}
	if both == 0 {
		t.Error("no row refers to two others by one column")
	}
}

// TestSchemaChecks: no row of the set-up breaks a CHECK, and a CHECK of which nobody here knows what it refuses is left out.
func TestSchemaChecks(t *testing.T) {
	s, _ := schemaOf(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT CHECK (b > 1), CONSTRAINT c CHECK (a <> 2), "+
		"CONSTRAINT d CHECK (ST_X(a) > 3))")
	for n := range uint64(200) {
		c := FromInput(InputOf(n, InputLen), nil, Options{Schema: s})[0]
		text := string(corpus.Print(c, corpus.Text))
		table := readTables(c)[0]
		for _, row := range table.rows {
			if row[0] == integer(2) || row[1] != null && (row[1].neg || row[1].mag <= 1) {
				t.Fatalf("row %s breaks a CHECK\n%s", fmt.Sprint(row), text)
			}
		}
		if !strings.Contains(text, "CHECK(a != 2)") || !strings.Contains(text, "CHECK(b > 1)") ||
			strings.Contains(text, "ST_X") && len(table.rows) > 0 {
			t.Fatalf("%s", text)
		}
	}
}

// TestSchemaStamps: nothing is computed for a TIMESTAMP that takes no NULL.
func TestSchemaStamps(t *testing.T) {
	s, _ := schemaOf(t, "CREATE TABLE t (a INT PRIMARY KEY, b TIMESTAMP NOT NULL, c TIMESTAMP NULL)")
	computed := map[string]int{}
	for n := range uint64(400) {
		for _, c := range FromInput(InputOf(n, InputLen), nil, Options{Schema: s}) {
			for _, l := range c.Steps {
				u, ok := l.Stmt.(*ast.UpdateStmt)
				if !ok {
					continue
				}
				for _, x := range u.List {
					if _, literal := valueOf(x.Expr); !literal {
						computed[x.Column.Name.L]++
					}
				}
			}
		}
	}
	if computed["b"] > 0 || computed["c"] == 0 {
		t.Errorf("computed values: %v", computed)
	}
}

// TestSchemaOn: on PostgreSQL no column counts, what its words cannot say is left out and told, and all tables have cases
// that can be said.
func TestSchemaOn(t *testing.T) {
	for _, x := range []struct{ text, tables, left string }{
		{"CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(9))", "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9))",
			"what sequences give to columns of t"},
		{"CREATE TABLE t (a VARCHAR(50), b INT, KEY (a(20)), KEY (b))", "CREATE TABLE t (a VARCHAR(50), b INT, INDEX(b))",
			"a key or constraint of table t: PostgreSQL does not know a key of the beginning of a column"},
		{"CREATE TABLE t (a BIT(4)); CREATE TABLE u (a INT)", "CREATE TABLE u (a INT)", "table t: PostgreSQL does not know the type BIT"},
	} {
		s, _ := schemaOf(t, x.text)
		on, left := s.On(history.PostgreSQL)
		var got []string
		for _, d := range on.tables {
			got = append(got, corpus.SQL(d.create, corpus.Text))
		}
		if text := strings.Join(got, "; "); text != x.tables {
			t.Errorf("%s: %s, want %s", x.text, text, x.tables)
		}
		if text := strings.Join(left, "; "); text != x.left {
			t.Errorf("%s: left out %q, want %q", x.text, text, x.left)
		}
		if same, left := s.On(history.MySQL); same != s || left != nil {
			t.Errorf("%s: on MySQL: %v", x.text, left)
		}
	}
	text, err := os.ReadFile("../docs/schema/shop-postgresql.sql")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := schemaOf(t, string(text))
	on, _ := s.On(history.PostgreSQL)
	said := map[string]int{}
	for n := range uint64(200) {
		for _, c := range FromInput(InputOf(n, InputLen), nil, Options{Schema: on, DBMS: history.PostgreSQL}) {
			if c = corpus.Sayable(c, corpus.PostgreSQL); c == nil {
				continue
			}
			for _, table := range readTables(c) {
				said[table.name]++
			}
		}
	}
	for _, name := range []string{"customers", "orders", "order_items", "products"} {
		if said[name] < 20 {
			t.Errorf("%d cases have the table %s: %v", said[name], name, said)
		}
	}
}
