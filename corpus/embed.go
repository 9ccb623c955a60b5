package corpus

import (
	"embed"
	"fmt"
	"path"
)

// stored holds the cases of the project, for programs that run outside of it.
//
//go:embed known/*.sql found/*.sql
var stored embed.FS

// Embedded returns the stored cases that this program was built with, with the
// paths that they have in the project, in the order of LoadDir. What a run has set aside
// in a folder below that of the findings is none of them.
func Embedded() ([]Stored, error) {
	var out []Stored
	for _, dir := range []string{"found", "known"} {
		files, err := stored.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("cases in this program: %w", err)
		}
		for _, f := range files {
			text, err := stored.ReadFile(path.Join(dir, f.Name()))
			if err != nil {
				return nil, fmt.Errorf("cases in this program: %w", err)
			}
			name := path.Join("corpus", dir, f.Name())
			c, err := Parse(name, text)
			if err != nil {
				return nil, fmt.Errorf("cases in this program: %w", err)
			}
			out = append(out, Stored{name, c})
		}
	}
	return out, nil
}
