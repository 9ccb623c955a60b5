package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a small file system, which takes a privilege that not everybody has.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); errors.Is(err, syscall.EPERM) {
		t.Skipf("mount a small file system: %v", err)
	} else if err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves room for so many bytes.
func fill(t *testing.T, dir string, room int) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			break
		}
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(info.Size() - int64(room)); err != nil {
		t.Fatal(err)
	}
}

// folder is what a folder holds, but for the file that fills it.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == "fill" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// On a full disk each command that writes says so and ends with status 3, leaves no
// half of a file, and takes nothing away that was there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	file, err := filepath.Abs(filepath.Join("..", "..", "corpus", "found", "mariadb-index-hides-changed-record.sql"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := smallDisk(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	before := map[string]string{"case.sql": string(text), "results.json": "[]\n", "page.html": "old", "a.test": "old", "a.result": "old", "history.jsonl": "old"}
	for name, content := range before {
		if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, dir, 0)
	for name, args := range map[string][]string{
		"export":       {"export", file, "--target", target, "--levels", "RR", "--format", "markdown", "--out", at("new.md")},
		"export, mtr":  {"export", file, "--target", target, "--levels", "RR", "--format", "mtr", "--out", at("a.test")},
		"report":       {"report", file, "--target", target, "--html", at("page.html")},
		"replay":       {"replay", file, "--target", target, "--levels", "RR", "--junit", at("junit.xml")},
		"replay, JSON": {"replay", "corpus/known", "--target", target, "--levels", "RR", "--json", at("results.json")},
		"reduce":       {"reduce", at("case.sql"), "--target", target, "--out", at("case.sql")},
		"run":          {"run", "--target", target, "--strict", "--cases", "50", "--seed", "1", "--out", t.TempDir(), "--sarif", at("findings.sarif")},
		"run, found":   {"run", "--target", target, "--strict", "--cases", "50", "--seed", "1", "--out", dir},
		"load":         {"load", "--target", target, "--clients", "2", "--duration", "1s", "--found", t.TempDir(), "--out", at("history.jsonl")},
	} {
		t.Run(name, func(t *testing.T) {
			got := txnfuzz(t, args...)
			if got.code != exitFailure || !strings.Contains(got.stderr, "no space left on device") {
				t.Errorf("status %d:\n%s%s", got.code, got.stdout, got.stderr)
			}
			after := folder(t, dir)
			for file, content := range after {
				if content != before[file] {
					t.Errorf("%s holds %q, before %q", file, content, before[file])
				}
			}
			for file := range before {
				if _, ok := after[file]; !ok {
					t.Errorf("%s is gone", file)
				}
			}
		})
	}
}

// A finding for which there is no room is told whole.
func TestFindingWithoutRoom(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	dir := smallDisk(t)
	fill(t, dir, 3*4096) // for the cases that run, and for the first halves of a finding
	got := txnfuzz(t, "run", "--target", target, "--strict", "--cases", "500", "--seed", "1", "--reduce", "0", "--out", dir)
	if got.code != exitFailure || !strings.Contains(got.stderr, "no space left on device") {
		t.Errorf("status %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	if !strings.Contains(got.stderr, "could not be saved; this is its case:") || !strings.Contains(got.stderr, "/* init */ CREATE TABLE") {
		t.Errorf("the case is lost:\n%s", got.stderr)
	}
	for name, content := range folder(t, dir) {
		if !strings.HasSuffix(content, "\n") {
			t.Errorf("%s is half a file: %q", name, content)
		}
	}
}

// Standard output may be full, too.
func TestFullStandardOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"targets"}, {"--version"}, {"corpus", "stats", "corpus/known"}} {
		cmd := command(t, args...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run() // its status is looked at
		if code := cmd.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%v: status %d: %s", args, code, stderr.String())
		}
	}
}
