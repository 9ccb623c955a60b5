package workload

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// FoundError says that an input showed something.
type FoundError struct {
	Class  Class
	Kind   Kind
	Detail string
	// Case is the run that showed it.
	Case *corpus.Case
}

func (e *FoundError) Error() string {
	return fmt.Sprintf("%s: %s: %s\n%s", e.Class, e.Kind, e.Detail, corpus.Print(e.Case, corpus.Text))
}

// Try makes an input from bytes, for one of the sets that they choose, runs it at a
// level and in every serial order, and returns a *FoundError for what is wrong.
func (s *Stage) Try(ctx context.Context, sets [][]*workload.Transaction, data []byte, level corpus.Level) error {
	in := mutate.Make(s.W, sets, data)
	refs := s.serials(in, level)
	runs, err := refs.of(ctx, all(in))
	if _, ok := rejected(err); ok {
		return nil
	} else if err != nil {
		return err
	}
	for _, r := range runs {
		if len(r.outcome.Before) > 0 {
			return nil
		}
		if err := serverError(r.outcome); err != nil {
			return err
		}
		for _, b := range r.outcome.Broken {
			return &FoundError{Application, invariantKind(b.Invariant.Name), orNothing(b.Answer), r.outcome.Case}
		}
	}
	o, err := s.Run(ctx, in, level)
	if err != nil || o.Calls == nil {
		return err
	}
	if err := serverError(o); err != nil {
		return err
	}
	a, err := refs.judge(ctx, o)
	if err != nil || a == nil {
		return err
	}
	return &FoundError{Isolation, a.kind, a.detail, o.Case}
}

func serverError(o *Outcome) error {
	if v := check(o); v.Outcome == oracle.Violation {
		return &FoundError{Server, Kind(v.Kind), v.Reason, o.Case}
	}
	return nil
}
