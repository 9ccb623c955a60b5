package signal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const text = `/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = %[1]d;
/* tx2 */ SELECT * FROM t WHERE a = %[1]d;
/* tx1 */ COMMIT;
`

// run is a run of the case whose SELECT returns some rows.
func run(t *testing.T, constant, rows int, change func(*history.History, *oracle.Verdict)) []Class {
	t.Helper()
	c, err := corpus.Parse("case", fmt.Appendf(nil, text, constant))
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{Levels: map[int]corpus.Level{1: corpus.RepeatableRead, 2: corpus.RepeatableRead}}
	for i, l := range c.Steps {
		h.Stmts = append(h.Stmts, history.Stmt{Line: i, Session: l.Session, Submit: history.Tick(2*i + 1), Return: history.Tick(2*i + 2)})
	}
	h.Stmts[2].Result.Columns = []string{"a"}
	for range rows {
		h.Stmts[2].Result.Rows = append(h.Stmts[2].Result.Rows, []history.Cell{{Text: fmt.Sprint(constant)}})
	}
	v := &oracle.Verdict{Outcome: oracle.OK}
	if change != nil {
		change(h, v)
	}
	return Of(c, h, v)
}

func TestValuesAreNoBehaviour(t *testing.T) {
	if a, b := run(t, 1, 2, nil), run(t, 70, 9, nil); !slices.Equal(a, b) {
		t.Errorf("other constants, more rows: %x, then %x", a, b)
	}
}

func TestBehaviourShows(t *testing.T) {
	plain := run(t, 1, 2, nil)
	for name, change := range map[string]func(*history.History, *oracle.Verdict){
		"no rows":         func(h *history.History, _ *oracle.Verdict) { h.Stmts[2].Result.Rows = nil },
		"an error":        func(h *history.History, _ *oracle.Verdict) { h.Stmts[2].Result.Err = &history.Error{Code: 1213} },
		"a wait":          func(h *history.History, _ *oracle.Verdict) { h.Stmts[2].Waits = []history.Wait{{From: 5, Until: 6}} },
		"another level":   func(h *history.History, _ *oracle.Verdict) { h.Levels[2] = corpus.ReadCommitted },
		"a plan":          func(h *history.History, _ *oracle.Verdict) { h.Plans = map[int]string{2: "scan 7"} },
		"a rule":          func(_ *history.History, v *oracle.Verdict) { v.Outcome, v.Rules = oracle.Known, []string{"moved-row"} },
		"another verdict": func(_ *history.History, v *oracle.Verdict) { v.Outcome, v.Reason = oracle.Unknown, "order" },
		"no answer":       func(h *history.History, _ *oracle.Verdict) { h.Stmts[2].Return, h.End = 0, history.Stuck },
	} {
		seen := 0
		for _, k := range run(t, 1, 2, change) {
			if !slices.Contains(plain, k) {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("%s: no class of its own", name)
		}
	}
}

func TestPlansAreTheirShape(t *testing.T) {
	with := func(text string) func(*history.History, *oracle.Verdict) {
		return func(h *history.History, _ *oracle.Verdict) { h.Plans = map[int]string{2: text} }
	}
	if a, b := run(t, 1, 1, with("TableScan_5\t10.00")), run(t, 1, 1, with("TableScan_17\t3333.33")); !slices.Equal(a, b) {
		t.Error("estimates are part of a plan's shape")
	}
	if a, b := run(t, 1, 1, with("TableScan")), run(t, 1, 1, with("IndexScan")); slices.Equal(a, b) {
		t.Error("the access path is not")
	}
}

// The engine sees a class only if it has a block of its own.
func TestEveryCounterHasABlock(t *testing.T) {
	for i := range uint32(counters) {
		last = counters
		count(i)
		if last != i {
			t.Fatalf("class %d runs the block of %d", i, last)
		}
	}
	Hit(run(t, 1, 1, nil))
}
