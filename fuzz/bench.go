package fuzz

import (
	"context"
	"sync"
)

// bench is an instance of a target for reductions alone, started when the first
// one is due. A case of it takes no worker of the campaign, and a candidate that
// kills its server kills nobody else's.
type bench struct {
	open func(context.Context) (*Target, error)

	mu sync.Mutex
	t  *Target
}

// benchOf returns the bench of a campaign. If the server lives in this process, the
// bench is the same server with connections of its own; its candidates are noted as
// in flight, as cases are, since they may take the process down.
func benchOf(s Settings) *bench {
	o := TargetOptions{Workers: 1, Clean: true}
	if s.Target == DefaultTarget {
		o.InFlight = reducingDir(s.Out, s.Target)
	}
	return &bench{open: func(ctx context.Context) (*Target, error) { return OpenTarget(ctx, s.Target, o) }}
}

func (b *bench) target(ctx context.Context) (*Target, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t != nil {
		return b.t, nil
	}
	var err error
	for range revivals {
		if b.t, err = b.open(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return b.t, err
}

func (b *bench) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t == nil {
		return nil
	}
	return b.t.Close()
}
