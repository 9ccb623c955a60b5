package solve_test

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// TestMomentsBesideOtherTypes holds comparisons of dates and times with other types
// against what MySQL 9.7, MariaDB 10.11 and MariaDB 10.5 answered.
func TestMomentsBesideOtherTypes(t *testing.T) {
	const (
		create = "CREATE TABLE t (da DATE, dt DATETIME, tm TIME, ti TINYINT, i INT, b BIGINT, b2 BIGINT, d DECIMAL(20,2), f DOUBLE, s VARCHAR(30), v VARCHAR(9), y YEAR, bi BIT(4), en ENUM('x','2024-03-01'))"
		insert = "INSERT INTO t VALUES ('2024-02-29', '2024-02-29 12:30:45', '00:00:10', 127, 240229, 20240301, 9007199254740993, 20240229123045.00, 20240229000010, '2024-02-29 12:30:45', '10a', 2024, 10, '2024-03-01')"
	)
	answered := []history.Server{
		{DBMS: history.MySQL, Version: "9.7.4-2"},
		{DBMS: history.MariaDB, Version: "10.11.18-MariaDB"},
		{DBMS: history.MariaDB, Version: "10.5.23-MariaDB"},
	}
	for e, wants := range map[string][3]string{
		"da > ti":       {"1", "1", "1"},
		"da < i":        {"0", "0", "0"},
		"da = i":        {"0", "1", "1"},
		"dt < b":        {"0", "1", "1"},
		"dt = d":        {"1", "1", "1"},
		"da = d":        {"0", "0", "0"},
		"da < s":        {"0", "1", "1"},
		"da = s":        {"1", "0", "0"},
		"dt = s":        {"1", "1", "1"},
		"tm = s":        {"0", "0", "0"},
		"tm < v":        {"1", "0", "0"},
		"tm = v":        {"0", "1", "1"},
		"tm < i":        {"1", "1", "1"},
		"tm < d":        {"1", "1", "1"},
		"tm > b":        {"0", "1", "1"},
		"tm = f":        {"0", "1", "1"},
		"tm > b2":       {"0", "1", "0"},
		"tm > y":        {"0", "1", "1"},
		"da < y":        {"0", "0", "0"},
		"da > y":        {"1", "1", "1"},
		"tm > da":       {"1", "1", "1"},
		"da < en":       {"1", "1", "1"},
		"tm < en":       {"1", "?", "?"},
		"tm = bi":       {"1", "0", "0"},
		"da > bi":       {"1", "1", "1"},
		"NULLIF(da, i)": {"2024-02-29", "NULL", "NULL"},
		"da <=> s":      {"1", "0", "0"},
		"tm <=> v":      {"0", "1", "1"},
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
