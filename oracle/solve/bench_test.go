package solve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

type oneTable struct {
	def  *solve.Table
	rows []solve.Row
}

func (v *oneTable) Table(name string) (*solve.Table, []solve.Row, error) {
	if !strings.EqualFold(name, v.def.Name) {
		return nil, nil, &solve.SQLError{Code: 1146, Message: "no table " + name}
	}
	return v.def, v.rows, nil
}

// makeTable builds a table from CREATE TABLE and INSERT statements.
func makeTable(t testing.TB, d solve.Dialect, s *solve.Solver, create string, inserts ...string) *oneTable {
	t.Helper()
	def, err := solve.NewTable(parse(t, create).(*ast.CreateTableStmt), d)
	if err != nil {
		t.Fatal(err)
	}
	v := &oneTable{def: def}
	for _, q := range inserts {
		rows, err := s.Insert(parse(t, q).(*ast.InsertStmt), def, v)
		if err != nil {
			t.Fatal(err)
		}
		v.rows = append(v.rows, rows...)
	}
	return v
}

func parse(t testing.TB, q string) ast.StmtNode {
	t.Helper()
	stmt, err := corpus.ParseStatement(q)
	if err != nil {
		t.Fatal(err)
	}
	return stmt
}

var servers = []history.Server{
	{DBMS: history.TiDB, Version: "8.0.11-TiDB-v8.2.0"},
	{DBMS: history.MySQL, Version: "9.7.4-2"},
	{DBMS: history.MariaDB, Version: "10.11.18-MariaDB"},
	{DBMS: history.MariaDB, Version: "11.8.9-MariaDB"},
}

// benchTable has ten rows, the size of a generated case.
func benchTable(b *testing.B, s *solve.Solver, d solve.Dialect) *oneTable {
	var rows []string
	for i := 1; i <= 10; i++ {
		rows = append(rows, fmt.Sprintf("(%d, %d, 'v%d')", i, i*3, i))
	}
	return makeTable(b, d, s, "CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10), UNIQUE KEY (c))", "INSERT INTO t VALUES "+strings.Join(rows, ", "))
}

func BenchmarkMatches(b *testing.B) {
	for _, q := range []string{
		"SELECT * FROM t WHERE b > 6",
		"SELECT * FROM t WHERE (a = 3 OR b BETWEEN 5 AND 20) AND c <> 'v4' AND NOT a IN (7, 8)",
		"UPDATE t SET b = b + 1 WHERE b % 2 = 1 ORDER BY a DESC LIMIT 3",
	} {
		b.Run(q, func(b *testing.B) {
			d := solve.DialectOf(servers[1])
			s := solve.New(d)
			v := benchTable(b, s, d)
			stmt := parse(b, q)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Matches(stmt, v.def, v.rows, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	d := solve.DialectOf(servers[1])
	stmt := parse(b, "SELECT * FROM t WHERE (a = 3 OR b BETWEEN 5 AND 20) AND c <> 'v4' AND NOT a IN (7, 8)")
	v := benchTable(b, solve.New(d), d)
	b.ReportAllocs()
	for b.Loop() {
		s := solve.New(d)
		if _, err := s.Test(stmt, v.def, v.rows[0], v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	d := solve.DialectOf(servers[1])
	s := solve.New(d)
	v := benchTable(b, s, d)
	stmt := parse(b, "UPDATE t SET b = b * 2 + a, c = 'x' WHERE a > 4").(*ast.UpdateStmt)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Update(stmt, v.def, v.rows[3], v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, q := range []string{"SELECT * FROM t WHERE b > 6 ORDER BY a", "SELECT COUNT(*), SUM(b) FROM t", "SELECT a FROM t WHERE b IN (SELECT a FROM t)"} {
		b.Run(q, func(b *testing.B) {
			d := solve.DialectOf(servers[1])
			s := solve.New(d)
			v := benchTable(b, s, d)
			stmt := parse(b, q).(*ast.SelectStmt)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Select(stmt, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKeyOf(b *testing.B) {
	d := solve.DialectOf(servers[1])
	s := solve.New(d)
	v := benchTable(b, s, d)
	b.ReportAllocs()
	for b.Loop() {
		for k := range v.def.Keys {
			if _, _, err := s.KeyOf(v.def, &v.def.Keys[k], v.rows[2]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
