package target

import (
	"context"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// answered asks questions together.
func answered(
	ctx context.Context, x *harness.Scratch, open map[string]history.Question,
) (map[string]*history.Answer, error) {
	keys := slices.Sorted(maps.Keys(open))
	questions := make([]history.Question, len(keys))
	for i, k := range keys {
		questions[i] = open[k]
	}
	got, err := x.Answers(ctx, questions)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*history.Answer, len(keys))
	for i, k := range keys {
		out[k] = got[i]
	}
	return out, nil
}
