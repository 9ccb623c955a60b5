package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// rows answers a SELECT: fields by commas, rows by semicolons.
func rows(text string) *history.Result {
	r := &history.Result{Columns: []string{"a", "b"}, InTxn: true}
	for _, line := range strings.Split(text, ";") {
		var row []history.Cell
		for _, c := range strings.Split(line, ",") {
			row = append(row, history.Cell{Text: c, Null: c == "NULL"})
		}
		if line != "" {
			r.Rows = append(r.Rows, row)
		}
	}
	return r
}

func changed(n int64) *history.Result { return &history.Result{Affected: n, Matched: n, InTxn: true} }

func failed(code uint16, inTxn bool) *history.Result {
	return &history.Result{Err: &history.Error{Code: code}, InTxn: inTxn}
}

// TestPlayer plays transactions against scripted answers: what is sent depends on what
// was answered.
func TestPlayer(t *testing.T) {
	const schema = "/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT, s VARCHAR(9));\n"
	ok := &history.Result{InTxn: true}
	for name, x := range map[string]struct {
		body    string
		answers []*history.Result // to everything but BEGIN, COMMIT and ROLLBACK
		sent    string
		end     End
	}{
		"a value is carried on": {
			"SELECT a, b FROM t WHERE a = :p INTO :x, :y; UPDATE t SET b = :y + :x WHERE a = :p;", []*history.Result{rows("1,NULL"), changed(1)},
			"BEGIN; SELECT a, b FROM t WHERE a = 5; UPDATE t SET b = NULL + 1 WHERE a = 5; COMMIT", Committed,
		},
		"no row gives NULL, which is not true": {
			"SELECT a FROM t INTO :x; /* unless :x > 0: rollback */ DELETE FROM t;", []*history.Result{rows("")},
			"BEGIN; SELECT a FROM t; ROLLBACK", RolledBack,
		},
		"text stays text": {
			"SELECT s FROM t INTO :x; DELETE FROM t WHERE s = :x;", []*history.Result{rows("007"), changed(1)},
			"BEGIN; SELECT s FROM t; DELETE FROM t WHERE s = '007'; COMMIT", Committed,
		},
		"a count of texts is a number": {
			"SELECT COUNT(s) FROM t INTO :x; DELETE FROM t WHERE a = :x;", []*history.Result{rows("7"), changed(1)},
			"BEGIN; SELECT COUNT(s) FROM t; DELETE FROM t WHERE a = 7; COMMIT", Committed,
		},
		"skip leaves out one": {
			"/* unless :p < 5: skip */ DELETE FROM t; UPDATE t SET b = 1;", []*history.Result{changed(1)},
			"BEGIN; UPDATE t SET b = 1; COMMIT", Committed,
		},
		"commit ends early": {
			"UPDATE t SET b = 1; /* unless :affected = 1: commit */ DELETE FROM t;", []*history.Result{changed(0)},
			"BEGIN; UPDATE t SET b = 1; COMMIT", Committed,
		},
		"repeat goes through rows": {
			"SELECT a, s FROM t INTO :x, :y; /* repeat */ UPDATE t SET s = :y WHERE a = :x; /* end */ DELETE FROM t WHERE a = :found;", []*history.Result{rows("1,u;2,v"), changed(1), changed(1), changed(1)},
			"BEGIN; SELECT a, s FROM t; UPDATE t SET s = 'u' WHERE a = 1; UPDATE t SET s = 'v' WHERE a = 2; DELETE FROM t WHERE a = 2; COMMIT", Committed,
		},
		"repeat counts": {
			"/* repeat :p - 3 */ DELETE FROM t; /* end */", []*history.Result{changed(1), changed(0)},
			"BEGIN; DELETE FROM t; DELETE FROM t; COMMIT", Committed,
		},
		"repeat over nothing": {
			"SELECT a FROM t INTO :x; /* repeat */ DELETE FROM t; /* end */ UPDATE t SET b = 1;", []*history.Result{rows(""), changed(0)},
			"BEGIN; SELECT a FROM t; UPDATE t SET b = 1; COMMIT", Committed,
		},
		"a deadlock is tried again": {
			"UPDATE t SET b = 1; DELETE FROM t;", []*history.Result{changed(1), failed(1213, false), changed(1), changed(1)},
			"BEGIN; UPDATE t SET b = 1; DELETE FROM t; BEGIN; UPDATE t SET b = 1; DELETE FROM t; COMMIT", Committed,
		},
		"a time-out leaves the transaction open": {
			"UPDATE t SET b = 1;", []*history.Result{failed(1205, true), failed(1205, true)},
			"BEGIN; UPDATE t SET b = 1; ROLLBACK; BEGIN; UPDATE t SET b = 1; ROLLBACK", Aborted,
		},
		"a duplicate key is the application's": {
			"INSERT INTO t VALUES (1, 1, 'x'); DELETE FROM t;", []*history.Result{failed(1062, true)},
			"BEGIN; INSERT INTO t VALUES (1, 1, 'x'); ROLLBACK", Refused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := workload.Parse("w.workload", []byte(schema+"/* transaction x (:p INT) retry 1 */ "+x.body))
			if err != nil {
				t.Fatal(err)
			}
			call := &mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"p": corpus.IntLit(5)}}
			p := newPlayer(w, call, solve.DialectOf(history.Server{DBMS: history.MySQL}))
			var sent []string
			var last *history.Result
			for range 50 {
				stmt, err := p.Next(last)
				if err != nil {
					t.Fatal(err)
				}
				if stmt == nil {
					break
				}
				sent = append(sent, corpus.SQL(stmt, corpus.Text))
				switch stmt.(type) {
				case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt:
					last = ok
				default:
					if len(x.answers) == 0 {
						t.Fatalf("no answer to %s", sent[len(sent)-1])
					}
					last, x.answers = x.answers[0], x.answers[1:]
				}
			}
			if got := strings.Join(sent, "; "); got != x.sent || p.end != x.end || len(x.answers) > 0 {
				t.Errorf("sent %s, %s, %d answers left\nwant %s, %s", got, p.end, len(x.answers), x.sent, x.end)
			}
		})
	}
}

// TestSimplerOrders: fewer changes between sessions, the same statements of each.
func TestSimplerOrders(t *testing.T) {
	order := []int{1, 2, 1, 1, 2, 1}
	got := simplerOrders(order)
	if len(got) == 0 {
		t.Fatal("none")
	}
	for _, o := range got {
		if switches(o) >= switches(order) || count1(o) != count1(order) || len(o) != len(order) {
			t.Errorf("%v of %v", o, order)
		}
	}
}

func count1(order []int) int {
	n := 0
	for _, x := range order {
		if x == 1 {
			n++
		}
	}
	return n
}

// TestWithoutPart drops each part of a body once.
func TestWithoutPart(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (a INT);
/* transaction x () */ SELECT a FROM t INTO :x; /* repeat */ DELETE FROM t WHERE a = :x; UPDATE t SET a = 1; /* end */ /* unless :x > 0: skip */ UPDATE t SET a = 2;`))
	if err != nil {
		t.Fatal(err)
	}
	x := w.Transactions[0]
	n := count(x.Body)
	var left []int
	for k := range n {
		if y := withoutPart(&mutate.Input{Calls: []mutate.Call{{Transaction: x}}}, 0, k); y != nil {
			left = append(left, count(y.Calls[0].Transaction.Body))
		}
	}
	// The SELECT sets what others read, so it stays.
	if n != 6 || len(left) != 5 || left[0] != 3 || left[1] != 5 {
		t.Errorf("%d parts, left %v", n, left)
	}
}

// TestDropRows leaves just the rows that are needed.
func TestDropRows(t *testing.T) {
	for n := range 20 {
		left := make([]int, n)
		for i := range left {
			left[i] = i
		}
		dropRows(n, func(from, k int) bool {
			if from < 0 || from+k > len(left) || k < 1 {
				t.Fatalf("rows %d to %d of %d", from, from+k, len(left))
			}
			if slices.Contains(left[from:from+k], 3) || slices.Contains(left[from:from+k], 11) {
				return false
			}
			left = slices.Delete(left, from, from+k)
			return true
		})
		var want []int
		for _, x := range []int{3, 11} {
			if x < n {
				want = append(want, x)
			}
		}
		if !slices.Equal(left, want) {
			t.Errorf("of %d rows %v are left", n, left)
		}
	}
}
