package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Serve starts a private server, calls ready with its DSN, and keeps it until
// the context ends, which is no error, or the server does.
func Serve(ctx context.Context, target string, progress io.Writer, ready func(dsn string) error) (err error) {
	if err := checkTarget(target); err != nil {
		return err
	}
	if isDSN(target) {
		return &TargetError{"a DSN names a server that runs already; want embedded, mariadb, mysql:9.7, …"}
	}
	b, err := harness.Open(ctx, target, harness.Options{Progress: progress})
	if err != nil {
		return openError(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	cfg := b.Config()
	if err := ready(fmt.Sprintf("%s@%s(%s)/", cfg.User, cfg.Net, cfg.Addr)); err != nil {
		return fmt.Errorf("tell the DSN: %w", err)
	}
	return keepAlive(ctx, b)
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
