package oracle

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// An error says nothing of a statement whose values the server computes, and as much as
// ever of one beside it.
func TestErrorBesideAnswer(t *testing.T) {
	text, err := os.ReadFile("testdata/innodb-computed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	left, told := 0, 0
	for n, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Verdict.Outcome != OK || r.Verdict.Asked == 0 {
			continue
		}
		c, err := corpus.Parse("case", []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		own, err := resolved(c, r.History)
		if err != nil {
			t.Fatal(err)
		}
		rp := replay(own, r.History)
		if d, err := rp.Run(); d != nil || err != nil {
			t.Fatalf("record %d: %v, %v", n+1, d, err)
		}
		for i := range r.History.Stmts {
			st := &r.History.Stmts[i]
			if rp.Steps[i].Expected == nil || st.Result.Err != nil || len(st.Waits) > 0 {
				continue
			}
			was := st.Result
			st.Result = history.Result{Err: &history.Error{Code: 1690, Message: "BIGINT value is out of range"}}
			v := Check(c, r.History)
			st.Result = was
			switch {
			case v.Outcome == Unknown && v.Reason == lossAskedError:
				if left++; !rp.Asking().UsedBy(i) {
					t.Errorf("record %d: an error of statement %d is left open, which no answer is needed for", n+1, i)
				}
			case v.Outcome == Violation && v.Kind == "unexpected-error" && v.Stmt == i:
				told++
			}
		}
	}
	if left < 10 || told < 50 {
		t.Errorf("%d errors of statements that the server computes, %d told of others: too few to say anything", left, told)
	}
}
