package solve_test

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// TestMomentsBesideOtherTypes holds comparisons of dates and times with other types
// against what MySQL 9.7, MariaDB 10.11 and MariaDB 10.5 answered; ?
// is left open.
func TestMomentsBesideOtherTypes(t *testing.T) {
	const (
		create = "CREATE TABLE t (da DATE, dt DATETIME, tm TIME, ti TINYINT, i INT, b BIGINT, b2 BIGINT, d DECIMAL(20,2), f DOUBLE, s VARCHAR(30), v VARCHAR(9), y YEAR, bi BIT(4), en ENUM('x','2024-03-01'), ts TIMESTAMP NULL)"
		insert = "INSERT INTO t VALUES ('2024-02-29', '2024-02-29 12:30:45', '00:00:10', 127, 240229, 20240301, 9007199254740993, 20240229123045.00, 20240229000010, '2024-02-29 12:30:45', '10a', 2024, 10, '2024-03-01', '2024-02-29 12:30:45')"
	)
	answered := []history.Server{
		{DBMS: history.MySQL, Version: "9.7.4-2"},
		{DBMS: history.MariaDB, Version: "10.11.18-MariaDB"},
		{DBMS: history.MariaDB, Version: "10.5.23-MariaDB"},
	}
	for e, wants := range map[string][3]string{
		"da > ti":               {"1", "1", "1"},
		"da < i":                {"0", "0", "0"},
		"da = i":                {"0", "1", "1"},
		"dt < b":                {"0", "1", "1"},
		"dt = d":                {"1", "1", "1"},
		"da = d":                {"0", "0", "0"},
		"da < s":                {"0", "1", "1"},
		"da = s":                {"1", "0", "0"},
		"dt = s":                {"1", "1", "1"},
		"tm = s":                {"0", "0", "0"},
		"tm < v":                {"1", "0", "0"},
		"tm = v":                {"0", "1", "1"},
		"tm < i":                {"1", "1", "1"},
		"tm < d":                {"1", "1", "1"},
		"tm > b":                {"0", "1", "1"},
		"tm = f":                {"0", "1", "1"},
		"tm > b2":               {"0", "1", "0"},
		"tm > y":                {"0", "1", "1"},
		"da < y":                {"0", "0", "0"},
		"da > y":                {"1", "1", "1"},
		"tm > da":               {"1", "1", "1"},
		"da < en":               {"1", "1", "1"},
		"tm < en":               {"1", "?", "?"},
		"tm = bi":               {"1", "0", "0"},
		"da > bi":               {"1", "1", "1"},
		"NULLIF(da, i)":         {"2024-02-29", "NULL", "NULL"},
		"da <=> s":              {"1", "0", "0"},
		"tm <=> v":              {"0", "1", "1"},
		"da BETWEEN d AND NULL": {"0", "0", "0"},
		"da BETWEEN y AND NULL": {"?", "NULL", "NULL"},
		"da BETWEEN i AND b":    {"?", "1", "1"},
		"tm BETWEEN i AND da":   {"?", "?", "?"},
		"dt IN (b, NULL)":       {"NULL", "NULL", "NULL"},
		"da IN (s, NULL)":       {"?", "NULL", "NULL"},
		"i IN (da, dt)":         {"?", "1", "1"},
		"tm IN (v, ti)":         {"?", "1", "1"},
		"CASE da WHEN s THEN 1 WHEN i THEN 2 ELSE 0 END": {"?", "2", "2"},
		"CASE dt WHEN s THEN 1 ELSE 0 END":               {"1", "1", "1"},
		"CASE tm WHEN da THEN 1 ELSE 0 END":              {"?", "0", "0"},
		"ts - i":                                         {"20240228882816", "20240228882816", "20240228882816"},
		"i - ts":                                         {"-20240228882816", "-20240228882816", "-20240228882816"},
		"y - ts":                                         {"1690", "1690", "1690"},
		"ts DIV ti":                                      {"159371882858", "159371882858", "159371882858"},
		"ti % ts":                                        {"127", "127", "127"},
		"ts % ti":                                        {"79", "79", "79"},
		"ts * ti":                                        {"2570509098626715", "2570509098626715", "2570509098626715"},
		"ts - ts":                                        {"0", "0", "0"},
		"ts / ti":                                        {"159371882858.6220", "159371882858.6220", "159371882858.6220"},
		"ts + da":                                        {"20240249363274", "20240249363274", "20240249363274"},
		"da IN ('2024-02-28', tm)":                       {"?", "0", "0"},
		"da > 127":                                       {"?", "1", "1"},
		"tm < 11":                                        {"?", "1", "1"},
	} {
		for i, server := range answered {
			d := solve.DialectOf(server)
			s := solve.New(d)
			r, err := s.Select(parse(t, "SELECT "+e+" FROM t").(*ast.SelectStmt), makeTable(t, d, s, create, insert))
			if got := outcome(err, func() string { return texts(r.Rows) }); got != wants[i] {
				t.Errorf("%s %s: %s: %s, want %s", server.DBMS, server.Version, e, got, wants[i])
			}
		}
	}
}

// TestMomentsBesideOtherTypesAreOpen holds that TiDB's are left open.
func TestMomentsBesideOtherTypesAreOpen(t *testing.T) {
	d := solve.DialectOf(servers[0])
	for _, e := range []string{"da < s", "tm > da", "da > y", "da BETWEEN dt AND NULL", "da BETWEEN s AND NULL", "da IN (s, NULL)", "da < i"} {
		s := solve.New(d)
		v := makeTable(t, d, s, "CREATE TABLE t (da DATE, dt DATETIME, tm TIME, i INT, s VARCHAR(30), y YEAR)", "INSERT INTO t VALUES ('2024-02-29', '2024-02-29 12:30:45', '00:00:10', 1, 'a', 2024)")
		r, err := s.Select(parse(t, "SELECT "+e+" FROM t").(*ast.SelectStmt), v)
		if got := outcome(err, func() string { return texts(r.Rows) }); got != "?" {
			t.Errorf("%s: %s, want ?", e, got)
		}
	}
}
