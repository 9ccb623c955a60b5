package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/txnfuzz/txnfuzz/fuzz"
)

// jsonList is the file that --json of replay names: results are in it as soon as
// they are known. It is made with the first one, or by close.
type jsonList struct {
	path   string // "": there is none; "-": standard output
	stdout io.Writer
	file   *os.File
	list   *fuzz.ReplayJSON
}

func (j *jsonList) add(results []fuzz.Replayed) error {
	if j.path == "" {
		return nil
	}
	if err := j.open(); err != nil {
		return err
	}
	return j.list.Add(results)
}

func (j *jsonList) open() error {
	if j.list != nil {
		return nil
	}
	to := j.stdout
	if j.path != "-" {
		var err error
		if j.file, err = os.Create(j.path); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		to = j.file
	}
	j.list = fuzz.NewReplayJSON(to)
	return nil
}

func (j *jsonList) close() error {
	if j.path == "" {
		return nil
	}
	if err := j.open(); err != nil {
		return err
	}
	err := j.list.Close()
	if j.file == nil {
		return err
	}
	if e := j.file.Close(); e != nil {
		err = errors.Join(err, fmt.Errorf("write results: %w", e))
	}
	return err
}
