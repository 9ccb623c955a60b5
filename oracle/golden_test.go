package oracle

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

func goldenFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded histories in testdata (%v)", err)
	}
	return files
}

var update = flag.Bool("update", false, "rewrite the recorded verdicts; inspect the diff before you commit it")

// TestGolden judges every recorded history again. The records were made on
// real servers; a verdict that changes here is a change of what the oracle
// says of a real run.
func TestGolden(t *testing.T) {
	for _, file := range goldenFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			records, err := LoadRecords(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range records {
				got, err := records[i].Judge(fmt.Sprintf("%s:%d", file, i+1))
				if err != nil {
					t.Errorf("record %d: %v", i+1, err)
					continue
				}
				if diff := cmp.Diff(records[i].Verdict, got); diff != "" {
					if *update {
						records[i].Verdict = got
						continue
					}
					t.Errorf("record %d: verdict changed (-recorded +now; run with -update if the change is meant):\n%s\n%s", i+1, diff, records[i].Case)
				}
			}
			if *update {
				if err := writeRecords(file, records); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func writeRecords(file string, records []Record) error {
	var b bytes.Buffer
	for i := range records {
		line, err := json.Marshal(&records[i])
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// shownRecords returns the recorded histories that a deviation explains, by its
// name.
func shownRecords(t *testing.T) map[string][]Record {
	t.Helper()
	out := map[string][]Record{}
	for _, file := range append(goldenFiles(t), "testdata/published/innodb.jsonl") {
		records, err := LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			for _, n := range r.Verdict.Rules {
				if r.Verdict.Outcome == Known {
					out[n] = append(out[n], r)
				}
			}
		}
	}
	return out
}

// TestDeviationsHaveGoldens demands for every row of the rules table that is a
// deviation a history that it explains, recorded on a server of its scope; for
// every deviation a case that shows it recorded on a server where the promise
// holds, and two histories that come near but stay violations. Nothing else may
// lie in the folders.
func TestDeviationsHaveGoldens(t *testing.T) {
	shown := shownRecords(t)
	names := map[string]bool{}
	for i := range rules.Table {
		r := &rules.Table[i]
		if r.Status != rules.Deviation || r.Dim == rules.KeyLookup { // that is held against answers: TestRoots, TestButForKeys
			continue
		}
		names[r.Name] = true
		if !slices.ContainsFunc(shown[r.Name], func(s Record) bool {
			return slices.ContainsFunc(levelsOf(s.History), func(l corpus.Level) bool { return r.Scope.Covers(s.History.Server, l) })
		}) {
			t.Errorf("no recorded history of %v is explained by %q", r.Scope, r.Name)
		}
	}
	for _, folder := range []string{"near", "silent"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if n := strings.TrimSuffix(filepath.Base(f), ".jsonl"); !names[n] {
				t.Errorf("%s belongs to no deviation", f)
			}
		}
	}
	for name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, err := LoadRecords(filepath.Join("testdata", "near", name+".jsonl"))
			if err != nil {
				t.Fatalf("near misses: %v", err)
			}
			if len(near) < 2 {
				t.Errorf("%d near misses, want 2", len(near))
			}
			for j := range near {
				v, err := near[j].Judge(name)
				if err != nil {
					t.Errorf("near miss %d: %v", j+1, err)
				} else if v.Outcome != Violation {
					t.Errorf("near miss %d: verdict %s %v, want a violation\n%s", j+1, v.Outcome, v.Rules, near[j].Case)
				}
			}
			silent, err := LoadRecords(filepath.Join("testdata", "silent", name+".jsonl"))
			if err != nil || len(silent) == 0 {
				t.Fatalf("no record of a server that does not show it: %v", err)
			}
			for j := range silent {
				if !slices.ContainsFunc(shown[name], func(s Record) bool { return body(s.Case) == body(silent[j].Case) }) {
					t.Errorf("silent record %d: its case is not one that shows the deviation elsewhere", j+1)
				}
				if v, err := silent[j].Judge(name); err != nil || v.Outcome != OK {
					t.Errorf("silent record %d: verdict %s %v (%v), want ok\n%s", j+1, v.Outcome, v.Rules, err, silent[j].Case)
				}
			}
		})
	}
}

func levelsOf(h *history.History) []corpus.Level {
	var out []corpus.Level
	for _, l := range h.Levels {
		out = append(out, l)
	}
	return out
}

// body returns a case without its header.
func body(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "--") })
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// falsify changes one thing in a history that a client would have noticed; it
// returns how many such changes there are.
func falsify(h *history.History, n int) (*history.History, int) {
	k := 0
	pick := func() bool { k++; return k-1 == n }
	out := *h
	out.Stmts = append([]history.Stmt(nil), h.Stmts...)
	for i := range out.Stmts {
		res := &out.Stmts[i].Result
		if res.Err == nil && len(res.Rows) > 0 {
			if pick() {
				res.Rows = res.Rows[1:]
			}
			if pick() {
				rows := append([][]history.Cell(nil), res.Rows...)
				rows[0] = append([]history.Cell(nil), rows[0]...)
				rows[0][0] = history.Cell{Text: "987654"}
				res.Rows = rows
			}
		}
		if res.Err == nil && len(res.Columns) == 0 && res.Affected > 0 {
			if pick() {
				res.Affected++
				if res.Changed >= 0 {
					res.Changed++
				}
			}
		}
	}
	for i := range out.Final {
		if len(out.Final[i].Rows) > 0 && pick() {
			out.Final = append([]history.Table(nil), out.Final...)
			out.Final[i].Rows = out.Final[i].Rows[1:]
		}
	}
	return &out, k
}

// looked answers each question about a plan: the statement looks at its table. It returns the
// verdict then.
func looked(t *testing.T, r *Record) Verdict {
	t.Helper()
	c, err := corpus.Parse("case", []byte(r.Case))
	if err != nil {
		t.Fatal(err)
	}
	h := *r.History
	h.Answers = maps.Clone(h.Answers)
	for {
		v := Check(c, &h)
		if v.Outcome != Unknown {
			return v
		}
		more := false
		for key, q := range Questions(c, &h) {
			if !q.Plan {
				continue
			}
			if more = true; h.Answers == nil {
				h.Answers = map[string]*history.Answer{}
			}
			h.Answers[key] = &history.Answer{Result: history.Result{Columns: []string{"table", "type", "key", "Extra"},
				Rows: [][]history.Cell{{{Text: q.Tables[0].Name}, {Text: "ALL"}, {Null: true}, {Text: "Using where"}}}}}
		}
		if !more {
			return v
		}
	}
}

// TestRejectsLies changes every answer of every recorded honest history, one
// at a time: each change must be seen.
func TestRejectsLies(t *testing.T) {
	var tried, missed atomic.Int64
	t.Run("of", func(t *testing.T) {
		for _, file := range goldenFiles(t) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				rejectsLies(t, file, &tried, &missed)
			})
		}
	})
	if tried.Load() < 200 {
		t.Errorf("only %d changes were tried", tried.Load())
	}
	t.Logf("%d changed answers, %d missed", tried.Load(), missed.Load())
}

func rejectsLies(t *testing.T, file string, tried, missed *atomic.Int64) {
	records, err := LoadRecords(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		honest, err := records[i].Judge(file)
		if err != nil {
			t.Fatal(err)
		}
		if honest.Outcome != OK || honest.Judged != honest.Statements {
			continue
		}
		_, n := falsify(records[i].History, -1)
		for k := range n {
			lie, _ := falsify(records[i].History, k)
			lied := Record{Case: records[i].Case, History: lie}
			v, err := lied.Judge(file)
			if err != nil {
				t.Fatal(err)
			}
			if tried.Add(1); v.Outcome == Unknown {
				v = looked(t, &lied)
			}
			if v.Outcome != Violation {
				missed.Add(1)
				t.Errorf("%s record %d: change %d was judged %s %v (%s)", file, i+1, k, v.Outcome, v.Rules, v.Reason)
			}
		}
	}
}
