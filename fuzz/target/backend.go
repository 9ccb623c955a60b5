package target

import (
	"context"

	"github.com/txnfuzz/txnfuzz/harness"
)

// OpenBackend starts or connects to a target without preparing workers for cases.
// A name that cannot be a target gives a *Error.
func OpenBackend(ctx context.Context, name string, o harness.Options) (harness.Backend, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	b, err := harness.Open(ctx, name, o)
	if err != nil {
		return nil, openError(err)
	}
	return b, nil
}
