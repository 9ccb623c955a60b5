package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// blocksExt is the ending of files in the form of blocks.
const blocksExt = ".txt"

// LoadAny reads the cases of a file in either form, or of all files below a
// folder: those that end in Ext, and those that end in .txt and look like the
// form of blocks. A file of blocks may hold several cases: from the second on,
// their paths have #2, #3 and so on behind them. Malformed files do not hide the
// others: the error joins theirs, and the rest is returned beside it.
func LoadAny(path string) ([]Stored, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load cases: %w", err)
	}
	if !info.IsDir() {
		return loadFile(path)
	}
	out, err := LoadDir(path)
	errs := []error{err}
	err = visit(path, blocksExt, func(file string) {
		text, err := os.ReadFile(file)
		if err == nil && !LooksLikeBlocks(text) {
			return
		}
		var cases []Stored
		if err == nil {
			cases, err = loadBlocks(file, text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("load cases: %w", err))
		}
		out = append(out, cases...)
	})
	return out, errors.Join(append(errs, err)...)
}

func loadFile(path string) ([]Stored, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load case: %w", err)
	}
	if !prefixed(text) && (filepath.Ext(path) == blocksExt || LooksLikeBlocks(text)) {
		cases, err := loadBlocks(path, text)
		if err != nil {
			return nil, fmt.Errorf("load cases: %w", err)
		}
		return cases, nil
	}
	c, err := Parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("load case: %w", err)
	}
	return []Stored{{path, c}}, nil
}

// prefixed reports whether a text has a line that begins with a session, as
// only the text form of a case has.
func prefixed(text []byte) bool {
	for line := range bytes.Lines(text) {
		if prefixPattern.Match(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

func loadBlocks(path string, text []byte) ([]Stored, error) {
	cases, err := ParseBlocks(path, text)
	if err != nil {
		return nil, err
	}
	out := make([]Stored, len(cases))
	for i, c := range cases {
		out[i] = Stored{path, c}
		if i > 0 {
			out[i].Path = fmt.Sprintf("%s#%d", path, i+1)
		}
	}
	return out, nil
}
