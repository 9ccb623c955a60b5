//go:build !notidb

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const dirPrefix = "txnfuzz-tidb-"

// tmpfs is where Linux has one that all may write to.
const tmpfs = "/dev/shm"

// privateDir makes the directory that holds everything a server leaves on disk
// (store, spill files, socket), for this user alone. Those of dead processes
// are deleted first: a killed process cannot tidy up.
func privateDir(parent string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
		if info, err := os.Stat(tmpfs); err == nil && info.IsDir() && syscall.Access(tmpfs, 7) == nil {
			parent = tmpfs
		}
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make the server's directory: %w", err)
	}
	return dir, nil
}

// sweep is best effort: what belongs to another user stays.
func sweep(parent string) {
	names, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*-*"))
	if err != nil {
		return
	}
	for _, name := range names {
		rest := strings.TrimPrefix(filepath.Base(name), dirPrefix)
		num, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(num)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			_ = os.RemoveAll(name)
		}
	}
}
