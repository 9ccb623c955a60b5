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
	text, err := os.ReadFile("testdata/postgres-prepared.jsonl")
	if err != nil {
		t.Fatal(err)
	}
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
	for line := range strings.Lines(string(text)) {
		read := func() (*corpus.Case, *history.History) {
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
		}
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
