package postgres_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// website is the manual's example of a row that the snapshot does not show as matching, and
// that matches once the wait is over: the DELETE finds no row.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
const website = `
/* init */ CREATE TABLE website (id INT PRIMARY KEY, hits INT);
/* init */ INSERT INTO website VALUES (1, 9), (2, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE website SET hits = hits + 1;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM website WHERE hits = 10;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM website ORDER BY id;
/* tx2 */ COMMIT;
`

const recorded = "testdata/website.json"

// TestWithoutServer judges a recorded history: its answers are all that is needed.
func TestWithoutServer(t *testing.T) {
	c, err := corpus.Parse("website", []byte(website))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		change  func(*history.History)
		outcome oracle.Outcome
		kind    oracle.Kind
	}{
		"as recorded":            {func(*history.History) {}, oracle.OK, ""},
		"the DELETE counts":      {func(h *history.History) { h.Stmts[3].Result.Affected = 1 }, oracle.Violation, "wrong-count"},
		"a row is gone":          {func(h *history.History) { h.Final[0].Rows = h.Final[0].Rows[1:] }, oracle.Violation, "wrong-final-state"},
		"the transaction is not": {func(h *history.History) { h.Stmts[3].Result.InTxn = false }, oracle.Violation, "lost-transaction"},
		"a wait for nobody":      {func(h *history.History) { h.Stmts[1].Waits = h.Stmts[3].Waits }, oracle.Violation, "unjustified-wait"},
		"a deadlock of one": {func(h *history.History) {
			h.Stmts[1].Result.Err = &history.Error{Code: history.NumberOf("40P01"), State: "40P01"}
		}, oracle.Violation, "unjustified-abort"},
		"without answers": {func(h *history.History) { h.Answers = nil }, oracle.Unknown, ""},
	} {
		h := &history.History{}
		if err := json.Unmarshal(text, h); err != nil {
			t.Fatal(err)
		}
		want.change(h)
		if v := oracle.Check(c, h); v.Outcome != want.outcome || v.Kind != want.kind {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
