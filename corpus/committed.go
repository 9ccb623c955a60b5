package corpus

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// LoadCommitted is LoadDir without the files that git does not track: runs leave their
// findings beside the stored cases, and what is written or tested about those must not
// depend on that. Outside of a checkout, in an unpacked archive for example, nothing tells
// them apart, and it is LoadDir.
func LoadCommitted(dir string) ([]Stored, error) {
	out, err := LoadDir(dir)
	tracked, known := trackedIn(dir)
	if known {
		out = slices.DeleteFunc(out, func(s Stored) bool {
			rel, err := filepath.Rel(dir, s.Path)
			return err != nil || !tracked[filepath.ToSlash(rel)]
		})
	}
	return out, err
}

// trackedIn returns the files below a folder that git tracks, relative to it.
func trackedIn(dir string) (files map[string]bool, ok bool) {
	list, err := exec.Command("git", "-C", dir, "ls-files", "-z").Output()
	if err != nil || len(list) == 0 {
		return nil, false
	}
	files = map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		files[name] = true
	}
	return files, true
}
