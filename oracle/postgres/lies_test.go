//go:build postgres

package postgres_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func recordNext(t *testing.T, r *recorder, g *generator) (*corpus.Case, *history.History) {
	t.Helper()
	c, err := g.next()
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.record(c)
	if err == nil {
		err = r.answer(c, h)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, corpus.Print(c, corpus.MySQL))
	}
	return c, h
}

// story prints a history for people.
func story(c *corpus.Case, h *history.History) string {
	var b strings.Builder
	for i := range h.Stmts {
		st := &h.Stmts[i]
		res, _ := json.Marshal(st.Result)
		sql, _ := corpus.Format(c.Steps[st.Line].Stmt, corpus.PostgreSQL)
		fmt.Fprintf(&b, "%d: tx%d %d-%d %v %s\n\t%s\n", i, st.Session, st.Submit, st.Return, st.Waits, sql, res)
	}
	for _, f := range h.Final {
		fmt.Fprintf(&b, "%s: %v\n", f.Name, f.Rows)
	}
	return b.String()
}

// A lie changes a history so that it tells of something illegal. It reports false where the
// history gives no occasion.
type lie func(t *testing.T, r *recorder, c *corpus.Case, h *history.History) bool

var lies = map[string]lie{
	"a row missing from an answer":               missingRow,
	"an answer of an older state":                olderState,
	"a committed write missing in the end":       lostWrite,
	"a blocked write that went on before others": noBlock,
}

// TestRejectsLies changes recorded histories and expects violations.
func TestRejectsLies(t *testing.T) {
	r := newRecorder(t, startCluster(t))
	g := newGenerator(*seed + 1000)
	told, rejected := map[string]int{}, map[string]int{}
	for range *cases / 2 {
		c, h := recordNext(t, r, g)
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		for name, lie := range lies {
			wrong := &history.History{}
			if err := json.Unmarshal(text, wrong); err != nil {
				t.Fatal(err)
			}
			if !lie(t, r, c, wrong) {
				continue
			}
			if err := r.answer(c, wrong); err != nil {
				t.Fatal(err)
			}
			told[name]++
			if v := oracle.Check(c, wrong); v.Outcome == oracle.Violation {
				rejected[name]++
			} else {
				t.Logf("%s: %s %s\n%s%s", name, v.Outcome, v.Reason, corpus.Print(c, corpus.MySQL), story(c, wrong))
			}
		}
	}
	for name := range lies {
		t.Logf("seed %d, %s: %d of %d rejected", *seed, name, rejected[name], told[name])
		if told[name] < *cases/20 || rejected[name]*20 < told[name]*19 {
			t.Errorf("%s: only %d of %d rejected", name, rejected[name], told[name])
		}
	}
}

func missingRow(_ *testing.T, _ *recorder, c *corpus.Case, h *history.History) bool {
	for i := range h.Stmts {
		if st := &h.Stmts[i]; stmt.KindOf(c.Steps[st.Line].Stmt).Reads() && len(st.Result.Rows) > 0 {
			st.Result.Rows = st.Result.Rows[1:]
			st.Result.Affected--
			return true
		}
	}
	return false
}

// olderState answers the last plain SELECT that it can from the state behind the set-up.
func olderState(t *testing.T, r *recorder, c *corpus.Case, h *history.History) bool {
	for i := len(h.Stmts) - 1; i >= 0; i-- {
		st := &h.Stmts[i]
		if stmt.KindOf(c.Steps[st.Line].Stmt) != stmt.Select || st.Result.Err != nil {
			continue
		}
		sql, _ := corpus.Format(c.Steps[st.Line].Stmt, corpus.Text)
		a, err := r.evaluate(&history.Question{SQL: sql, Tables: h.Initial})
		if err != nil {
			t.Fatal(err)
		}
		if a.Result.Err == nil && !history.SameRows(a.Result.Rows, st.Result.Rows, false) {
			st.Result.Rows, st.Result.Affected = a.Result.Rows, a.Result.Affected
			return true
		}
	}
	return false
}

// lostWrite puts back the first row of the end that differs from the one with its key at first.
func lostWrite(_ *testing.T, _ *recorder, _ *corpus.Case, h *history.History) bool {
	for k := range h.Final {
		for i, row := range h.Final[k].Rows {
			for _, old := range h.Initial[k].Rows {
				if old[0] == row[0] && !slices.Equal(old, row) {
					h.Final[k].Rows[i] = old
					return true
				}
			}
		}
	}
	return false
}

// noBlock has a statement that waited for a session return before that session sent what let
// it go.
func noBlock(_ *testing.T, _ *recorder, c *corpus.Case, h *history.History) bool {
	for i := range h.Stmts {
		st := &h.Stmts[i]
		if len(st.Waits) == 0 || st.Result.Err != nil || st.Result.Affected == 0 || len(st.Waits[0].Holders) == 0 {
			continue
		}
		release := 0
		for j := range h.Stmts {
			if o := &h.Stmts[j]; o.Submit > st.Submit && o.Submit < st.Return {
				release = j
			}
		}
		if release == 0 || !stmt.KindOf(c.Steps[h.Stmts[release].Line].Stmt).Ends() {
			continue
		}
		spread(h)
		st.Return = h.Stmts[release].Submit - 1
		for k := range st.Waits {
			st.Waits[k].Until = min(st.Waits[k].Until, st.Return-1)
		}
		return true
	}
	return false
}

// spread makes room between the ticks of a history.
func spread(h *history.History) {
	for i := range h.Stmts {
		st := &h.Stmts[i]
		st.Submit, st.Return = st.Submit*4, st.Return*4
		for k := range st.Waits {
			st.Waits[k].From, st.Waits[k].Until = st.Waits[k].From*4, st.Waits[k].Until*4
		}
	}
}
