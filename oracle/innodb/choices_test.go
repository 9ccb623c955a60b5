package innodb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// everyPath walks the whole tree of choices of a run and returns the leaves.
func everyPath(run func(*mvcc.Choices) string, next func(*mvcc.Choices) bool) []string {
	var out []string
	ch := &mvcc.Choices{}
	for {
		ch.Pos = 0
		out = append(out, run(ch))
		if !next(ch) {
			return out
		}
	}
}

func TestChoicesVisitEachPathOnce(t *testing.T) {
	got := everyPath(func(c *mvcc.Choices) string {
		a := c.Choose(2)
		if a == 0 {
			return fmt.Sprint(a, c.Choose(3))
		}
		return fmt.Sprint(a)
	}, (*mvcc.Choices).Next)
	if want := []string{"0 0", "0 1", "0 2", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSettledChoicesAreNotTriedAgain(t *testing.T) {
	got := everyPath(func(c *mvcc.Choices) string {
		a := c.Choose(2)
		from := c.Pos
		b, d := c.Choose(2), chooseFixed(c, 2)
		settle(c, from)
		return fmt.Sprint(a, b, d)
	}, (*mvcc.Choices).Next)
	// b is settled at its first value, d is kept free.
	if want := []string{"0 0 0", "0 0 1", "1 0 0", "1 0 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJumpVariesWhoIsToBlame(t *testing.T) {
	got := everyPath(func(c *mvcc.Choices) string {
		c.By = 7
		a := c.Choose(2)
		c.By = 8
		return fmt.Sprint(a, c.Choose(2))
	}, func(c *mvcc.Choices) bool { return jump(c, []int{7}) })
	// Statement 8 is varied only when 7 has nothing left.
	if want := []string{"0 0", "1 0", "1 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func statement(t *testing.T, sql string) ast.StmtNode {
	t.Helper()
	s, err := corpus.ParseStatement(sql)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scene makes an engine with one table t and its rows.
func scene(t *testing.T, create string, rows ...string) (*engine, *versions.Table) {
	t.Helper()
	r := mvcc.New(Engine{}, &corpus.Case{Init: []corpus.Line{{Stmt: statement(t, create)}}}, &history.History{Server: history.Server{DBMS: history.MySQL, Version: "9.7.4"}}, rules.Profile{}, false)
	if err := r.Load(); err != nil {
		t.Fatal(err)
	}
	tbl := r.Table("t")
	for _, text := range rows {
		tbl.Chains = append(tbl.Chains, &versions.Chain{ID: len(tbl.Chains) + 1, Versions: []versions.Version{{Row: rowOf(t, tbl, text)}}})
	}
	e := ready(r).engine(&mvcc.Choices{})
	tbl = e.Table("t")
	for _, c := range tbl.Chains {
		c.Versions[0].Key = e.Store.ClusteredKeyOf(tbl, c.Versions[0].Row)
	}
	return e, tbl
}

// ready makes the paths of a replay whose tables are loaded.
func ready(r *mvcc.Replay) *paths {
	p := &paths{Replay: r}
	p.share(0)
	return p
}

func rowOf(t *testing.T, tbl *versions.Table, text string) solve.Row {
	t.Helper()
	var cells []history.Cell
	for _, v := range strings.Split(text, ",") {
		cells = append(cells, history.Cell{Text: v, Null: v == ""})
	}
	row, err := tbl.Def.ParseRow(cells)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func where(t *testing.T, cond string) ast.ExprNode {
	return statement(t, "SELECT * FROM t WHERE "+cond).(*ast.SelectStmt).Where
}

func TestScanOrder(t *testing.T) {
	tests := []struct {
		create, key, want string
	}{
		{"CREATE TABLE t (a INT, b INT)", "", "(3,1) (1,2) (2,NULL)"},
		{"CREATE TABLE t (a INT PRIMARY KEY, b INT)", "", "(1,2) (2,NULL) (3,1)"},
		{"CREATE TABLE t (a INT, b INT, KEY k (b))", "k", "(2,NULL) (3,1) (1,2)"},
	}
	for _, tt := range tests {
		e, tbl := scene(t, tt.create, "3,1", "1,2", "2,")
		a := &access{t: tbl, all: true}
		for i := range tbl.Def.Keys {
			if tbl.Def.Keys[i].Name == tt.key && tt.key != "" {
				a.key = &tbl.Def.Keys[i]
			}
		}
		var got []string
		for n := a.next(nil, true); n != nil; n = a.next(n, false) {
			if !e.touches(a, n) {
				t.Errorf("%s: a full scan passes %s", tt.create, versions.FormatRow(n.row))
			}
			got = append(got, versions.FormatRow(n.row))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s by %q: got %s, want %s", tt.create, tt.key, s, tt.want)
		}
	}
}

// TestFormerEntriesStay: an index keeps the entry of a version that was
// replaced, and a scan that stopped there goes on behind it.
func TestFormerEntriesStay(t *testing.T) {
	e, tbl := scene(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY k (b))", "1,5", "2,7")
	tx := &versions.Txn{Session: 1}
	a := &access{t: tbl, key: &tbl.Def.Keys[slices.IndexFunc(tbl.Def.Keys, func(k solve.Key) bool { return k.Name == "k" })], all: true}
	at := a.next(nil, true)
	e.write(tbl, tbl.Chains[0], rowOf(t, tbl, "1,3"), tx, tbl.Chains[0].Last().RowID)
	if n := a.next(at, true); versions.FormatRow(n.row) != "(1,5)" || a.live(n) {
		t.Errorf("at the place of waiting: %s, live %v; want the former entry (1,5)", versions.FormatRow(n.row), a.live(n))
	}
	if n := a.next(at, false); versions.FormatRow(n.row) != "(2,7)" {
		t.Errorf("behind it: %s, want (2,7)", versions.FormatRow(n.row))
	}
	if n := a.next(nil, true); versions.FormatRow(n.row) != "(1,3)" || !a.live(n) {
		t.Errorf("first: %s, want the live entry (1,3)", versions.FormatRow(n.row))
	}
}

func TestRangesAdmitEntries(t *testing.T) {
	e, tbl := scene(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "0,1", "1,1", "2,1", "3,1", "4,1")
	for cond, want := range map[string]string{
		"a > 2":                         "34",
		"NOT (a > 2)":                   "012",
		"a":                             "1234",
		"a IN (1, 3)":                   "13",
		"NOT (a = 2 OR a < 1)":          "134",
		"a = 1 OR b = 9":                "01234",
		"a = 1 AND b = 9":               "1",
		"a + 0 > 3 AND b = 1":           "01234",
		"3 < a AND b = 1":               "4",
		"a > (SELECT MAX(b) FROM t)":    "01234",
		"NOT (a BETWEEN 1 AND 3)":       "04",
		"a IS NULL":                     "",
		"(a < 2 AND b) OR (a > 3 OR b)": "01234",
	} {
		a := &access{t: tbl, where: where(t, cond), cols: map[int]bool{0: true}}
		got := ""
		for n := a.next(nil, true); n != nil; n = a.next(n, false) {
			if e.touches(a, n) {
				text, _ := n.row[0].Text()
				got += text
			}
		}
		if got != want {
			t.Errorf("%s: meets %s, want %s", cond, got, want)
		}
	}
}

func TestLookUps(t *testing.T) {
	_, tbl := scene(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT)")
	for cond, want := range map[string][2]bool{
		"a = 1":                {true, true},
		"1 = a AND b > 2":      {true, true},
		"a IN (4)":             {true, true},
		"a IN (4, 5)":          {false, true},
		"a = 1 OR a = 2":       {false, true},
		"a = 1 OR b = 2":       {false, false},
		"NOT (a = 1)":          {false, false},
		"a NOT IN (1, 2)":      {false, false},
		"a >= 1":               {false, false},
		"a = b":                {false, false},
		"(a = 1 OR 2 = a)":     {false, true},
		"b = 1 AND a IN (1,2)": {false, true},
	} {
		w := where(t, cond)
		if got := [2]bool{pinsKey(w, tbl, tbl.Clustered), looksUp(w, tbl, tbl.Clustered)}; got != want {
			t.Errorf("%s: pins, looks up = %v, want %v", cond, got, want)
		}
	}
}

func TestPlans(t *testing.T) {
	_, tbl := scene(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY k (b))")
	a := &access{t: tbl}
	a.byPlan(&plan.Step{Table: "t", Access: "range", Key: "k", Extra: "Using index condition"})
	if a.key == nil || a.key.Name != "k" || a.all || !a.ranged || a.covering {
		t.Errorf("access %+v", a)
	}
	a = &access{t: tbl}
	a.byPlan(&plan.Step{Table: "t", Access: "index", Key: "PRIMARY", Extra: "Using index"})
	if a.key != nil || !a.all || !a.covering {
		t.Errorf("access %+v", a)
	}
}

// TestKeyChangeInSnapshots: the row that moved is one row by the promise, two
// records in practice.
func TestKeyChangeInSnapshots(t *testing.T) {
	e, tbl := scene(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "1,1", "2,2")
	mover, reader := &versions.Txn{Session: 1}, &versions.Txn{Session: 2}
	snapshot := e.now()
	old := tbl.Chains[1]
	rid := old.Last().RowID
	e.write(tbl, old, nil, mover, rid)
	moved := e.insert(tbl, rowOf(t, tbl, "3,2"), mover, rid)
	mover.Commit = e.now()
	mover.Ended = mover.Commit
	view := &innodbViews{e: e, view: versions.View{Tick: snapshot, Own: reader}}
	show := func(byKey bool) string {
		view.view.ByKey = byKey
		var out []string
		for _, r := range e.snapshotRows(tbl, view) {
			out = append(out, versions.FormatRow(r))
		}
		return strings.Join(out, " ")
	}
	if got := show(false); got != "(1,1) (2,2)" {
		t.Errorf("before the reader's write: %s", got)
	}
	e.write(tbl, moved, rowOf(t, tbl, "3,9"), reader, rid)
	if got := show(false); got != "(1,1) (3,9)" {
		t.Errorf("one row: %s", got)
	}
	if got := show(true); got != "(1,1) (2,2) (3,9)" {
		t.Errorf("two records: %s", got)
	}
}
