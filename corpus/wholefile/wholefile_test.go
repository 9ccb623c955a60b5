package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// state is what a folder holds.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func is(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := state(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s holds %q, want %q", name, got[name], text)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestAFileIsWholeOrAsItWas(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Stream(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "hal"); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	is(t, dir, map[string]string{"a": "one"})
	if err := Write(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	is(t, dir, map[string]string{"a": "two"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
}

func TestAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "missing", "b")
	if err := Write(a, []byte("one")); err != nil {
		t.Fatal(err)
	}
	var failed *Error
	if err := WriteAll(map[string][]byte{a: []byte("two"), b: nil}); !errors.As(err, &failed) || failed.Path != b {
		t.Errorf("the error is %v", err)
	}
	is(t, dir, map[string]string{"a": "one"})
	c := filepath.Join(dir, "c")
	if err := WriteAll(map[string][]byte{a: []byte("two"), c: []byte("three")}); err != nil {
		t.Fatal(err)
	}
	is(t, dir, map[string]string{"a": "two", "c": "three"})
}

// A device stays one, and a link leads where it led.
func TestWhatIsNoFileStays(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	for path, to := range map[string]string{link: file, filepath.Join(dir, "full"): "/dev/full"} {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(file, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != file {
		t.Errorf("the link is %q, %v", to, err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "two" {
		t.Errorf("the file behind the link holds %q, %v", text, err)
	}
	for _, err := range []error{Write(filepath.Join(dir, "full"), []byte("x")), WriteAll(map[string][]byte{filepath.Join(dir, "full"): []byte("x")})} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a full device: %v", err)
		}
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("/dev/full is %v, %v", info, err)
	}
}
