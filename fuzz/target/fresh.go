package target

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// FreshServer is an instance of a target on which findings are confirmed: it has
// run nothing else, and each run of it is in a new database.
type FreshServer struct {
	// Judge runs a case in a new database.
	Judge JudgeFunc
	// Facts is Judge for a run in which the server is asked for all that it knows.
	Facts JudgeFunc
	Close func() error // ends the instance
}

// FreshServers hands out such instances, one for each confirmation. The next one
// is started in the background once it is known to be needed: a start takes 0.1 s
// (MariaDB) to 3 s (the embedded TiDB, with its process).
//
// What "has run nothing else" is depends on the target. A private server is
// started anew. Behind a DSN there is one server, so only the database is new.
// The embedded TiDB has global state and one instance to a process, so a fresh
// one is a process of its own, as that of a replay is.
type FreshServers struct {
	// Open starts an instance.
	Open func(context.Context) (*FreshServer, error)
	// Shared says that the instance is the one on which the campaign runs.
	Shared bool

	mu      sync.Mutex
	next    *opening
	closing sync.WaitGroup
	errs    []error
}

// opening is an instance that is being started.
type opening struct {
	done   chan struct{}
	server *FreshServer
	err    error
}

// FreshOf returns the instances of a target by its name, or nil where the
// process with the target is no place to start one.
func FreshOf(target string) *FreshServers {
	open := func(ctx context.Context) (*FreshServer, error) {
		t, err := Open(ctx, target, Options{})
		if err != nil {
			return nil, err
		}
		return &FreshServer{t.JudgeFresh, t.JudgeForFacts, t.Close}, nil
	}
	if target == Default {
		open = func(ctx context.Context) (*FreshServer, error) { return startRunner(ctx, target) }
	}
	return &FreshServers{Open: open, Shared: IsDSN(target)}
}

// Fresh is FreshOf of this target.
func (t *Target) Fresh() *FreshServers { return FreshOf(t.address) }

// FreshDatabases is for those who have no time to start an instance: new
// databases on the one that is there.
func FreshDatabases(t *Target) *FreshServers {
	return &FreshServers{Shared: true, Open: func(context.Context) (*FreshServer, error) {
		return &FreshServer{t.JudgeFresh, t.JudgeForFacts, func() error { return nil }}, nil
	}}
}

// Prepare starts the next instance in the background.
func (f *FreshServers) Prepare(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = f.start(ctx)
	}
}

func (f *FreshServers) start(ctx context.Context) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		for range revivals { // an instance may be killed while it starts
			if o.server, o.err = f.Open(ctx); o.err == nil || ctx.Err() != nil {
				return
			}
		}
	}()
	return o
}

// Take returns an instance that nobody has used; the caller gives it back.
func (f *FreshServers) Take(ctx context.Context) (*FreshServer, error) {
	f.mu.Lock()
	o := f.next
	if f.next = nil; o == nil {
		o = f.start(ctx)
	}
	f.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
		f.giveUp(o)
		return nil, ctx.Err()
	}
	if o.err != nil {
		return nil, fmt.Errorf("start an instance to confirm on: %w", o.err)
	}
	return o.server, nil
}

// giveUp closes an instance once it is there.
func (f *FreshServers) giveUp(o *opening) {
	f.closing.Go(func() {
		if <-o.done; o.server != nil {
			f.closed(o.server.Close())
		}
	})
}

// GiveBack ends an instance in the background.
func (f *FreshServers) GiveBack(s *FreshServer) {
	f.closing.Go(func() { f.closed(s.Close()) })
}

func (f *FreshServers) closed(err error) {
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, err)
	}
}

// End waits until all instances are closed. It must not run beside take.
func (f *FreshServers) End() error {
	if f == nil {
		return nil
	}
	if f.next != nil {
		f.giveUp(f.next)
		f.next = nil
	}
	f.closing.Wait()
	return errors.Join(f.errs...)
}
