package target_test

import (
	"context"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying/pglying"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestTogetherAsOneByOne judges the same histories by questions that go to the server together, and by questions that
// go one by one, as they do through a session that cannot be sent several texts. All answers must be the same, and so
// the verdicts.
func TestTogetherAsOneByOne(t *testing.T) {
	const inputs = 30
	for _, name := range targettest.Among(t, "postgres:12", "postgres:18") {
		t.Run(name, func(t *testing.T) {
			together := targettest.Open(t, name, target.Options{})
			oneByOne := unpipelined(t, name)
			together.AskForAll()
			oneByOne.AskForAll()
			answers, solos := 0, 0
			for seed := range uint64(inputs) {
				for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable} {
					o := mutate.Options{DBMS: history.PostgreSQL, Levels: []corpus.Level{level}, Tables: 1 + int(seed%2)}
					input := mutate.InputOf(seed, mutate.InputLen)
					cases := campaign.Sayable(history.PostgreSQL, mutate.FromInput(input, nil, o))
					for _, c := range cases[:min(len(cases), 1)] {
						run := together.RunOnly(t.Context(), c, target.LevelsFor(c, level))
						if run.Err != nil {
							t.Fatalf("seed %d: %v\n%s", seed, run.Err, corpus.Print(c, corpus.Text))
						}
						a, b := *run.History, *run.History
						x, y := together.JudgeRecorded(t.Context(), c, &a), oneByOne.JudgeRecorded(t.Context(), c, &b)
						if x.Err != nil || y.Err != nil {
							t.Fatalf("seed %d at %s: %v, %v", seed, level, x.Err, y.Err)
						}
						if x.Verdict.Outcome != y.Verdict.Outcome || x.Verdict.Reason != y.Verdict.Reason {
							t.Errorf("seed %d at %s: together %s (%s), one by one %s (%s)\n%s", seed, level, x.Verdict.Outcome,
								x.Verdict.Reason, y.Verdict.Outcome, y.Verdict.Reason, corpus.Print(c, corpus.Text))
						}
						answers, solos = answers+sameAnswers(t, &a, &b), solos+sameSolos(t, &a, &b)
					}
				}
			}
			if t.Logf("%d answers and %d of statements alone", answers, solos); answers < inputs || solos < inputs {
				t.Errorf("of %d inputs only %d answers and %d of statements alone: this test shows nothing", inputs, answers, solos)
			}
		})
	}
}

// unpipelined opens a target whose sessions take one text at a time.
func unpipelined(t *testing.T, name string) *target.Target {
	t.Helper()
	b, err := harness.Open(t.Context(), name, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	through, err := pglying.Through(b, pglying.Honest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = through.Close() })
	s, err := through.Open(context.WithoutCancel(t.Context()), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ok := s.(harness.Pipelined); ok {
		t.Fatal("these sessions take several texts at a time")
	}
	pool, err := harness.NewPool(t.Context(), through, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return target.Through(name, through, pool)
}

// sameAnswers compares the answers to what both histories ask, and counts them.
func sameAnswers(t *testing.T, a, b *history.History) (n int) {
	t.Helper()
	for key, x := range a.Answers {
		y := b.Answers[key]
		if y == nil {
			t.Errorf("a question that is asked only together: %+v", x)
			continue
		}
		n++
		if x.Open != y.Open {
			t.Errorf("together it is open that %q, one by one that %q", x.Open, y.Open)
		}
		if x.Open == "" && (!history.SameAnswer(&x.Result, &y.Result, false) || x.Result.Err == nil && !sameTables(x.After, y.After)) {
			t.Errorf("answers differ: together %+v, one by one %+v", x, y)
		}
	}
	return n
}

// sameSolos is sameAnswers for statements that ran alone.
func sameSolos(t *testing.T, a, b *history.History) (n int) {
	t.Helper()
	for key, x := range a.Solos {
		y := b.Solos[key]
		if y == nil {
			t.Errorf("statements that run alone only together: %+v", x)
			continue
		}
		n++
		same := func(a, b history.Result) bool { return history.SameAnswer(&a, &b, false) }
		if x.Open != y.Open || x.Open == "" && (!slices.EqualFunc(x.Results, y.Results, same) || !sameTables(x.After, y.After)) {
			t.Errorf("answers differ: together %+v, one by one %+v", x, y)
		}
	}
	return n
}

func sameTables(a, b []history.Table) bool {
	return slices.EqualFunc(a, b, func(x, y history.Table) bool {
		return x.Name == y.Name && slices.Equal(x.Columns, y.Columns) && history.SameRows(x.Rows, y.Rows, false)
	})
}
