package gitbisect

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Servers are the names of programs that a folder is searched for.
var Servers = []string{"postgres", "mysqld", "mariadbd", "tidb-server"}

// ServersBelow returns the server programs below a folder in the order of their paths; of several names of one file the
// first. Names that lead to a file elsewhere count; folders that are links are not entered.
func ServersBelow(dir string) (out []string, err error) {
	var files []os.FileInfo
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(Servers, d.Name()) {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return nil // a link to nothing, a file that is no program
		}
		if !slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
			files, out = append(files, info), append(out, path)
		}
		return nil
	})
	return out, err
}

// programIn finds the program that a build has left below a folder, by its path there or, without one, by its name. It
// is "" if there is none.
func programIn(dir, path string) (string, error) {
	if path != "" {
		full := filepath.Join(dir, path)
		if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() {
			return "", nil
		}
		return full, nil
	}
	found, err := ServersBelow(dir)
	switch {
	case err != nil || len(found) == 0:
		return "", err
	case len(found) == 1:
		return found[0], nil
	}
	for i := range found {
		found[i], _ = filepath.Rel(dir, found[i])
	}
	return "", &NameError{fmt.Errorf("the build has left several servers, of which one must be named: %s", strings.Join(found, ", "))}
}
