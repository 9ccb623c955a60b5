package mvcc

import (
	"os"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// TestImpossibleConditions holds the classification of conditions against what
// servers were seen to do.
func TestImpossibleConditions(t *testing.T) {
	b, err := os.ReadFile("testdata/impossible")
	if err != nil {
		t.Fatal(err)
	}
	var table string
	seen := map[emptiness]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if s, ok := strings.CutPrefix(line, "table "); ok {
			table = s
			continue
		}
		f := strings.SplitN(line, " ", 3)
		query := f[2]
		if !strings.HasPrefix(query, "SELECT") {
			query = "SELECT * FROM t WHERE " + query
		}
		for i, dbms := range []history.DBMS{history.MariaDB, history.MySQL} {
			got := classified(t, dbms, table, query)
			seen[got]++
			if got == provenEmpty && f[i] != "none" || got == mustLook && f[i] != "taken" {
				t.Errorf("%s: %s: classified %d, seen: snapshot %s", dbms, query, got, f[i])
			}
		}
	}
	if seen[maybeProven] > 230 || seen[provenEmpty] < 260 {
		t.Errorf("too much is left open: %v", seen)
	}
	t.Log(seen)
}

func classified(t *testing.T, dbms history.DBMS, table, query string) emptiness {
	t.Helper()
	c, err := corpus.Parse("test", []byte("/* init */ CREATE TABLE t ("+table+");\n/* init */ CREATE TABLE u (z INT);\n/* tx1 */ BEGIN;\n/* tx1 */ "+query+";\n"))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	h := &history.History{Server: history.Server{DBMS: dbms}}
	h.Initial = []history.Table{{Name: "t", Columns: []string{"a", "b", "c", "d"}}, {Name: "u", Columns: []string{"z"}}}
	r := New(c, h, rules.For(h.Server), false)
	if err := r.load(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return r.engine(&choices{}).emptiness(c.Steps[1].Stmt.(*ast.SelectStmt))
}
