package fuzz

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// DefaultOut is the folder of findings, relative to the root of the project.
const DefaultOut = "corpus/found"

// KnownDir is the folder of published cases, relative to the root of the
// project.
const KnownDir = "corpus/known"

// InFlightDir is where the texts of the cases are that run on a target right
// now. The leading dot keeps them out of the findings.
func InFlightDir(out, target string) string {
	return filepath.Join(out, ".inflight-"+shortHash(target))
}

// ParseLevels reads a list such as RC,RR. An empty text gives none.
func ParseLevels(text string) ([]corpus.Level, error) {
	var out []corpus.Level
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		l, err := corpus.ParseLevel(name)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// LoadKnown reads the cases of a folder that may be mutated, in order of their
// paths; a folder that does not exist holds none. A case with the header line
// `seed: no, because …` is only replayed.
func LoadKnown(dir string) ([]*corpus.Case, error) {
	stored, err := corpus.LoadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stored cases: %w", err)
	}
	out := make([]*corpus.Case, 0, len(stored))
	for _, s := range stored {
		if seed, _ := s.Case.Get("seed"); !strings.HasPrefix(seed, "no") {
			out = append(out, s.Case)
		}
	}
	return out, nil
}

// Environment variables that bring the settings of the command line to
// `go test -fuzz`.
const (
	envTarget = "TXNFUZZ_TARGET"
	envLevels = "TXNFUZZ_LEVELS"
	envStrict = "TXNFUZZ_STRICT"
	envOut    = "TXNFUZZ_OUT"
	envTally  = "TXNFUZZ_TALLY"
	envFirsts = "TXNFUZZ_FIRSTS"
	envGoOn   = "TXNFUZZ_GO_ON"
)

// FromEnvironment fills in the settings that variables give.
func (s *Settings) FromEnvironment() error {
	if v := os.Getenv(envTarget); v != "" {
		s.Target = v
	}
	if v := os.Getenv(envOut); v != "" {
		s.Out = v
	}
	s.Tally, s.Firsts = os.Getenv(envTally), os.Getenv(envFirsts)
	levels, err := ParseLevels(os.Getenv(envLevels))
	if err != nil {
		return fmt.Errorf("%s: %w", envLevels, err)
	}
	if len(levels) > 0 {
		s.Levels = levels
	}
	for _, x := range []struct {
		name string
		set  *bool
	}{{envStrict, &s.Strict}, {envGoOn, &s.GoOn}} {
		switch v := os.Getenv(x.name); v {
		case "", "0", "false":
		case "1", "true":
			*x.set = true
		default:
			return fmt.Errorf("%s: want 1 or 0, found %q", x.name, v)
		}
	}
	return nil
}
