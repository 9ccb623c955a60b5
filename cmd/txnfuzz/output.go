package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

// writeOutput writes to a file, or to standard output for "-"; nothing for "".
func writeOutput(path string, stdout io.Writer, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(stdout)
	}
	if err := wholefile.Stream(path, write); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// placesFor reports, before the work begins, the files whose folder does not exist.
func placesFor(files ...string) error {
	for _, file := range files {
		if file == "" || file == "-" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
			return usagef("%s: there is no folder %s to write it to", file, filepath.Dir(file))
		}
	}
	return nil
}

// forPeople is where text for people goes: away from a standard output that
// carries JSON.
func forPeople(jsonPath string, stdout, stderr io.Writer) io.Writer {
	if jsonPath == "-" {
		return stderr
	}
	return stdout
}

// pace is the time between two lines of progress: short where somebody looks.
func pace(f *os.File) time.Duration {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return time.Second
	}
	return 10 * time.Second
}
