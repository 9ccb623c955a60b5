package oracle

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// asRecorded judges a recorded history of PostgreSQL with the answers that it holds.
func asRecorded(t *testing.T, c *corpus.Case, h *history.History) Verdict {
	t.Helper()
	v := Check(c, h)
	if v.Outcome != Unknown || v.Reason != ReasonDeclared {
		return v
	}
	lacking := errors.New("a question that was not asked")
	g, err := promise.Judge(c, h, func(q *history.Solo) (*history.SoloAnswer, error) {
		if a := h.Solos[q.Key()]; a != nil {
			return a, nil
		}
		return nil, lacking
	})
	if errors.Is(err, lacking) {
		return v
	}
	if err != nil {
		t.Fatal(err)
	}
	return ByPromise(c, h, &v, &g)
}

// TestPrepared holds recorded histories in which transactions were prepared and waited for, at READ COMMITTED,
// REPEATABLE READ and SERIALIZABLE, and lets the server lie in them.
func TestPrepared(t *testing.T) {
	const unwaited = "nobody waits for what is prepared"
	refuse := func(st *history.Stmt, state string) {
		st.Result = history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: history.NumberOf(state), State: state}}
	}
	lies := map[string]func(st *history.Stmt, kind stmt.Kind) bool{
		"a prepared transaction is a victim": func(st *history.Stmt, kind stmt.Kind) bool {
			if kind != stmt.CommitPrepared || st.Result.Err != nil {
				return false
			}
			refuse(st, "40001")
			return true
		},
		"a prepared transaction is gone": func(st *history.Stmt, kind stmt.Kind) bool {
			if kind != stmt.CommitPrepared && kind != stmt.RollbackPrepared || st.Result.Err != nil {
				return false
			}
			refuse(st, "42704")
			return true
		},
		"what is not prepared is committed": func(st *history.Stmt, kind stmt.Kind) bool {
			if e := st.Result.Err; kind != stmt.CommitPrepared || e == nil || e.State != "42704" {
				return false
			}
			st.Result.Err = nil
			return true
		},
		unwaited: func(st *history.Stmt, kind stmt.Kind) bool {
			if len(st.Waits) != 1 || len(st.Waits[0].Holders) > 0 || st.Result.Err != nil {
				return false
			}
			st.Return, st.Waits = st.Submit+1, nil
			return true
		},
	}
	told, noticed := map[string]int{}, map[string]int{}
	for _, read := range recordedOf(t, "testdata/postgres/prepared.jsonl") {
		c, h := read()
		if v := asRecorded(t, c, h); v.Outcome != OK {
			t.Errorf("at %v: %+v\n%s", h.Levels, v, corpus.Print(c, corpus.Text))
		}
		for name, lie := range lies {
			for i := range h.Stmts {
				c, h := read()
				if name == unwaited && h.Levels[1] != corpus.ReadCommitted { // elsewhere no wait is missed
					continue
				}
				if !lie(&h.Stmts[i], stmt.KindOf(c.Steps[h.Stmts[i].Line].Stmt)) {
					continue
				}
				told[name]++
				if v := asRecorded(t, c, h); v.Outcome == Violation {
					noticed[name]++
				}
			}
		}
	}
	for name := range lies {
		t.Logf("%s: told %d times, noticed %d", name, told[name], noticed[name])
		if told[name] == 0 || noticed[name] < told[name] {
			t.Errorf("%s: told %d times, noticed %d", name, told[name], noticed[name])
		}
	}
}

// recordedOf returns what makes anew the cases and histories of a file.
func recordedOf(t *testing.T, file string) (out []func() (*corpus.Case, *history.History)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		out = append(out, func() (*corpus.Case, *history.History) {
			var r struct {
				Case    string           `json:"case"`
				History *history.History `json:"history"`
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			c, err := corpus.Parse("case", []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			return c, r.History
		})
	}
	return out
}

// TestPostgresEnds holds recorded histories in which sessions of PostgreSQL were killed, at three levels, and leaves a
// row behind that a killed session may have written.
func TestPostgresEnds(t *testing.T) {
	killed, noticed := 0, 0
	for _, read := range recordedOf(t, "testdata/postgres/ends.jsonl") {
		c, h := read()
		if v := asRecorded(t, c, h); v.Outcome != OK {
			t.Errorf("at %v: %+v\n%s", h.Levels, v, corpus.Print(c, corpus.Text))
		}
		for i := range h.Stmts {
			if e := h.Stmts[i].Result.Err; e != nil && (e.State == "57P01" || e.State == "57014") && !h.Stmts[i].Interrupted {
				killed++
			}
		}
		h.Final[0].Rows = append(h.Final[0].Rows, []history.Cell{{Text: "77"}, {Text: "7"}, {Text: "k"}})
		switch v := asRecorded(t, c, h); v.Outcome {
		case Violation:
			noticed++
		case OK:
			t.Errorf("a row that nobody has committed is right at %v\n%s", h.Levels, corpus.Print(c, corpus.Text))
		}
	}
	if killed == 0 || noticed < 15 { // a question that was not asked leaves the others open
		t.Errorf("%d statements were killed; of 18 lies %d were noticed", killed, noticed)
	}
}
