package fuzz

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// freshServer is an instance of a target on which findings are confirmed: it has
// run nothing else, and each run of it is in a new database.
type freshServer struct {
	judge judgeFunc
	// facts is judge for a run in which the server is asked for all that it knows.
	facts judgeFunc
	close func() error
}

// freshServers hands out such instances, one for each confirmation. The next one
// is started in the background once it is known to be needed: a start takes 0.1 s
// (MariaDB) to 3 s (the embedded TiDB, with its process).
//
// What "has run nothing else" is depends on the target. A private server is
// started anew. Behind a DSN there is one server, so only the database is new.
// The embedded TiDB has global state and one instance to a process, so a fresh
// one is a process of its own, as that of a replay is.
type freshServers struct {
	open func(context.Context) (*freshServer, error)
	// shared says that the instance is the one on which the campaign runs.
	shared bool

	mu      sync.Mutex
	next    *opening
	closing sync.WaitGroup
	errs    []error
}

// opening is an instance that is being started.
type opening struct {
	done   chan struct{}
	server *freshServer
	err    error
}

// freshOf returns the instances of a target by its name, or nil where the
// process with the target is no place to start one.
func freshOf(target string) *freshServers {
	open := func(ctx context.Context) (*freshServer, error) {
		t, err := OpenTarget(ctx, target, TargetOptions{})
		if err != nil {
			return nil, err
		}
		return &freshServer{t.JudgeFresh, t.JudgeForFacts, t.Close}, nil
	}
	if target == DefaultTarget {
		open = func(ctx context.Context) (*freshServer, error) { return startRunner(ctx, target) }
	}
	return &freshServers{open: open, shared: isDSN(target)}
}

// Fresh is freshOf of this target.
func (t *Target) Fresh() *freshServers { return freshOf(t.address) }

// freshDatabases is for those who have no time to start an instance: new
// databases on the one that is there.
func freshDatabases(t *Target) *freshServers {
	return &freshServers{shared: true, open: func(context.Context) (*freshServer, error) {
		return &freshServer{t.JudgeFresh, t.JudgeForFacts, func() error { return nil }}, nil
	}}
}

// prepare starts the next instance in the background.
func (f *freshServers) prepare(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = f.start(ctx)
	}
}

func (f *freshServers) start(ctx context.Context) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		for range revivals { // an instance may be killed while it starts
			if o.server, o.err = f.open(ctx); o.err == nil || ctx.Err() != nil {
				return
			}
		}
	}()
	return o
}

// take returns an instance that nobody has used; the caller gives it back.
func (f *freshServers) take(ctx context.Context) (*freshServer, error) {
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
func (f *freshServers) giveUp(o *opening) {
	f.closing.Go(func() {
		if <-o.done; o.server != nil {
			f.closed(o.server.close())
		}
	})
}

// giveBack ends an instance in the background.
func (f *freshServers) giveBack(s *freshServer) {
	f.closing.Go(func() { f.closed(s.close()) })
}

func (f *freshServers) closed(err error) {
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, err)
	}
}

// end waits until all instances are closed. It must not run beside take.
func (f *freshServers) end() error {
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
