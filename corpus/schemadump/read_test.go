package schemadump

import (
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestRead reads dumps: what tables come of them, and what is left out.
func TestRead(t *testing.T) {
	for _, x := range []struct{ name, text, tables, left string }{
		{"comments and quotes", "-- a; b\n# c; d\n/*!40101 SET x = 1 */;\nCREATE TABLE `a;b` (c INT COMMENT 'it''s; \\' x') ;",
			"CREATE TABLE `a;b` (c INT COMMENT 'it''s; '' x')", ""},
		{"delimiters", "CREATE TABLE t (a INT);\nDELIMITER ;;\nCREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END ;;\n" +
			"delimiter ;\nCREATE TABLE u (a INT);", "CREATE TABLE t (a INT); CREATE TABLE u (a INT)", "1 statement of the kind CREATE TRIGGER"},
		{"a view in a comment", "CREATE TABLE t (a INT);/*!50001 CREATE VIEW v AS SELECT 1 */;", "CREATE TABLE t (a INT)", ""},
		{"keys that come behind", "CREATE TABLE t (a INT, b INT); ALTER TABLE `t` ADD PRIMARY KEY (`a`), ADD KEY `k` (`b`); " +
			"ALTER TABLE t MODIFY a INT AUTO_INCREMENT; CREATE UNIQUE INDEX i ON t (b, a);",
			"CREATE TABLE t (a INT, b INT, PRIMARY KEY(a), INDEX k(b), UNIQUE i(b, a))", "1 statement of the kind part of an ALTER TABLE that adds no key"},
		{"a database", "CREATE DATABASE shop; USE shop; CREATE TABLE shop.t (a INT);", "CREATE TABLE t (a INT)", ""},
		{"one that cannot be read", "CREATE TABLE t (a INT);\nCREATE TABLE u (a NONSENSE);", "CREATE TABLE t (a INT)",
			"table u in line 2: syntax error near \"NONSENSE)\""},
		{"no columns", "CREATE TABLE t (a INT); CREATE TABLE u LIKE t;", "CREATE TABLE t (a INT)",
			"1 statement of the kind CREATE TABLE like another, or as a query"},
		{"rows", "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)", "CREATE TABLE t (a INT)", "2 statements of the kind INSERT"},
		{"a text without end", "CREATE TABLE t (a INT); INSERT INTO t VALUES ('", "CREATE TABLE t (a INT)", "1 statement of the kind INSERT"},
		{"a comment without end", "CREATE TABLE t (a INT); /* x", "CREATE TABLE t (a INT)", ""},
		{"a comment of one byte", "CREATE TABLE t (a INT); /*", "CREATE TABLE t (a INT)", ""},
	} {
		d, err := Read("x.sql", []byte(x.text))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		var got []string
		for _, c := range d.Tables {
			got = append(got, corpus.SQL(c, corpus.Text))
		}
		if text := strings.Join(got, "; "); text != x.tables {
			t.Errorf("%s: %s, want %s", x.name, text, x.tables)
		}
		if text := strings.Join(d.Left, "; "); text != x.left {
			t.Errorf("%s: left out %q, want %q", x.name, text, x.left)
		}
	}
	for text, want := range map[string]string{
		"":                                   "x.sql: there is no CREATE TABLE",
		"SET a = 1;":                         "x.sql: there is no CREATE TABLE",
		"-- x\n\nCREATE TABLE t (a NONSENSE": "x.sql:3: no table could be read: syntax error",
	} {
		if _, err := Read("x.sql", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestSplit: a dump that is cut off anywhere gives the statements before the cut, each at its place.
func TestSplit(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	whole := split(string(text))
	for cut := range len(text) {
		last := -1
		list := split(string(text[:cut]))
		for i, s := range list {
			if s.at <= last || s.at >= cut || s.text == "" {
				t.Fatalf("cut at %d: a statement at %d behind one at %d", cut, s.at, last)
			}
			if i < len(list)-1 && s != whole[i] {
				t.Fatalf("cut at %d: statement %d is %q, want %q", cut, i, s.text, whole[i].text)
			}
			last = s.at
		}
	}
}

// TestReadMariaDB reads what only MariaDB knows.
func TestReadMariaDB(t *testing.T) {
	tables, left, stands := read(t, "CREATE TABLE `t` (\n  `id` uuid NOT NULL DEFAULT uuid(),\n  `uuid` varchar(9) COLLATE utf8mb4_uca1400_as_cs DEFAULT NULL,\n"+
		"  `ip` inet6 DEFAULT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci;\n"+
		"CREATE TABLE `v` (\n  `a` int\n) WITH SYSTEM VERSIONING;")
	if want := "CREATE TABLE t (id CHAR(36) NOT NULL DEFAULT (UUID()), uuid VARCHAR(9) DEFAULT NULL, ip VARCHAR(39) DEFAULT NULL, PRIMARY KEY(id)) " +
		"ENGINE = InnoDB DEFAULT CHARACTER SET = UTF8MB4"; tables != want {
		t.Errorf("%s\nwant\n%s", tables, want)
	}
	if !strings.HasPrefix(left, "table v in line 7: syntax error near ") {
		t.Errorf("left out %q", left)
	}
	if want := "columns of the type uuid are char(36); columns of the type inet6 are varchar(39); " +
		"text of the collation utf8mb4_uca1400_as_cs has the default one of the server; " +
		"text of the collation utf8mb4_uca1400_ai_ci has the default one of the server"; stands != want {
		t.Errorf("%s\nwant\n%s", stands, want)
	}
}
