package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLoadCommitted: what lies beside the committed cases, or below them, is passed over;
// where nothing is known of git, all is read.
func TestLoadCommitted(t *testing.T) {
	dir := t.TempDir()
	c := parseCase(t, "/* tx1 */ BEGIN;")
	save := func(dir, name string) {
		if _, err := Save(dir, name, c); err != nil {
			t.Fatal(err)
		}
	}
	save(dir, "stored")
	count := func() int {
		cases, err := LoadCommitted(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(cases)
	}
	if n := count(); n != 1 {
		t.Errorf("%d cases without git, want 1", n)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	save(dir, "left")
	save(filepath.Join(dir, "unreproduced"), "left-too")
	if n := count(); n != 1 {
		t.Errorf("%d cases beside what a run left, want 1", n)
	}
}
