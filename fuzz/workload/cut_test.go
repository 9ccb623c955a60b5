package workload

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// played is a call of the first transaction of a workload, played alone against
// scripted answers.
func played(t *testing.T, w *workload.Workload, call mutate.Call, answers ...*history.Result) shown {
	t.Helper()
	p := newPlayer(w, &call, solve.DialectOf(history.Server{DBMS: history.MySQL}))
	o := &Outcome{Case: &corpus.Case{}}
	var last *history.Result
	for {
		stmt, err := p.Next(last)
		if err != nil {
			t.Fatal(err)
		}
		if stmt == nil {
			break
		}
		o.Case.Steps = append(o.Case.Steps, corpus.Line{Session: 1, Stmt: stmt}, corpus.Line{Session: 2, Stmt: stmt})
		last = &history.Result{InTxn: true}
		if p.sent == body {
			last, answers = answers[0], answers[1:]
		}
	}
	o.Calls = []CallOutcome{p.outcome(), p.outcome()}
	return shown{in: &mutate.Input{Calls: []mutate.Call{call, call}}, outcome: o}
}

// TestCuts leaves statements out of a call: what needs their values gets those of the
// run, and the order of the others stays.
func TestCuts(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* transaction x (:p INT) */
SELECT b FROM t WHERE a = :p INTO :v;
/* unless :v > 0: rollback */
UPDATE t SET b = :v - 1 WHERE a = :p;
DELETE FROM t WHERE a = 9;`))
	if err != nil {
		t.Fatal(err)
	}
	call := mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"p": corpus.IntLit(5)}}
	s := played(t, w, call, rows("7"), changed(1), changed(0))
	order := []int{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}
	if got := ran(s.outcome); !slices.Equal(got, order) {
		t.Fatalf("order %v", got)
	}
	// The DELETE, the UPDATE and the condition go as they are.
	for k, want := range map[int]int{3: 9, 2: 9, 1: 0} {
		got := cuts(s, 0, k)
		if len(got) == 0 || len(got[0].Calls[0].Known) > 0 || len(got[0].Order) != want || count(got[0].Calls[0].Transaction.Body) != 3 {
			t.Errorf("part %d: %+v", k, got)
		}
	}
	// The SELECT goes with its value.
	got := cuts(s, 1, 0)
	if len(got) != 2 || !slices.Equal(got[0].Order, []int{1, 2, 1, 1, 2, 1, 2, 1, 2}) {
		t.Fatalf("%+v", got)
	}
	cut := got[0]
	if again := played(t, w, cut.Calls[1], changed(1), changed(0)); corpus.SQL(again.outcome.Case.Steps[2].Stmt, corpus.Text) != "UPDATE t SET b = 7 - 1 WHERE a = 5" || statements(again.outcome) != 4 {
		t.Errorf("%s, %d statements", corpus.SQL(again.outcome.Case.Steps[2].Stmt, corpus.Text), statements(again.outcome))
	}
	if got := leftOut(w, cut); len(got) != 1 || got[0] != "tx2, line 3: SELECT b FROM t WHERE a = :p INTO :v (taken as :v = 7)" {
		t.Errorf("left out: %q", got)
	}
	if got := leftOut(w, s.in); got != nil {
		t.Errorf("left out of the whole: %q", got)
	}
}

// TestWithTable leaves out of all calls what does not name a table, with the values that
// others need of it.
func TestWithTable(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT); CREATE TABLE u (a INT PRIMARY KEY);
/* transaction x (:p INT) */
SELECT a FROM u INTO :n;
SELECT b FROM t WHERE a = :p INTO :v;
INSERT INTO u VALUES (:n);
UPDATE t SET b = :v - :n WHERE a = :p;`))
	if err != nil {
		t.Fatal(err)
	}
	s := played(t, w, mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"p": corpus.IntLit(5)}}, rows("3"), rows("7"), changed(1), changed(1))
	in := withTable(w, s, w.Table("t"))
	if in == nil || !slices.Equal(in.Order, []int{1, 2, 1, 2, 1, 2, 1, 2}) {
		t.Fatalf("%+v", in)
	}
	again := played(t, w, in.Calls[1], rows("8"), changed(1))
	if got := corpus.SQL(again.outcome.Case.Steps[4].Stmt, corpus.Text); got != "UPDATE t SET b = 8 - 3 WHERE a = 5" || statements(again.outcome) != 4 {
		t.Errorf("%s, %d statements", got, statements(again.outcome))
	}
	if in := withTable(w, again, w.Table("t")); in != nil {
		t.Errorf("nothing is left to go: %+v", in)
	}
	if in := withTable(w, again, w.Table("u")); in != nil {
		t.Errorf("nothing would be left: %+v", in)
	}
}

// TestStraight keeps the way that a call took, and the conditions that end one.
func TestStraight(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* transaction x () */
SELECT b FROM t INTO :v;
/* unless :v > 5: skip */
UPDATE t SET b = :v - 1;
/* unless :v <= 5: skip */
UPDATE t SET b = 9;
/* unless :v > 1: rollback */
DELETE FROM t WHERE a = 9;`))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{"7": "UPDATE t SET b = 7 - 1; DELETE FROM t WHERE a = 9; COMMIT", "3": "UPDATE t SET b = 9; DELETE FROM t WHERE a = 9; COMMIT", "1": "UPDATE t SET b = 9; ROLLBACK"} {
		answers := []*history.Result{rows(answer), changed(1), changed(1)}
		in := straight(played(t, w, mutate.Call{Transaction: w.Transactions[0]}, answers...))
		if in == nil {
			t.Fatalf("%s: nothing was passed over", answer)
		}
		var texts []string
		for _, l := range played(t, w, in.Calls[1], answers...).outcome.Case.Steps {
			if text := corpus.SQL(l.Stmt, corpus.Text); l.Session == 1 && !strings.HasPrefix(text, "SELECT") {
				texts = append(texts, text)
			}
		}
		if got := strings.Join(texts, "; "); got != "BEGIN; "+want {
			t.Errorf("%s: %s", answer, got)
		}
	}
	plain := mutate.Call{Transaction: &workload.Transaction{Name: "y", Body: w.Transactions[0].Body[:1]}}
	if in := straight(played(t, w, plain, rows("7"))); in != nil {
		t.Errorf("there was one way: %+v", in)
	}
}

// TestCutsOfRepeat: a SELECT that a repeat goes through stays.
func TestCutsOfRepeat(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* transaction x () */ SELECT a FROM t INTO :v; /* repeat */ SELECT b FROM t WHERE a = :v INTO :b; DELETE FROM t WHERE b = :b; /* end */`))
	if err != nil {
		t.Fatal(err)
	}
	s := played(t, w, mutate.Call{Transaction: w.Transactions[0]}, rows("1;2"), rows("3"), changed(1), rows("4"), changed(0))
	if got := cuts(s, 0, 0); got != nil {
		t.Errorf("the SELECT of the repeat goes: %+v", got[0].Calls[0].Known)
	}
	if got := cuts(s, 0, 2); got != nil { // it gave two values
		t.Errorf("the SELECT in the repeat goes: %+v", got[0].Calls[0].Known)
	}
	if got := cuts(s, 0, 1); len(got) != 1 {
		t.Errorf("the repeat stays: %v", got)
	}
}

// TestReducedSize: what is found is small, says what was left out, and its case has
// just the statements that are counted.
func TestReducedSize(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
		r, err := Run(t.Context(), load(t, "smallbank"), b, Settings{
			Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Only: []string{"write-check"}, Cases: 60, Duration: time.Minute, Seed: 1, Workers: 1, Out: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) == 0 {
			t.Fatal("nothing found")
		}
		for _, f := range r.Findings {
			text, err := os.ReadFile(f.File)
			if err != nil {
				t.Fatal(err)
			}
			if f.Statements > 6 || len(f.LeftOut) == 0 || f.Reproduced == 0 || !strings.Contains(string(text), f.LeftOut[0]) {
				t.Errorf("%s: %d statements, again %d, left out %q\n%s", f.Kind, f.Statements, f.Reproduced, f.LeftOut, text)
			}
		}
	}
}

// TestLockingReadsStay: a SELECT that locks is never left out, nor a repeat with one in it.
func TestLockingReadsStay(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* transaction x (:p INT) */
SELECT b FROM t WHERE a = :p INTO :v FOR UPDATE;
UPDATE t SET b = 1 WHERE a = :p;`))
	if err != nil {
		t.Fatal(err)
	}
	call := mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"p": corpus.IntLit(5)}}
	s := played(t, w, call, rows("7"), changed(1))
	if got := cuts(s, 0, 0); got != nil {
		t.Errorf("the locking read is left out: %v", got[0].Calls[0].Transaction.Body)
	}
	if got := cuts(s, 0, 1); got == nil {
		t.Error("the UPDATE must be left out")
	}
}

// TestSharedVariables: a statement stays if without it others would silently take another
// one's value: that of a second SELECT into the same variable, or the count of rows of the
// statement before.
func TestSharedVariables(t *testing.T) {
	for _, x := range []struct {
		body string
		part int
		want bool
	}{
		{"SELECT b FROM t INTO :v; SELECT a FROM t INTO :v; UPDATE t SET b = :v;", 0, true},
		{"SELECT b FROM t INTO :v; SELECT a FROM t INTO :v; UPDATE t SET b = :v;", 1, true},
		{"SELECT b FROM t INTO :v; SELECT a FROM t INTO :w; UPDATE t SET b = :v;", 1, false},
		{"SELECT b FROM t INTO :v; /* unless :found = 1: rollback */ UPDATE t SET b = :v;", 0, true},
		{"SELECT b FROM t INTO :v; SELECT a FROM t INTO :w; /* unless :found = 1: rollback */ UPDATE t SET b = :v;", 0, false},
		{"UPDATE t SET b = 1; SELECT a FROM t INTO :w; /* unless :affected = 1: rollback */ DELETE FROM t;", 0, true},
		{"UPDATE t SET b = 1; DELETE FROM t; /* unless :affected = 1: rollback */ SELECT a FROM t;", 0, false},
		{"INSERT INTO t VALUES (1, 1); UPDATE t SET b = 2; UPDATE t SET b = :last_id;", 0, true},
		{"INSERT INTO t VALUES (1, 1); UPDATE t SET b = 2; UPDATE t SET b = :last_id;", 1, false},
		{"SELECT a, b FROM t INTO :v, :w; /* repeat */ SELECT b FROM t INTO :w; UPDATE t SET b = :w; /* end */", 1, true},
	} {
		w, err := workload.Parse("w.workload", []byte("/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* transaction x () */ "+x.body))
		if err != nil {
			t.Fatal(err)
		}
		body := w.Transactions[0].Body
		if got := sharesVariable(body, node(body, x.part)); got != x.want {
			t.Errorf("%s, part %d: %v", x.body, x.part, got)
		}
	}
}
