package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/corpus/foreign"
	"github.com/txnfuzz/txnfuzz/corpus/mysqltest"
)

func mysqltestCases(path string, text []byte) (*foreign.Read, error) {
	return mysqltest.Cases(path, text, sourced)
}

// sourced reads the file that a test file names behind `source`. mysqltest looks for it beside the file and in the
// folder in which mtr runs, which is one of those above.
func sourced(from, name string) (string, []byte, error) {
	if filepath.IsAbs(name) {
		return "", nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", name, err)
	}
	for dir := filepath.Dir(from); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, name)
		if text, err := os.ReadFile(path); err == nil {
			return path, text, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
		}
	}
}
