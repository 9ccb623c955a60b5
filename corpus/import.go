package corpus

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Import says what became of one case that was to be imported.
type Import struct {
	// From is the path of the case, To that of the file it was written to, or
	// that holds the same statements already.
	From, To string
	// Known says that To was there before.
	Known bool
}

var (
	namePattern   = regexp.MustCompile(`^([A-Za-z]+)[-_#]?([0-9]+.*)$`)
	unnamePattern = regexp.MustCompile(`[^a-z0-9.-]+`)
)

// NameOf makes a file name of the form dbms-number of the path of a case, for
// example mariadb-32898 of cases/mariadb32898.txt. The name is in lower case.
func NameOf(path string) string {
	base, number, _ := strings.Cut(filepath.Base(path), "#")
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if m := namePattern.FindStringSubmatch(base); m != nil {
		base = m[1] + "-" + m[2]
	}
	if number != "" {
		base += "-" + number
	}
	return strings.Trim(unnamePattern.ReplaceAllString(strings.ToLower(base), "-"), "-.")
}

// ImportCases writes cases to a folder, each under a name of its own, with the
// header lines `source` and `reported` that every published case has. What the
// folder holds already, whatever its name and header, is not written again, unless it
// is there at other levels than the new case names.
func ImportCases(dir string, cases []Stored) ([]Import, error) {
	there, err := LoadAny(dir)
	if err != nil {
		return nil, fmt.Errorf("import into %s: %w", dir, err)
	}
	ids, names := map[string][]Stored{}, map[string]bool{}
	for _, s := range there {
		id := ID(s.Case)
		ids[id] = append(ids[id], s)
		names[strings.TrimSuffix(filepath.Base(s.Path), Ext)] = true
	}
	var out []Import
	for _, s := range cases {
		id := ID(s.Case)
		if i := slices.IndexFunc(ids[id], func(old Stored) bool { return covers(old.Case, s.Case) }); i >= 0 {
			out = append(out, Import{s.Path, ids[id][i].Path, true})
			continue
		}
		c := s.Case.Clone()
		for _, f := range []Field{{"source", filepath.Base(s.Path)}, {"reported", "unknown"}} {
			if _, ok := c.Get(f.Key); !ok {
				c.Header = append([]Field{f}, c.Header...)
			}
		}
		name := NameOf(s.Path)
		if name == "" || names[name] {
			name = strings.TrimPrefix(name+"-"+id[:6], "-")
		}
		if level, ok := c.Get(levelKey); ok && names[name] {
			name += "-" + NameOf(level)
		}
		path, err := Save(dir, name, c)
		if err != nil {
			return out, fmt.Errorf("import %s: %w", s.Path, err)
		}
		ids[id], names[name] = append(ids[id], Stored{path, c}), true
		out = append(out, Import{s.Path, path, false})
	}
	return out, nil
}

// covers reports whether a case runs at the levels that another one names, or that one names none.
func covers(old, c *Case) bool {
	has, pinned := old.Get(levelKey)
	want, ok := c.Get(levelKey)
	return !ok || !pinned || has == want
}
