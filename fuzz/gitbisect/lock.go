package gitbisect

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("another process works there")

// tryLock takes a lock between processes, or returns errLocked. The lock ends with the process that has it, however
// that ends.
func tryLock(path string) (unlock func(), err error) {
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
			return nil, errLocked
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// lock waits for it; waits is called once if it must.
func lock(ctx context.Context, path string, waits func()) (unlock func(), err error) {
	for told := false; ; told = true {
		unlock, err = tryLock(path)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		if !told {
			waits()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
