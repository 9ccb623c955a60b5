package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// fuzzTarget is the native fuzz target, as Go names its folders of inputs.
const fuzzTarget = "FuzzTxnPair"

// SeedDir is where `go test` looks for inputs that are part of the project,
// relative to its root.
const SeedDir = "fuzz/testdata/fuzz/" + fuzzTarget

// entryVersion is the first line of a file that Go's fuzzing keeps an input in.
const entryVersion = "go test fuzz v1"

// Entry is one input of the fuzz target, and what it decodes to.
type Entry struct {
	Path  string
	Data  []byte
	Cases []*corpus.Case
}

// EncodeEntry returns an input in the form of Go's fuzzing.
func EncodeEntry(data []byte) []byte {
	return fmt.Appendf(nil, "%s\n[]byte(%q)\n", entryVersion, data)
}

// DecodeEntry reads an input in the form of Go's fuzzing. The error names file
// and line.
func DecodeEntry(name string, text []byte) ([]byte, error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if strings.TrimSpace(string(first)) != entryVersion {
		return nil, fmt.Errorf("%s:1: want %q: this is no input of Go's fuzzing", name, entryVersion)
	}
	value := strings.TrimSpace(string(rest))
	quoted, ok := strings.CutPrefix(value, "[]byte(")
	quoted, closed := strings.CutSuffix(quoted, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("%s:2: want one value []byte(\"…\"), as %s takes", name, fuzzTarget)
	}
	data, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, fmt.Errorf("%s:2: %q is no string of Go", name, quoted)
	}
	return []byte(data), nil
}

// EntryDirs returns the folders that hold inputs of the fuzz target here: Go's
// cache, where new ones are kept, and the project's own.
func EntryDirs(ctx context.Context) ([]string, error) {
	cache := os.Getenv("GOCACHE")
	if cache == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
		if err != nil {
			return nil, fmt.Errorf("ask Go for its cache: %w", err)
		}
		cache = strings.TrimSpace(string(out))
	}
	dirs := []string{filepath.Join(cache, "fuzz", "github.com", "txnfuzz", "txnfuzz", "fuzz", fuzzTarget), SeedDir}
	return slices.DeleteFunc(dirs, func(d string) bool {
		info, err := os.Stat(d)
		return err != nil || !info.IsDir()
	}), nil
}

// LoadEntries reads inputs from files, and from folders with nothing but
// inputs, in order of their paths. A malformed one does not hide the others: the
// error joins theirs.
func LoadEntries(paths []string) ([]Entry, error) {
	var out []Entry
	var errs []error
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data, err := DecodeEntry(path, text)
			if err != nil {
				errs = append(errs, err)
				return nil
			}
			out = append(out, Entry{Path: path, Data: data})
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("read inputs: %w", err))
		}
	}
	return out, errors.Join(errs...)
}

// DecodeEntries fills in the cases that inputs become when they are fuzzed on a
// target at these levels with these stored cases.
func DecodeEntries(t *target.Target, entries []Entry, known []*corpus.Case, levels []corpus.Level) {
	for i := range entries {
		entries[i].Cases = PairCases(entries[i].Data, known, pairOptions(t.Server(), levels))
	}
}

// SeedOf returns an input that selects a stored case and changes it as little
// as an input can. Which case an input selects depends on how many there are:
// false: the case is none of them, or is not to be mutated.
func SeedOf(c *corpus.Case, known []*corpus.Case) ([]byte, bool) {
	id := corpus.ID(c)
	i := slices.IndexFunc(known, func(k *corpus.Case) bool { return corpus.ID(k) == id })
	if i < 0 {
		return nil, false
	}
	return mutate.StoredInput(i, len(known)), true
}
