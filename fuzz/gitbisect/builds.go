package gitbisect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/harness/filelock"
)

// EnvPrefix names the variable that tells a build command the folder to install to, which is kept.
const EnvPrefix = "TXNFUZZ_PREFIX"

// builds are what one command has made of several commits. Beside the folder of a commit, which the command installs
// to, lie its log, its lock and, once the build is complete, a record.
type builds struct {
	*Options
	dir string
}

// record says that a build is complete.
type record struct {
	// Program is relative to the commit's folder.
	Program string  `json:"program"`
	Took    float64 `json:"took_s"`
}

// built is a program to run.
type built struct {
	program string
	// kept says that it was there already.
	kept bool
}

// buildError says that a commit could not be built, or that the build has left no server.
type buildError struct{ said string }

func (e *buildError) Error() string { return e.said }

// newBuilds makes the folder of a command's builds in the cache. The command's text lies there for people.
func newBuilds(o *Options) (*builds, error) {
	sum := sha256.Sum256([]byte(o.Build))
	b := &builds{Options: o, dir: filepath.Join(o.Cache, hex.EncodeToString(sum[:6]))}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of builds: %w", err)
	}
	return b, wholefile.Write(filepath.Join(b.dir, "command"), []byte(o.Build+"\n"))
}

func (b *builds) prefix(c Commit) string { return filepath.Join(b.dir, c.ID) }
func (b *builds) log(c Commit) string    { return b.prefix(c) + ".log" }
func (b *builds) record(c Commit) string { return b.prefix(c) + ".json" }

// program of a commit: the one that is kept, else a new one, for which the commit is checked out. A *buildError says
// that there is none.
func (b *builds) of(ctx context.Context, w *worktree, c Commit) (built, error) {
	unlock, err := filelock.Wait(ctx, b.prefix(c)+lockEnding, func() { b.tell("waits for another run that builds %s", c.Short()) })
	if err != nil {
		return built{}, fmt.Errorf("lock the build of %s: %w", c.Short(), err)
	}
	defer unlock()
	if program, ok := b.kept(c); ok {
		return built{program, true}, nil
	}
	if err := errors.Join(removed(b.record(c)), os.RemoveAll(b.prefix(c)), os.Mkdir(b.prefix(c), 0o700)); err != nil {
		return built{}, fmt.Errorf("make the folder of a build: %w", err)
	}
	if err := w.checkout(ctx, c); err != nil {
		return built{}, err
	}
	begun := time.Now()
	if err := b.run(ctx, w, c); err != nil {
		return built{}, err
	}
	took := time.Since(begun)
	program, err := programIn(b.prefix(c), b.Program)
	if err != nil {
		return built{}, err
	}
	if program == "" {
		return b.left(w, c)
	}
	b.tell("%s is built in %.1f s", c.Short(), took.Seconds())
	return built{program: program}, b.keep(c, program, took)
}

// kept returns the program of a complete build; it may have been removed by somebody since.
func (b *builds) kept(c Commit) (program string, ok bool) {
	text, err := os.ReadFile(b.record(c))
	var r record
	if err != nil || json.Unmarshal(text, &r) != nil {
		return "", false
	}
	if program, err = programIn(b.prefix(c), b.Program); program == "" && err == nil && b.Program != "" {
		program, err = programIn(b.prefix(c), r.Program)
	}
	return program, err == nil && program != ""
}

func (b *builds) keep(c Commit, program string, took time.Duration) error {
	rel, err := filepath.Rel(b.prefix(c), program)
	if err != nil {
		return err
	}
	text, err := json.Marshal(record{rel, took.Seconds()})
	if err != nil {
		return err
	}
	return wholefile.Write(b.record(c), append(text, '\n'))
}

// left takes the program that a command has made in the worktree and not installed. A TiDB is one file, which can be
// kept; the other servers need more of the tree, and are only there until the next build.
func (b *builds) left(w *worktree, c Commit) (built, error) {
	program, err := programIn(string(w.repository), b.Program)
	if err != nil {
		return built{}, err
	}
	if program == "" {
		what := strings.Join(Servers, ", ")
		if b.Program != "" {
			what = b.Program
		}
		return built{}, &buildError{fmt.Sprintf("the build has left no %s, neither in $%s nor in the worktree", what, EnvPrefix)}
	}
	if filepath.Base(program) != "tidb-server" {
		b.tell("%s is built, but not kept: the command has not installed it to $%s", c.Short(), EnvPrefix)
		return built{program: program}, nil
	}
	to := filepath.Join(b.prefix(c), "tidb-server")
	if err := copyProgram(program, to); err != nil {
		return built{}, fmt.Errorf("keep %s: %w", program, err)
	}
	return built{program: to}, b.keep(c, to, 0)
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// run runs the command in the worktree, with its output in the log.
func (b *builds) run(ctx context.Context, w *worktree, c Commit) error {
	log, err := os.Create(b.log(c))
	if err != nil {
		return fmt.Errorf("write the log of a build: %w", err)
	}
	defer log.Close()
	b.tell("building %s, log in %s", c.Short(), b.log(c))
	cmd := exec.CommandContext(ctx, "sh", "-c", b.Build)
	cmd.Dir, cmd.Env = string(w.repository), environment(EnvPrefix+"="+b.prefix(c))
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own, so that what the command has started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		b.watch(c, done)
	}()
	err = cmd.Run()
	close(done)
	<-watched
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return ctx.Err()
	}
	if err != nil {
		return &buildError{strings.TrimSuffix(fmt.Sprintf("does not build: %v: %s", err, lastLine(b.log(c))), ": ")}
	}
	return nil
}

// watch tells how a long build gets on.
func (b *builds) watch(c Commit, done <-chan struct{}) {
	begun := time.Now()
	tick := time.NewTicker(b.Pace)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			line := fmt.Sprintf("building %s: %.0f s", c.Short(), time.Since(begun).Seconds())
			if last := lastLine(b.log(c)); last != "" { // a quiet make prints none
				line += ": " + last
			}
			b.Tell(line, true)
		}
	}
}

// lastLine is what a log ends with, without what moves a terminal's cursor.
func lastLine(path string) string {
	const most, end = 120, 4096
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > end {
		_, _ = f.Seek(-end, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(f, end))
	lines := bytes.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(string(lines[i]), "?")))
		if r := []rune(line); len(r) > most {
			line = string(r[:most]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
