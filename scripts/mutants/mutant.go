package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed mutants.txt
var table string

// mutant is one planted mistake: in File, Old becomes New. No, from 1, is its place in the table.
type mutant struct {
	No                   int
	Name, File, Old, New string
}

// folder is that of the package which the mistake goes into, from the repository's root.
func (m *mutant) folder() string { return filepath.Dir(m.File) }

// parse reads blocks of the form "# name", "file", "- old", "+ new", where old
// and new are single lines or parts of one.
func parse(text string) ([]mutant, error) {
	var ms []mutant
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		last := len(ms) - 1
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			ms = append(ms, mutant{No: len(ms) + 1, Name: line[2:]})
		case last < 0:
			return nil, fmt.Errorf("mutants.txt:%d: a block begins with `# name`", n)
		case strings.HasPrefix(line, "- "):
			ms[last].Old = line[2:]
		case strings.HasPrefix(line, "+ "):
			ms[last].New = line[2:]
		case strings.HasPrefix(line, "+"):
			ms[last].New = ""
		default:
			ms[last].File = line
		}
	}
	return ms, sc.Err()
}

// source reads the file below root that the mistake goes into, which holds its place once.
func (m *mutant) source(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", fmt.Errorf("read the source (run this from the repository's root): %w", err)
	}
	if n := strings.Count(string(src), m.Old); n != 1 {
		return "", fmt.Errorf("%s holds the text %q %d times, want once", m.File, m.Old, n)
	}
	return string(src), nil
}
