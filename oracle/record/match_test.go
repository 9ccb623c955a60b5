package record

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// printed holds what MySQL 9.7 shows in LOCK_DATA, and the monitor of MariaDB 11.8 in
// hexadecimal, of the entry of a value in an index on a column of a type; other is
// another value of that type.
var printed = []struct{ column, value, mysql, mariadb, other string }{
	{"c TINYINT", "-3", "-3", "0x7d", "3"},
	{"c SMALLINT UNSIGNED", "65000", "65000", "0xfde8", "64999"},
	{"c MEDIUMINT", "-70000", "-70000", "0x7eee90", "70000"},
	{"c INT", "5", "5", "0x80000005", "-5"},
	{"c BIGINT", "-9", "-9", "0x7ffffffffffffff7", "9"},
	{"c BIGINT UNSIGNED", "18446744073709551615", "18446744073709551615", "0xffffffffffffffff", "1"},
	{"c VARCHAR(10)", "aß,'x", "'aß,''x'", "0x61c39f2c2778", "aß,x"},
	{"c CHAR(5)", "ab", "'ab   '", "0x6162202020", "abc"},
	{"c VARBINARY(5)", "\x00\xffA", "0x00FF41", "0x00ff41", "\x00\xff"},
	{"c DECIMAL(10,2)", "-2.25", "0x7FFFFFFDE6", "0x7ffffffde6", "2.25"},
	{"c DECIMAL(20,6)", "1234567.891000", "0x8000000012D6870D9878", "0x8000000012d6870d9878", "1234567.891001"},
	{"c FLOAT", "1.5", "0x0000C03F", "0x0000c03f", "-1.5"},
	{"c DOUBLE", "-2.5", "0x00000000000004C0", "0x00000000000004c0", "2.5"},
	{"c DATE", "2024-02-01", "1036353", "0x8fd041", "2024-02-02"},
	{"c DATETIME", "2024-02-01 10:11:12", "0x99B282A2CC", "0x99b282a2cc", "2024-02-01 10:11:13"},
	{"c DATETIME(3)", "2024-02-01 10:11:12.345", "0x99B282A2CC0D7A", "0x99b282a2cc0d7a", "2024-02-01 10:11:12.346"},
	{"c TIMESTAMP NULL", "2024-02-01 10:11:12", "0x65BB6E40", "0x65bb6e40", "2024-02-01 10:11:11"},
	{"c TIME", "-10:11:12", "0x7F5D34", "0x7f5d34", "10:11:12"},
	{"c YEAR", "2024", "124", "0x7c", "2023"},
	{"c ENUM('a','b')", "b", "2", "0x02", "a"},
	{"c SET('a','b')", "a,b", "3", "0x03", "b"},
	{"c BIT(10)", "\x02\x01", "0x0201", "0x0201", "\x02\x00"},
}

func TestMatch(t *testing.T) {
	for _, p := range printed {
		t.Run(p.column, func(t *testing.T) {
			def := table(t, "CREATE TABLE t (id INT PRIMARY KEY, "+p.column+", KEY k (c))")
			for _, server := range []struct{ field, id string }{{p.mysql, "1"}, {p.mariadb, "0x80000001"}} {
				at := &history.Place{Table: "t", Index: "k", Kind: history.RecordLock, Fields: []string{server.field, server.id}}
				for _, row := range []struct {
					id, c string
					null  bool
					want  Answer
				}{{"1", p.value, false, Yes}, {"2", p.value, false, No}, {"1", p.other, false, No}, {"1", "", true, No}} {
					if got := match(t, at, def, row.id, history.Cell{Text: row.c, Null: row.null}); got != row.want {
						t.Errorf("%v of (%s,%q): %v, want %v", at.Fields, row.id, row.c, got, row.want)
					}
				}
				at.Fields[0] = "NULL"
				if got := match(t, at, def, "1", history.Cell{Null: true}); got != Yes {
					t.Errorf("NULL: %v", got)
				}
			}
		})
	}
}

// What is cut off or not told is never sure, unless what is told excludes the row.
func TestMatchUnsure(t *testing.T) {
	def := table(t, "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(10), KEY k (c))")
	for _, c := range []struct {
		fields []string
		want   Answer
	}{
		{[]string{"0x6162…", "0x80000001"}, Unsure},
		{[]string{"0x6163…", "0x80000001"}, No},
		{[]string{"0x6162…", "0x80000002"}, No},
		{[]string{"0x616263"}, Unsure},
		{nil, Unsure},
		{[]string{"0xzz", "1"}, Unsure},
	} {
		at := &history.Place{Table: "t", Index: "k", Fields: c.fields}
		if got := match(t, at, def, "1", history.Cell{Text: "abc"}); got != c.want {
			t.Errorf("%v: %v, want %v", c.fields, got, c.want)
		}
	}
}

// A prefix counts characters, and the hidden index of MariaDB shows whole rows.
func TestMatchPrefixAndHidden(t *testing.T) {
	def := table(t, "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(10), KEY k (c(2)))")
	at := &history.Place{Table: "t", Index: "k", Fields: []string{"0x61c39f", "0x80000001"}}
	if got := match(t, at, def, "1", history.Cell{Text: "aßx"}); got != Yes {
		t.Errorf("prefix: %v", got)
	}
	def = table(t, "CREATE TABLE t (id INT, c VARCHAR(10))")
	at = &history.Place{Table: "t", Index: HiddenIndex, Fields: []string{"0x000000000001", "0x000000000123", "0xa60000002e0110", "0x80000001", "0x61"}}
	for text, want := range map[string]Answer{"a": Yes, "b": No} {
		row, err := def.ParseRow([]history.Cell{{Text: "1"}, {Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		if got := Match(at, def, nil, nil, row); got != want {
			t.Errorf("hidden index, %s: %v", text, got)
		}
	}
	at.Fields = at.Fields[:1]
	if got := Match(at, def, nil, nil, make(solve.Row, 2)); got != Unsure {
		t.Errorf("the number of a row alone: %v", got)
	}
}

func match(t *testing.T, at *history.Place, def *solve.Table, id string, c history.Cell) Answer {
	t.Helper()
	row, err := def.ParseRow([]history.Cell{{Text: id}, c})
	if err != nil {
		t.Fatal(err)
	}
	key, ok := Index(at, def, &def.Keys[0])
	if !ok {
		t.Fatalf("no index %s", at.Index)
	}
	return Match(at, def, &def.Keys[0], key, row)
}

func table(t *testing.T, create string) *solve.Table {
	t.Helper()
	stmt, err := parser.New().ParseOneStmt(create, "", "")
	if err != nil {
		t.Fatal(err)
	}
	def, err := solve.NewTable(stmt.(*ast.CreateTableStmt), solve.DialectOf(history.Server{DBMS: history.MySQL, Version: "9.7.4"}))
	if err != nil {
		t.Fatal(err)
	}
	return def
}
