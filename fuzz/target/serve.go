package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Serve starts a private server, calls ready with its DSN, and keeps it until
// the context ends, which is no error, or the server does. It listens on a socket
// or, if port is not 0, on that port of 127.0.0.1, where a drawn password is asked
// for.
func Serve(ctx context.Context, target string, port int, progress io.Writer, ready func(dsn string) error) (err error) {
	if err := Check(target); err != nil {
		return err
	}
	if IsDSN(target) {
		return &Error{"a DSN names a server that runs already; want embedded, mariadb, mysql:9.7, …"}
	}
	b, err := harness.Open(ctx, target, harness.Options{Progress: progress, Port: port})
	if err != nil {
		return openError(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if l, ok := b.(harness.Located); ok {
		if err := ready(l.URL()); err != nil {
			return fmt.Errorf("tell the DSN: %w", err)
		}
		if err := tellReplicas(b, ready); err != nil {
			return fmt.Errorf("tell the DSN: %w", err)
		}
		return keepAlive(ctx, b)
	}
	w, err := harness.WiredOf(b)
	if err != nil {
		return fmt.Errorf("serve %s: %w", target, err)
	}
	cfg := w.Config()
	if port != 0 {
		r, ok := b.(harness.Reachable)
		if !ok || r.TCP() == nil {
			return &Error{fmt.Sprintf("%s cannot listen on a port", target)}
		}
		cfg = r.TCP()
	}
	user := cfg.User
	if cfg.Passwd != "" {
		user += ":" + cfg.Passwd
	}
	if err := ready(fmt.Sprintf("%s@%s(%s)/", user, cfg.Net, cfg.Addr)); err != nil {
		return fmt.Errorf("tell the DSN: %w", err)
	}
	if err := tellReplicas(b, ready); err != nil {
		return fmt.Errorf("tell the DSN: %w", err)
	}
	return keepAlive(ctx, b)
}

// tellReplicas tells how the replicas of a primary are reached.
func tellReplicas(b harness.Backend, ready func(dsn string) error) error {
	r, ok := b.(harness.Replicated)
	if !ok {
		return nil
	}
	for _, n := range r.Topology().Nodes[1:] {
		if l, ok := n.Backend.(harness.Located); ok {
			if err := ready(l.URL()); err != nil {
				return err
			}
			continue
		}
		w, err := harness.WiredOf(n.Backend)
		if err != nil {
			return err
		}
		cfg := w.Config()
		if err := ready(fmt.Sprintf("%s@%s(%s)/", cfg.User, cfg.Net, cfg.Addr)); err != nil {
			return err
		}
	}
	return nil
}

// aliveEvery is how often a server that nobody tests is looked at.
const aliveEvery = time.Second

func keepAlive(ctx context.Context, b harness.Backend) error {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := b.Alive(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("the server died: %w", err)
			}
		}
	}
}
