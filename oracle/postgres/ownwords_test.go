package postgres_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestOwnWords judges recorded histories of what only PostgreSQL has (RETURNING, all four row locks, MERGE, ON
// CONFLICT, and writes that are only counted), and of what was once called wrong; and lies in them.
func TestOwnWords(t *testing.T) {
	f, err := os.Open("testdata/own-words.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lies := map[string]func(*history.History, *corpus.Case) bool{
		"a returned row is missing": func(h *history.History, c *corpus.Case) bool {
			i := slices.IndexFunc(h.Stmts, func(s history.Stmt) bool {
				return strings.Contains(corpus.SQL(c.Steps[s.Line].Stmt, corpus.Text), "RETURNING") && len(s.Result.Rows) > 0
			})
			if i >= 0 {
				h.Stmts[i].Result.Rows = h.Stmts[i].Result.Rows[1:]
			}
			return i >= 0
		},
		"one row more is counted": func(h *history.History, c *corpus.Case) bool {
			i := slices.IndexFunc(h.Stmts, func(s history.Stmt) bool {
				raw, ok := c.Steps[s.Line].Stmt.(*stmt.RawStmt)
				return ok && raw.Counted() == nil && s.Result.Affected > 0
			})
			if i >= 0 && strings.Contains(corpus.SQL(c.Steps[h.Stmts[i].Line].Stmt, corpus.Text), "RETURNING") {
				h.Stmts[i].Result.Affected++
				return true
			}
			return false
		},
		"another number is counted": func(h *history.History, c *corpus.Case) bool {
			i := slices.IndexFunc(h.Stmts, func(s history.Stmt) bool {
				raw, ok := c.Steps[s.Line].Stmt.(*stmt.RawStmt)
				return ok && raw.Counted() != nil && s.Result.Err == nil
			})
			if i >= 0 {
				h.Stmts[i].Result.Rows[0][0].Text = "17"
			}
			return i >= 0
		},
		"a row is another one later": func(h *history.History, c *corpus.Case) bool {
			i := len(h.Stmts) - 1
			for ; i >= 0; i-- {
				if kind := oracle.KindOf(c.Steps[h.Stmts[i].Line].Stmt); (kind == stmt.Select || kind.LocksRead()) && len(h.Stmts[i].Result.Rows) > 0 &&
					len(h.Stmts[i].Result.Rows[0]) > 1 {
					h.Stmts[i].Result.Rows[0][1].Text = "17"
					return true
				}
			}
			return false
		},
		"a wait is left out": func(h *history.History, _ *corpus.Case) bool {
			i := slices.IndexFunc(h.Stmts, func(s history.Stmt) bool { return len(s.Waits) > 0 })
			if i >= 0 {
				h.Stmts[i].Waits = nil
				h.Stmts[i].Return = h.Stmts[i].Submit + 1
			}
			return i >= 0
		},
	}
	told, ok := map[string]int{}, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Note, Case string
			History    json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		judge := func(lie func(*history.History, *corpus.Case) bool) (v oracle.Verdict, is bool) {
			h := &history.History{}
			if err := json.Unmarshal(r.History, h); err != nil {
				t.Fatal(err)
			}
			is = lie == nil || lie(h, c)
			return oracle.Check(c, h), is
		}
		v, _ := judge(nil)
		// Of some the answer depends on the order in which the server comes to rows.
		if open := strings.HasPrefix(r.Note, "open: "); open != (v.Outcome == oracle.Unknown) || !open && v.Outcome != oracle.OK {
			t.Errorf("%s: %+v", r.Note, v)
			continue
		} else if open {
			continue
		}
		ok++
		for name, lie := range lies {
			v, is := judge(lie)
			if !is {
				continue
			}
			told[name]++
			if v.Outcome != oracle.Violation && !(v.Outcome == oracle.Unknown && strings.Contains(v.Reason, "does not answer")) {
				t.Errorf("%s, %s: %+v", r.Note, name, v)
			}
		}
	}
	if err := lines.Err(); err != nil || ok < 4 || len(told) != len(lies) {
		t.Errorf("%v: %d histories are right; lies told: %v", err, ok, told)
	}
}
