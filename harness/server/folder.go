package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness/server/powerloss"
)

const (
	socketName = "s" // the kernel takes socket paths of at most 107 bytes
	logName    = "error.log"
	outputName = "output"
	lockName   = "lock"
	// programsName is the folder of programs that a server is to find, if it needs any of ours.
	programsName = "bin"

	maxSocketPath = 107
)

// folder is the directory of one instance. Its lock is held by the owner and
// by the watchdog; when both are gone, sweep knows that it is litter.
type folder struct {
	path  string
	lock  *os.File
	owner *account // who runs the server in it; nil: this user
	// journal tells what a power loss undoes; nil: none is simulated.
	journal *powerloss.Journal
}

// base returns the directory in which instances live: shared memory where it
// is writable and has room for need bytes, else the temporary directory.
func base(need int64) string {
	const shm = "/dev/shm"
	var st syscall.Statfs_t
	if syscall.Access(shm, 2 /* W_OK */) == nil && syscall.Statfs(shm, &st) == nil && int64(st.Bavail)*st.Bsize > need {
		return shm
	}
	return os.TempDir()
}

func folderPrefix() string { return "txnfuzz-" + strconv.Itoa(os.Getuid()) + "-" }

// newFolder makes a folder that only this user can enter.
func newFolder(parent string) (*folder, error) {
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fmt.Errorf("name an instance: %w", err)
	}
	path := filepath.Join(parent, folderPrefix()+hex.EncodeToString(id[:]))
	if n := len(filepath.Join(path, socketName)); n > maxSocketPath {
		return nil, fmt.Errorf("folder %s: the socket's path would have %d bytes and the system allows %d; choose a shorter temporary folder", path, n, maxSocketPath)
	}
	// It gets its name when it has its lock, so that no sweep sees it without.
	making := filepath.Join(parent, "."+filepath.Base(path))
	if err := os.Mkdir(making, 0o700); err != nil {
		return nil, fmt.Errorf("make an instance's folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(making, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(making, "tmp"), 0o700)
	}
	if err == nil {
		err = os.Rename(making, path)
	}
	if err != nil {
		if lock != nil {
			_ = lock.Close()
		}
		_ = os.RemoveAll(making)
		return nil, fmt.Errorf("make an instance's folder: %w", err)
	}
	return &folder{path: path, lock: lock}, nil
}

// release gives up the lock; the folder itself is the watchdog's to remove.
func (f *folder) release() { _ = f.lock.Close() }

// remove deletes the folder where no watchdog has been started for it.
func (f *folder) remove() {
	_ = os.RemoveAll(f.path)
	f.release()
}

// sweep ends and removes the instances in parent that nobody owns any more:
// their owner and their watchdog were killed at once.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		making := strings.HasPrefix(e.Name(), "."+folderPrefix())
		if !e.IsDir() || !making && !strings.HasPrefix(e.Name(), folderPrefix()) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !ownedByUser(info) {
			continue
		}
		// A folder in the making has no lock for a moment.
		if making && time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if abandoned(path) {
			killServers(path)
			_ = os.RemoveAll(path)
		}
	}
}

func ownedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if int(st.Uid) == os.Getuid() {
		return true
	}
	other, err := unprivileged()
	return err == nil && other != nil && st.Uid == other.uid
}

func abandoned(path string) bool {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// killServers kills the servers whose data lies below path.
func killServers(path string) {
	killClusters(path)
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	data := []byte("--datadir=" + filepath.Join(path, "data") + "\x00")
	config := []byte("--config=" + filepath.Join(path, tidbConfigName) + "\x00")
	for _, p := range procs {
		cmdline, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(cmdline, data) && !bytes.Contains(cmdline, config) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
