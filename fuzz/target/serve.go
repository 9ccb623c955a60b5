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
	nodes := []harness.Backend{b}
	if r, ok := b.(harness.Clustered); ok {
		for _, n := range r.Topology().Nodes[1:] {
			nodes = append(nodes, n.Backend)
		}
	}
	for i, node := range nodes {
		by := 0 // replicas are reached by their sockets
		if i == 0 {
			by = port
		}
		dsn, err := dsnOf(node, by)
		if err != nil {
			return fmt.Errorf("serve %s: %w", target, err)
		}
		if err := ready(dsn); err != nil {
			return fmt.Errorf("tell the DSN: %w", err)
		}
	}
	return keepAlive(ctx, b)
}

// dsnOf tells how a server is reached: by a port, if that is not 0, else by its socket.
func dsnOf(b harness.Backend, port int) (string, error) {
	if l, ok := b.(harness.Located); ok {
		return l.URL(), nil
	}
	w, err := harness.WiredOf(b)
	if err != nil {
		return "", err
	}
	cfg := w.Config()
	if port != 0 {
		r, ok := b.(harness.Reachable)
		if !ok || r.TCP() == nil {
			return "", &Error{"it cannot listen on a port"}
		}
		cfg = r.TCP()
	}
	user := cfg.User
	if cfg.Passwd != "" {
		user += ":" + cfg.Passwd
	}
	return fmt.Sprintf("%s@%s(%s)/", user, cfg.Net, cfg.Addr), nil
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
