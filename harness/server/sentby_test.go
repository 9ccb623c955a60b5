package server

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// columnsOf are the types of columns of MySQL's family, with values of each: the first and the last that there is,
// zero, what has fewer digits than the column, and what rounds.
var columnsOf = []struct{ kind, values string }{
	{"TINYINT", "-128, 0, 127"}, {"TINYINT UNSIGNED", "0, 7, 255"}, {"BOOLEAN", "FALSE, TRUE"},
	{"SMALLINT", "-32768, 0, 32767"}, {"SMALLINT UNSIGNED", "0, 65535"},
	{"MEDIUMINT", "-8388608, -1, 8388607"}, {"MEDIUMINT UNSIGNED", "0, 16777215"},
	{"INT", "-2147483648, 0, 2147483647"}, {"INT UNSIGNED", "0, 4294967295"}, {"INT(6) ZEROFILL", "0, 12, 1234567"},
	{"BIGINT", "-9223372036854775808, 0, 9223372036854775807"}, {"BIGINT UNSIGNED", "0, 18446744073709551615"},
	{"BIGINT(20) ZEROFILL", "0, 1234"}, {"YEAR", "0, 1901, 1999, 2155"},
	{"DECIMAL(10,3)", "-9999999.999, 0, 0.001, 12.5"}, {"DECIMAL(30,0)", "-1, 123456789012345678901234567890"},
	{"DECIMAL(8,2) ZEROFILL", "0, 1.5"},
	{"FLOAT", "0, -0.0, 1.1, -3.4e38, 1.17e-38, 16777216, 0.1, 123456, 1234567, 1e15, 1e14, 1e16, 1e-14, 1e-15, 1e-16, " +
		"33.333333, 123456789, 9999995, 999999.5"},
	{"FLOAT(7,3)", "0, 1.1, -1234.5678, 9999.999"},
	{"DOUBLE", "0, -0.0, 1.1, 0.1, -1.7976931348623157e308, 2.2250738585072014e-308, 4503599627370497.5, 1e15, 1e14, " +
		"123456789012345, 1234567890123456, 1e16, 1e-14, 1e-15, 1e-16, 0.3333333333333333, 1e22, 1e23, 5e-324"},
	{"DOUBLE(10,4)", "0, 1.1, -123456.78905"}, {"DOUBLE ZEROFILL", "0, 2.5"},
	{"DATE", "'1000-01-01', '2024-02-29', '9999-12-31'"},
	{"DATETIME", "'1000-01-01', '2024-02-29 23:59:59', '9999-12-31 00:00:01'"},
	{"DATETIME(3)", "'2024-02-29 00:00:00', '2024-02-29 01:02:03.004', '2024-02-29 01:02:03.4567'"},
	{"DATETIME(6)", "'2024-02-29 00:00:00', '2024-02-29 01:02:03.000004', '2024-02-29 00:00:00.5'"},
	{"TIMESTAMP(2) NULL", "'1971-01-01 00:00:01', '2024-02-29 01:02:03.07', '2024-02-29'"},
	{"TIME", "'-838:59:59', '00:00:00', '838:59:59', '01:02:03', '-00:00:01'"},
	{"TIME(4)", "'-23:59:59.9999', '00:00:00', '100:00:00.0001', '-00:00:00.5'"},
	{"CHAR(5)", "'', 'a', 'äöü€x'"}, {"VARCHAR(300)", "'', 'it''s', REPEAT('x', 300)"}, {"TEXT", "'', REPEAT('y', 3000)"},
	{"BINARY(3)", "'a', x'00ff01'"}, {"VARBINARY(9)", "'', x'00ff'"}, {"BLOB", "'', REPEAT(x'fb', 70000)"},
	{"BIT(1)", "0, 1"}, {"BIT(12)", "0, 1, 4095"}, {"BIT(64)", "0, 18446744073709551615"},
	{"ENUM('a','b c','')", "'a', 'b c', ''"}, {"SET('x','y','z')", "'', 'x', 'x,z'"},
	{"JSON", `'null', '1.5', '{"b": [1, 2.50, "x"], "a": {}}', '"t"'`},
}

// asked are statements whose answers come from no column, or change rows; each is sent twice. Some warn, some fail, some
// cannot be prepared. RAND(3) is not among them: TiDB goes on with the same numbers in a statement that is kept.
var asked = []string{
	"SELECT NULL, 1, -1, 1.50, 1e3, 1/3, 'a', TRUE, 18446744073709551615, 2 > 1, CAST(1.5 AS DOUBLE)",
	"SELECT SUM(c), AVG(c), MAX(c), COUNT(*), STD(c), BIT_OR(c), GROUP_CONCAT(c ORDER BY c) FROM number_of",
	"SELECT c + 0.1e0, c / 3, c * 1.5, c DIV 2, c MOD 2, SQRT(ABS(c)) FROM number_of ORDER BY c",
	"SELECT CAST('2024-02-29 01:02:03.456789' AS DATETIME(6)), CAST('2024-02-29' AS DATE), CAST('01:02:03.4' AS TIME(1))",
	"SELECT TIMESTAMP '2024-02-29 01:02:03.5', DATE '2024-02-29', TIME '-01:00:00.25', DATE_ADD('2024-02-29', INTERVAL 1 DAY)",
	"SELECT TIMEDIFF('10:00:00.5', '09:00:00'), SEC_TO_TIME(5000), MAKETIME(1, 2, 3), FROM_UNIXTIME(0.5), YEAR('2024-01-01')",
	"SELECT JSON_OBJECT('a', 1), JSON_EXTRACT('{\"a\": [1, 2]}', '$.a'), BIN(5), HEX('a'), x'4142', b'101', 0xff + 0",
	"SELECT IF(c > 1, c, 'x'), COALESCE(NULL, c), c IS NULL, CASE c WHEN 1 THEN 1.5 ELSE 2 END FROM number_of ORDER BY c",
	"SELECT 1 WHERE FALSE", "SELECT * FROM number_of WHERE c < 0", "SELECT c AS `a name` FROM number_of",
	"INSERT INTO number_of VALUES (4), (5)", "INSERT INTO auto_of (b) VALUES (1), (2)", "SELECT LAST_INSERT_ID()",
	"UPDATE number_of SET c = 5 WHERE c >= 4", "UPDATE number_of SET c = c", "DELETE FROM number_of WHERE c = 5",
	"INSERT INTO auto_of (k, b) VALUES (1, 7) ON DUPLICATE KEY UPDATE b = b + 1", "REPLACE INTO auto_of VALUES (1, 9)",
	"INSERT INTO auto_of (k, b) VALUES (1, 7)", "INSERT IGNORE INTO auto_of (k, b) VALUES (1, 7)",
	"INSERT IGNORE INTO auto_of (b) VALUES ('12x')", "SELECT '12x' + 1", "SELECT c FROM number_of WHERE c = '1x'",
	"SELECT no_such FROM number_of", "SELECT * FROM no_such", "SELECT FROM WHERE",
	"SELECT CAST('x' AS SIGNED), 1/0, ROW_COUNT()", "SELECT EXP(1000)", "SELECT ~0 + 1",
	"BEGIN", "SAVEPOINT s1", "INSERT INTO auto_of (b) VALUES (3)", "ROLLBACK TO SAVEPOINT s1", "RELEASE SAVEPOINT s1",
	"COMMIT", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT * FROM auto_of FOR UPDATE", "ROLLBACK",
	"SET autocommit = 0", "SELECT @@autocommit, @@sql_mode", "SET autocommit = 1", "SET @a = 1.5", "SELECT @a, @b := 2",
	"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "SHOW COLUMNS FROM number_of", "EXPLAIN SELECT 1",
	"CREATE TABLE late (a INT)", "INSERT INTO late VALUES (1)", "ALTER TABLE late ADD COLUMN b FLOAT DEFAULT 2.5",
	"SELECT * FROM late", "TRUNCATE late", "DROP TABLE late", "DO 0", "LOCK TABLES number_of READ", "UNLOCK TABLES",
	"(SELECT 1 AS x UNION SELECT 2.5) ORDER BY x", "VALUES ROW(1, 2)", "WITH c AS (SELECT 1 AS x) SELECT * FROM c",
}

// setUpOf are the statements that make the tables, and the queries that read each column.
func setUpOf() (makes, reads []string) {
	makes = []string{"CREATE TABLE number_of (c INT)", "INSERT INTO number_of VALUES (1), (2), (3)",
		"CREATE TABLE auto_of (k INT PRIMARY KEY AUTO_INCREMENT, b INT)"}
	for i, c := range columnsOf {
		makes = append(makes, fmt.Sprintf("CREATE TABLE t%d (k INT PRIMARY KEY AUTO_INCREMENT, c %s)", i, c.kind),
			fmt.Sprintf("INSERT INTO t%d (c) VALUES (NULL), (%s)", i, joined(c.values)))
		reads = append(reads, fmt.Sprintf("SELECT c, k FROM t%d ORDER BY k", i),
			fmt.Sprintf("SELECT MAX(c), MIN(c), COUNT(c), COALESCE(NULL, MAX(c)) FROM t%d", i))
	}
	return makes, reads
}

// joined puts each of some values into parentheses; a comma within a text or parentheses separates none.
func joined(values string) string {
	var b strings.Builder
	quoted, deep := false, 0
	for i := 0; i < len(values); i++ {
		c := values[i]
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			deep++
		case c == ')':
			deep--
		case c == ',' && deep == 0:
			b.WriteString("), (")
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

var everyWay = []protocol.Way{protocol.Text, protocol.Prepare, protocol.Execute}

// TestBinaryAnswersAreTexts sends the same statements in each way: rows, counts, warnings and errors are the same, and
// so is whether a transaction is open.
func TestBinaryAnswersAreTexts(t *testing.T) {
	targets := installedTargets(t)
	for _, tidb := range installedTiDBs(t) {
		if strings.HasSuffix(tidb, ofTheEmbedded) {
			targets = append(targets, tidb)
		}
	}
	each(t, targets, func(t *testing.T, target string) {
		b := start(t, target)
		if b.Server().DBMS != history.TiDB { // which counts for the whole server
			whatIsSent(t, b)
			keptGo(t, b)
		}
		makes, reads := setUpOf()
		var answers [3][]harness.Reply
		statements := append(reads, asked...)
		for _, way := range everyWay {
			s := session(t, b)
			for _, q := range append([]string{
				"SET sql_mode = ''", "SET time_zone = '+00:00'", "CREATE DATABASE sent_by_" + way.String(),
				"USE sent_by_" + way.String(),
			}, makes...) {
				r, err := s.Execute(q)
				if err != nil || r.Err != nil {
					t.Fatalf("%s: %v %v", q, err, r.Err)
				}
			}
			for _, q := range statements {
				for range 2 {
					r, err := s.ExecuteBy(q, way)
					if err != nil {
						t.Fatalf("%s: %s: %v", way, q, err)
					}
					if way != protocol.Text && r.Err == nil && (r.Sent == way) == r.AsText {
						t.Errorf("%s: %s was sent as %s, as text because of the server: %v", way, q, r.Sent, r.AsText)
					}
					if r.Err != nil {
						r.Err.Message = strings.ReplaceAll(r.Err.Message, "sent_by_"+way.String(), "sent_by")
					}
					answers[way] = append(answers[way], r)
				}
			}
		}
		for _, way := range everyWay[1:] {
			for i := range answers[way] {
				sameAnswer(t, way.String()+": "+statements[i/2], b.Server().DBMS == history.TiDB, &answers[way][i], &answers[protocol.Text][i])
			}
		}
	})
}

// sameAnswer holds an answer against that to the same text.
func sameAnswer(t *testing.T, what string, tidb bool, got, text *harness.Reply) {
	t.Helper()
	a, b := got.Result, text.Result
	a.Err, b.Err = nil, nil
	if tidb { // it warns of plans that it does not keep, and of a constant only as it makes a plan
		a.Warnings = b.Warnings
	}
	if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(got.Err, text.Err) || got.InTxnTold != text.InTxnTold || got.Tag != text.Tag {
		t.Errorf("%s\n got %v %s %+v\nwant %v %s %+v", what, got.Err, got.Tag, shown(a), text.Err, text.Tag, shown(b))
	}
}

func shown(r history.Result) string { return fmt.Sprintf("%.3000v", fmt.Sprintf("%+v", r)) }

// session opens a session that ends with the test.
func session(t *testing.T, b harness.Backend) harness.Preparing {
	t.Helper()
	db, err := harness.DatabaseOf(b)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := db.Open(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(harness.Preparing)
}

// postgresColumns are types of PostgreSQL, with values of each.
var postgresColumns = []struct{ kind, values string }{
	{"smallint", "-32768, 0"}, {"int", "-2147483648, 0"}, {"bigint", "9223372036854775807"}, {"numeric", "1.50, 'NaN'"},
	{"real", "1.1, 'Infinity', 1e15"}, {"float8", "0.1, 1e-300, '-Infinity'"}, {"money", "12.5"}, {"bool", "true, false"},
	{"text", "'', 'a''b', 'äöü'"}, {"char(5)", "'a'"}, {"varchar(9)", "'x '"}, {"bytea", `'\x00ff'`},
	{"date", "'infinity', '2024-02-29', '0044-03-15 BC'"}, {"timestamp(3)", "'2024-02-29 01:02:03.4567'"},
	{"timestamptz", "'2024-02-29 01:02:03.4+02'"}, {"time", "'24:00:00'"}, {"timetz", "'01:02:03+02'"},
	{"interval", "'1 year -2 days 03:04:05.6'"}, {"json", `'{"b": 1.50, "a": null}'`}, {"jsonb", `'{"b": 1.50, "a": null}'`},
	{"uuid", "'00000000-0000-0000-0000-00000000000a'"}, {"inet", "'10.0.0.1/8'"}, {"int[]", "'{1,NULL,3}'"},
	{"int4range", "'[1,5]'"}, {"point", "'(1,2.5)'"}, {"bit(5)", "B'10101'"}, {"tsvector", "'a b'"},
}

// postgresAsked are statements of PostgreSQL; some fail, and behind one its transaction is aborted.
var postgresAsked = []string{
	"SELECT NULL, 1, 'a', 1.5, true, 1 = 2, now() IS NULL", "SELECT", "", "SELECT WHERE false",
	"INSERT INTO number_of VALUES (4), (5) RETURNING *, xmax", "UPDATE number_of SET c = 5 WHERE c > 3",
	"DELETE FROM number_of WHERE c = 5", "SELECT no_such FROM number_of", "SELECT * FROM no_such", "SELECT FROM WHERE",
	"SELECT 1/0", "INSERT INTO number_of VALUES ('x')", "COPY number_of FROM STDIN",
	"BEGIN", "SAVEPOINT s", "SELECT 1/0", "SELECT 1", "ROLLBACK TO SAVEPOINT s", "SELECT c FROM number_of ORDER BY c",
	"COMMIT", "BEGIN ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION READ ONLY", "UPDATE number_of SET c = 7", "COMMIT",
	"SHOW transaction_isolation", "EXPLAIN (COSTS off) SELECT 1", "LISTEN x", "NOTIFY x, 'y'", "UNLISTEN *",
	"VALUES (1, 'x')", "WITH w AS (UPDATE number_of SET c = c RETURNING c) SELECT count(*) FROM w",
	"MERGE INTO number_of USING (SELECT 9 AS x) s ON c = x WHEN NOT MATCHED THEN INSERT VALUES (x)",
	"PREPARE TRANSACTION 'sent_by'", "LOCK TABLE number_of", "CREATE TABLE late (a int)", "DROP TABLE late",
}

// TestExtendedAnswersAreThoseOfSimple is TestBinaryAnswersAreTexts for PostgreSQL.
func TestExtendedAnswersAreThoseOfSimple(t *testing.T) {
	targets := installedClusters(t)
	if n := len(targets); n > 2 {
		targets = []string{targets[0], targets[n-1]}
	}
	each(t, targets, func(t *testing.T, target string) {
		b := startCluster(t, target, harness.Options{})
		makes := []string{"CREATE TABLE number_of (c int)", "INSERT INTO number_of VALUES (1), (2), (3)"}
		statements := []string{}
		for i, c := range postgresColumns {
			makes = append(makes, fmt.Sprintf("CREATE TABLE t%d (k int GENERATED ALWAYS AS IDENTITY, c %s)", i, c.kind),
				fmt.Sprintf("INSERT INTO t%d (c) VALUES (NULL), (%s)", i, joined(c.values)))
			statements = append(statements, fmt.Sprintf("SELECT c, k FROM t%d ORDER BY k", i))
		}
		statements = append(statements, postgresAsked...)
		var answers [3][]harness.Reply
		for _, way := range everyWay {
			s := clusterSession(t, b)
			schema := "sent_by_" + way.String()
			query(t, s, "CREATE SCHEMA "+schema+"; SET search_path = "+schema+"; SET timezone = 'UTC'")
			for _, q := range makes {
				query(t, s, q)
			}
			for _, q := range statements {
				for range 2 {
					r, err := s.ExecuteBy(q, way)
					if err != nil {
						t.Fatalf("%s: %s: %v", way, q, err)
					}
					if way != protocol.Text && (r.Sent == way) == strings.HasPrefix(q, "COPY") {
						t.Errorf("%s: %s was sent as %s", way, q, r.Sent)
					}
					for _, row := range r.Rows {
						if strings.Contains(q, "xmax") {
							row[len(row)-1].Text = "" // the number of a transaction
						}
					}
					answers[way] = append(answers[way], r)
				}
			}
		}
		for _, way := range everyWay[1:] {
			for i := range answers[way] {
				sameAnswer(t, way.String()+": "+statements[i/2], false, &answers[way][i], &answers[protocol.Text][i])
			}
		}
	})
}

// counted are the counters of MySQL's family for what a session was sent.
var counted = []string{"Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close"}

// whatIsSent asks the server what it was sent: text prepares nothing, prepare does each time, execute once.
func whatIsSent(t *testing.T, b harness.Backend) {
	for _, c := range []struct {
		way  protocol.Way
		want string
	}{{protocol.Text, "0 0 0"}, {protocol.Prepare, "5 5 5"}, {protocol.Execute, "1 5 0"}} {
		s := session(t, b)
		for range 5 {
			if r, err := s.ExecuteBy("SELECT 1", c.way); err != nil || r.Err != nil || r.Sent != c.way {
				t.Fatalf("%s: %v %v, sent as %s", c.way, err, r.Err, r.Sent)
			}
		}
		var got []string
		for _, name := range counted {
			r, err := s.Execute("SHOW SESSION STATUS LIKE '" + name + "'")
			if err != nil || len(r.Rows) != 1 {
				t.Fatalf("%s: %v, %d rows", name, err, len(r.Rows))
			}
			got = append(got, r.Rows[0][1].Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v is %v, want %s", c.way, counted, got, c.want)
		}
	}
}

// keptGo: a session keeps MostKept statements, forgets them when it is told to, and goes on.
func keptGo(t *testing.T, b harness.Backend) {
	s := session(t, b)
	for i := range harness.MostKept + 6 {
		if r, err := s.ExecuteBy(fmt.Sprintf("SELECT %d", i), protocol.Execute); err != nil || r.Rows[0][0].Text != fmt.Sprint(i) {
			t.Fatalf("%v %+v", err, r)
		}
	}
	closes := func(want string) {
		t.Helper()
		if r, err := s.Execute("SHOW SESSION STATUS LIKE 'Com_stmt_close'"); err != nil || r.Rows[0][1].Text != want {
			t.Errorf("%v: %v statements were closed, want %s", err, r.Rows, want)
		}
	}
	closes("6")
	s.Forget()
	closes(fmt.Sprint(harness.MostKept + 6))
	if r, err := s.ExecuteBy("SELECT 1", protocol.Execute); err != nil || r.Rows[0][0].Text != "1" {
		t.Errorf("behind that: %v %+v", err, r)
	}
}
