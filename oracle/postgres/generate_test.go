//go:build postgres

package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// generator makes random cases of few rows, on which two or three sessions meet.
type generator struct {
	*rand.Rand
	// other says that there is a second table.
	other bool
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
}

func (g *generator) of(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *generator) key() int { return 1 + g.IntN(4) }

func (g *generator) next() (*corpus.Case, error) {
	var b strings.Builder
	unique := g.of("", "", "", " UNIQUE")
	fmt.Fprintf(&b, "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT%s, c TEXT);\n", unique)
	for i := range 3 + g.IntN(2) {
		fmt.Fprintf(&b, "/* init */ INSERT INTO t VALUES (%d, %d, '%s');\n", i+1, 10*i, g.of("x", "y", "z"))
	}
	if g.other = g.IntN(3) == 0; g.other {
		b.WriteString("/* init */ CREATE TABLE u (x INT PRIMARY KEY, y INT);\n")
		for i := range 2 {
			fmt.Fprintf(&b, "/* init */ INSERT INTO u VALUES (%d, %d);\n", i+1, 10*i+5)
		}
	}
	scripts := make([][]string, 2+min(g.IntN(3), 1))
	for i := range scripts {
		scripts[i] = g.script()
	}
	for left := len(scripts); left > 0; {
		n := g.IntN(len(scripts))
		if len(scripts[n]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "/* tx%d */ %s;\n", n+1, scripts[n][0])
		if scripts[n] = scripts[n][1:]; len(scripts[n]) == 0 {
			left--
		}
	}
	return corpus.Parse("case", []byte(b.String()))
}

// script is what one session sends.
func (g *generator) script() (lines []string) {
	if g.IntN(8) == 0 {
		for range 1 + g.IntN(3) {
			lines = append(lines, g.statement())
		}
		return lines
	}
	for range 1 + g.IntN(2) {
		lines = append(lines, "BEGIN")
		saved := false
		for range 3 + g.IntN(3) {
			if g.IntN(7) == 0 {
				lines, saved = append(lines, "SAVEPOINT s"), true
			}
			lines = append(lines, g.statement())
			if saved && g.IntN(3) == 0 {
				lines = append(lines, g.of("ROLLBACK TO SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s"))
			}
		}
		lines = append(lines, g.of("COMMIT", "COMMIT", "COMMIT", "ROLLBACK"))
	}
	return lines
}

func (g *generator) statement() string {
	switch g.IntN(12) {
	case 0, 1, 2, 3, 4, 5:
		return "UPDATE t SET " + g.assignment() + g.where()
	case 6:
		return "DELETE FROM t" + g.where()
	case 7:
		if g.other && g.IntN(3) == 0 {
			return "INSERT INTO t SELECT x + 3, y, 'u' FROM u"
		}
		row := func() string { return fmt.Sprintf("(%d, %d, '%s')", 2+g.IntN(7), 10*g.IntN(9), g.of("x", "n")) }
		if g.IntN(4) == 0 {
			return "INSERT INTO t VALUES " + row() + ", " + row()
		}
		return "INSERT INTO t VALUES " + row()
	case 8:
		if g.other && g.IntN(2) == 0 {
			return g.of("UPDATE u SET y = y + 10", "SELECT * FROM t JOIN u ON t.b < u.y", "DELETE FROM u WHERE x = 1", "SELECT SUM(y) FROM u")
		}
		return "SELECT " + g.of("COUNT(*), SUM(b)", "MAX(b)", "*") + " FROM t" + g.where()
	case 9:
		return "SELECT * FROM t" + g.where() + g.of("", " ORDER BY a")
	}
	return "SELECT " + g.of("*", "a, b + 1") + " FROM t" + g.where() + g.of(" FOR UPDATE", " FOR UPDATE", " FOR SHARE", " FOR UPDATE NOWAIT")
}

func (g *generator) assignment() string {
	k := g.key()
	return g.of("b = b + 1", "b = b + 1", "b = b * 2", fmt.Sprintf("b = %d", 10*k), "b = b", "c = CONCAT(c, 'w')", "c = 'x', b = b + 7",
		fmt.Sprintf("a = %d", k), "a = a + 5", "a = a + 1", "b = 600 / b", "b = NULL", "b = b - 3", "c = 'y'", fmt.Sprintf("b = a + %d, c = 'm'", k))
}

func (g *generator) where() string {
	k := g.key()
	conditions := []string{
		fmt.Sprintf(" WHERE a = %d", k), fmt.Sprintf(" WHERE a = %d", k), fmt.Sprintf(" WHERE a IN (%d, %d)", k, g.key()),
		fmt.Sprintf(" WHERE a >= %d", k), fmt.Sprintf(" WHERE b < %d", 10*k), fmt.Sprintf(" WHERE b = %d", 10*k),
		" WHERE c = 'x'", " WHERE MOD(b, 2) = 0", fmt.Sprintf(" WHERE a = %d AND b >= %d", k, 10*g.key()), "",
	}
	if g.other {
		conditions = append(conditions, " WHERE b > (SELECT MIN(y) FROM u)", " WHERE b <= (SELECT MAX(y) FROM u WHERE u.x = t.a)")
	}
	return g.of(conditions...)
}
