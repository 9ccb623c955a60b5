package innodb

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// TestUnmetConditions holds against what servers were seen to do that a query takes its
// snapshot whose condition some row may meet.
func TestUnmetConditions(t *testing.T) {
	b, err := os.ReadFile("testdata/impossible")
	if err != nil {
		t.Fatal(err)
	}
	var table string
	unmet, met := 0, 0
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
			if isUnmet(t, dbms, table, query) {
				unmet++
				continue
			}
			if met++; f[i] != "taken" {
				t.Errorf("%s: %s: some row may match, and yet seen: snapshot %s", dbms, query, f[i])
			}
		}
	}
	if unmet < 300 || met < 50 {
		t.Errorf("%d that no row meets, %d that one may: too few of one kind", unmet, met)
	}
	t.Log(unmet, met)
}

func isUnmet(t *testing.T, dbms history.DBMS, table, query string) bool {
	t.Helper()
	choices := &mvcc.Choices{}
	x, s := aboutToRun(t, dbms, table, query, choices)
	nothing, err := x.readsNothing(s)
	return nothing || err != nil || choices.Pos > 0
}

// aboutToRun is a query at its start, of which no plan is known.
func aboutToRun(t *testing.T, dbms history.DBMS, table, query string, ch *mvcc.Choices) (*running, *ast.SelectStmt) {
	t.Helper()
	text := "/* init */ CREATE TABLE t (" + table + ");\n/* init */ CREATE TABLE u (z INT);\n" +
		"/* tx1 */ BEGIN;\n/* tx1 */ " + query + ";\n"
	c, err := corpus.Parse("test", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	h := &history.History{Server: history.Server{DBMS: dbms}}
	h.Initial = []history.Table{{Name: "t", Columns: []string{"a", "b", "c", "d"}}, {Name: "u", Columns: []string{"z"}}}
	r := mvcc.New(Engine{}, c, h, rules.For(h.Server), false)
	if err := r.Load(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	s := c.Steps[1].Stmt.(*ast.SelectStmt)
	return &running{e: ready(r).engine(ch), node: s, tx: &versions.Txn{}}, s
}

// TestWithoutAPlan: a query that no row meets opens its table, or there is no verdict.
func TestWithoutAPlan(t *testing.T) {
	got := everyPath(func(ch *mvcc.Choices) string {
		const table = "a INT PRIMARY KEY, b INT, c INT, d INT"
		x, s := aboutToRun(t, history.MySQL, table, "SELECT * FROM t WHERE b = 1 AND b = 2", ch)
		nothing, err := x.readsNothing(s)
		return fmt.Sprint(nothing, " ", err == errUnplanned)
	}, (*mvcc.Choices).Next)
	if want := []string{"false false", "false true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOpening reads plans as MariaDB and MySQL word them.
func TestOpening(t *testing.T) {
	const columns = "table\ttype\tkey\tExtra\n"
	for _, x := range []struct {
		rows string
		want opening
	}{
		{"t\tALL\tNULL\tUsing where", opensSome},
		{"NULL\tNULL\tNULL\tImpossible WHERE", opensNone},
		{"NULL\tNULL\tNULL\tImpossible HAVING", opensNone},
		{"NULL\tNULL\tNULL\tImpossible WHERE noticed after reading const tables", opensOrNot},
		{"NULL\tNULL\tNULL\tno matching row in const table", opensOrNot},
		{"t\tALL\tNULL\tUsing where\nNULL\tNULL\tNULL\tImpossible WHERE", opensOrNot},
		{"NULL\tNULL\tNULL\tImpossible WHERE\nu\tALL\tNULL\tNULL", opensOrNot},
		{"t\tconst\tPRIMARY\tNULL\nNULL\tNULL\tNULL\tno matching row in const table", opensOrNot},
	} {
		if got := openingOf(plan.Parse(columns + x.rows)); got != x.want {
			t.Errorf("%q: %d, want %d", x.rows, got, x.want)
		}
	}
}
