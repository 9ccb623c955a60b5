package corpus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func filesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "found", "new")
	c := parseCase(t, "-- source: test\n/* tx1 */ BEGIN; -- note\n/* tx1 */ COMMIT;")
	c.Set("actual", "line one\nline two \\ end\\n")
	path, err := Save(dir, "", c)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, ID(c)+".sql"); path != want {
		t.Errorf("saved as %s, want %s", path, want)
	}
	d, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Equal(c) {
		t.Errorf("loaded\n%s", Print(d, Text))
	}
	if v, _ := d.Get("actual"); v != "line one\nline two \\ end\\n" {
		t.Errorf("header value %q", v)
	}
	c.Set("actual", "replaced")
	if _, err := Save(dir, ID(c), c); err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, dir); got != ID(c)+".sql" {
		t.Errorf("files: %s", got)
	}
}

func TestIDIgnoresWhatIsNotExecuted(t *testing.T) {
	a := parseCase(t, "-- source: a\n-- level: RC\n-- remark\n/* tx1 */ select  a from t; -- note\n-- tail")
	b := parseCase(t, "/* tx1 */ SELECT a FROM t;")
	c := parseCase(t, "/* tx2 */ SELECT a FROM t;")
	if ID(a) != ID(b) || ID(b) == ID(c) || len(ID(a)) != 12 {
		t.Errorf("%s %s %s", ID(a), ID(b), ID(c))
	}
}

func TestSaveFailsWithoutATrace(t *testing.T) {
	c := parseCase(t, "/* tx1 */ BEGIN;")
	t.Run("target is a folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "x.sql", "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
		var p *fs.PathError
		if _, err := Save(dir, "x", c); !errors.As(err, &p) || !strings.Contains(err.Error(), "save case x") {
			t.Errorf("%v", err)
		}
		if got := filesIn(t, dir); got != "x.sql" {
			t.Errorf("files left: %s", got)
		}
	})
	t.Run("folder is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		var p *fs.PathError
		if _, err := Save(file, "x", c); !errors.As(err, &p) {
			t.Errorf("%v", err)
		}
	})
	t.Run("bad names", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"../x", "a/b", ".hidden", ".."} {
			if path, err := Save(dir, name, c); err == nil {
				t.Errorf("%q saved as %s", name, path)
			}
		}
	})
	t.Run("invalid case", func(t *testing.T) {
		dir := t.TempDir()
		bad := c.Clone()
		bad.Steps[0].Session = 0
		if _, err := Save(dir, "x", bad); err == nil || filesIn(t, dir) != "" {
			t.Errorf("%v, files %q", err, filesIn(t, dir))
		}
	})
}

func TestLoadDir(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.sql": "/* tx1 */ BEGIN;", "a.sql": "/* tx1 */ COMMIT;", "sub/c.sql": "/* tx1 */ ROLLBACK;",
		"notes.md": "no case", ".case-1.sql": "half", ".git/x.sql": "no case",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range cases {
		rel, _ := filepath.Rel(dir, s.Path)
		names = append(names, rel)
	}
	if got := strings.Join(names, " "); got != "a.sql b.sql sub/c.sql" {
		t.Errorf("loaded %s", got)
	}

	bad := filepath.Join(dir, "b.sql")
	if err := os.WriteFile(bad, []byte("\n/* tx1 */ NONSENSE;"), 0o644); err != nil {
		t.Fatal(err)
	}
	cases, err = LoadDir(dir)
	var p *ParseError
	if len(cases) != 2 || !errors.As(err, &p) || p.File != bad || p.Line != 2 {
		t.Errorf("%d cases, %v", len(cases), err)
	}
	if _, err := LoadDir(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "missing.sql")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// A folder that is a symbolic link is entered; no folder is none, not the root.
func TestLoadDirFollowsItsRoot(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse("case", []byte("/* tx1 */ SELECT 1;\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Save(filepath.Join(dir, "real"), "a", c); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	stored, err := LoadDir(link)
	if err != nil || len(stored) != 1 || stored[0].Path != filepath.Join(link, "a.sql") {
		t.Errorf("%v, %v", stored, err)
	}
	if _, err := LoadDir(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
