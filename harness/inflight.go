package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// flightFile holds the case that a worker runs, for the case that it takes the
// process down. It is opened once and rewritten in place.
type flightFile struct {
	f    *os.File
	size int64
}

// flights counts the files that this process has opened.
var flights atomic.Int64

const flightGlob = "inflight-*-*.sql"

func openFlight(dir string) (*flightFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("in-flight directory: %w", err)
	}
	// Several pools may share the folder.
	name := filepath.Join(dir, fmt.Sprintf("inflight-%d-%d.sql", os.Getpid(), flights.Add(1)))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("in-flight file: %w", err)
	}
	return &flightFile{f: f}, nil
}

// write puts the case into the file. It costs two system calls; the page cache
// outlives the process, so nothing is synced.
func (f *flightFile) write(c *corpus.Case, levels map[int]corpus.Level) error {
	d := *c
	d.Header = append([]corpus.Field(nil), c.Header...)
	d.SetLevels(levels)
	text := corpus.Print(&d, corpus.Text)
	if _, err := f.f.WriteAt(text, 0); err != nil {
		return fmt.Errorf("write in-flight file: %w", err)
	}
	if n := int64(len(text)); n < f.size {
		if err := f.f.Truncate(n); err != nil {
			return fmt.Errorf("cut in-flight file: %w", err)
		}
	}
	f.size = int64(len(text))
	return nil
}

// clear empties the file: the case is over and the process lives.
func (f *flightFile) clear() {
	if f.f.Truncate(0) == nil {
		f.size = 0
	}
}

// remove closes and deletes the file; a nil receiver is allowed.
func (f *flightFile) remove() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.f.Close(), os.Remove(f.f.Name()))
}

// InFlightOrphans returns the files in dir that hold a case which was running
// when its process died: crash candidates. Empty files of dead processes are
// deleted. A directory that does not exist holds none.
func InFlightOrphans(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, flightGlob))
	if err != nil {
		return nil, fmt.Errorf("list in-flight files: %w", err)
	}
	var out []string
	for _, name := range names {
		parts := strings.Split(filepath.Base(name), "-")
		pid, err := strconv.Atoi(parts[1])
		if err != nil || processLives(pid) {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("list in-flight files: %w", err)
		}
		if info.Size() == 0 {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("remove empty in-flight file: %w", err)
			}
			continue
		}
		out = append(out, name)
	}
	return out, nil
}

// processLives reports whether a process with this id exists and is no zombie.
func processLives(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	// The state letter follows the command name, which is in brackets.
	i := strings.LastIndexByte(string(stat), ')')
	return i < 0 || i+2 >= len(stat) || stat[i+2] != 'Z'
}
