package findings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

// Header keys of a kept input.
const (
	KeySignal = "signal"  // the classes that it showed, in hexadecimal
	KeyServer = "seen_on" // family and version that it showed them on
)

// InputsDir is the folder, below that of a campaign's corpus, of kept inputs.
const InputsDir = "inputs"

// Merged is what came of folders of several campaigns.
type Merged struct {
	// Inputs counts those that were read, Taken those that show a class of
	// behaviour which nothing before them showed.
	Inputs, Taken int
	// Findings counts those that were read, New those whose fingerprint was not
	// there, Smaller those that replaced a larger case of the same one.
	Findings, New, Smaller int
}

// Merge adds to a folder what other folders hold and it does not: the inputs that
// campaigns keep (below inputs/), and findings. Findings of one fingerprint, family
// and level have the same name, and the smallest case stays. The order of the
// folders decides only which of two inputs with the same behaviour is taken.
func Merge(into string, from []string) (Merged, error) {
	var m Merged
	for _, dir := range append([]string{into}, from...) {
		if info, err := os.Stat(dir); dir != into && (err != nil || !info.IsDir()) {
			return m, fmt.Errorf("merge: %s is no folder", dir)
		}
	}
	if err := m.inputs(into, from); err != nil {
		return m, fmt.Errorf("merge inputs: %w", err)
	}
	for _, dir := range from {
		if err := m.findings(into, dir); err != nil {
			return m, fmt.Errorf("merge findings: %w", err)
		}
	}
	return m, nil
}

// loadBelow is corpus.LoadDir without the folders below; a folder that is
// missing holds nothing.
func loadBelow(dir string) ([]corpus.Stored, error) {
	all, err := corpus.LoadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []corpus.Stored
	for _, s := range all {
		if filepath.Dir(s.Path) == filepath.Clean(dir) {
			out = append(out, s)
		}
	}
	return out, err
}

func (m *Merged) inputs(into string, from []string) error {
	shown := map[string]bool{} // server and class
	// isNew counts the classes of an input; one that no campaign has run yet shows
	// none, and is for the next to judge.
	isNew := func(c *corpus.Case) bool {
		on, _ := c.Get(KeyServer)
		classes, ok := c.Get(KeySignal)
		fresh := !ok
		for _, k := range strings.Fields(classes) {
			fresh = fresh || !shown[on+" "+k]
			shown[on+" "+k] = true
		}
		return fresh
	}
	held, err := loadBelow(filepath.Join(into, InputsDir))
	if err != nil {
		return err
	}
	for _, s := range held {
		isNew(s.Case)
	}
	for _, dir := range from {
		more, err := loadBelow(filepath.Join(dir, InputsDir))
		if err != nil {
			return err
		}
		for _, s := range more {
			m.Inputs++
			if !isNew(s.Case) {
				continue
			}
			m.Taken++
			if _, err := corpus.Save(filepath.Join(into, InputsDir), filepath.Base(s.Path), s.Case); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Merged) findings(into, dir string) error {
	more, err := loadBelow(dir)
	if err != nil {
		return err
	}
	for _, s := range more {
		m.Findings++
		to := filepath.Join(into, filepath.Base(s.Path))
		held, err := corpus.Load(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.New++
		case err != nil:
			return err
		case sizeOf(s.Case).less(sizeOf(held)):
			m.Smaller++
		default:
			continue
		}
		if err := copyFinding(s.Path, to); err != nil {
			return err
		}
	}
	return nil
}

// copyFinding copies the file of a case and what stands beside it.
func copyFinding(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("folder of findings: %w", err)
	}
	// The case last: a recording or a log without one is not looked at.
	for _, name := range []func(string) string{sidecar, LogFile, func(path string) string { return path }} {
		text, err := os.ReadFile(name(from))
		if errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(name(to)) // it would be that of the larger case
			continue
		}
		if err != nil {
			return fmt.Errorf("copy a finding: %w", err)
		}
		if err := wholefile.Write(name(to), text); err != nil {
			return err
		}
	}
	return nil
}
