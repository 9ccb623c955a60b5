package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

// Ext is the ending of files that hold a case.
const Ext = ".sql"

// Stored is a case and the file it came from.
type Stored struct {
	Path string
	Case *Case
}

// Load reads one file. A malformed case gives a *ParseError in the chain.
func Load(path string) (*Case, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load case: %w", err)
	}
	c, err := Parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("load case: %w", err)
	}
	return c, nil
}

// LoadDir reads every case below a folder, in order of their paths. Files with
// another ending and hidden files and folders are passed over. Malformed
// cases do not hide the others: the error joins theirs, and the rest is
// returned beside it. A folder that does not exist is an error.
func LoadDir(dir string) ([]Stored, error) {
	var out []Stored
	var errs []error
	err := visit(dir, Ext, func(path string) {
		c, err := Load(path)
		if err != nil {
			errs = append(errs, err)
			return
		}
		out = append(out, Stored{path, c})
	})
	if err != nil {
		errs = append(errs, fmt.Errorf("load cases of %s: %w", dir, err))
	}
	return out, errors.Join(errs...)
}

// visit calls f for every file below a folder whose name ends in ext, in order
// of their paths, but not for hidden ones and those in hidden folders.
func visit(dir, ext string, f func(path string)) error {
	root := dir
	if dir != "" { // With the separator a folder that is a symbolic link is entered, too.
		root += string(filepath.Separator)
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && filepath.Ext(path) == ext:
			f(path)
		}
		return nil
	})
}

// ID names a case by its statements: twelve hexadecimal digits of a hash of its
// text form without comments, notes and all of the header but `hold`.
func ID(c *Case) string {
	bare := &Case{Init: bareLines(c.Init), Steps: bareLines(c.Steps)}
	sum := sha256.Sum256(Print(bare, Text))
	return hex.EncodeToString(sum[:6])
}

func bareLines(lines []Line) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		out[i] = Line{Session: l.Session, Stmt: l.Stmt, Hold: l.Hold, Frees: l.Frees}
	}
	return out
}

// Save writes a case to dir/name.sql, or to dir/ID.sql if name is empty, and
// returns the path. dir is made if it is missing. The file appears whole or not
// at all, and replaces one of the same name; a failure leaves nothing behind.
func Save(dir, name string, c *Case) (path string, err error) {
	if name == "" {
		name = ID(c)
	}
	name = strings.TrimSuffix(name, Ext)
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("save case: %q is not a file name", name)
	}
	if err := c.Validate(); err != nil {
		return "", fmt.Errorf("save case %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save case %s: %w", name, err)
	}
	path = filepath.Join(dir, name+Ext)
	if err := wholefile.Write(path, Print(c, Text)); err != nil {
		return "", fmt.Errorf("save case %s: %w", name, err)
	}
	return path, nil
}
