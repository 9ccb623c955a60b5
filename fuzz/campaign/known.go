package campaign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// InFlightDir is where the texts of the cases are that run on a target right
// now. The leading dot keeps them out of the findings.
func InFlightDir(out, target string) string {
	return filepath.Join(out, ".inflight-"+findings.ShortHash(target))
}

// reducingDir is the same for the cases of reductions, in the process of a server.
func reducingDir(out, target string) string { return InFlightDir(out, target+" reducing") }

// builtIn says that the cases of a folder are those in this program.
func builtIn(dir string) bool {
	if dir != findings.StoredDir {
		return false
	}
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// LoadKnown reads the cases of a folder that may be mutated, in order of their
// paths. Where StoredDir does not exist, outside of a checkout, they are those
// that this program was built with; any other folder that does not exist holds
// none. A case with the header line
// `seed: no, because …` is only replayed, and so is a finding of txnfuzz without the
// line `seed: yes`: which cases a seed makes must not depend on what was found since.
// `seed: 3` gives a case three chances to be chosen.
func LoadKnown(dir string) ([]*corpus.Case, error) {
	stored, err := corpus.LoadDir(dir)
	if builtIn(dir) {
		stored, err = corpus.Embedded()
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stored cases: %w", err)
	}
	out := make([]*corpus.Case, 0, len(stored))
	for _, s := range stored {
		seed, _ := s.Case.Get("seed")
		source, _ := s.Case.Get(findings.KeySource)
		chances, err := strconv.Atoi(seed)
		switch {
		case err == nil:
		case seed == "yes", seed == "" && source != findings.OwnSource:
			chances = 1
		case seed != "" && !strings.HasPrefix(seed, "no"):
			return nil, fmt.Errorf("%s: header line `seed: %s`: want `no, because …`, `yes` or a number", s.Path, seed)
		}
		for range chances {
			out = append(out, s.Case)
		}
	}
	return out, nil
}
