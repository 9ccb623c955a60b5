package infer_test

import (
	"errors"
	"io"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// The history was recorded by the mini workload with plain reads on MySQL 9.7 at
// REPEATABLE READ, whose transactions are taken apart into what read a snapshot and
// what wrote: no write follows a read. A search that knows no times needs hundreds of
// dead ends for these 400 transactions, and did not end for 10,000. With them a
// handful is left to search for.
func TestBlindWritesAreOrderedByTheClock(t *testing.T) {
	load := func(timed bool) *kv.History {
		in, err := kv.Open("recorded/mini-pieces.jsonl", "")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		h := kv.NewHistory(kv.Header{Workload: kv.Register}, nil)
		for {
			var r kv.Record
			switch err := in.Next(&r); {
			case errors.Is(err, io.EOF):
				return h
			case err != nil:
				t.Fatal(err)
			}
			if !timed {
				r.Invoke, r.Return = kv.Unknown, kv.Unknown
			}
			h.Add(&r)
		}
	}
	check := func(h *kv.History) *infer.Result {
		res, err := infer.Check(h, infer.Options{Models: []model.Model{model.Serializable}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Verdicts[model.Serializable] != infer.Holds {
			t.Fatalf("%v, %v", res.Verdicts, res.Reasons)
		}
		return res
	}
	if r := check(load(true)); r.Conflicts > 20 || r.Open > 500 {
		t.Errorf("with times %d pairs were open and %d dead ends met", r.Open, r.Conflicts)
	}
	if r := check(load(false)); r.Conflicts < 100 {
		t.Errorf("without times only %d dead ends were met: the history no longer shows what the times are good for", r.Conflicts)
	}
}
