package solve

import (
	"math"
	"strconv"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// A FLOAT that the server prints in six digits is the literal that it was given,
// not the text; where no literal tells it, it is not known.
func TestGivenFloats(t *testing.T) {
	c, err := corpus.Parse("t.sql", []byte("/* init */ CREATE TABLE t (f FLOAT);\n/* init */ INSERT INTO t VALUES (16777216), (-1234567), (0.1), ('2.5'), (3000001), (3000002), (1e100);\n/* tx1 */ SELECT 1;\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := GivenFloats([]ast.StmtNode{c.Init[0].Stmt, c.Init[1].Stmt})
	for text, want := range map[string]float32{"16777200": 16777216, "-1234570": -1234567, "0.1": 0.1, "2.5": 2.5, "7": 7, "0": 0} {
		parsed, _ := strconv.ParseFloat(text, 64)
		if got, err := g.value(text, parsed); err != nil || got != want {
			t.Errorf("%s: %v, error %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"3000000", "123456", "1e10", "0.123457"} {
		parsed, _ := strconv.ParseFloat(text, 64)
		if got, err := g.value(text, parsed); err == nil {
			t.Errorf("%s: %v, want it not known", text, got)
		}
	}
	if !math.IsNaN(float64(g["3000000"])) {
		t.Errorf("two literals print 3000000, and it stands for %v", g["3000000"])
	}
}
