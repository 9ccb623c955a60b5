// Package filelock locks files between processes. A lock ends with the process that has it, however that ends.
package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("another process works there")

// Try makes the file if it is not there, and locks it; it returns ErrHeld if another process has the lock.
func Try(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrHeld
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// Wait is Try that waits for the lock; waits, if not nil, is called once if it must.
func Wait(ctx context.Context, path string, waits func()) (unlock func(), err error) {
	for {
		unlock, err = Try(path)
		if !errors.Is(err, ErrHeld) {
			return unlock, err
		}
		if waits != nil {
			waits()
			waits = nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
