package plainsql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const beyond = "beyond"

// tests holds, of a table's columns and rows, what statements answer and leave. Each was seen on PostgreSQL 18.
var tests = []struct{ columns, rows, sql, want string }{
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT * FROM t WHERE b = 2", "1 2"},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT b FROM t WHERE NOT (b = 3)", "2"},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE b <=> NULL FOR UPDATE", "2"},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE b NOT IN (3, NULL)", ""},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE b = NULL", beyond}, // transform_null_equals
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE (b > 1 AND a > 5) IS NULL", ""},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE (b > 1) IS NULL OR a = 1", "1|2"},
	{"a INT PRIMARY KEY, b INT", "1 2|2 NULL", "SELECT a FROM t WHERE b", "1"},
	{"a INT PRIMARY KEY, b INT", "1 2|3 4", "SELECT a FROM t WHERE a = 1 XOR b = 4", "1|3"},
	{"a INT PRIMARY KEY, b INT", "3 2|1 4", "SELECT a FROM t ORDER BY a DESC", "3|1"},
	{"a INT PRIMARY KEY, b INT", "3 2|1 2", "SELECT a FROM t ORDER BY b", beyond},
	{"a INT PRIMARY KEY, b INT", "3 2|1 NULL", "SELECT a FROM t ORDER BY b", beyond},
	{"a INT PRIMARY KEY, b INT", "3 2", "SELECT a FROM t LIMIT 1", beyond},
	{"a INT PRIMARY KEY, b INT", "3 2", "SELECT COUNT(*) FROM t", beyond},
	{"a INT PRIMARY KEY, b INT", "3 2", "SELECT a FROM t WHERE b IN (SELECT a FROM t)", beyond},
	{"a INT PRIMARY KEY, b INT", "3 2", "SELECT a FROM t WHERE c = 1", beyond},
	{"a INT PRIMARY KEY, b INT", "", "SELECT a FROM t WHERE a = 'x'", beyond},
	{"a INT PRIMARY KEY, b INT", "-2147483648 2", "SELECT a FROM t WHERE ABS(a) > 1", beyond}, // 22003
	{"a INT PRIMARY KEY, b INT", "2147483647 2", "SELECT a FROM t WHERE a + 1 > 1", beyond},   // 22003
	{"a INT PRIMARY KEY, b INT", "7 0", "SELECT a FROM t WHERE a % b = 1", beyond},            // 22012
	{"a TINYINT PRIMARY KEY, b INT", "100 0", "SELECT a FROM t WHERE a + a > 1", beyond},      // smallint arithmetic
	{"a TINYINT PRIMARY KEY, b INT", "100 0", "SELECT a FROM t WHERE a & 4", "100"},
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "1.50 1|2.00 2", "SELECT a FROM t WHERE a = b", "2.00"},
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "1.50 1|2.00 2", "SELECT a FROM t WHERE a BETWEEN 1.5 AND 1.999", "1.50"},
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "1.50 1|2.00 2", "UPDATE t SET a = 3, b = 4.00 WHERE b = 1", "3.00 4|2.00 2"},
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "1.50 1", "UPDATE t SET a = 1.555", beyond}, // which rounds
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "1.50 1", "UPDATE t SET a = 10000", beyond}, // 22003
	{"a DECIMAL(6,2) PRIMARY KEY, b INT", "-0.05 1", "SELECT a FROM t WHERE a < 0", "-0.05"},
	{"a INT, b INT", "1 2", "UPDATE t SET a = 1, a = 2", beyond},               // 42601
	{"a INT, b INT", "1 2", "UPDATE t SET a = 2147483648 WHERE a = 5", beyond}, // 22003, although it finds no row
	{"a INT PRIMARY KEY, b INT", "1 2|3 4", "UPDATE t SET a = a + 2", beyond},  // it depends on which row comes first
	{"a INT PRIMARY KEY, b INT", "1 2|3 4", "UPDATE t SET a = 3 WHERE a = 1", "23505"},
	{"a INT PRIMARY KEY, b INT NOT NULL", "1 2", "UPDATE t SET b = NULL", beyond}, // 23502
	{"a INT PRIMARY KEY, b INT", "1 2|3 4", "DELETE FROM t WHERE b > 2", "1 2"},
	{"a INT PRIMARY KEY, b INT", "1 2", "INSERT INTO t VALUES (2, NULL), (4, 5)", "1 2|2 NULL|4 5"},
	{"a INT PRIMARY KEY, b INT DEFAULT 7", "1 2", "INSERT INTO t (a) VALUES (2)", "1 2|2 7"},
	{"a INT PRIMARY KEY, b INT", "1 2", "INSERT INTO t VALUES (2, 3), (1, 1)", "23505"},
	{"a INT UNIQUE, b INT", "NULL 2", "INSERT INTO t VALUES (NULL, 3)", "NULL 2|NULL 3"},
	{"a INT PRIMARY KEY, b INT", "1 2", "INSERT INTO t (b) VALUES (2)", beyond}, // 23502
	{"a INT PRIMARY KEY, b INT", "1 2", "INSERT INTO t VALUES (2, 3) ON DUPLICATE KEY UPDATE b = 1", beyond},
	{"a INT PRIMARY KEY, b INT", "1 2", "INSERT IGNORE INTO t VALUES (1, 3)", beyond},
	{"a INT AUTO_INCREMENT PRIMARY KEY, b INT", "1 2", "INSERT INTO t VALUES (2, 3)", beyond},
	{"a INT PRIMARY KEY, b INT CHECK (b > 0)", "1 2", "UPDATE t SET b = 0", beyond},
	{"a INT PRIMARY KEY, b INT CHECK (b > 0)", "1 2", "SELECT b FROM t", "2"},
	{"a INT PRIMARY KEY, b INT, UNIQUE (b)", "1 2|2 3", "UPDATE t SET b = 3 WHERE a = 1", "23505"},
	{"a VARCHAR(3) PRIMARY KEY, b INT", "x 1|X 2", "SELECT b FROM t WHERE a = 'x'", "1"},
	{"a VARCHAR(3) PRIMARY KEY, b INT", "x 1|y 2", "SELECT b FROM t WHERE a < 'y'", beyond}, // the collation's affair
	{"a VARCHAR(3) PRIMARY KEY, b INT", "x 1", "INSERT INTO t VALUES ('X', 2)", beyond},
	{"a VARCHAR(3) PRIMARY KEY, b INT", "x 1", "INSERT INTO t VALUES ('abcd', 2)", beyond}, // 22001
	{"a VARCHAR(3) PRIMARY KEY, b INT", "x 1", "UPDATE t SET a = 5", beyond},
	{"a FLOAT, b INT", "0.1 1|NULL 2", "SELECT b FROM t WHERE a IS NULL", "2"},
	{"a FLOAT, b INT", "0.1 1|NULL 2", "SELECT b FROM t WHERE a = 0.1", beyond},
	{"a INT UNSIGNED, b INT", "1 1", "SELECT b FROM t WHERE a = 1", beyond},
}

func TestPlain(t *testing.T) {
	for _, x := range tests {
		text := fmt.Sprintf("/* init */ CREATE TABLE t (%s);\n/* tx1 */ %s;\n", x.columns, x.sql)
		c, err := corpus.Parse("case", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		on := history.Table{Name: "t", Columns: []string{"a", "b"}, Rows: rowsOf(x.rows)}
		a := Of(c).Answer(&history.Question{SQL: corpus.SQL(c.Steps[0].Stmt, corpus.Text), Tables: []history.Table{on}})
		got := beyond
		switch {
		case a == nil:
		case a.Result.Err != nil:
			got = a.Result.Err.State
			if inText(a.After[0].Rows) != x.rows {
				t.Errorf("%s on %s: an error leaves %s", x.sql, x.rows, inText(a.After[0].Rows))
			}
		case a.After == nil || a.Result.Columns != nil:
			got = inText(a.Result.Rows)
		default:
			got = inText(a.After[0].Rows)
		}
		if got != x.want {
			t.Errorf("%s on %s: %q, want %q", x.sql, x.rows, got, x.want)
		}
	}
}

// TestOtherStatements holds that nothing is plain once a case does more than its statements say.
func TestOtherStatements(t *testing.T) {
	const about = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n%s/* tx1 */ UPDATE t SET b = 1;\n%s"
	for _, x := range []struct {
		init, behind string
		plain        bool
	}{
		{"", "", true},
		{"/* init */ INSERT INTO t VALUES (1, 2);\n", "/* tx1 */ COMMIT;\n", true},
		{"/* init */ CREATE INDEX i ON t (b);\n", "", true},
		{"/* init */ CREATE UNIQUE INDEX i ON t (b);\n", "", false},
		{"/* init */ CREATE TABLE u (a INT, FOREIGN KEY (a) REFERENCES t (a) ON DELETE CASCADE);\n", "", false},
		{"/* init */ CREATE VIEW v AS SELECT * FROM t;\n", "", false},
		{"", "/* tx2 */ ALTER TABLE t ADD COLUMN c INT;\n", false},
		{"", "/* tx2 */ CREATE UNIQUE INDEX i ON t (b);\n", false},
	} {
		c, err := corpus.Parse("case", []byte(fmt.Sprintf(about, x.init, x.behind)))
		if err != nil {
			t.Fatal(err)
		}
		tables := []history.Table{{Name: "t", Columns: []string{"a", "b"}, Rows: rowsOf("1 2")}}
		if a := Of(c).Alone(&history.Solo{Tables: tables, Steps: []int{0}}); (a != nil) != x.plain {
			t.Errorf("%q, %q: answered %v, want %v", x.init, x.behind, a != nil, x.plain)
		}
	}
}

func rowsOf(text string) [][]history.Cell {
	var out [][]history.Cell
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' }) {
		var row []history.Cell
		for _, f := range strings.Fields(line) {
			if f == "NULL" {
				row = append(row, history.Cell{Null: true})
			} else {
				row = append(row, history.Cell{Text: f})
			}
		}
		out = append(out, row)
	}
	return out
}

func inText(rows [][]history.Cell) string {
	var lines []string
	for _, r := range rows {
		var fields []string
		for _, c := range r {
			if c.Null {
				fields = append(fields, "NULL")
			} else {
				fields = append(fields, c.Text)
			}
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return strings.Join(lines, "|")
}
