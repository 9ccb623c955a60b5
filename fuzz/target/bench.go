package target

import (
	"context"
	"sync"
)

// Bench is an instance of a target for reductions alone, started when the first
// one is due. A case of it takes no worker of the campaign, and a candidate that
// kills its server kills nobody else's.
type Bench struct {
	// Open starts the instance.
	Open func(context.Context) (*Target, error)

	mu sync.Mutex
	t  *Target
}

// Target returns the instance, and starts it the first time.
func (b *Bench) Target(ctx context.Context) (*Target, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t != nil {
		return b.t, nil
	}
	var err error
	for range revivals {
		if b.t, err = b.Open(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return b.t, err
}

// Close ends the instance, if one was started.
func (b *Bench) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t == nil {
		return nil
	}
	return b.t.Close()
}
