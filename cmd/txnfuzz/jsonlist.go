package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

// jsonList is the file that --json of replay names: results are in it as soon as
// they are known. It is made with the first one, or by close.
type jsonList struct {
	path   string // "": there is none; "-": standard output
	stdout io.Writer
	file   *os.File
	list   *telling.ReplayJSON
	kept   bool   // it is a file, no device and no pipe
	before string // where the file that stood here waits until the list is whole
	failed bool
}

func (j *jsonList) add(results []findings.Replayed) error {
	if j.path == "" {
		return nil
	}
	if err := j.open(); err != nil {
		return err
	}
	if err := j.list.Add(results); err != nil {
		return errors.Join(err, j.restore())
	}
	return nil
}

func (j *jsonList) open() error {
	if j.list != nil {
		return nil
	}
	to := j.stdout
	if j.path != "-" {
		if info, err := os.Stat(j.path); err == nil && info.Mode().IsRegular() {
			before := filepath.Join(filepath.Dir(j.path), "."+filepath.Base(j.path)+".before")
			if err := os.Rename(j.path, before); err != nil {
				return fmt.Errorf("results: %w", err)
			}
			j.before = before
		}
		var err error
		if j.file, err = os.Create(j.path); err != nil {
			return errors.Join(fmt.Errorf("results: %w", err), j.restore())
		}
		if info, err := j.file.Stat(); err == nil {
			j.kept = info.Mode().IsRegular()
		}
		to = j.file
	}
	j.list = telling.NewReplayJSON(to)
	return nil
}

func (j *jsonList) close() error {
	if j.path == "" || j.failed {
		return nil
	}
	if err := j.open(); err != nil {
		return err
	}
	err := j.list.Close()
	if j.file == nil {
		return err
	}
	if err == nil && j.kept {
		err = j.file.Sync() // the last moment at which a full disk is told of
	}
	if e := j.file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return errors.Join(fmt.Errorf("results: %w", err), j.restore())
	}
	if j.before != "" {
		return os.Remove(j.before)
	}
	return nil
}

// restore removes a list that could not be written to its end, and puts the file
// that it replaced back.
func (j *jsonList) restore() error {
	j.failed = true
	if j.file != nil {
		_ = j.file.Close() // the second time for some; the error that counts is known
	}
	if j.kept {
		if err := os.Remove(j.path); err != nil {
			return err
		}
	}
	if j.before == "" {
		return nil
	}
	return os.Rename(j.before, j.path)
}
