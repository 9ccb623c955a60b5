package corpus

import "testing"

func BenchmarkSQL(b *testing.B) {
	for name, sql := range map[string]string{
		"begin":  "BEGIN",
		"select": "SELECT a, b FROM t WHERE a = 1 AND b > 2 ORDER BY a FOR UPDATE",
		"update": "UPDATE t SET a = a + 1, b = 'x' WHERE (a BETWEEN 1 AND 5) OR b IS NULL",
		"insert": "INSERT INTO t (a, b, c) VALUES (1, 'x', NULL), (2, 'y', -3), (3, 'z', 4.5)",
	} {
		stmt := mustParse(sql)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				SQL(stmt, MariaDB)
			}
		})
	}
}

func benchCase(b *testing.B) *Case {
	c, err := Load("known/mysql-114389.sql")
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func BenchmarkClone(b *testing.B) {
	c := benchCase(b)
	b.ReportAllocs()
	for b.Loop() {
		c.Clone()
	}
}

func BenchmarkPrint(b *testing.B) {
	c := benchCase(b)
	b.ReportAllocs()
	for b.Loop() {
		Print(c, Text)
	}
}

func BenchmarkParse(b *testing.B) {
	text := Print(benchCase(b), Text)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("bench", text); err != nil {
			b.Fatal(err)
		}
	}
}
