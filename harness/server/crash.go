package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/txnfuzz/txnfuzz/harness"
)

// durableRoom is what a durable instance may add to its template: logs that are
// not cut to the least, a doublewrite file, and what the clients write.
const durableRoom = 1 << 30

// File systems in memory, by statfs(2): what lies there outlives the server's
// process, but a sync to it costs nothing and shows nothing.
var inMemory = map[int64]bool{0x01021994: true /* tmpfs */, 0x858458f6: true /* ramfs */}

// diskBase returns the first folder on a real file system that has room for need
// bytes.
func diskBase(need int64) (string, error) {
	places := []string{os.TempDir(), "/var/tmp"}
	if cache, err := cacheFolder(); err == nil {
		places = append(places, cache)
	}
	for _, dir := range places {
		var st syscall.Statfs_t
		if syscall.Access(dir, 2 /* W_OK */) == nil && syscall.Statfs(dir, &st) == nil &&
			!inMemory[int64(st.Type)] && int64(st.Bavail)*st.Bsize > need {
			return dir, nil
		}
	}
	return "", fmt.Errorf("a durable server needs %d MB on a file system that is not in memory; none of %v has them; set TMPDIR", need>>20, places)
}

var errNotDurable = errors.New("this server was not started to be killed and recovered")

// Kill implements harness.Crasher.
func (b *private) Kill() error {
	if !b.durable {
		return errNotDurable
	}
	return b.instance().kill()
}

// Recover implements harness.Crasher.
func (b *private) Recover(ctx context.Context) error {
	if !b.durable {
		return errNotDurable
	}
	left := func(f *folder) (paths []string) {
		for _, name := range []string{socketName, socketName + ".lock", "pid"} {
			paths = append(paths, filepath.Join(f.path, name))
		}
		return paths
	}
	return b.recovered(ctx, left, func(f *folder) (*process, error) {
		p, _, err := b.launch(ctx, f)
		return p, err
	})
}

// Pause implements harness.Crasher.
func (b *private) Pause() error { return b.stopOrGo(syscall.SIGSTOP) }

// Resume implements harness.Crasher.
func (b *private) Resume() error { return b.stopOrGo(syscall.SIGCONT) }

func (b *private) stopOrGo(s syscall.Signal) error {
	if !b.durable {
		return errNotDurable
	}
	if err := b.instance().signal(s); err != nil {
		return fmt.Errorf("send %v to the server: %w", s, err)
	}
	return nil
}

var _ harness.Crasher = (*private)(nil)
