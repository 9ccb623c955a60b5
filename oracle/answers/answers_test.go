package answers_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// recorded returns the runs of servers that nobody changed; all are right, or known deviations.
func recorded(t *testing.T) (out []oracle.Record) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatal("want the runs of several servers", files, err)
	}
	for _, f := range files {
		list, err := oracle.LoadRecords(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i].Note = filepath.Base(f) + ", " + list[i].Note
		}
		out = append(out, list...)
	}
	return out
}

func parse(t *testing.T, r *oracle.Record) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse(r.Note, []byte(r.Case))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReplayAgrees: what is read off recorded answers is what the replay derives, and shows
// nothing that is forbidden.
func TestReplayAgrees(t *testing.T) {
	kinds := map[graph.Kinds]int{}
	for _, r := range recorded(t) {
		c := parse(t, &r)
		a := answers.Read(c, r.History)
		if a == nil {
			t.Fatalf("%s: nothing is read off\n%s", r.Note, r.Case)
		}
		if a.Odd != nil {
			t.Errorf("%s: %s\n%s", r.Note, a.Odd.Text, r.Case)
		}
		v := oracle.Judge(c, r.History, false)
		if v.Outcome != oracle.OK && v.Outcome != oracle.Known {
			t.Errorf("%s: %s: %s\n%s", r.Note, v.Outcome, v.Reason, r.Case)
		}
		_, d := oracle.Phenomena(c, r.History, &v)
		if d == nil {
			t.Fatalf("%s: no graph", r.Note)
		}
		for _, line := range a.Differs(d) {
			t.Errorf("%s: %s\n%s", r.Note, line, r.Case)
		}
		for _, e := range a.Edges {
			kinds[e.Kind]++
		}
	}
	for _, k := range []graph.Kinds{graph.WW, graph.WR, graph.RW} {
		if kinds[k] < 20 {
			t.Errorf("%d edges %s were read off, want 20", kinds[k], k)
		}
	}
}

// cell is one version in an answer or in the final state.
type cell struct {
	stmt  int // -1: final
	id, v string
	put   func(h *history.History, v string)
}

// cellsOf finds the versions that a history shows.
func cellsOf(h *history.History) (out []cell) {
	add := func(stmt int, columns []string, rows [][]history.Cell, at func(*history.History) [][]history.Cell) {
		id, v := slices.Index(columns, answers.ID), slices.Index(columns, answers.Version)
		if id < 0 || v < 0 || slices.Contains(columns[id+1:], answers.ID) { // a join
			return
		}
		for i := range rows {
			out = append(out, cell{stmt, rows[i][id].Text, rows[i][v].Text, func(h *history.History, to string) { at(h)[i][v].Text = to }})
		}
	}
	for i := range h.Stmts {
		if h.Stmts[i].Result.Err != nil { // it may have come amid the rows
			continue
		}
		add(i, h.Stmts[i].Result.Columns, h.Stmts[i].Result.Rows, func(h *history.History) [][]history.Cell { return h.Stmts[i].Result.Rows })
	}
	for i := range h.Final {
		add(-1, h.Final[i].Columns, h.Final[i].Rows, func(h *history.History) [][]history.Cell { return h.Final[i].Rows })
	}
	return out
}

func clone(t *testing.T, h *history.History) *history.History {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out := &history.History{}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLiesAreSeen puts, into one answer at a time, another version of the same row that the
// case knows. Without any rule the judge must see half of these lies, each kind of oddity
// among them, and forbidden cycles. It cannot see all: at some levels an older version is
// as good as a newer one.
func TestLiesAreSeen(t *testing.T) {
	lies, seen := 0, map[string]int{}
	for _, r := range recorded(t) {
		c := parse(t, &r)
		cells := cellsOf(r.History)
		for _, x := range cells {
			for _, y := range cells {
				if x.id != y.id || x.v == y.v {
					continue
				}
				h := clone(t, r.History)
				x.put(h, y.v)
				lies++
				if kind := answered(c, h); kind != "" {
					seen[kind]++
				}
			}
			h := clone(t, r.History)
			x.put(h, "77777")
			if kind := answered(c, h); kind != string(answers.Unwritten) {
				t.Errorf("%s: a version that nobody wrote is %q", r.Note, kind)
			}
		}
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	t.Logf("%d of %d lies are seen: %v", total, lies, seen)
	if total*2 < lies {
		t.Errorf("%d of %d lies are seen, want half", total, lies)
	}
	for _, k := range []answers.Kind{answers.DirtyRead, answers.StaleRead, answers.OwnWriteLost, answers.LostWrite} {
		if seen[string(k)] == 0 {
			t.Errorf("no lie showed as %s: %v", k, seen)
		}
	}
	if seen[string(oracle.ForbiddenAnomaly)] == 0 {
		t.Errorf("no lie showed as a forbidden anomaly: %v", seen)
	}
}

// answered is the kind of what answers alone have against a history.
func answered(c *corpus.Case, h *history.History) string {
	v := oracle.JudgeAnswers(c, h)
	if v.Outcome != oracle.Violation {
		return ""
	}
	return string(v.Kind)
}

// TestUnique tells cases with unique values from others.
func TestUnique(t *testing.T) {
	set := "/* init */ CREATE TABLE t (a INT PRIMARY KEY, id INT, v INT);\n/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 2, 1);\n"
	for text, want := range map[string]bool{
		"/* tx1 */ UPDATE t SET a = 3, v = 2 WHERE a = 1;":                         true,
		"/* tx1 */ INSERT INTO t VALUES (3, 3, 2);\n/* tx1 */ DELETE FROM t;":      true,
		"/* tx1 */ REPLACE INTO t (a, id, v) VALUES (3, 3, 2);":                    true,
		"/* tx1 */ UPDATE t SET a = 3 WHERE a = 1;":                                false,
		"/* tx1 */ UPDATE t SET v = v + 1 WHERE a = 1;":                            false,
		"/* tx1 */ UPDATE t SET v = 1 WHERE a = 1;":                                false,
		"/* tx1 */ UPDATE t SET v = 2;\n/* tx2 */ UPDATE t SET v = 2 WHERE a = 1;": false,
		"/* tx1 */ UPDATE t SET id = 3, v = 2 WHERE a = 1;":                        false,
		"/* tx1 */ INSERT INTO t VALUES (3, 2, 2);":                                false,
		"/* tx1 */ INSERT INTO t SELECT a + 5, id, v FROM t;":                      false,
		"/* tx1 */ INSERT INTO t VALUES (1, 3, 2) ON DUPLICATE KEY UPDATE a = 5;":  false,
		"/* tx1 */ INSERT INTO t VALUES (1, 3, 2) ON DUPLICATE KEY UPDATE v = 3;":  true,
		"/* tx1 */ INSERT INTO t VALUES (5, 3, 2), (6, 4, 3);":                     false,
		"/* tx1 */ INSERT INTO t (a) VALUES (5);":                                  false,
	} {
		c, err := corpus.Parse("case", []byte(set+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := answers.Unique(c); got != want {
			t.Errorf("%s: unique %t, want %t", strings.TrimSpace(text), got, want)
		}
	}
}
