package solve_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// TestErrorBesideWhatDecides holds conditions with an overflow against what MariaDB 10.5,
// 10.11, 11.8 and MySQL 9.7 answered, in a WHERE and in a select list: 1 or 0 (no row, or
// NULL), the error 1690, or ? where the answer depends on what the optimiser does. With a
// ? before it the answer is the same on all of them, and is not foreseen: another operand
// decides without the one that overflows.
func TestErrorBesideWhatDecides(t *testing.T) {
	for _, server := range servers {
		if server.DBMS == history.TiDB {
			continue
		}
		d := solve.DialectOf(server)
		s := solve.New(d)
		v := makeTable(t, d, s, "CREATE TABLE t (a INT, b BIGINT, c INT, k INT, nn INT NOT NULL, KEY (k))",
			"INSERT INTO t VALUES (NULL, -9223372036854775808, 1, 4, 3)")
		for cond, want := range map[string][2]string{
			"(a AND b - 1) OR 0 > 0":                       {"?0", "1690"},
			"0 > 0 OR (a AND b - 1)":                       {"?0", "1690"},
			"(a AND b - 1) OR c = 1":                       {"?1", "?"},
			"(c = 1 AND a AND b - 1) OR c = 2":             {"?0", "1690"},
			"(b - 1 AND a) OR 0":                           {"?", "1690"},
			"(b - 1 AND a) OR c = 2":                       {"?1690", "1690"},
			"(b - 1 AND c > 5) OR c = 2":                   {"?1690", "?1690"},
			"(b - 1 AND c = 5) OR c = 2":                   {"?", "?1690"},
			"(b - 1 AND c = 1) OR c = 2":                   {"1690", "1690"},
			"(b - 1 AND c IN (5)) OR c = 2":                {"?", "?1690"},
			"(b - 1 AND k > 5) OR c = 2":                   {"?", "?1690"},
			"(b - 1 AND k > 3) OR c = 2":                   {"1690", "1690"},
			"(b - 1 AND nn IS NULL) OR c = 2":              {"?", "?1690"},
			"(b - 1 AND 0 > 1) OR c = 1":                   {"?", "?"},
			"(b - 1 AND 1 > 0) OR c = 2":                   {"1690", "1690"},
			"NOT (a AND b - 1)":                            {"1690", "1690"},
			"NOT (a OR b - 1)":                             {"?0", "1690"},
			"NOT (NOT (a OR b - 1))":                       {"1690", "1690"},
			"NOT (NOT (a AND b - 1))":                      {"?0", "1690"},
			"NOT (NOT a OR b - 1)":                         {"?0", "1690"},
			"NOT (b - 1 OR c <> 5) OR c = 9":               {"?", "?"},
			"NOT (b - 1 AND 0 > 1)":                        {"?", "?1690"},
			"(a AND b - 1) XOR 0":                          {"1690", "1690"},
			"b - 1 = 0 AND (b - 1)":                        {"?", "1690"},
			"b - 1 = 0 AND (b - 2)":                        {"1690", "1690"},
			"(a AND b - 1) = 1":                            {"1690", "1690"},
			"IFNULL(a AND b - 1, 0)":                       {"1690", "1690"},
			"CASE WHEN a AND b - 1 THEN 1 ELSE 0 END":      {"1690", "1690"},
			"IF(a AND b - 1, 1, 0)":                        {"?0", "?0"},
			"NOT IF(a AND b - 1, 1, 0)":                    {"?1", "?1"},
			"IF(NOT (a OR b - 1), 0, 1)":                   {"?1", "?1"},
			"IF(b - 1 AND 0 > 1, 0, 1)":                    {"?", "?"},
			"IF((a AND b - 1) XOR 1, 1, 0)":                {"1690", "1690"},
			"EXISTS (SELECT 1 WHERE t.a AND t.b - 1 OR 0)": {"?0", "?0"},
		} {
			for i, q := range []string{"SELECT 1 FROM t WHERE " + cond, "SELECT " + cond + " FROM t"} {
				if got := answer(s, parse(t, q).(*ast.SelectStmt), v); got != foreseen(want[i]) {
					t.Errorf("%s: %s: %s, want %s", server.DBMS, q, got, foreseen(want[i]))
				}
			}
		}
		for q, want := range map[string]string{
			"SELECT t.c FROM t JOIN t u ON (t.a AND u.b - 1) OR 0 > 0": "?0",
			"SELECT t.c FROM t JOIN t u ON (t.c AND u.b - 1) OR u.a":   "?1690",
		} {
			if got := answer(s, parse(t, q).(*ast.SelectStmt), v); got != foreseen(want) {
				t.Errorf("%s: %s: %s, want %s", server.DBMS, q, got, foreseen(want))
			}
		}
	}
}

// foreseen is what the solver says where servers answered so.
func foreseen(answer string) string {
	if strings.HasPrefix(answer, "?") {
		return "?"
	}
	return answer
}

// answer returns the only cell of the result, 0 for no row or NULL, the code of
// the error, or ?.
func answer(s *solve.Solver, stmt *ast.SelectStmt, v solve.Views) string {
	res, err := s.Select(stmt, v)
	return outcome(err, func() string {
		if len(res.Rows) == 0 || res.Rows[0][0].IsNull() {
			return "0"
		}
		return texts(res.Rows)
	})
}

// outcome prints what became of a statement: values, the error's code, or ?.
func outcome(err error, value func() string) string {
	var e *solve.SQLError
	var u *solve.Unsupported
	switch {
	case err == nil:
		return value()
	case errors.As(err, &e):
		return fmt.Sprint(e.Code)
	case errors.As(err, &u):
		return "?"
	}
	return err.Error()
}

// TestSoleConditionIsRounded holds against MariaDB 10.5 and 10.11 which of 0.25
// and 0.5 a condition takes; what is between the two is refused, and so is what 10.5 takes for a condition as
// a whole since it leaves out what is constant: WHERE d * 1 AND 1 = 1 takes 0.5 only.
func TestSoleConditionIsRounded(t *testing.T) {
	for version, sole := range map[string][4]string{"10.5.23": {"2", "0", "?", "?"}, "10.6.1": {"?", "?", "?", "?"}, "10.11.18": {"1;2", "1;2", "1;2", "1;2"}} {
		d := solve.DialectOf(history.Server{DBMS: history.MariaDB, Version: version})
		s := solve.New(d)
		v := makeTable(t, d, s, "CREATE TABLE t (id INT, d DECIMAL(5,2), e DOUBLE, v VARCHAR(5))", "INSERT INTO t VALUES (1, 0.25, 0.25, '0.3'), (2, 0.5, 0.5, '0.6')")
		for cond, want := range map[string]string{
			"d * 1": sole[0], "e * 1": sole[1], "CONCAT(v)": sole[2], "IFNULL(d, 0)": sole[0],
			"d": "1;2", "v": "1;2", "0.25": "1;2", "d * 1 AND id > 0": "1;2", "d * 1 OR id > 2": "1;2", "d * 100": "1;2",
			"d * 1 AND 1 = 1": sole[3], "d * 1 OR ''": sole[3], "id > 0 AND (d * 1 OR 1 = 0)": sole[3], "d AND 1 = 1": "1;2",
		} {
			if got := answer(s, parse(t, "SELECT id FROM t WHERE "+cond).(*ast.SelectStmt), v); got != want {
				t.Errorf("%s: WHERE %s: %s, want %s", version, cond, got, want)
			}
		}
	}
}
