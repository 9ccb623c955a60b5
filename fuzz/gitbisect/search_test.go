package gitbisect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// history makes a repository from lines "NAME STATE PARENT...": each commit has a tag of its name, and a file state that
// its build installs as a tidb-server.
func history(t *testing.T, lines string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.org"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, state, parents := words[0], words[1], words[2:]
		if len(parents) > 0 {
			git("checkout", "--quiet", "--force", parents[0])
		}
		if len(parents) > 1 {
			git("merge", "--quiet", "--no-ff", "--strategy=ours", "--no-commit", parents[1])
		}
		for file, text := range map[string]string{"state": state, "name": name} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "state", "name")
		git("commit", "--quiet", "--message", name)
		git("tag", name)
	}
	return dir
}

// tried reads what the build of history has installed: a, s, o, u, as in the states of the tests below.
func tried(_ context.Context, program string) (findings.OnBuild, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return findings.OnBuild{}, err
	}
	switch string(text) {
	case "s":
		return findings.OnBuild{Presence: findings.Shows}, nil
	case "o":
		return findings.OnBuild{Presence: findings.Otherwise}, nil
	case "a":
		return findings.OnBuild{Presence: findings.Absent}, nil
	}
	return findings.OnBuild{}, errors.New("it does not start")
}

const installState = `cp state "$TXNFUZZ_PREFIX/tidb-server" && chmod +x "$TXNFUZZ_PREFIX/tidb-server"`

const (
	line    = "1 a\n 2 a 1\n 3 a 2\n 4 s 3\n 5 s 4\n 6 a 5\n 7 a 6\n"
	skipped = "1 a\n 2 a 1\n 3 u 2\n 4 u 3\n 5 s 4\n 6 s 5\n"
	// Two branches part at 2.
	forked = "1 a\n 2 a 1\n old1 a 2\n old2 a old1\n new1 a 2\n new2 s new1\n new3 s new2\n"
	// The finding is older than both branches; one has a fix.
	mended = "1 s\n 2 s 1\n old1 s 2\n old2 s old1\n new1 s 2\n new2 a new1\n new3 a new2\n"
	// A branch parts before the finding came, and is merged behind.
	aside = "1 a\n 2 a 1\n side1 a 2\n side2 a side1\n side3 a side2\n side4 a side3\n 3 s 2\n 4 s 3 side4\n 5 s 4\n 6 a 5\n"
	// The bug comes with a branch.
	merged = "1 a\n 2 a 1\n side1 a 2\n side2 s side1\n side3 s side2\n 3 a 2\n 4 s 3 side3\n 5 s 4\n"
)

func TestFind(t *testing.T) {
	for _, x := range []struct {
		name, history, good, bad string
		firstParent              bool
		direction                Direction
		first                    string
		candidates               []string
	}{
		{"it came", line, "1", "5", false, Introduced, "4", nil},
		{"it went", line, "7", "4", false, Fixed, "6", nil},
		{"neighbours", line, "3", "4", false, Introduced, "4", nil},
		{"wrong in another way", strings.Replace(line, "2 a", "2 o", 1), "1", "5", false, Introduced, "4", nil},
		{"skipped", skipped, "1", "6", false, Introduced, "", []string{"3", "4", "5"}},
		{"came on one of two branches", forked, "old2", "new3", false, Introduced, "new2", nil},
		{"went on one of two branches", mended, "new3", "old2", false, Fixed, "new2", nil},
		{"absent on a branch all the time", aside, "6", "3", false, Fixed, "6", nil},
		{"came with a branch", merged, "1", "5", false, Introduced, "side2", nil},
		{"came with a merge", merged, "1", "5", true, Introduced, "4", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			r, err := Find(t.Context(), Options{
				Repository: history(t, x.history), Build: installState, Good: x.good, Bad: x.bad, Cache: t.TempDir(),
				FirstParent: x.firstParent, Name: "case", Try: tried, Tell: func(line string, _ bool) { t.Log(line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			if r.First != nil {
				first = r.First.Subject
			}
			var candidates []string
			for _, c := range r.Candidates {
				candidates = append(candidates, c.Subject)
			}
			slices.Sort(candidates)
			if r.Direction != x.direction || first != x.first || !slices.Equal(candidates, x.candidates) {
				t.Errorf("%s %q %q, want %s %q %q", r.Direction, first, candidates, x.direction, x.first, x.candidates)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	for _, x := range []struct{ name, history, good, bad, want string }{
		{"bad is good", line, "1", "3", "--bad is wrong: in "},
		{"good is bad", line, "4", "5", "--good is wrong: in "},
		{"bad does not start", skipped, "1", "3", "could not be tested: it does not start"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(t.Context(), Options{
				Repository: history(t, x.history), Build: installState, Good: x.good, Bad: x.bad, Cache: t.TempDir(), Name: "case", Try: tried,
			})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}

// TestUntidyBuild: a build may change the files of a commit, and make files that other commits have; git must be able to
// go on. Hooks of the user's do not run, and what git tells its hooks leads to no other repository. A TiDB that is only
// in the worktree is kept.
func TestUntidyBuild(t *testing.T) {
	dir := history(t, line)
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+ran+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other"))
	o := Options{
		Repository: dir, Good: "7", Bad: "4", Cache: t.TempDir(), Name: "case", Try: tried,
		Build: `mkdir -p bin && cp state bin/tidb-server && chmod +x bin/tidb-server && echo changed >name && rm state && mkdir state`,
	}
	for _, kept := range []bool{false, true} {
		r, err := Find(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.First == nil || r.First.Subject != "6" {
			t.Errorf("%v, want 6", r.First)
		}
		for _, x := range r.Tried {
			if x.Kept != kept {
				t.Errorf("%s: kept %t, want %t", x.Subject, x.Kept, kept)
			}
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook of the user's ran")
	}
}

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"one\ntwo\n\n  \n":                  "two",
		" 50%\r 99%\r":                      "99%",
		"\x1b[31merror\x1b[0m\n":            "[31merror [0m",
		strings.Repeat("x\n", 9000) + "end": "end",
		strings.Repeat("é", 5000):           strings.Repeat("é", 120) + "…",
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(path); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
