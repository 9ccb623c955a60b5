package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/gitbisect"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// serversFolder returns the folder of private servers.
func serversFolder(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "txnfuzz", "servers")
}

// scratchRepository is a git repository of a test.
type scratchRepository struct {
	t   *testing.T
	dir string
}

func newScratchRepository(t *testing.T) *scratchRepository {
	t.Helper()
	r := &scratchRepository{t, filepath.Join(t.TempDir(), "repository")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r *scratchRepository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.org"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit that "builds" a version, and a tag of its name.
func (r *scratchRepository) commit(name, version string) {
	r.t.Helper()
	for file, text := range map[string]string{"VERSION": version, "name": name} {
		if err := os.WriteFile(filepath.Join(r.dir, file), []byte(text+"\n"), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", name)
	r.git("tag", name)
}

// installs is a build command that installs the private server which a commit names. It prints much, and changes a file
// of the commit, as builds do.
func installs(servers string) string {
	return `set -eu
seq 10000
v=$(cat VERSION)
echo built >>"$(dirname "$TXNFUZZ_PREFIX")/counted"
case $v in
fails) echo 'no rule to make target' >&2; exit 2 ;;
none) mkdir "$TXNFUZZ_PREFIX/bin"; cp /bin/false "$TXNFUZZ_PREFIX/bin/postgres"; exit ;;
esac
echo generated >>VERSION
mkdir "$TXNFUZZ_PREFIX/bin"
ln -s '` + servers + `'/postgres-"$v"/bin/* "$TXNFUZZ_PREFIX/bin/"`
}

func TestBisectGit(t *testing.T) {
	if len(targettest.Among(t, "postgres:15.1", "postgres:18")) < 2 {
		t.Skip("it takes two versions of PostgreSQL")
	}
	servers := serversFolder(t)
	r := newScratchRepository(t)
	r.commit("begin", "18")
	r.commit("unbuildable", "fails")
	r.commit("before", "18")
	r.git("checkout", "--quiet", "-b", "side")
	r.commit("aside", "18")
	r.git("checkout", "--quiet", "main")
	r.commit("culprit", "15.1")
	r.commit("serverless", "none")
	r.commit("after", "15.1")
	r.git("merge", "--quiet", "--strategy=ours", "--no-ff", "--message", "merge", "side")
	r.commit("later", "15.1")
	r.commit("mended", "18")
	r.commit("end", "18")
	if err := os.WriteFile(filepath.Join(r.dir, "VERSION"), []byte("what the user is at\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	status := r.git("status", "--porcelain", "--branch")
	cache := t.TempDir()

	search := func(name, good, bad string) (*gitbisect.Result, string) {
		t.Helper()
		file := writeFile(t, name, readFile(t, filepath.Join("..", "..", "corpus", "known", name)))
		got := txnfuzz(t, "bisect", file, "--git", r.dir, "--good", good, "--bad", bad, "--build", installs(servers), "--cache", cache, "--write", "--json", "-")
		if got.code != exitClean {
			t.Fatalf("status %d\n%s", got.code, got.stderr)
		}
		found := decode[gitbisect.Result](t, got.stdout)
		if now := r.git("status", "--porcelain", "--branch"); now != status {
			t.Errorf("the user's checkout was touched: %s", now)
		}
		if list := r.git("worktree", "list"); strings.Contains(list, "\n") {
			t.Errorf("a worktree is left:\n%s", list)
		}
		if log := readFile(t, found.Log); !strings.Contains(log, "git bisect start") {
			t.Errorf("no log of git bisect: %q", log)
		}
		return &found, readFile(t, file)
	}
	presence := func(found *gitbisect.Result) string {
		var out []string
		for _, x := range found.Tried {
			out = append(out, x.Subject+"="+string(x.Presence))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}

	came, text := search("postgres-18103.sql", "begin", "later")
	culprit := r.git("rev-parse", "culprit")
	if came.First == nil || came.First.ID != culprit || came.Direction != gitbisect.Introduced {
		t.Errorf("%s %v, want the commit culprit", came.Direction, came.First)
	}
	if want := "-- introduced: " + culprit[:12] + " ("; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	for _, want := range []string{"before=absent", "culprit=shows", "later=shows", "serverless=not testable"} {
		if !strings.Contains(presence(came), want) {
			t.Errorf("%s: want %s", presence(came), want)
		}
	}

	// Another case: nothing that was built is built again.
	built := readFile(t, counted(t, cache))
	again, _ := search("postgres-18103-insert.sql", "before", "culprit")
	if again.First == nil || again.First.ID != culprit || presence(again) != "before=absent culprit=shows" {
		t.Errorf("another case: %v: %s", again.First, presence(again))
	}
	if now := readFile(t, counted(t, cache)); now != built {
		t.Errorf("built again: %d times, before %d", strings.Count(now, "\n"), strings.Count(built, "\n"))
	}
	for _, x := range again.Tried {
		if !x.Kept {
			t.Errorf("%s is not kept", x.Subject)
		}
	}

	gone, text := search("postgres-18103.sql", "end", "culprit")
	if gone.First == nil || gone.First.ID != r.git("rev-parse", "mended") || gone.Direction != gitbisect.Fixed {
		t.Errorf("%s %v, want the commit mended", gone.Direction, gone.First)
	}
	if !strings.Contains(text, "-- fixed: ") {
		t.Errorf("no fixed: in\n%s", text)
	}
}

// counted is the file to which the build command of installs adds a line each time that it runs.
func counted(t *testing.T, cache string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "*", "counted"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	return found[0]
}

func TestBisectGitUsage(t *testing.T) {
	r := newScratchRepository(t)
	r.commit("one", "18")
	r.commit("two", "18")
	const file = "corpus/known/postgres-18103.sql"
	search := []string{"--git", r.dir, "--good", "one", "--bad", "two"}
	for _, x := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no flags beside", []string{"--git", r.dir}, exitUsage, "--git also needs --build, --good, --bad"},
		{"no repository named", []string{"--good", "one"}, exitUsage, "name that with --git"},
		{"both ways", append([]string{"--build", "x", "--builds", "postgres"}, search...), exitUsage, "give one of them"},
		{"no folder", []string{"--git", "/nowhere", "--good", "one", "--bad", "two", "--build", "x"}, exitUsage, "/nowhere is no folder"},
		{"no repository", []string{"--git", t.TempDir(), "--good", "one", "--bad", "two", "--build", "x"}, exitUsage, "is no git repository"},
		{"no commit", []string{"--git", r.dir, "--good", "-q", "--bad", "two", "--build", "x"}, exitUsage, `no commit "-q"`},
		{"the same commit", []string{"--git", r.dir, "--good", "main", "--bad", "two", "--build", "x"}, exitUsage, "are the same commit"},
		{"colon", append([]string{"--build", "x", "--cache", filepath.Join(t.TempDir(), "a:b")}, search...), exitUsage, "colon"},
		{"build fails", append([]string{"--build", "echo gone wrong; false"}, search...), exitFailure, "does not build: exit status 1: gone wrong"},
		{"no server", append([]string{"--build", "true"}, search...), exitFailure, "the build has left no postgres"},
		{"no such program", append([]string{"--build", "true", "--program", "bin/x"}, search...), exitFailure, "the build has left no bin/x"},
	} {
		t.Run(x.name, func(t *testing.T) {
			args := append([]string{"bisect", file}, x.args...)
			if !slices.Contains(args, "--cache") && slices.Contains(args, "--git") {
				args = append(args, "--cache", t.TempDir())
			}
			got := txnfuzz(t, args...)
			if got.code != x.code || !strings.Contains(got.stderr, x.want) {
				t.Errorf("status %d, want %d with %q:\n%s", got.code, x.code, x.want, got.stderr)
			}
		})
	}
	if list := r.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("a worktree is left:\n%s", list)
	}
}

// TestBisectGitEnded ends a search while it builds: an interrupt leaves no worktree and no process of the build, and what
// a kill leaves the next search removes.
func TestBisectGitEnded(t *testing.T) {
	r := newScratchRepository(t)
	r.commit("one", "18")
	r.commit("two", "18")
	cache := t.TempDir()
	pidFile := filepath.Join(cache, "pid")
	args := func(build string) []string {
		return []string{"bisect", "corpus/known/postgres-18103.sql", "--git", r.dir, "--good", "one", "--bad", "two", "--cache", cache, "--build", build}
	}
	begin := func(build string) (*exec.Cmd, *bytes.Buffer) {
		t.Helper()
		_ = os.Remove(pidFile)
		cmd := command(t, args(build)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(pidFile); err == nil {
				return cmd, &stderr
			}
			if time.Now().After(end) {
				_ = cmd.Process.Kill()
				t.Fatal("the build does not begin")
			}
		}
	}
	worktrees := func() int { return strings.Count(r.git("worktree", "list", "--porcelain"), "worktree ") }

	cmd, stderr := begin("sleep 50 & echo $! >'" + pidFile + ".new'; mv '" + pidFile + ".new' '" + pidFile + "'; wait")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(stderr.String(), "interrupted; what was built is kept") {
		t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), stderr)
	}
	if n := worktrees(); n != 1 {
		t.Errorf("%d worktrees behind an interrupt, want the user's own", n)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, pidFile)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d of the build still runs", pid)
		}
	}

	cmd, _ = begin("touch '" + pidFile + "'; while test -e '" + pidFile + "'; do sleep 0.1; done")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if n := worktrees(); n != 2 {
		t.Fatalf("%d worktrees behind a kill, want 2", n)
	}
	_ = os.Remove(pidFile) // which ends the build
	if got := txnfuzz(t, args("false")...); got.code != exitFailure {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
	if n := worktrees(); n != 1 {
		t.Errorf("%d worktrees behind the next search, want the user's own", n)
	}
	left, err := os.ReadDir(filepath.Join(cache, "worktrees"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// zombie says that a process has ended and that nobody has asked for its status: a container's first process may not.
func zombie(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && bytes.Contains(text, []byte(") Z "))
}
