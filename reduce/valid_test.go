package reduce

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFaults(t *testing.T) {
	const tables = "/* init */ CREATE TABLE t (a INT, b VARCHAR(9));\n/* init */ CREATE TABLE u (a INT, c INT);\n/* init */ CREATE TABLE k (a INT PRIMARY KEY AUTO_INCREMENT, b INT NOT NULL, c INT, UNIQUE (c));\n"
	for _, x := range []struct {
		text string
		want []string
	}{
		{"/* tx1 */ SELECT a, b FROM t WHERE a > 1", nil},
		{"/* tx1 */ SELECT a FROM v", []string{"unknown table v"}},
		{"/* tx1 */ SELECT c FROM t", []string{"unknown column .c"}},
		{"/* tx1 */ SELECT x.c FROM t AS x", []string{"unknown column x.c"}},
		{"/* tx1 */ SELECT t.a FROM t AS x", []string{"unknown column t.a"}},
		{"/* tx1 */ SELECT a FROM t, u", []string{"ambiguous column a"}},
		{"/* tx1 */ SELECT a FROM t JOIN u USING (a)", nil},
		{"/* tx1 */ SELECT x.a FROM t AS x, t AS y", nil},
		{"/* tx1 */ SELECT 1 FROM t, t", []string{"two tables called t"}},
		{"/* tx1 */ SELECT b FROM t WHERE a IN (SELECT a FROM u WHERE c = b)", nil},
		{"/* tx1 */ SELECT d.x FROM (SELECT a AS x FROM t) AS d", nil},
		{"/* tx1 */ SELECT d.b FROM (SELECT a AS x FROM t) AS d", []string{"unknown column d.b"}},
		{"/* tx1 */ SELECT a AS x FROM t HAVING x > 1 ORDER BY x", nil},
		{"/* tx1 */ WITH q AS (SELECT a FROM t) SELECT a FROM q", nil},
		{"/* tx1 */ INSERT INTO t VALUES (1, 'x'), (2)", []string{"row width"}},
		{"/* tx1 */ INSERT INTO t (a) VALUES (1, 2)", []string{"row width"}},
		{"/* tx1 */ INSERT INTO t VALUES ('x', 'y')", []string{"text for a number"}},
		{"/* tx1 */ INSERT INTO t VALUES ('12', NULL)", nil},
		{"/* tx1 */ INSERT INTO k VALUES (NULL, 1, NULL)", nil},
		{"/* tx1 */ INSERT INTO k (c, b) VALUES (1, NULL)", []string{"NULL for a column that takes none"}},
		{"/* tx1 */ INSERT INTO t SELECT * FROM u", nil},
		{"/* tx1 */ INSERT INTO t SELECT u.*, 1 FROM u", []string{"row width"}},
		{"/* tx1 */ UPDATE t SET c = 1", []string{"unknown column .c"}},
		{"/* tx1 */ DELETE FROM t WHERE u.a = 1", []string{"unknown column u.a"}},
		{"/* tx1 */ CREATE TABLE t (a INT)", []string{"two tables t"}},
		{"/* tx1 */ CREATE TABLE w (a INT, a INT)", []string{"two columns of one name"}},
		{"/* tx1 */ CREATE TABLE w (a INT AUTO_INCREMENT)", []string{"AUTO_INCREMENT without key"}},
		{"/* tx1 */ CREATE TABLE w (a INT, KEY (b))", []string{"unknown column .b"}},
		{"/* tx1 */ CREATE TABLE w (a INT DEFAULT 'x')", []string{"text as default of a number"}},
		{"/* tx1 */ CREATE TABLE w (a INT, KEY (a(3)))", []string{"key length on a number"}},
		{"/* tx1 */ CREATE TABLE w (a INT, FOREIGN KEY (a) REFERENCES u (a))", []string{"foreign key to columns without key"}},
		{"/* tx1 */ CREATE INDEX i ON t (c)", []string{"unknown column .c"}},
		{"/* tx1 */ BEGIN;\n/* tx1 */ SAVEPOINT s;\n/* tx1 */ ROLLBACK TO s", nil},
		{"/* tx1 */ SAVEPOINT s;\n/* tx1 */ ROLLBACK TO s", []string{"savepoint not set: s"}},
		{"/* tx1 */ BEGIN;\n/* tx1 */ SAVEPOINT s;\n/* tx2 */ ROLLBACK TO s", []string{"savepoint not set: s"}},
		{"/* tx1 */ BEGIN;\n/* tx1 */ SAVEPOINT s;\n/* tx1 */ COMMIT;\n/* tx1 */ ROLLBACK TO s", []string{"savepoint not set: s"}},
	} {
		d, err := newDraft(newLibrary(), parse(t, tables+x.text+";"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.want, slices.Sorted(maps.Keys(d.faults()))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.text, diff)
		}
	}
}
