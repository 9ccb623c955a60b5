package powerloss

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/harness"
)

// calls is the program of testdata, compiled once.
func calls(t *testing.T) string {
	t.Helper()
	cc, err := compiler()
	if err != nil && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "calls")
	if out, err := exec.CommandContext(t.Context(), cc, "-pthread", "-o", path, "testdata/calls.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// folder makes what the program finds.
func folder(t *testing.T) string {
	t.Helper()
	// In memory, where syncs take no time; O_DIRECT is not everywhere there.
	parent := "/dev/shm"
	if strings.Contains(t.Name(), "/direct/") {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "txnfuzz-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]string{"old": "o", "second": "s"} {
		if err := os.WriteFile(filepath.Join(data, name), bytes.Repeat([]byte(b), 10000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// tree tells what lies in a folder: of files the length and where they change.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := strings.TrimPrefix(path, dir+"/")
		if !d.Type().IsRegular() {
			out[name] = d.Type().String()
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := fmt.Sprintf("%d bytes:", len(text))
		for i, b := range text {
			if i == 0 || b != text[i-1] {
				s += fmt.Sprintf(" %d %q", i, b)
			}
		}
		out[name] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// killed runs the program in a folder, with a journal if j is not nil.
func killed(t *testing.T, program, data string, j *Journal, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = data
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if j != nil {
		cmd.Env = append(cmd.Env, j.Environment()...)
	}
	if out, err := cmd.CombinedOutput(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func journalFor(t *testing.T, data string) *Journal {
	t.Helper()
	library, err := Library(t.Context(), filepath.Join(os.TempDir(), "txnfuzz-powerloss-test"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := open(library, filepath.Join(filepath.Dir(data), "power"), data, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func undo(t *testing.T, j *Journal) harness.Undone {
	t.Helper()
	u, err := j.Undo(false, 0)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// undone are calls that are undone altogether unless they are synced; with writes and changes of names that tells how
// many.
var undone = []struct {
	call, sync    string
	writes, names int
}{
	{"write", "fdatasync", 1, 0}, {"append", "fsync", 1, 0}, {"write-only", "fsync", 1, 0}, {"twice", "fdatasync", 2, 0},
	{"pwrite", "fdatasync", 1, 0}, {"hole", "fsync", 1, 0}, {"writev", "fsync", 1, 0}, {"pwritev", "fsync", 1, 0},
	{"pwritev2", "syncfs", 1, 0}, {"direct", "fsync", 1, 0}, {"stdio", "fsync", 1, 0}, {"stdio-new", "fsync", 2, 0},
	{"copy_file_range", "fsync", 1, 0}, {"sendfile", "fsync", 1, 0}, {"splice", "fsync", 1, 0},
	{"ftruncate", "fsync", 1, 0}, {"extend", "fdatasync", 1, 0}, {"truncate", "fdatasync", 1, 0},
	{"cut-and-write", "fsync", 3, 0}, {"fallocate", "fdatasync", 1, 0}, {"posix_fallocate", "fsync", 1, 0},
	{"punch", "fsync", 1, 0}, {"create", "fsync", 1, 1}, {"create", "fdatasync", 1, 1}, {"creat", "fsync", 1, 0},
	{"open-truncate", "fsync", 2, 0}, {"exclusive", "fsync", 0, 0}, {"rename", "fsync", 0, 1}, {"rename", "folder", 0, 1},
	{"rename-over", "fsync", 0, 1}, {"renameat", "fsync", 0, 1}, {"replace", "folder", 1, 2},
	{"rename-folder", "fsync", 2, 2}, {"unlink", "folder", 0, 1}, {"unlinkat", "fsync", 0, 1}, {"remove", "folder", 0, 1},
	{"write-and-unlink", "folder", 2, 1}, {"unlink-and-create", "fsync", 1, 2}, {"link", "fsync", 0, 1},
	{"mkdir", "fsync", 1, 2}, {"rmdir", "folder", 0, 1}, {"mmap", "msync", 1, 0}, {"mmap", "fsync", 1, 0},
	{"mmap", "syncfs", 1, 0}, {"mprotect", "msync", 1, 0}, {"clone3", "fsync", 1, 0},
	{"fork", "fsync", 1, 0}, {"exec", "fsync", 2, 2}, {"threads", "fdatasync", 400, 0},
}

func TestCalls(t *testing.T) {
	program := calls(t)
	for _, c := range undone {
		t.Run(c.call+"/"+c.sync, func(t *testing.T) {
			t.Parallel()
			data, synced, plain := folder(t), folder(t), folder(t)
			was := tree(t, data)
			j := journalFor(t, data)
			killed(t, program, data, j, c.call, "")
			u := undo(t, j)
			if diff := cmp.Diff(was, tree(t, data)); diff != "" {
				t.Errorf("not undone: %s", diff)
			}
			if u.Writes != c.writes || u.Names != c.names || len(u.Uncovered) > 0 {
				t.Errorf("undone: %+v, want %d writes and %d names", u, c.writes, c.names)
			}
			again := undo(t, j)
			if again.Writes+again.Names > 0 {
				t.Errorf("what was undone is undone again: %+v", again)
			}

			killed(t, program, plain, nil, c.call, c.sync)
			j = journalFor(t, synced)
			killed(t, program, synced, j, c.call, c.sync)
			undo(t, j)
			if diff := cmp.Diff(tree(t, plain), tree(t, synced)); diff != "" {
				t.Errorf("synced, and undone: %s", diff)
			}
		})
	}
}

// TestUncovered: calls that cannot be undone are named.
func TestUncovered(t *testing.T) {
	program := calls(t)
	for call, want := range map[string]string{
		"io_uring": "io_uring_setup", "exchange": "renameat2 with RENAME_EXCHANGE or RENAME_WHITEOUT", "symlink": "symlink",
		"mknod": "mknodat", "collapse": "fallocate that collapses or inserts a range symlink",
	} {
		data := folder(t)
		j := journalFor(t, data)
		killed(t, program, data, j, call, "")
		if u := undo(t, j); strings.Join(u.Uncovered, " ") != want {
			t.Errorf("%s: %+v", call, u)
		}
	}
}

// TestTear: some sectors of what was overwritten stay, others are as they were, and the same seed tells the same.
func TestTear(t *testing.T) {
	program := calls(t)
	torn := func(seed uint64) map[string]string {
		data := folder(t)
		if err := os.WriteFile(filepath.Join(data, "old"), bytes.Repeat([]byte("o"), 100*sector), 0o600); err != nil {
			t.Fatal(err)
		}
		j := journalFor(t, data)
		killed(t, program, data, j, "all", "")
		u, err := j.Undo(true, seed)
		if err != nil {
			t.Fatal(err)
		}
		if u.Kept < 20 || u.Kept > 80 || u.Bytes != int64(100-u.Kept)*sector {
			t.Errorf("of 100 sectors: %+v", u)
		}
		return tree(t, data)
	}
	one := torn(1)
	if diff := cmp.Diff(one, torn(1)); diff != "" {
		t.Errorf("the same seed: %s", diff)
	}
	if cmp.Equal(one, torn(2)) {
		t.Error("another seed tears the same")
	}
	if !strings.Contains(one["old"], "'x'") || !strings.Contains(one["old"], "'o'") {
		t.Errorf("not torn: %s", one["old"])
	}
}

// TestFullJournal: when the journal is full all that is there becomes durable, and the run is told.
func TestFullJournal(t *testing.T) {
	program, data := calls(t), folder(t)
	library, err := Library(t.Context(), filepath.Join(os.TempDir(), "txnfuzz-powerloss-test"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := open(library, filepath.Join(filepath.Dir(data), "power"), data, headerSize+8192)
	if err != nil {
		t.Fatal(err)
	}
	killed(t, program, data, j, "threads", "")
	if u := undo(t, j); u.Full == 0 || u.Writes == 0 || u.Writes == 400 {
		t.Errorf("%+v", u)
	}
}

// TestFleeting: what no server expects to find again is not journalled.
func TestFleeting(t *testing.T) {
	program, data := calls(t), folder(t)
	j := journalFor(t, data)
	killed(t, program, data, j, "fleeting", "")
	if u := undo(t, j); u.Writes > 0 || u.Names != 1 { // the folder that only begins as one of them
		t.Errorf("%+v", u)
	}
	if _, err := os.Stat(filepath.Join(data, "ibtmp1")); err != nil {
		t.Error(err)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("CC", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Library(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "apt-get install gcc") {
		t.Error(err)
	}
	t.Setenv("CC", "/no/such/cc")
	if _, err := Library(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "/no/such/cc") {
		t.Error(err)
	}
}
